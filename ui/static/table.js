// The table: rows keyed by id, one delegated listener, and what a click or a key does to a line.

import { button, el, newId, plural } from "./dom.js";
import { EmotionEditor } from "./emotion.js";
import { Keys } from "./keys.js";
import { RowMenu } from "./menu.js";
import { buildRow, fillChoices, grow, takeWords, updateRow, updateStatus, updateTakes } from "./row.js";
import { isBusy } from "./status.js";
import { dropClips, pickClip } from "./clips.js";

export class Table {
  constructor(project, facts, player, notices, left) {
    Object.assign(this, { project, facts, player, notices, left });
    this.rows = new Map();
    this.picked = new Map(); // line -> take chosen by hand in the picker
    this.list = el("div", { class: "st-rows", role: "list", "aria-label": "Lines" });
    this.head = this.#head();
    this.emotion = new EmotionEditor(facts, {
      change: (id, emotion) => project.set(id, { emotion }),
      copyToTicked: (emotion) => this.#copyToTicked(emotion),
    });
    this.menu = new RowMenu(this.#menuActions());
    this.keys = new Keys(this.#keyActions());
    this.node = el("div", { class: "st-table" }, this.head, this.list, this.#foot());
    this.popovers = [this.emotion.popover, this.menu.popover, this.keys.popover];
    this.context = this.#context();
    this.#listen();
  }

  // --- showing -----------------------------------------------------------------------------

  show(ids = null) {
    const { project } = this;
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
      if (fresh) this.rows.set(id, (row = buildRow(id)));
      const here = previous ? previous.nextSibling : this.list.firstChild;
      if (here !== row) this.#keepFocus(row, () => this.list.insertBefore(row, here));
      if (fresh || some === null || some.has(id) || row.number !== index + 1)
        updateRow(row, project.lines.get(id), index + 1, this.context);
      previous = row;
    });
    this.#showHead();
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
    for (const [id, row] of this.rows) {
      const line = this.project.lines.get(id);
      if (line) updateTakes(row, line, this.context);
    }
  }

  newTake(id) {
    this.picked.delete(id);
  }

  #keepFocus(row, move) {
    const focused = row.contains(document.activeElement) ? document.activeElement : null;
    move();
    focused?.focus({ preventScroll: true });
  }

  #context() {
    const { project, facts, player } = this;
    const languages = new Map(facts.languages);
    return {
      facts,
      part: (id) => (project.run.on ? project.run.part[id] : undefined),
      hasVoice: (name) => project.about.voices.some((voice) => voice.name.toLowerCase() === name.toLowerCase()),
      languageName: (code) => languages.get(code) ?? code,
      chosen: (line) => this.#chosen(line),
      address: (take) => project.api.takeAddress(take),
      fileName: (line, take, number) => fileName(line, take, number),
      playing: () => player.playing,
    };
  }

  #chosen(line) {
    const takes = line.takes ?? [];
    return (
      takes.find((take) => take.id === this.picked.get(line.id)) ??
      takes.find((take) => take.star) ??
      takes.findLast((take) => !take.old) ??
      takes.at(-1)
    );
  }

  #head() {
    const all = el("input", { type: "checkbox", class: "st-tick", "aria-label": "Tick all lines" });
    all.addEventListener("change", () => this.project.tick([...this.project.order], all.checked));
    const names = ["", "Voice", "Text", "Language", "Emotion", "Status", "Take", ""];
    const cells = names.map((name) => el("span", { text: name }));
    return el("div", { class: "st-row st-head", "aria-hidden": "false" }, el("label", { class: "st-cell-tick" }, all), ...cells);
  }

  #showHead() {
    const box = this.head.querySelector("input");
    const ticked = this.project.order.filter((id) => this.project.lines.get(id).tick).length;
    box.checked = ticked > 0 && ticked === this.project.order.length;
    box.indeterminate = ticked > 0 && !box.checked;
  }

  #foot() {
    const add = el("button", { type: "button", class: "st-add", text: "+ Add line" });
    add.addEventListener("click", () => this.add());
    const keys = button("Show the keys", { class: "st-small" }, "? Keys");
    keys.addEventListener("click", () => this.keys.toggle());
    return el("div", { class: "st-foot" }, add, keys);
  }

  // --- hearing -----------------------------------------------------------------------------

  #listen() {
    const { list } = this;
    list.addEventListener("input", (event) => this.#typed(event));
    list.addEventListener("change", (event) => this.#changed(event));
    list.addEventListener("click", (event) => this.#clicked(event));
    list.addEventListener("pointerdown", (event) => this.#fill(event.target));
    list.addEventListener("focusin", (event) => this.#fill(event.target));
    list.addEventListener("focusout", (event) => this.#left(event));
    this.keys.listen(this.node, this.left);
    dropClips(list, (row, file) => this.#voiceFromFile(row.dataset.id, file));
  }

  #typed({ target }) {
    if (target.dataset.field !== "text") return;
    grow(target);
    this.project.set(rowOf(target).dataset.id, { text: target.value });
  }

  #changed({ target }) {
    const { id } = rowOf(target).dataset;
    if (target.dataset.field === "voice" && target.value === UPLOAD) return this.#pickVoice(id, target);
    if (target.dataset.field === "voice") this.project.set(id, { voice: target.value || null });
    if (target.dataset.field === "language") this.project.set(id, { language: target.value });
    if (target.dataset.do === "tick") this.project.tick([id], target.checked);
    if (target.dataset.do === "take") {
      this.picked.set(id, target.value);
      this.show([id]);
    }
  }

  #clicked(event) {
    const target = event.target.closest("[data-do]");
    if (!target) return;
    const row = rowOf(target);
    const line = this.project.lines.get(row.dataset.id);
    const acts = {
      emotion: () => this.emotion.open(line, row.number, target),
      menu: () => this.menu.open(line, target),
      play: () => this.play(line.id),
      star: () => this.#star(line),
      generate: () => this.generate([line.id]),
    };
    acts[target.dataset.do]?.();
  }

  #fill(target) {
    if (target.tagName !== "SELECT" || target.dataset.full) return;
    const line = this.project.lines.get(rowOf(target).dataset.id);
    if (target.dataset.field === "voice") fillChoices(target, this.#voices(), line.voice ?? "");
    if (target.dataset.field === "language") fillChoices(target, this.facts.languages, line.language);
    if (target.dataset.do === "take") {
      const takes = line.takes ?? [];
      fillChoices(target, takes.map((take) => [take.id, takeWords(take, takes.length)]), this.#chosen(line).id);
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

  // --- doing -------------------------------------------------------------------------------

  add(after = undefined, fields = null) {
    const id = newId();
    const near = this.project.lines.get(after ?? this.project.order.at(-1));
    const like = near ? { voice: near.voice, language: near.language } : {};
    const known = Object.fromEntries(Object.entries(fields ?? like).filter(([, value]) => value !== undefined));
    this.project.add(id, after, known);
    this.edit(id);
    return id;
  }

  edit(id) {
    const { text } = this.rows.get(id).parts;
    text.focus();
    text.scrollIntoView({ block: "nearest" });
  }

  play(id) {
    const line = this.project.lines.get(id);
    const take = this.#chosen(line);
    if (take) this.player.toggle(line, take, this.rows.get(id).number);
    else this.notices.show(`Line ${this.rows.get(id).number} has no take yet. Generate it first.`);
  }

  playNext(id) {
    const rest = this.project.order.slice(this.project.order.indexOf(id) + 1);
    const next = rest.find((other) => this.#chosen(this.project.lines.get(other)));
    if (next) this.play(next);
  }

  async generate(ids, takes = null) {
    const again = ids.length === 1 && (this.project.lines.get(ids[0]).takes ?? []).some((take) => !take.old);
    try {
      this.notices.say(await this.project.generate("these", { ids, takes: takes ?? (again ? 1 : null) }));
    } catch (error) {
      this.notices.show(error.message, { kind: "trouble" });
    }
  }

  remove(ids) {
    const busy = ids.filter((id) => isBusy(this.project.lines.get(id)));
    if (busy.length) this.project.stop(busy).catch((error) => this.notices.show(error.message));
    const place = this.project.order.indexOf(ids[0]);
    const gone = this.project.remove(ids);
    const words = gone.length === 1 ? `Line ${place + 1} deleted.` : `${plural(gone.length, "line")} deleted.`;
    this.notices.show(words, { undo: () => this.project.restore(gone) });
    this.rows.get(this.project.order[Math.min(place, this.project.order.length - 1)])?.focus();
  }

  #star(line) {
    const take = this.#chosen(line);
    this.project.star(line.id, take.id, !take.star);
  }

  #copyToTicked(emotion) {
    const ticked = this.project.order.filter((id) => this.project.lines.get(id).tick);
    for (const id of ticked) this.project.set(id, { emotion: emotion ?? null });
    this.notices.show(ticked.length ? `Emotion given to ${plural(ticked.length, "ticked line")}.` : "No line is ticked.");
  }

  #duplicate(id) {
    const fields = copyOf(this.project.lines.get(id), this.facts.fields);
    this.add(id, fields);
  }

  // At the caret, where it stands in this row's text, else after the middle word.
  #split(id) {
    const line = this.project.lines.get(id);
    const { text } = this.rows.get(id).parts;
    const middle = line.text.indexOf(" ", line.text.length / 2);
    const caret = text.selectionStart;
    const at = caret > 0 && caret < line.text.length ? caret : middle;
    if (at <= 0) return this.notices.show("Put the caret where the line should be split.");
    const fields = copyOf(line, this.facts.fields);
    const rest = line.text.slice(at).trim();
    this.project.set(id, { text: line.text.slice(0, at).trim() });
    text.value = this.project.lines.get(id).text;
    this.add(id, { ...fields, text: rest });
  }

  #moveBy(id, step) {
    const { order } = this.project;
    const from = order.indexOf(id);
    const to = from + step;
    if (to < 0 || to >= order.length) return;
    const after = step > 0 ? order[to] : (order[to - 1] ?? null);
    this.project.move([id], after);
    this.rows.get(id).focus();
  }

  #step(id, step) {
    const { order } = this.project;
    const to = Math.min(Math.max(order.indexOf(id) + step, 0), order.length - 1);
    const row = this.rows.get(order[to]);
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  #pickVoice(id, select) {
    select.value = this.project.lines.get(id).voice ?? "";
    pickClip((file) => this.#voiceFromFile(id, file));
  }

  async #voiceFromFile(id, file) {
    this.notices.show(`Reading ${file.name} …`);
    try {
      const { name, said } = await this.project.api.voice(file, "", true);
      this.project.pollNow();
      this.project.set(id, { voice: name });
      fillChoices(this.rows.get(id).parts.voice, this.#voices(), name);
      this.notices.show(said);
    } catch (error) {
      this.notices.show(error.message, { kind: "trouble" });
    }
  }

  #menuActions() {
    const takesOf = (line) => (line.takes ?? []).length;
    const free = (line) => !isBusy(line) && line.text.trim();
    return [
      { name: "generate", words: "New take", keys: "Ctrl Enter", when: free, act: (id) => this.generate([id], 1) },
      { name: "three", words: "Three new takes", when: free, act: (id) => this.generate([id], 3) },
      { name: "stop", words: "Stop this line", when: isBusy, act: (id) => this.project.stop([id]) },
      { name: "use", words: "Restore the line of this take", when: takesOf, act: (id) => this.#useTake(id) },
      { name: "duplicate", words: "Duplicate", act: (id) => this.#duplicate(id) },
      { name: "split", words: "Split at the caret", act: (id) => this.#split(id) },
      { name: "below", words: "Add line below", keys: "Ctrl Shift Enter", act: (id) => this.add(id) },
      { name: "up", words: "Move up", keys: "Alt ↑", act: (id) => this.#moveBy(id, -1) },
      { name: "down", words: "Move down", keys: "Alt ↓", act: (id) => this.#moveBy(id, 1) },
      { name: "delete", words: "Delete", danger: true, act: (id) => this.remove([id]) },
    ];
  }

  #useTake(id) {
    this.project.take("use-take", this.#chosen(this.project.lines.get(id)).id);
  }

  #keyActions() {
    return {
      generate: (id) => this.generate([id]),
      addBelow: (id) => this.add(id),
      move: (id, step) => this.#moveBy(id, step),
      step: (id, step) => this.#step(id, step),
      edit: (id) => this.edit(id),
      play: (id) => this.play(id),
      tick: (id) => this.project.tick([id], !this.project.lines.get(id).tick),
      remove: (id) => this.remove([id]),
    };
  }
}

const UPLOAD = "\u0000upload";

function rowOf(node) {
  return node.closest(".st-row");
}

function copyOf(line, fields) {
  return Object.fromEntries(fields.filter((name) => name in line).map((name) => [name, structuredClone(line[name])]));
}

function fileName(line, take, number) {
  const words = line.text.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const parts = [String(number).padStart(3, "0"), line.voice, words.slice(0, 32), `take${take.n}`];
  return `${parts.filter(Boolean).join("_").replace(/[\\/:*?"<>|\s]+/g, "-")}.wav`;
}
