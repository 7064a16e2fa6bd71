// The table: rows keyed by id, kept in step with their lines, and one delegated listener.

import { Acts, menuOf } from "./acts.js";
import { BulkBar } from "./bulk.js";
import { Checks } from "./checks.js";
import { dropClips, pickClip } from "./clips.js";
import { Details } from "./details.js";
import { button, el } from "./dom.js";
import { EmotionEditor } from "./emotion.js";
import { Filter } from "./filter.js";
import { History } from "./history.js";
import { Importer } from "./import.js";
import { Keys } from "./keys.js";
import { RowMenu } from "./menu.js";
import { Takes } from "./takes.js";
import { buildRow, fillChoices, grow, takeWords, updateLook, updateRow, updateStatus, updateTakes } from "./row.js";

const STEPS = [
  ["Write.", "One row a line; pick voice, language and emotion, or paste rows from a spreadsheet."],
  ["Generate pending.", "Players fill in as lines finish. Go on editing; closing the tab stops nothing."],
  ["Listen and choose.", "Make new takes of one line, star the best, export them all."],
];
const FEW_ROWS = 8; // the three steps have room below the table
const UPLOAD = "\u0000upload";

export class Table extends EventTarget {
  constructor(project, facts, player, notices, left) {
    super();
    Object.assign(this, { project, facts, player, notices, left });
    this.rows = new Map();
    this.history = new History(project);
    this.acts = new Acts(project, facts, player, notices, this.history, this);
    this.checks = new Checks(project);
    this.filter = new Filter(project, this.history, notices);
    this.bulk = new BulkBar(project, facts, this.acts);
    this.importer = new Importer(project, facts, this.history, notices, this.checks);
    this.details = new Details(project, facts, this.checks);
    this.takes = new Takes(project, facts, this.acts, player);
    this.emotion = new EmotionEditor(facts, {
      change: (id, emotion, shown) => project.set(id, { emotion }, { emotion: shown }),
      copyToTicked: (emotion) => this.acts.setOnTicked({ emotion }, "Emotion set"),
    });
    this.menu = new RowMenu(menuOf(this.acts, { details: (id) => this.openDetails(id), takes: (id) => this.openTakes(id) }));
    this.keys = new Keys(this.#keyActs());
    this.list = el("div", { class: "st-rows", role: "list", "aria-label": "Lines" });
    this.head = this.#head();
    this.steps = el("ol", { class: "st-steps" }, ...STEPS.map(([what, how]) => el("li", {}, el("b", { text: what }), ` ${how}`)));
    this.empty = el("p", { class: "st-empty", hidden: true });
    this.node = el("div", { class: "st-table" }, this.#tools(), this.bulk.node, this.head, this.list, this.empty, this.#foot(), this.steps);
    this.popovers = [this.emotion.popover, this.menu.popover, this.keys.popover, this.details.popover, this.takes.popover, this.importer.dialog];
    this.context = this.#context();
    this.#listen();
  }

  // --- showing -----------------------------------------------------------------------------

  show(ids = null) {
    const { project } = this;
    // Typing must not walk through all rows: where no row came, went or moved, only its own is touched.
    if (ids !== null && !this.#moved()) {
      for (const id of ids) {
        const row = this.rows.get(id);
        if (row) updateRow(row, project.lines.get(id), row.number, this.context);
      }
      return this.#later();
    }
    this.shownOrder = [...project.order];
    for (const [id, row] of this.rows) {
      if (project.lines.has(id)) continue;
      row.remove();
      this.rows.delete(id);
    }
    const some = ids === null ? null : new Set(ids);
    let previous = null;
    project.order.forEach((id, index) => {
      let row = this.rows.get(id);
      const fresh = !row;
      if (fresh) this.rows.set(id, (row = buildRow(id, this.facts.limits)));
      const here = previous ? previous.nextSibling : this.list.firstChild;
      if (here !== row) keepFocus(row, () => this.list.insertBefore(row, here));
      if (fresh || some === null || some.has(id) || row.number !== index + 1)
        updateRow(row, project.lines.get(id), index + 1, this.context);
      previous = row;
    });
    this.#later();
  }

  #moved() {
    const { order } = this.project;
    const before = this.shownOrder ?? [];
    return order.length !== before.length || order.some((id, i) => id !== before[i]);
  }

  // Sums over all rows: a moment later, once for many changes.
  #later() {
    this.sums ??= setTimeout(() => {
      this.sums = null;
      this.#showHead();
      this.bulk.update();
      this.showFilter();
      this.dispatchEvent(new Event("sums"));
    }, 60);
  }

  // A row that is being worked on stays, whatever the filter says.
  showFilter() {
    let shown = 0;
    for (const [id, row] of this.rows) {
      const fits = !this.filter.active || this.filter.matches(this.project.lines.get(id));
      const hidden = !fits && !row.contains(document.activeElement);
      const comes = row.hidden && !hidden;
      row.hidden = hidden;
      if (comes) grow(row.parts.text);
      shown += !row.hidden;
    }
    this.filter.count();
    this.steps.hidden = this.rows.size > FEW_ROWS;
    this.empty.hidden = shown > 0;
    this.empty.textContent = this.rows.size ? "No line fits this filter." : "No lines yet. Add one, paste from a spreadsheet, or import a file.";
  }

  showProgress() {
    const parts = this.project.run.on ? this.project.run.part : {};
    for (const id of new Set([...Object.keys(parts), ...(this.progressing ?? [])])) {
      const line = this.project.lines.get(id);
      if (line && this.rows.has(id)) updateStatus(this.rows.get(id), line, this.context);
    }
    this.progressing = Object.keys(parts);
  }

  showPlaying() {
    for (const [id, row] of this.rows) updateTakes(row, this.project.lines.get(id), this.context);
  }

  showLooks(ids) {
    for (const id of ids) {
      const line = this.project.lines.get(id);
      if (line && this.rows.has(id)) updateLook(this.rows.get(id), line, this.checks.of(id));
    }
  }

  showVoices() {
    this.bulk.showVoices();
    this.show();
  }

  newTake(id) {
    this.acts.picked.delete(id);
  }

  number(id) {
    return this.rows.get(id).number;
  }

  edit(id) {
    const { text } = this.rows.get(id).parts;
    text.focus();
    text.scrollIntoView({ block: "nearest" });
  }

  fillVoices(id) {
    fillChoices(this.rows.get(id).parts.voice, this.#voices(), this.project.lines.get(id).voice ?? "");
  }

  openDetails(id) {
    const row = this.rows.get(id);
    this.details.open(this.project.lines.get(id), row.number, row.parts.menu).catch((error) => this.notices.show(error.message));
  }

  openTakes(id) {
    const row = this.rows.get(id);
    this.takes.open(id, row.number, row.parts.play);
  }

  #context() {
    const { project, facts, player } = this;
    const languages = new Map(facts.languages);
    return {
      facts,
      part: (id) => (project.run.on ? project.run.part[id] : undefined),
      fault: () => project.run.fault,
      look: (id) => this.checks.of(id),
      kept: (id) => project.kept.of(id),
      hasVoice: (name) => project.about.voices.some((voice) => voice.name.toLowerCase() === name.toLowerCase()),
      languageName: (code) => languages.get(code) ?? code,
      chosen: (line) => this.acts.chosen(line),
      download: (take) => project.api.downloadAddress(take),
      playing: () => player.playing,
    };
  }

  #tools() {
    const undo = button("Undo (Ctrl+Z)", { class: "st-small", disabled: true }, "Undo");
    const redo = button("Redo (Ctrl+Shift+Z)", { class: "st-small", disabled: true }, "Redo");
    undo.addEventListener("click", () => this.acts.walk("undo"));
    redo.addEventListener("click", () => this.acts.walk("redo"));
    this.history.addEventListener("change", () => {
      undo.disabled = this.history.done.length === 0;
      redo.disabled = this.history.undone.length === 0;
    });
    return el("div", { class: "st-tools" }, this.filter.node, el("span", { class: "st-history" }, undo, redo));
  }

  #head() {
    const all = el("input", { type: "checkbox", class: "st-tick", "aria-label": "Tick all lines that show" });
    all.addEventListener("change", () => {
      const shown = this.project.order.filter((id) => !this.rows.get(id).hidden);
      this.project.tick(shown, all.checked);
    });
    const names = ["", "Voice", "Text", "Language", "Emotion", "Status", "Take", ""];
    const cells = names.map((name) => el("span", { text: name }));
    return el("div", { class: "st-row st-head" }, el("label", { class: "st-cell-tick" }, all), ...cells);
  }

  #showHead() {
    const box = this.head.querySelector("input");
    const ticked = this.project.order.filter((id) => this.project.lines.get(id).tick).length;
    box.checked = ticked > 0 && ticked === this.project.order.length;
    box.indeterminate = ticked > 0 && !box.checked;
  }

  #foot() {
    const add = el("button", { type: "button", class: "st-add", text: "+ Add line" });
    const file = button("Import a script from a file", { class: "st-small" }, "Import a script …");
    const keys = button("? Keys", { class: "st-small", title: "Show the keys" }, "? Keys");
    add.addEventListener("click", () => this.acts.add());
    keys.addEventListener("click", () => this.keys.toggle());
    file.addEventListener("click", () => {
      const input = el("input", { type: "file", accept: ".csv,.tsv,.txt,.jsonl,.json,.xlsx,.srt,.vtt" });
      input.addEventListener("change", () => input.files[0] && this.importer.open(input.files[0]));
      input.click();
    });
    return el("div", { class: "st-foot" }, add, file, el("span", { class: "st-space" }), keys);
  }

  // --- hearing -----------------------------------------------------------------------------

  #listen() {
    const { list } = this;
    list.addEventListener("input", (event) => this.#typed(event));
    list.addEventListener("change", (event) => this.#changed(event));
    list.addEventListener("click", (event) => this.#clicked(event));
    list.addEventListener("paste", (event) => this.#pasted(event));
    list.addEventListener("pointerdown", (event) => this.#fill(event.target));
    list.addEventListener("focusin", (event) => this.#fill(event.target));
    list.addEventListener("focusout", (event) => this.#left(event));
    this.keys.listen(this.node, this.left);
    this.filter.addEventListener("change", () => this.showFilter());
    this.checks.addEventListener("change", ({ detail }) => this.showLooks(detail.ids));
    this.#watchWidth();
    dropClips(list, (row, file) => this.acts.askVoiceFromFile(row.dataset.id, file));
  }

  // Texts wrap anew where the table is another width: another window, another tab of the page before.
  #watchWidth() {
    let width = 0;
    const observer = new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === width) return;
      width = contentRect.width;
      requestAnimationFrame(() => this.rows.forEach(({ parts }) => grow(parts.text)));
    });
    observer.observe(this.list);
    this.left.addEventListener("abort", () => observer.disconnect());
  }

  #typed({ target }) {
    if (target.dataset.field !== "text") return;
    grow(target);
    const { base = target.value } = target;
    target.base = target.value;
    this.project.set(rowOf(target).dataset.id, { text: target.value }, { text: base });
  }

  #changed({ target }) {
    const { id } = rowOf(target).dataset;
    if (target.dataset.field === "voice" && target.value === UPLOAD) return this.#pickVoice(id, target);
    const { field } = target.dataset;
    if (field === "voice" || field === "language") {
      const shown = { [field]: target.base || null };
      target.base = target.value;
      this.project.set(id, { [field]: target.value || null }, shown);
    }
    if (target.dataset.do === "take") {
      this.acts.picked.set(id, target.value);
      this.show([id]);
    }
  }

  #clicked(event) {
    const target = event.target.closest("[data-do]");
    if (!target) return;
    const row = rowOf(target);
    const line = this.project.lines.get(row.dataset.id);
    const acts = {
      tick: () => this.acts.tick(line.id, target.checked, { range: event.shiftKey }),
      emotion: () => this.emotion.open(line, row.number, target),
      menu: () => this.menu.open(line, target),
      play: () => this.acts.play(line.id),
      star: () => this.acts.star(line),
      generate: () => this.acts.generate([line.id]),
      "use-mine": () => this.acts.useMine(line.id, target.dataset.kept),
      "drop-mine": () => this.project.dropMine(line.id, target.dataset.kept),
    };
    acts[target.dataset.do]?.();
  }

  #pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (event.target.dataset.field !== "text") return;
    if (!this.importer.isTable(text)) return this.#sayCut(event.target, text);
    event.preventDefault();
    this.importer.open(text, rowOf(event.target).dataset.id);
  }

  // The browser leaves out what does not fit, without a word.
  #sayCut({ value, selectionStart, selectionEnd }, text) {
    const most = this.facts.limits.characters;
    if (value.length - (selectionEnd - selectionStart) + text.length > most)
      this.notices.show(`A line holds at most ${most} characters here; the rest of what you pasted was left out.`, { kind: "trouble" });
  }

  #fill(target) {
    if (target.tagName !== "SELECT" || target.dataset.full) return;
    const line = this.project.lines.get(rowOf(target).dataset.id);
    if (target.dataset.field === "voice") fillChoices(target, this.#voices(), line.voice ?? "");
    if (target.dataset.field === "language") fillChoices(target, this.facts.languages, line.language);
    if (target.dataset.do === "take") {
      const takes = line.made ?? [];
      const choices = takes.map((take) => [take.id, takeWords(take, takes.length)]);
      fillChoices(target, choices, this.acts.chosen(line).id);
    }
  }

  // What came from the server while the field was focused shows now.
  #left({ target }) {
    if (target.tagName === "SELECT") delete target.dataset.full;
    const row = rowOf(target);
    queueMicrotask(() => this.project.lines.has(row?.dataset.id) && this.show([row.dataset.id]));
  }

  #voices() {
    const names = this.project.about.voices.map(({ name }) => [name, name]);
    return [...names, ["", "No voice"], [UPLOAD, "Upload a clip …"]];
  }

  #pickVoice(id, select) {
    select.value = this.project.lines.get(id).voice ?? "";
    pickClip((file) => this.acts.askVoiceFromFile(id, file));
  }

  #step(id, step) {
    const shown = this.project.order.filter((other) => !this.rows.get(other).hidden);
    const to = Math.min(Math.max(shown.indexOf(id) + step, 0), shown.length - 1);
    const row = this.rows.get(shown[to]);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  #keyActs() {
    const { acts } = this;
    return {
      generate: (id) => acts.generate([id]),
      addBelow: (id) => acts.add(id),
      move: (id, step) => acts.moveBy(id, step),
      step: (id, step) => this.#step(id, step),
      edit: (id) => this.edit(id),
      play: (id) => acts.play(id),
      tick: (id) => acts.tick(id, !acts.line(id).tick),
      details: (id) => this.openDetails(id),
      takes: (id) => this.openTakes(id),
      remove: (id) => acts.remove([id]),
      walk: (way) => acts.walk(way),
    };
  }
}

function rowOf(node) {
  return node.closest(".st-row");
}

function keepFocus(row, move) {
  const focused = row.contains(document.activeElement) ? document.activeElement : null;
  move();
  focused?.focus({ preventScroll: true });
}
