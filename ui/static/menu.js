// The menu of one row.

import { el, openBeside } from "./dom.js";

export class RowMenu {
  constructor(actions) {
    this.actions = actions;
    this.popover = el("div", { class: "st-pop st-menu", popover: "auto", role: "menu", "aria-label": "Line" });
    this.popover.addEventListener("click", (event) => this.#act(event.target.closest("[data-act]")));
    this.popover.addEventListener("keydown", (event) => this.#walk(event));
  }

  open(line, anchor) {
    this.id = line.id;
    this.anchor = anchor;
    const items = this.actions.filter((action) => !action.when || action.when(line));
    this.popover.replaceChildren(
      ...items.map(({ name, words, keys = "", danger }) =>
        el(
          "button",
          { type: "button", role: "menuitem", class: danger ? "st-danger" : "", data: { act: name } },
          el("span", { text: words }),
          el("kbd", { text: keys }),
        ),
      ),
    );
    openBeside(this.popover, anchor);
    this.popover.firstChild?.focus();
  }

  #act(item) {
    if (!item) return;
    this.popover.hidePopover();
    this.actions.find((action) => action.name === item.dataset.act).act(this.id);
  }

  #walk(event) {
    const items = [...this.popover.children];
    const now = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    items[(now + step + items.length) % items.length].focus();
  }
}
