// The bar above the table: what to generate, how far it is, when it will be done.

import { el, icon, plural, seconds, setText } from "./dom.js";
import { isBusy, isPending } from "./status.js";

export class RunBar {
  constructor({ generate, stop, add }) {
    this.buttons = {
      pending: this.#button("Generate", "pending", "st-primary", () => generate("pending")),
      ticked: this.#button("Ticked", "ticked", "", () => generate("ticked")),
      failed: this.#button("Failed", "failed", "", () => generate("failed")),
    };
    this.stopButton = el("button", { type: "button", class: "st-button st-stop", disabled: true }, icon("stop"), "Stop");
    this.stopButton.addEventListener("click", stop);
    this.addButton = el("button", { type: "button", class: "st-button" }, icon("plus"), "Add line");
    this.addButton.addEventListener("click", add);
    this.bar = el("div", { class: "st-bar-done" });
    this.words = el("span", { class: "st-bar-words" });
    this.saved = el("span", { class: "st-saved" });
    this.fault = el("p", { class: "st-fault", hidden: true, dir: "auto" });
    const { pending, ticked, failed } = this.buttons;
    this.node = el(
      "div",
      { class: "st-runbar", role: "toolbar", "aria-label": "Generate" },
      el("div", { class: "st-runbar-row" }, pending, ticked, failed, this.stopButton, this.words, this.saved, this.addButton),
      this.fault,
      el("div", { class: "st-bar", role: "progressbar", "aria-label": "Lines done", "aria-valuemin": 0 }, this.bar),
    );
  }

  update(project) {
    const lines = [...project.lines.values()];
    const free = (line) => !isBusy(line) && line.text.trim();
    this.#count("pending", lines.filter(isPending).length);
    this.#count("ticked", lines.filter((line) => line.tick && free(line)).length);
    this.#count("failed", lines.filter((line) => line.state === "failed" && free(line)).length);
    const busy = project.run.on || lines.some(isBusy);
    this.stopButton.disabled = !busy;
    this.node.classList.toggle("st-running", busy);
    setText(this.words, this.#words(project.run, busy, lines));
    setText(this.fault, project.run.fault ?? "");
    this.fault.hidden = !project.run.fault;
    const { done = 0, of = 0 } = project.run.on ? project.run : {};
    this.bar.style.width = of ? `${(100 * this.#reached(project.run)) / of}%` : "0";
    this.bar.parentElement.setAttribute("aria-valuemax", of);
    this.bar.parentElement.setAttribute("aria-valuenow", done);
  }

  // What generating the pending lines would take.
  showPlan(plan, project) {
    this.plan = plan;
    this.update(project);
  }

  showSaved(project) {
    const words = project.trouble ?? (project.saved ? "All changes saved" : "Saving …");
    setText(this.saved, words);
    this.saved.dataset.kind = project.trouble ? "trouble" : project.saved ? "saved" : "saving";
  }

  #reached(run) {
    return run.done + Object.values(run.part).reduce((sum, part) => sum + part / 100, 0);
  }

  #words(run, busy, lines) {
    if (run.on) {
      const words = [`${run.done} of ${run.of} done`];
      if (run.word) words.push(run.word);
      if (run.left !== null) words.push(`${seconds(run.left)} left`);
      if (run.rate > 0) words.push(`${run.rate.toFixed(1)} s of audio per second`);
      return words.join(" · ");
    }
    if (busy) return "Starting …";
    const { rows, memory, seconds: time } = this.plan ?? {};
    const plan = rows && lines.some(isPending) ? ` · pending: ${rows} at once, ${memory} of memory, about ${seconds(time)}` : "";
    const spoken = lines.flatMap((line) => (line.made ?? []).filter((take) => !take.old).slice(-1));
    const total = spoken.reduce((sum, take) => sum + take.s, 0);
    const all = plural(lines.length, "line");
    return `${spoken.length ? `${all} · ${spoken.length} spoken, ${seconds(total)}` : all}${plan}`;
  }

  #count(which, n) {
    const button = this.buttons[which];
    button.disabled = n === 0;
    setText(button.querySelector(".st-count"), String(n));
    button.hidden = which !== "pending" && n === 0;
  }

  #button(words, which, look, act) {
    const node = el("button", { type: "button", class: `st-button ${look}`, data: { which } }, words, " ");
    if (which === "pending") node.append("pending ");
    node.append(el("b", { class: "st-count", text: "0" }));
    node.addEventListener("click", act);
    return node;
  }
}
