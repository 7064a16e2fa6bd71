// Own words that another tab was quicker than or that were not accepted, and what was not sent when the
// page was left. They lie in the browser's own storage until their owner takes or drops them: closing the
// tab loses nothing.

import { button, el } from "./dom.js";
import { emotionName } from "./emotion.js";

export class Kept extends EventTarget {
  constructor(token, left) {
    super();
    this.key = `zonos-studio-kept ${token}`;
    this.now = this.#read();
    const changed = ({ key }) => {
      if (key !== this.key) return;
      this.now = this.#read();
      this.dispatchEvent(new Event("change"));
    };
    addEventListener("storage", changed, { signal: left });
  }

  // `[field, own words, reason]`; no reason where another tab was quicker.
  of(id) {
    const reasons = this.now.reasons[id] ?? {};
    return Object.entries(this.now.words[id] ?? {}).map(([field, mine]) => [field, mine, reasons[field] ?? null]);
  }

  // Whether it is the first of its kind, so that it is said once however much is typed.
  put(id, field, value, reason = null) {
    const known = this.of(id).find(([name]) => name === field);
    this.#write(({ words, reasons }) => {
      words[id] = { ...words[id], [field]: value };
      reasons[id] = { ...reasons[id], [field]: reason };
    });
    return !known || known[2] !== reason;
  }

  drop(id, field) {
    this.#write(({ words, reasons }) => {
      for (const by of [words, reasons]) {
        delete by[id]?.[field];
        if (by[id] && Object.keys(by[id]).length === 0) delete by[id];
      }
    });
  }

  // The field holds something that was accepted by now.
  settle(id, field) {
    if (this.now.reasons[id]?.[field]) this.drop(id, field);
  }

  // Edits that may not have arrived when the page was left; given back once, when it is opened again.
  leave(edits) {
    this.#write((now) => now.left.push(...edits));
  }

  takeLeft() {
    const { left } = this.now;
    if (left.length) this.#write((now) => (now.left = []));
    return left;
  }

  #read() {
    try {
      return { words: {}, reasons: {}, left: [], ...JSON.parse(localStorage.getItem(this.key) ?? "{}") };
    } catch {
      return { words: {}, reasons: {}, left: [] }; // a browser that keeps nothing: the words stay in this tab
    }
  }

  #write(change) {
    const now = localStorageWorks() ? this.#read() : this.now;
    change(now);
    this.now = now;
    const empty = now.left.length === 0 && Object.keys(now.words).length === 0;
    try {
      if (empty) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, JSON.stringify(now));
    } catch {
      return; // full or forbidden: the words stay in this tab
    }
  }
}

function localStorageWorks() {
  try {
    return Boolean(localStorage);
  } catch {
    return false;
  }
}

// Under a row: what the other tab made of it or why it was not accepted, the own words, and a button that
// puts them back.
export function keptNode(line, words, facts) {
  const rows = words.map(([field, mine, reason]) => {
    const name = field.replaceAll("_", " ");
    const why = reason
      ? `Not accepted: ${reason}`
      : `Another tab changed the ${name} to ${shorten(said(field, line[field], facts))}`;
    return el(
      "p",
      { class: "st-kept-row" },
      el("span", { dir: "auto", text: `${why} Yours: ${said(field, mine, facts)}` }),
      button(`Use my ${name}`, { class: "st-small", data: { do: "use-mine", kept: field } }, `Use my ${name}`),
      button(`Drop my ${name}`, { class: "st-small", data: { do: "drop-mine", kept: field } }, `Drop my ${name}`),
    );
  });
  const node = el("div", { class: "st-kept" }, ...rows);
  // Taking the focus from the text would move the buttons away from under the pointer.
  node.addEventListener("mousedown", (event) => event.preventDefault());
  return node;
}

function said(field, value, facts) {
  if (field === "emotion") return `“${emotionName(value, facts)}”.`;
  if (value === null || value === undefined || value === "") return "nothing.";
  return `“${String(value)}”.`;
}

function shorten(words) {
  return words.length > 90 ? `${words.slice(0, 80)} …”.` : words;
}
