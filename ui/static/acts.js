// What a click, a key or a menu does to lines.

import { newId, plural } from "./dom.js";
import { isBusy } from "./status.js";

const PACE = { slowest: 9, fastest: 22 };

export class Acts {
  constructor(project, facts, player, notices, history, table) {
    Object.assign(this, { project, facts, player, notices, history, table });
    this.picked = new Map(); // line -> take chosen by hand in the picker
  }

  line(id) {
    return this.project.lines.get(id);
  }

  // The take that a row shows: picked by hand, else starred, else the newest that is not out of date.
  chosen(line) {
    const takes = line.made ?? [];
    return (
      takes.find((take) => take.id === this.picked.get(line.id)) ??
      takes.find((take) => take.star) ??
      takes.findLast((take) => !take.old) ??
      takes.at(-1)
    );
  }

  add(after = undefined, fields = null) {
    const id = newId();
    const near = this.line(after ?? this.project.order.at(-1));
    const usual = this.project.about.settings.new_row ?? {};
    const like = near ? { voice: near.voice, language: near.language } : {};
    const known = Object.fromEntries(
      Object.entries(fields ?? { ...like, ...usual }).filter(([, value]) => value !== undefined),
    );
    this.project.add(id, after, known);
    this.table.edit(id);
    return id;
  }

  useMine(id, field) {
    this.project.useMine(id, field);
    if (field === "text") this.#showText(id);
  }

  // Lines that another tab deleted while words were typed into them here, or that had no place.
  addAgain(lines) {
    this.history.group("add again", () => {
      for (const line of lines) {
        const extra = Object.fromEntries(["note", "slot"].filter((name) => line[name]).map((name) => [name, line[name]]));
        this.project.add(newId(), undefined, this.#fields(line), extra);
      }
    });
    this.table.edit(this.project.order.at(-1));
  }

  play(id) {
    const line = this.line(id);
    const take = this.chosen(line);
    if (take) this.player.toggle(line, take, this.table.number(id));
    else this.notices.show(`Line ${this.table.number(id)} has no take yet. Generate it first.`);
  }

  playNext(id) {
    const rest = this.project.order.slice(this.project.order.indexOf(id) + 1);
    const next = rest.find((other) => this.chosen(this.line(other)));
    if (next) this.play(next);
  }

  async generate(ids, takes = null) {
    const again = ids.length === 1 && (this.line(ids[0]).made ?? []).some((take) => !take.old);
    await this.told(() => this.project.generate("these", { ids, takes: takes ?? (again ? 1 : null) }));
  }

  remove(ids) {
    const busy = ids.filter((id) => isBusy(this.line(id)));
    if (busy.length) this.told(() => this.project.stop(busy));
    const place = this.project.order.indexOf(ids[0]);
    const gone = this.project.remove(ids);
    const words = gone.length === 1 ? `Line ${place + 1} deleted.` : `${plural(gone.length, "line")} deleted.`;
    this.notices.show(words, { undo: () => this.project.restore(gone) });
    this.table.rows.get(this.project.order[Math.min(place, this.project.order.length - 1)])?.focus();
  }

  star(line) {
    const take = this.chosen(line);
    this.project.star(line.id, take.id, !take.star);
  }

  setOnTicked(fields, words) {
    const ticked = this.project.order.filter((id) => this.line(id).tick);
    this.history.group(words, () => ticked.forEach((id) => this.project.set(id, fields)));
    this.notices.show(ticked.length ? `${words} for ${plural(ticked.length, "line")}.` : "No line is ticked.");
  }

  duplicate(id) {
    this.add(id, this.#fields(this.line(id)));
  }

  // At the caret, where it stands inside this row's text, else after the middle word.
  split(id) {
    const line = this.line(id);
    const { text } = this.table.rows.get(id).parts;
    const middle = line.text.indexOf(" ", line.text.length / 2);
    const caret = text.selectionStart;
    const at = caret > 0 && caret < line.text.length ? caret : middle;
    if (at <= 0) return this.notices.show("Put the caret where the line should be split.");
    const rest = { ...this.#fields(line), text: line.text.slice(at).trim() };
    this.history.group("split", () => {
      this.#write(id, line.text.slice(0, at).trim());
      this.add(id, rest);
    });
  }

  merge(id) {
    const next = this.project.order[this.project.order.indexOf(id) + 1];
    if (!next) return;
    this.history.group("merge", () => {
      this.#write(id, `${this.line(id).text.trim()} ${this.line(next).text.trim()}`);
      this.remove([next]);
    });
  }

  moveBy(id, step) {
    const { order } = this.project;
    const to = order.indexOf(id) + step;
    if (to < 0 || to >= order.length) return;
    this.project.move([id], step > 0 ? order[to] : (order[to - 1] ?? null));
    this.table.rows.get(id).focus();
  }

  tick(id, on, { range = false } = {}) {
    const { order } = this.project;
    const from = range ? order.indexOf(this.lastTicked) : -1;
    const to = order.indexOf(id);
    const ids = from < 0 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.lastTicked = id;
    this.project.tick(ids, on);
  }

  // A pace at which the line fits its time in the film, within what still sounds like speech.
  async fitSlot(id) {
    await this.told(async () => {
      const [voicing, look] = await Promise.all([this.project.api.voicing(), this.table.checks.now(id)]);
      const line = this.line(id);
      const now = typeof line.speaking_rate === "number" ? line.speaking_rate : Number(voicing.defaults.speaking_rate) || 14;
      const take = line.made?.findLast((one) => !one.old);
      const long = take?.s ?? look?.seconds;
      const room = line.slot[1] - line.slot[0];
      if (!long) return "This line has nothing to fit yet.";
      const wanted = (now * long) / room;
      const rate = Math.round(10 * Math.min(Math.max(wanted, PACE.slowest), PACE.fastest)) / 10;
      this.project.set(id, { speaking_rate: rate });
      const said = `Line ${this.table.number(id)}: speaking rate ${rate}.`;
      return wanted > PACE.fastest ? `${said} It still runs over its slot; shorten the text.` : said;
    });
  }

  useTake(id) {
    this.project.useTake(id, this.chosen(this.line(id)).id, this.facts.fields);
  }

  dropTake(id, take = this.chosen(this.line(id))) {
    this.picked.delete(id);
    this.project.dropTake(take.id);
    this.notices.show(`Take ${take.n} put away.`, { undo: () => this.project.bringTake(take.id) });
  }

  async newRowsLike(id) {
    const { text, name, seed, ...like } = this.#fields(this.line(id));
    await this.told(async () => {
      await this.project.api.project({ settings: { new_row: like } });
      this.project.pollNow();
      return "New lines start like this one.";
    });
  }

  // Asked here as in the Voices tab: the answer is kept with the voice.
  askVoiceFromFile(id, file) {
    const yes = { words: "I may use this voice", act: () => this.#voiceFromFile(id, file) };
    this.notices.show(`“${file.name}”: is this voice yours, or did its owner agree?`, { act: yes, stay: true });
  }

  async #voiceFromFile(id, file) {
    this.notices.show(`Reading ${file.name} …`);
    await this.told(async () => {
      const { name, said } = await this.project.api.voice(file, "", true);
      this.project.pollNow();
      this.project.set(id, { voice: name });
      this.table.fillVoices(id);
      return said;
    });
  }

  walk(way) {
    const words = this.history[way]();
    this.notices.say(words ? `${way === "undo" ? "Undone" : "Done again"}: ${words}.` : `Nothing to ${way}.`);
  }

  // Every answer and every fault is said in words.
  async told(work) {
    try {
      const said = await work();
      if (said) this.notices.show(said);
    } catch (error) {
      this.notices.show(error.message, { kind: "trouble" });
    }
  }

  // A text that is changed by an act, not by typing, shows even where its field has the focus.
  #write(id, words) {
    this.project.set(id, { text: words });
    this.#showText(id);
  }

  #showText(id) {
    const { text } = this.table.rows.get(id).parts;
    text.value = text.base = this.line(id).text;
  }

  #fields(line) {
    const known = this.facts.fields.filter((name) => name in line);
    return Object.fromEntries(known.map((name) => [name, structuredClone(line[name])]));
  }
}

export function menuOf(acts, { details, takes }) {
  const takesOf = (line) => (line.made ?? []).length;
  const free = (line) => !isBusy(line) && line.text.trim();
  const follows = (line) => acts.project.order.at(-1) !== line.id;
  return [
    { name: "generate", words: "New take", keys: "Ctrl Enter", when: free, act: (id) => acts.generate([id], 1) },
    { name: "three", words: "Three new takes", when: free, act: (id) => acts.generate([id], 3) },
    { name: "stop", words: "Stop this line", when: isBusy, act: (id) => acts.told(() => acts.project.stop([id])) },
    { name: "details", words: "Settings and phonemes …", keys: "S", act: (id) => details(id) },
    { name: "takes", words: "Compare takes …", keys: "T", when: takesOf, act: (id) => takes(id) },
    { name: "use", words: "Restore the line of this take", when: takesOf, act: (id) => acts.useTake(id) },
    { name: "fit", words: "Fit to its slot", when: (line) => line.slot && line.text.trim(), act: (id) => acts.fitSlot(id) },
    { name: "duplicate", words: "Duplicate", act: (id) => acts.duplicate(id) },
    { name: "split", words: "Split at the caret", act: (id) => acts.split(id) },
    { name: "merge", words: "Merge with the next", when: follows, act: (id) => acts.merge(id) },
    { name: "below", words: "Add line below", keys: "Ctrl Shift Enter", act: (id) => acts.add(id) },
    { name: "like", words: "New lines like this one", act: (id) => acts.newRowsLike(id) },
    { name: "up", words: "Move up", keys: "Alt ↑", act: (id) => acts.moveBy(id, -1) },
    { name: "down", words: "Move down", keys: "Alt ↓", act: (id) => acts.moveBy(id, 1) },
    { name: "delete", words: "Delete", keys: "Del", danger: true, act: (id) => acts.remove([id]) },
  ];
}
