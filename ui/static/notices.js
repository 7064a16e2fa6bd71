// Notices with an optional undo, and one polite live region for those who hear the page.

import { el, setText } from "./dom.js";

const SHOWN_FOR = { plain: 6000, undo: 12000 };

export class Notices {
  constructor() {
    this.list = el("div", { class: "st-notices" });
    this.live = el("div", { class: "st-live", role: "status", "aria-live": "polite" });
  }

  say(words) {
    setText(this.live, words);
  }

  show(words, { undo = null, kind = "plain" } = {}) {
    const notice = el("div", { class: "st-notice", data: { kind } }, el("span", { text: words, dir: "auto" }));
    if (undo) {
      const button = el("button", { type: "button", class: "st-small", text: "Undo" });
      button.addEventListener("click", () => {
        undo();
        notice.remove();
      });
      notice.append(button);
    }
    this.list.append(notice);
    while (this.list.children.length > 4) this.list.firstChild.remove();
    setTimeout(() => notice.remove(), undo ? SHOWN_FOR.undo : SHOWN_FOR.plain);
    this.say(words);
  }
}
