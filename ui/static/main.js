// The studio's part of the page: mounted once by Gradio's HTML component, opened with a project token.

import { Api } from "./api.js";
import { el, plural } from "./dom.js";
import { Notices } from "./notices.js";
import { Player } from "./player.js";
import { Project } from "./project.js";
import { RunBar } from "./runbar.js";
import { Table } from "./table.js";
import { Voices } from "./voices.js";

export function mount(root) {
  let project = null;
  let leave = null;
  let voicesPlace = null;
  return {
    async open(token) {
      if (!token && !project)
        root.textContent = "Your project could not be opened; the message says why. Reload the page to try again.";
      if (!token || project?.api.token === token) return;
      await project?.close().catch(() => {});
      leave?.abort();
      leave = new AbortController();
      project = await open(root, token, leave.signal);
      voicesPlace?.replaceChildren(project.voices.node);
    },
    // Native parts of the page call this after they changed the project on the server.
    refresh: () => project?.pollNow(),
    flush: () => project?.flush(),
    address: (path) => project.api.address(path),
    // The library's tab is made by Gradio when it is first looked at.
    showVoices(place) {
      voicesPlace = place;
      if (project) place.replaceChildren(project.voices.node);
    },
    get project() {
      return project;
    },
  };
}

async function open(root, token, left) {
  const api = new Api(token);
  const project = new Project(api, left);
  const notices = new Notices();
  const first = api.changes(0); // asked for at the same time
  const facts = await api.about();
  const player = new Player(api);
  const table = new Table(project, facts, player, notices, left);
  const told = (work) => work.then((said) => notices.show(said), (error) => notices.show(error.message, { kind: "trouble" }));
  const runBar = new RunBar({
    generate: (which) => told(project.generate(which)),
    stop: () => told(project.stop()),
    add: () => table.acts.add(),
  });
  const studio = el("div", { class: "st-studio" }, runBar.node, table.node, player.dock);
  studio.append(...table.popovers, notices.list, notices.live);
  left.addEventListener("abort", () => player.close());
  root.replaceChildren(studio);
  wire(project, table, runBar, player, notices);
  runBar.showSaved(project);
  project.voices = new Voices(project, table.acts, player);
  await project.open(left, first);
  root.dataset.ready = "yes";
  return project;
}

function wire(project, table, runBar, player, notices) {
  const counts = new Map();
  project.addEventListener("lines", ({ detail }) => {
    for (const id of detail.ids ?? project.lines.keys()) {
      const count = project.lines.get(id)?.made?.length ?? 0;
      if (count > (counts.get(id) ?? 0)) table.newTake(id);
      counts.set(id, count);
    }
    table.show(detail.ids);
  });
  table.addEventListener("sums", () => runBar.update(project));
  project.addEventListener("about", () => table.showVoices());
  table.checks.addEventListener("idle", () => showPlan(project, runBar));
  project.addEventListener("run", ({ detail }) => {
    table.showProgress();
    runBar.update(project);
    const { on, fault } = project.run;
    if (fault !== detail.before.fault) table.show(); // its rows leave to the run bar what is said there
    if (fault && fault !== detail.before.fault) notices.say(fault);
    else if (detail.before.on && !on) notices.say(overWords(project));
  });
  project.addEventListener("saving", () => runBar.showSaved(project));
  project.addEventListener("trouble", () => runBar.showSaved(project));
  project.addEventListener("refused", ({ detail }) => {
    const row = table.rows.get(detail.id);
    const lost = detail.line?.text;
    const words = `${row ? `Line ${row.number}: ` : ""}${detail.reason}${lost ? ` Yours reads “${lost}”.` : ""}`;
    const again = lost && { words: "Add it again", act: () => table.acts.addAgain([detail.line]) };
    notices.show(words, { kind: "trouble", act: again, stay: Boolean(again) });
  });
  project.addEventListener("unmade", ({ detail: { lines, reason } }) => {
    const one = lines.length === 1;
    const reads = one && lines[0].text ? ` It reads “${lines[0].text}”.` : "";
    const again = { words: one ? "Add it again" : "Add them again", act: () => table.acts.addAgain(lines) };
    notices.show(`${plural(lines.length, "line")} not added. ${reason}${reads}`, { kind: "trouble", act: again, stay: true });
  });
  player.addEventListener("change", () => table.showPlaying());
  player.addEventListener("next", ({ detail }) => table.acts.playNext(detail));
  player.addEventListener("trouble", ({ detail }) => notices.show(detail, { kind: "trouble" }));
}

function overWords(project) {
  const failed = [...project.lines.values()].filter((line) => line.state === "failed").length;
  return failed ? `The run is over, ${plural(failed, "line")} failed.` : "The run is over.";
}

// Asked for when every line has been looked at; a run that goes on says more than a plan.
function showPlan(project, runBar) {
  if (project.run.on) return;
  project.api.ahead().then((plan) => runBar.showPlan(plan, project), () => runBar.showPlan(null, project));
}
