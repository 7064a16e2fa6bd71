// The browser's copy of a project. The browser owns edits: they show at once, are sent as small
// patches keyed by row id, and what comes back never overwrites a field that is not sent yet.

import { Gone, Refused } from "./api.js";
import { Kept } from "./kept.js";

const SEND_AFTER = 250;
const POLL = { running: 350, idle: 2500, hidden: 15000, broken: 2000 };

export class Project extends EventTarget {
  constructor(api, left) {
    super();
    this.api = api;
    this.kept = new Kept(api.token, left);
    this.kept.addEventListener("change", () => this.#tell("lines", { ids: [...this.lines.keys()] }));
    this.lines = new Map();
    this.order = [];
    this.about = { name: "", settings: {}, voices: [] };
    this.run = { on: false };
    this.revision = 0;
    this.outbox = [];
    this.inflight = [];
    this.departed = new Map(); // lines that another tab deleted; their words may still be wanted here
    this.trouble = null;
    this.closed = false;
  }

  async open(left, first) {
    await this.#poll(first);
    this.#takeLeft();
    addEventListener("focus", () => this.pollNow(), { signal: left });
    addEventListener("pagehide", () => this.#leave(), { signal: left });
    document.addEventListener("visibilitychange", () => document.hidden || this.pollNow(), { signal: left });
  }

  close() {
    this.closed = true;
    clearTimeout(this.pollTimer);
    return this.flush();
  }

  // --- edits -------------------------------------------------------------------------------

  // `shown`: what their fields showed, where that may be older than the line: another tab may have
  // changed it meanwhile, and the server then keeps its words and we keep ours beside them.
  set(id, fields, shown = {}) {
    const line = this.lines.get(id);
    if (!line) return;
    const before = Object.fromEntries(Object.keys(fields).map((name) => [name, copy(line[name] ?? null)]));
    const after = copy(fields);
    const base = { ...before, ...copy(shown) };
    for (const [name, value] of Object.entries(after)) {
      if (value === null) delete line[name];
      else line[name] = value;
    }
    const waiting = this.outbox.find((edit) => edit.op === "set" && edit.id === id);
    if (waiting) Object.assign(waiting, { fields: { ...waiting.fields, ...after }, base: { ...base, ...waiting.base } });
    else this.outbox.push({ op: "set", id, fields: { ...after }, base });
    const step = { before, after };
    const undo = () => this.set(id, step.before, step.after);
    const redo = () => this.set(id, step.after, step.before);
    this.#did("change", undo, redo, `${id} ${Object.keys(fields)}`, step);
    this.#edited([id]);
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

  restore(gone) {
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
    for (const other of this.lines.get(id)?.takes ?? []) other.star = other.id === take && on ? 1 : 0;
    this.#push({ op: on ? "star" : "unstar", take });
  }

  take(op, take) {
    this.#push({ op, take });
  }

  // Puts a take's settings into its line, unless another tab changed the line since it was shown here.
  useTake(id, take, names) {
    const line = this.lines.get(id);
    this.#push({ op: "use-take", take, base: Object.fromEntries(names.map((name) => [name, copy(line[name] ?? null)])) });
  }

  useMine(id, field) {
    const mine = Object.fromEntries(this.kept.of(id))[field];
    this.kept.drop(id, field);
    if (field === "note") this.note(id, mine ?? "");
    else this.set(id, { [field]: mine });
  }

  dropMine(id, field) {
    this.kept.drop(id, field);
    this.#tell("lines", { ids: [id] });
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

  // --- sending -----------------------------------------------------------------------------

  get saved() {
    return this.outbox.length === 0 && this.inflight.length === 0;
  }

  // Whether the server has not confirmed what the producer typed here.
  unsent(id, field) {
    const holds = (edit) => edit.id === id && (edit.op === "add" || (edit.op === "set" && field in edit.fields));
    return this.outbox.some(holds) || this.inflight.some(holds);
  }

  async flush() {
    clearTimeout(this.sendTimer);
    while (this.sending) await this.sending.catch(() => {});
    if (this.outbox.length === 0) return;
    this.sending = this.#send();
    try {
      await this.sending;
    } finally {
      this.sending = null;
    }
  }

  async #send() {
    this.inflight = this.outbox;
    this.outbox = [];
    this.#tell("saving");
    try {
      const sent = this.inflight;
      const answer = await this.api.edits(this.revision, sent);
      this.inflight = [];
      this.#healthy();
      const said = answer.refused.filter((refusal) => !refusal.newer || this.#outrun(refusal, sent));
      this.#merge(answer);
      for (const refusal of said) this.#tell("refused", { ...refusal, line: refusal.gone && this.departed.get(refusal.id) });
    } catch (error) {
      const lost = error instanceof Refused || error instanceof Gone;
      if (!lost) this.outbox = [...this.inflight, ...this.outbox];
      this.inflight = [];
      this.#broken(error);
      if (!lost) this.sendTimer = setTimeout(() => this.flush().catch(() => {}), POLL.broken);
      throw error;
    } finally {
      this.#tell("saving");
    }
  }

  // Another tab was quicker: what was typed here since goes with the refused words, out of the way.
  #outrun({ id, field }, sent) {
    const value = (edit) => (field === "note" ? edit.note : edit.fields?.[field]);
    const isIt = (edit) => edit.id === id && (edit.op === "note" ? field === "note" : edit.op === "set" && field in edit.fields);
    const mine = value([...sent, ...this.outbox].findLast(isIt));
    for (const edit of this.outbox.filter(isIt)) if (edit.op === "set") delete edit.fields[field];
    this.outbox = this.outbox.filter((edit) => !(isIt(edit) || (edit.op === "set" && Object.keys(edit.fields).length === 0)));
    return this.kept.put(id, field, mine);
  }

  // What was typed just before the page was left: sent again where it did not arrive, kept where the
  // line reads otherwise by now.
  #takeLeft() {
    const plain = (value) => JSON.stringify(value && typeof value === "object" ? Object.entries(value).sort() : (value ?? null));
    const same = (a, b) => plain(a) === plain(b);
    for (const { id, fields, base } of this.kept.takeLeft()) {
      const line = this.lines.get(id);
      for (const [field, mine] of Object.entries(line ? fields : {})) {
        if (same(line[field], mine)) continue;
        if (same(line[field], base[field])) this.set(id, { [field]: mine });
        else this.kept.put(id, field, mine);
      }
      if (line) this.#tell("lines", { ids: [id] });
    }
  }

  #did(words, undo, redo, key = null, step = null) {
    this.#tell("did", { words, undo, redo, key, step });
  }

  #push(edit) {
    this.outbox.push(edit);
    this.#edited(edit.ids ?? (edit.id ? [edit.id] : []));
  }

  #edited(ids) {
    this.#tell("lines", { ids });
    this.#tell("saving");
    clearTimeout(this.sendTimer);
    this.sendTimer = setTimeout(() => this.flush().catch(() => {}), SEND_AFTER);
  }

  #leave() {
    const rest = [...this.inflight, ...this.outbox];
    if (rest.length === 0) return;
    this.kept.leave(rest.filter((edit) => edit.op === "set"));
    this.api.edits(this.revision, rest, { leaving: true }).catch(() => {});
  }

  // --- hearing -----------------------------------------------------------------------------

  pollNow() {
    clearTimeout(this.pollTimer);
    if (!this.closed) this.pollTimer = setTimeout(() => this.#poll(), 0);
  }

  async #poll(asked = null) {
    let wait = POLL.idle;
    try {
      if (!this.sending) this.#merge(await (asked ?? this.api.changes(this.revision)));
      this.#healthy();
      wait = document.hidden ? POLL.hidden : this.run.on ? POLL.running : POLL.idle;
    } catch (error) {
      this.#broken(error);
      if (error instanceof Gone) return;
      wait = POLL.broken;
    }
    clearTimeout(this.pollTimer);
    if (!this.closed) this.pollTimer = setTimeout(() => this.#poll(), wait);
  }

  #merge(answer) {
    if (this.closed || (answer.revision < this.revision && !answer.all)) return; // an older answer came late
    this.revision = answer.revision;
    if (answer.project) {
      this.about = answer.project;
      this.#tell("about");
    }
    const before = this.run;
    this.run = answer.run;
    if (answer.lines) this.#mergeLines(answer);
    this.#tell("run", { before });
  }

  #mergeLines(answer) {
    const here = [...this.inflight, ...this.outbox];
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
    this.#tell("lines", { ids: answer.all ? null : ids });
  }

  // The server's row, with the producer's own newer words in it.
  #mine(line, moved) {
    const old = this.lines.get(line.id);
    if (!old) return line;
    const merged = { ...line };
    if (moved) merged.p = old.p;
    for (const edit of [...this.inflight, ...this.outbox]) {
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

  #healthy() {
    if (this.trouble) {
      this.trouble = null;
      this.#tell("trouble");
    }
  }

  #broken(error) {
    if (this.trouble !== error.message) {
      this.trouble = error.message;
      this.#tell("trouble");
    }
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

function copy(value) {
  return value === undefined ? undefined : structuredClone(value);
}
