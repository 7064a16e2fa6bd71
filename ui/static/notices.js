// Notices with an undo or another act, and one polite live region for those who hear the page.

import { button, el, icon, setText } from "./dom.js";

const SHOWN_FOR = { plain: 6000, acting: 12000 };

export class Notices {
  constructor() {
    this.list = el("div", { class: "st-notices" });
    this.live = el("div", { class: "st-live", role: "status", "aria-live": "polite" });
  }

  say(words) {
    setText(this.live, words);
  }

  show(words, { undo = null, act = undo && { words: "Undo", act: undo }, kind = "plain", stay = false } = {}) {
    const notice = el("div", { class: "st-notice", data: stay ? { kind, stay: "yes" } : { kind } }, el("span", { text: words, dir: "auto" }));
    if (act) {
      const button = el("button", { type: "button", class: "st-small", text: act.words });
      button.addEventListener("click", () => {
        act.act();
        notice.remove();
      });
      notice.append(button);
    }
    if (stay) notice.append(this.#dismiss(notice));
    else setTimeout(() => notice.remove(), act ? SHOWN_FOR.acting : SHOWN_FOR.plain);
    this.list.append(notice);
    const passing = [...this.list.children].filter(({ dataset }) => !dataset.stay);
    for (const old of passing.slice(0, -4)) old.remove();
    this.say(words);
  }

  // For what must not go by itself: words that are nowhere else.
  #dismiss(notice) {
    const close = button("Dismiss", { class: "st-tool" }, icon("close"));
    close.addEventListener("click", () => notice.remove());
    return close;
  }
}
