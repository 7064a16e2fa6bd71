// The keyboard. Nothing fires while an input method composes.

import { el, popHead } from "./dom.js";

const KEYS = [
  ["Ctrl + Enter", "generate the line you are in"],
  ["Ctrl + Shift + Enter", "add a line below"],
  ["Esc", "leave the text, keep the line"],
  ["↑ ↓", "on a line: the one above or below"],
  ["Enter", "on a line: into its text"],
  ["Space", "on a line: play or pause its take"],
  ["X", "on a line: tick it"],
  ["S", "on a line: its settings and phonemes"],
  ["T", "on a line: its takes side by side"],
  ["Delete", "on a line: delete it (with undo)"],
  ["Ctrl + Z", "undo; with Shift: redo"],
  ["Alt + ↑ ↓", "move the line up or down"],
  ["?", "show or hide these keys"],
];

const TYPING = "input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable=true]";

export class Keys {
  constructor(acts) {
    this.acts = acts;
    const rows = KEYS.flatMap(([keys, does]) => [el("dt", {}, el("kbd", { text: keys })), el("dd", { text: does })]);
    this.popover = el(
      "div",
      { class: "st-pop st-keys", popover: "auto", role: "dialog", "aria-label": "Keys" },
      popHead(el("h3", { class: "st-pop-title", text: "Keys" })),
      el("dl", {}, ...rows),
    );
  }

  listen(root, left) {
    document.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
      if (event.key === "?" && !event.target.closest(TYPING)) return this.#do(event, () => this.toggle());
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && this.#mayUndo(event.target, root))
        return this.#do(event, () => this.acts.walk(event.shiftKey ? "redo" : "undo"));
      const row = event.target.closest?.(".st-row");
      if (row && root.contains(row)) this.#inRow(event, row);
    }, { signal: left });
  }

  // Inside a text the browser's own undo goes first.
  #mayUndo(target, root) {
    return !target.closest(TYPING) && (root.contains(target) || target === document.body);
  }

  toggle() {
    this.popover.togglePopover();
  }

  #inRow(event, row) {
    const { id } = row.dataset;
    const { key } = event;
    const ctrl = event.ctrlKey || event.metaKey;
    if (key === "Enter" && ctrl) {
      return this.#do(event, () => (event.shiftKey ? this.acts.addBelow(id) : this.acts.generate(id)));
    }
    if (event.altKey && (key === "ArrowUp" || key === "ArrowDown"))
      return this.#do(event, () => this.acts.move(id, key === "ArrowUp" ? -1 : 1));
    // The browser closes an open popover with this key, if nobody takes it.
    if (key === "Escape" && document.querySelector(".st-pop:popover-open")) return;
    if (key === "Escape" && event.target !== row) return this.#do(event, () => row.focus());
    if (event.target === row && !ctrl && !event.altKey) this.#onRow(event, id);
  }

  #onRow(event, id) {
    const acts = {
      ArrowUp: () => this.acts.step(id, -1),
      ArrowDown: () => this.acts.step(id, 1),
      Home: () => this.acts.step(id, -Infinity),
      End: () => this.acts.step(id, Infinity),
      Enter: () => this.acts.edit(id),
      " ": () => this.acts.play(id),
      x: () => this.acts.tick(id),
      s: () => this.acts.details(id),
      t: () => this.acts.takes(id),
      Delete: () => this.acts.remove(id),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) this.#do(event, act);
  }

  #do(event, act) {
    event.preventDefault();
    act();
  }
}
