// Sends a project's edits and hears which of them were refused. What cannot be sent is tried again until
// it can; only an answer of the studio's own is final. The project built on it says what it has `seen`,
// and how to `merge` an answer, `unmake` a line and `pollNow`.

import { Gone, Refused } from "./api.js";
import { fieldsOf, lineOf, newest, Outbox, refusalsOf } from "./outbox.js";

const SEND_AFTER = 250;
const AGAIN_AFTER = 2000;

export class Sender extends EventTarget {
  constructor(api, kept) {
    super();
    Object.assign(this, { api, kept });
    this.outbox = new Outbox();
    this.astray = false; // whether our copy may show what the server does not have
    this.departed = new Map(); // lines that another tab deleted; their words may still be wanted here
    this.trouble = null;
    this.closed = false;
  }

  get saved() {
    return this.outbox.empty;
  }

  // A moment later, with what else is typed meanwhile.
  sendSoon() {
    this.tell("saving");
    clearTimeout(this.sendTimer);
    this.sendTimer = setTimeout(() => this.flush().catch(() => {}), SEND_AFTER);
  }

  async flush() {
    clearTimeout(this.sendTimer);
    while (this.sending) await this.sending.catch(() => {});
    if (this.outbox.empty) return;
    this.sending = this.#send();
    try {
      await this.sending;
    } finally {
      this.sending = null;
    }
  }

  async #send() {
    try {
      while (this.outbox.waiting.length) await this.#deliver(this.outbox.next());
    } catch (error) {
      this.outbox.comeBack();
      this.broken(error);
      if (!(error instanceof Gone || this.closed)) this.sendTimer = setTimeout(() => this.flush().catch(() => {}), AGAIN_AFTER);
      throw error;
    } finally {
      this.tell("saving");
    }
    if (this.astray) this.pollNow();
  }

  // What the server cannot read goes again in halves, until the one bad edit is alone.
  async #deliver(edits) {
    this.tell("saving");
    try {
      const answer = await this.api.edits(this.seen, edits);
      this.#arrived(edits, answer.refused, answer);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (edits.length === 1) {
        this.astray = true;
        return this.#arrived(edits, refusalsOf(edits[0], error.message));
      }
      const half = Math.ceil(edits.length / 2);
      await this.#deliver(edits.slice(0, half));
      await this.#deliver(edits.slice(half));
    }
  }

  #arrived(edits, refusals, answer = null) {
    this.outbox.arrived(edits.length);
    this.healthy();
    this.#settle(edits, refusals);
    const said = refusals.filter((refusal) => !refusal.field || this.#keep(refusal, edits));
    if (answer) this.merge(answer);
    this.#sayRefused(said, edits);
  }

  // Words that were not accepted before, and are by now.
  #settle(edits, refusals) {
    const refused = new Set(refusals.map(({ id, field }) => `${id} ${field}`));
    for (const edit of edits)
      for (const field of fieldsOf(edit)) if (!refused.has(`${edit.id} ${field}`)) this.kept.settle(edit.id, field);
  }

  // Refused words stay beside their field. Where another tab was quicker, what was typed here since goes
  // with them, out of the way.
  #keep({ id, field, reason, newer }, sent) {
    const mine = newest([...sent, ...this.outbox.all], id, field);
    if (newer) this.outbox.drop(id, field);
    return this.kept.put(id, field, mine, newer ? null : reason);
  }

  #sayRefused(refusals, sent) {
    const edits = [...sent, ...this.outbox.all];
    const deleted = new Set(edits.filter(({ op }) => op === "delete").flatMap(({ ids }) => ids)); // nobody misses them
    const unmade = new Map(refusals.filter((refusal) => refusal.unmade).map((refusal) => [refusal.id, refusal.reason]));
    const lines = [...unmade.keys()].map((id) => this.unmake(id, edits)).filter(({ id }) => !deleted.has(id));
    if (lines.length) this.tell("unmade", { lines, reason: unmade.get(lines[0].id) });
    for (const refusal of refusals) {
      if (unmade.has(refusal.id) || deleted.has(refusal.id)) continue; // what was typed into it is with the line
      const line = refusal.gone && (this.departed.get(refusal.id) ?? lineOf(edits, refusal.id));
      this.tell("refused", { ...refusal, line });
    }
  }

  // What was not sent when the page was left goes first, as it is: an added line is known by its id, and
  // a change names what its field showed before.
  async sendLeft() {
    this.outbox.waiting.unshift(...this.kept.takeLeft());
    await this.flush().catch(() => {}); // it is tried again
  }

  leave() {
    const rest = this.outbox.all;
    if (rest.length === 0) return;
    this.kept.leave(rest);
    this.api.edits(this.seen, rest, { leaving: true }).catch(() => {});
  }

  healthy() {
    if (this.trouble) {
      this.trouble = null;
      this.tell("trouble");
    }
  }

  broken(error) {
    if (this.trouble !== error.message) {
      this.trouble = error.message;
      this.tell("trouble");
    }
  }

  tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
