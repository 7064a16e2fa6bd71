// The bar for ticked rows: one choice for all of them, as one step to undo.

import { button, el, plural, setText } from "./dom.js";

export class BulkBar {
  constructor(project, facts, acts) {
    Object.assign(this, { project, facts, acts });
    this.words = el("b");
    this.voice = this.#select("Voice", (voice) => acts.setOnTicked({ voice: voice || null }, "Voice set"));
    this.language = this.#select("Language", (language) => acts.setOnTicked({ language }, "Language set"));
    this.emotion = this.#select("Emotion", (name) => acts.setOnTicked({ emotion: this.#emotion(name) }, "Emotion set"));
    this.rate = this.#select("Pace", (rate) => acts.setOnTicked({ speaking_rate: rate === "default" ? null : rate === "auto" ? "auto" : Number(rate) }, "Pace set"));
    const remove = button("Delete the ticked lines", { class: "st-small" }, "Delete");
    const untick = button("Untick all", { class: "st-small" }, "Untick");
    remove.addEventListener("click", () => acts.remove(this.#ticked()));
    untick.addEventListener("click", () => project.tick(this.#ticked(), false));
    this.node = el("div", { class: "st-bulk", role: "toolbar", "aria-label": "Ticked lines", hidden: true });
    this.node.append(this.words, this.voice, this.language, this.emotion, this.rate, remove, untick);
    this.#fill(this.language, facts.languages);
    this.#fill(this.emotion, ["default", "auto", ...Object.keys(facts.presets)].map((name) => [name, name]));
    this.#fill(this.rate, PACES);
  }

  update() {
    const n = this.#ticked().length;
    this.node.hidden = n === 0;
    setText(this.words, `${plural(n, "line")} ticked`);
  }

  showVoices() {
    this.#fill(this.voice, [...this.project.about.voices.map(({ name }) => [name, name]), ["", "No voice"]]);
  }

  #ticked() {
    return this.project.order.filter((id) => this.project.lines.get(id).tick);
  }

  #emotion(name) {
    return name === "default" ? null : name === "auto" ? "auto" : { ...this.facts.presets[name] };
  }

  #select(title, act) {
    const select = el("select", { class: "st-select st-bulk-select", "aria-label": `${title} of ticked lines` });
    select.dataset.title = title;
    select.addEventListener("change", () => {
      act(select.value);
      select.selectedIndex = 0;
    });
    return select;
  }

  #fill(select, choices) {
    const title = el("option", { value: "\u0000title", text: `${select.dataset.title} …`, disabled: true, selected: true });
    select.replaceChildren(title, ...choices.map(([value, label]) => el("option", { value, text: label })));
  }
}

const PACES = [["default", "default"], ["auto", "auto"], ["10", "slow, 10"], ["12", "calm, 12"], ["14", "plain, 14"], ["17", "brisk, 17"], ["21", "fast, 21"]];
