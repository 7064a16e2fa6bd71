// Notices with an undo or another act, and one polite live region for those who hear the page.

import { el, setText } from "./dom.js";

const SHOWN_FOR = { plain: 6000, acting: 12000 };

export class Notices {
  constructor() {
    this.list = el("div", { class: "st-notices" });
    this.live = el("div", { class: "st-live", role: "status", "aria-live": "polite" });
  }

  say(words) {
    setText(this.live, words);
  }

  show(words, { undo = null, act = undo && { words: "Undo", act: undo }, kind = "plain" } = {}) {
    const notice = el("div", { class: "st-notice", data: { kind } }, el("span", { text: words, dir: "auto" }));
    if (act) {
      const button = el("button", { type: "button", class: "st-small", text: act.words });
      button.addEventListener("click", () => {
        act.act();
        notice.remove();
      });
      notice.append(button);
    }
    this.list.append(notice);
    while (this.list.children.length > 4) this.list.firstChild.remove();
    setTimeout(() => notice.remove(), act ? SHOWN_FOR.acting : SHOWN_FOR.plain);
    this.say(words);
  }
}
