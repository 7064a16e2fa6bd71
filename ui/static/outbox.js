// Edits on their way to the server, in the order in which they were made.

const MOST = { edits: 500, bytes: 2_000_000 }; // of one request; the server reads no more than 8 MB

export class Outbox {
  constructor() {
    this.waiting = [];
    this.inflight = [];
  }

  get empty() {
    return this.waiting.length === 0 && this.inflight.length === 0;
  }

  get all() {
    return [...this.inflight, ...this.waiting];
  }

  push(edit) {
    this.waiting.push(edit);
  }

  // Typing makes one edit of a line, not one a key. A take that is restored in between keeps its place.
  pushFields(id, fields, base) {
    const last = this.waiting.findLast((edit) => edit.op === "use-take" || (edit.op === "set" && edit.id === id));
    if (last?.op === "set") Object.assign(last, { fields: { ...last.fields, ...fields }, base: { ...base, ...last.base } });
    else this.push({ op: "set", id, fields: { ...fields }, base });
  }

  // What goes in one request: as much as is sure to be read.
  next() {
    let bytes = 0;
    const isOver = (edit, i) => (bytes += size(edit)) > MOST.bytes && i > 0;
    const end = this.waiting.findIndex((edit, i) => i === MOST.edits || isOver(edit, i));
    this.inflight = this.waiting.splice(0, end < 0 ? this.waiting.length : end);
    return this.inflight;
  }

  arrived(n) {
    this.inflight = this.inflight.slice(n);
  }

  comeBack() {
    this.waiting = this.all;
    this.inflight = [];
  }

  // A take is not to be restored after all; gives whether that had not left yet.
  withdraw(take) {
    const before = this.waiting.length;
    this.waiting = this.waiting.filter((edit) => edit.op !== "use-take" || edit.take !== take);
    return this.waiting.length < before;
  }

  // What waits for one field of a line is not wanted any more.
  drop(id, field) {
    const its = this.waiting.filter((edit) => edit.op !== "add" && touches(edit, id, field));
    for (const edit of its) if (edit.op === "set") delete edit.fields[field];
    this.waiting = this.waiting.filter((edit) => !its.includes(edit) || (edit.op === "set" && fieldsOf(edit).length));
  }

  forget(id) {
    this.waiting = this.waiting.filter((edit) => edit.id !== id);
  }
}

// The newest value that edits give to one field of a line.
export function newest(edits, id, field) {
  const last = edits.findLast((edit) => touches(edit, id, field));
  return last?.op === "note" ? last.note : last?.fields[field];
}

// The line that edits make: words that are nowhere else, once the server has refused them.
export function lineOf(edits, id) {
  const line = { id };
  for (const edit of edits) {
    if (edit.id !== id) continue;
    Object.assign(line, edit.fields);
    for (const name of ["note", "slot"]) if (edit[name]) line[name] = edit[name];
  }
  return line;
}

// An edit that the server cannot read as a whole, as it refuses what it can read.
export function refusalsOf(edit, reason) {
  if (edit.op === "set") return Object.keys(edit.fields).map((field) => ({ id: edit.id, field, reason }));
  if (edit.op === "note") return [{ id: edit.id, field: "note", reason }];
  return [{ id: edit.id, reason, unmade: edit.op === "add" }];
}

export function fieldsOf(edit) {
  if (edit.op === "note") return ["note"];
  return edit.op === "set" ? Object.keys(edit.fields) : [];
}

function touches(edit, id, field) {
  if (edit.id !== id) return false;
  return edit.op === "note" ? field === "note" : ["set", "add"].includes(edit.op) && field in edit.fields;
}

function size(edit) {
  return new TextEncoder().encode(JSON.stringify(edit)).length;
}
