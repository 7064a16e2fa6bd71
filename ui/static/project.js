// The browser's copy of a project. The browser owns edits: they show at once, are sent as small
// patches keyed by row id, and what comes back never overwrites a field that is not sent yet.

import { Gone } from "./api.js";
import { Kept } from "./kept.js";
import { lineOf } from "./outbox.js";
import { Sender } from "./sender.js";

const POLL = { running: 350, idle: 2500, hidden: 15000, broken: 2000 };

export class Project extends Sender {
  constructor(api, left) {
    super(api, new Kept(api.token, left));
    this.kept.addEventListener("change", () => this.tell("lines", { ids: [...this.lines.keys()] }));
    this.lines = new Map();
    this.order = [];
    this.about = { name: "", settings: {}, voices: [] };
    this.run = { on: false };
    this.revision = 0;
    this.unmade = new Set(); // lines that the server did not take
  }

  async open(left, first) {
    await this.#poll(first);
    await this.sendLeft();
    addEventListener("focus", () => this.pollNow(), { signal: left });
    addEventListener("pagehide", () => this.leave(), { signal: left });
    addEventListener("pageshow", ({ persisted }) => persisted && this.sendLeft(), { signal: left });
    document.addEventListener("visibilitychange", () => document.hidden || this.pollNow(), { signal: left });
  }

  async close() {
    this.closed = true;
    clearTimeout(this.pollTimer);
    await this.flush().catch(() => this.kept.leave(this.outbox.waiting));
  }

  // --- edits -------------------------------------------------------------------------------

  // `shown`: what their fields showed, where that may be older than the line: another tab may have
  // changed it meanwhile, and the server then keeps its words and we keep ours beside them.
  set(id, fields, shown = {}) {
    if (!this.lines.has(id)) return;
    const step = this.#change(id, fields, shown);
    const undo = () => this.set(id, step.before, step.after);
    const redo = () => this.set(id, step.after, step.before);
    this.#did("change", undo, redo, `${id} ${Object.keys(fields)}`, step);
  }

  #change(id, fields, shown = {}) {
    const line = this.lines.get(id);
    const before = Object.fromEntries(Object.keys(fields).map((name) => [name, copy(line[name] ?? null)]));
    const after = copy(fields);
    const base = { ...before, ...copy(shown) };
    for (const [name, value] of Object.entries(after)) {
      if (value === null) delete line[name];
      else line[name] = value;
    }
    this.outbox.pushFields(id, after, base);
    this.#edited([id]);
    return { before, after };
  }

  // `after`: behind this row; null: at the top; undefined: at the end.
  add(id, after, fields = {}, extra = {}) {
    const line = { id, text: "", language: "en-us", ...copy(fields), ...extra };
    this.lines.set(id, line);
    const place = after === null ? 0 : after === undefined ? this.order.length : this.order.indexOf(after) + 1;
    this.order.splice(place, 0, id);
    this.#reposition([id], place);
    const where = after === null ? { first: true } : { after: after ?? null };
    this.#did("new line", () => this.remove([id]), () => this.restore([line]));
    this.#push({ op: "add", id, ...where, fields: copy(fields), ...extra });
  }

  remove(ids) {
    const gone = ids.map((id) => this.lines.get(id)).filter(Boolean);
    if (gone.length === 0) return gone;
    for (const line of gone) this.lines.delete(line.id);
    this.order = this.order.filter((id) => this.lines.has(id));
    this.#did("delete", () => this.restore(gone), () => this.remove(ids));
    this.#push({ op: "delete", ids: gone.map((line) => line.id) });
    return gone;
  }

  restore(lines) {
    const gone = lines.filter((line) => !this.unmade.has(line.id));
    if (gone.length === 0) return;
    for (const line of gone) this.lines.set(line.id, line);
    this.#sort();
    const ids = gone.map((line) => line.id);
    this.#did("bring back", () => this.remove(ids), () => this.restore(gone));
    this.#push({ op: "restore", ids });
  }

  move(ids, after) {
    const before = new Map(ids.map((id) => [id, this.order[this.order.indexOf(id) - 1] ?? null]));
    this.order = this.order.filter((id) => !ids.includes(id));
    const place = after === null ? 0 : this.order.indexOf(after) + 1;
    this.order.splice(place, 0, ...ids);
    this.#reposition(ids, place);
    const back = () => before.forEach((neighbour, id) => this.move([id], neighbour));
    this.#did("move", back, () => this.move(ids, after));
    this.#push({ op: "move", ids, after });
  }

  tick(ids, on) {
    for (const id of ids) {
      const line = this.lines.get(id);
      if (line) line.tick = on ? 1 : 0;
    }
    if (ids.length) this.#push({ op: "tick", ids, on });
  }

  note(id, note, shown = null) {
    const line = this.lines.get(id);
    const step = { before: line.note ?? "", after: note };
    line.note = note;
    const undo = () => this.note(id, step.before, step.after);
    const redo = () => this.note(id, step.after, step.before);
    this.#did("note", undo, redo, `${id} note`, step);
    this.#push({ op: "note", id, note, base: shown ?? step.before });
  }

  star(id, take, on) {
    for (const other of this.lines.get(id)?.made ?? []) other.star = other.id === take && on ? 1 : 0;
    this.#push({ op: on ? "star" : "unstar", take });
  }

  dropTake(take) {
    this.#did("put away", () => this.bringTake(take), () => this.dropTake(take));
    this.#push({ op: "drop-take", take });
  }

  bringTake(take) {
    this.#did("bring back", () => this.dropTake(take), () => this.bringTake(take));
    this.#push({ op: "restore-take", take });
  }

  // Puts a take's settings into its line, unless another tab changed the line since it was shown here.
  useTake(id, take, names) {
    const fields = () => Object.fromEntries(names.map((name) => [name, copy(this.lines.get(id)?.[name] ?? null)]));
    const step = { before: fields(), after: {} };
    this.#did("restore", () => this.#unuse(id, take, step), () => this.useTake(id, take, names));
    this.#push({ op: "use-take", take, base: step.before });
    // What the server made of the line is known when it has answered.
    this.flush().then(() => (step.after = fields()), () => {});
  }

  async #unuse(id, take, step) {
    await this.flush().catch(() => {}); // it is tried again
    if (!this.outbox.withdraw(take) && this.lines.has(id)) this.#change(id, step.before, step.after);
  }

  useMine(id, field) {
    const mine = Object.fromEntries(this.kept.of(id))[field];
    this.kept.drop(id, field);
    if (field === "note") this.note(id, mine ?? "");
    else this.set(id, { [field]: mine });
  }

  dropMine(id, field) {
    this.kept.drop(id, field);
    this.tell("lines", { ids: [id] });
  }

  // --- runs --------------------------------------------------------------------------------

  async generate(which, options = {}) {
    await this.flush();
    const { said } = await this.api.run(which, options);
    this.pollNow();
    return said;
  }

  async stop(ids = null) {
    const { said } = await this.api.stop(ids);
    this.pollNow();
    return said;
  }

  // Takes a line back that the server did not take.
  unmake(id, edits) {
    const line = this.lines.get(id) ?? lineOf(edits, id);
    this.unmade.add(id);
    this.outbox.forget(id);
    this.lines.delete(id);
    this.order = this.order.filter((other) => other !== id);
    this.tell("lines", { ids: [] });
    return line;
  }

  #did(words, undo, redo, key = null, step = null) {
    this.tell("did", { words, undo, redo, key, step });
  }

  #push(edit) {
    this.outbox.push(edit);
    this.#edited(edit.ids ?? (edit.id ? [edit.id] : []));
  }

  #edited(ids) {
    this.tell("lines", { ids });
    this.sendSoon();
  }

  // --- hearing -----------------------------------------------------------------------------

  pollNow() {
    clearTimeout(this.pollTimer);
    if (!this.closed) this.pollTimer = setTimeout(() => this.#poll(), 0);
  }

  async #poll(asked = null) {
    let wait = POLL.idle;
    try {
      if (!this.sending) this.merge(await (asked ?? this.api.changes(this.seen)));
      if (this.outbox.empty) this.healthy(); // else whether it can be sent says more
      wait = document.hidden ? POLL.hidden : this.run.on ? POLL.running : POLL.idle;
    } catch (error) {
      this.broken(error);
      if (error instanceof Gone) return;
      wait = POLL.broken;
    }
    clearTimeout(this.pollTimer);
    if (!this.closed) this.pollTimer = setTimeout(() => this.#poll(), wait);
  }

  // The number of the last change that is known here; 0 asks for everything.
  get seen() {
    return this.astray ? 0 : this.revision;
  }

  merge(answer) {
    if (this.closed || (answer.revision < this.revision && !answer.all)) return; // an older answer came late
    this.revision = answer.revision;
    if (answer.all) this.astray = false;
    if (answer.project) {
      this.about = answer.project;
      this.tell("about");
    }
    const before = this.run;
    this.run = answer.run;
    if (answer.lines) this.#mergeLines(answer);
    this.tell("run", { before });
  }

  #mergeLines(answer) {
    const here = this.outbox.all;
    const removed = new Set(here.filter((e) => e.op === "delete").flatMap((e) => e.ids));
    const restored = new Set(here.filter((e) => e.op === "restore").flatMap((e) => e.ids));
    const moved = new Set(here.filter((e) => e.op === "move").flatMap((e) => e.ids));
    const ids = [];
    for (const line of answer.lines) {
      if (removed.has(line.id)) continue;
      this.lines.set(line.id, this.#mine(line, moved.has(line.id)));
      ids.push(line.id);
    }
    for (const id of answer.gone ?? []) {
      if (restored.has(id) || !this.lines.has(id)) continue;
      this.departed.set(id, this.lines.get(id));
      this.lines.delete(id);
    }
    if (answer.all) this.#dropUnknown(answer, here);
    this.#sort();
    this.tell("lines", { ids: answer.all ? null : ids });
  }

  // The server's row, with the producer's own newer words in it.
  #mine(line, moved) {
    const old = this.lines.get(line.id);
    if (!old) return line;
    const merged = { ...line };
    if (moved) merged.p = old.p;
    for (const edit of this.outbox.all) {
      if (edit.op === "set" && edit.id === line.id) {
        for (const name of Object.keys(edit.fields)) {
          if (name in old) merged[name] = old[name];
          else delete merged[name];
        }
      }
      if (edit.op === "tick" && edit.ids.includes(line.id)) merged.tick = old.tick;
      if (edit.op === "note" && edit.id === line.id) merged.note = old.note;
    }
    return merged;
  }

  #dropUnknown(answer, here) {
    const known = new Set(answer.lines.map((line) => line.id));
    for (const edit of here) if (edit.op === "add") known.add(edit.id);
    for (const id of this.lines.keys()) if (!known.has(id)) this.lines.delete(id);
  }

  #sort() {
    const at = (id) => this.lines.get(id).p ?? Infinity;
    this.order = [...this.lines.keys()].sort((a, b) => at(a) - at(b) || (a < b ? -1 : 1));
  }

  // The server gives final positions; until then a row lies between its neighbours.
  #reposition(ids, place) {
    const low = this.lines.get(this.order[place - 1])?.p ?? 0;
    const high = this.lines.get(this.order[place + ids.length])?.p ?? low + 1024;
    ids.forEach((id, i) => {
      this.lines.get(id).p = low + ((high - low) * (i + 1)) / (ids.length + 1);
    });
  }
}

function copy(value) {
  return value === undefined ? undefined : structuredClone(value);
}
