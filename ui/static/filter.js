// Which rows show: by what is going on with them, and by words; and replacing those words.

import { button, el, plural } from "./dom.js";
import { isPending } from "./status.js";

const KINDS = [
  ["all", "All", () => true],
  ["pending", "Pending", isPending],
  ["failed", "Failed", (line) => line.state === "failed"],
  ["changed", "Changed since", (line) => (line.made ?? []).length > 0 && line.made.every((take) => take.old)],
  ["ticked", "Ticked", (line) => Boolean(line.tick)],
];

export class Filter extends EventTarget {
  constructor(project, history, notices) {
    super();
    Object.assign(this, { project, history, notices });
    this.kind = "all";
    this.chips = KINDS.map(([kind, words]) => {
      const chip = el("button", { type: "button", class: "st-preset", data: { kind }, "aria-pressed": String(kind === "all") }, `${words} `);
      chip.append(el("b", { class: "st-count" }));
      chip.addEventListener("click", () => this.#pick(kind));
      return chip;
    });
    this.find = el("input", { type: "search", class: "st-input", placeholder: "Find in lines", "aria-label": "Find in lines" });
    this.replacement = el("input", { type: "text", class: "st-input", placeholder: "Replace with", "aria-label": "Replace with" });
    this.matchCase = el("input", { type: "checkbox" });
    this.replaceButton = button("Replace in all lines that show", { class: "st-small" }, "Replace");
    const more = el("span", { class: "st-replace" }, el("label", {}, this.matchCase, "Aa"), this.replacement, this.replaceButton);
    this.matchCase.title = "Match upper and lower case";
    this.matchCase.setAttribute("aria-label", this.matchCase.title);
    this.node = el("div", { class: "st-filter", role: "search" }, ...this.chips, this.find, more);
    this.find.addEventListener("input", () => this.#changed());
    this.matchCase.addEventListener("change", () => this.#changed());
    this.replaceButton.addEventListener("click", () => this.#replace());
  }

  get active() {
    return this.kind !== "all" || this.find.value !== "";
  }

  matches(line) {
    const [, , fits] = KINDS.find(([kind]) => kind === this.kind);
    return fits(line) && (this.find.value === "" || this.#pattern().test(line.text));
  }

  count() {
    const lines = [...this.project.lines.values()];
    KINDS.forEach(([kind, , fits], i) => {
      const n = lines.filter(fits).length;
      this.chips[i].querySelector(".st-count").textContent = String(n);
      this.chips[i].hidden = n === 0 && kind !== "all" && kind !== this.kind;
    });
    this.node.classList.toggle("st-finding", this.find.value !== "");
  }

  #pick(kind) {
    this.kind = kind;
    for (const chip of this.chips) chip.setAttribute("aria-pressed", String(chip.dataset.kind === kind));
    this.#changed();
  }

  #replace() {
    const found = this.project.order.map((id) => this.project.lines.get(id)).filter((line) => this.matches(line));
    this.history.group("replace", () => {
      for (const line of found) {
        const text = line.text.replace(this.#pattern("gu"), () => this.replacement.value);
        this.project.set(line.id, { text });
      }
    });
    this.notices.show(`Replaced in ${plural(found.length, "line")}.`);
  }

  #pattern(flags = "u") {
    const words = this.find.value.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    return new RegExp(words, this.matchCase.checked ? flags : `${flags}i`);
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
