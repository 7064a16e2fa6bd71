// A look at lines before they are spoken: seconds, phonemes, warnings. Asked for in the background, a
// few rows at a time, so that typing is never slowed down.

const AFTER_MS = 900;
const AT_ONCE = 25;
const LOOKED_AT = [
  "text",
  "language",
  "speaking_rate",
  "voice",
  "max_seconds",
  "prefix_audio",
  "prefix_text",
  "keep_prefix",
  "emotion",
];

export class Checks extends EventTarget {
  constructor(project) {
    super();
    this.project = project;
    this.known = new Map(); // line -> { key, look }
    project.addEventListener("lines", () => this.#later());
    project.addEventListener("about", () => this.#forget());
  }

  // What is known of a line as it is now; undefined while it is looked at.
  of(id) {
    const found = this.known.get(id);
    return found && found.key === this.#key(id) ? found.look : undefined;
  }

  async now(id) {
    if (!this.of(id)) await this.#ask([id]);
    return this.of(id);
  }

  #key(id) {
    const line = this.project.lines.get(id);
    return line && JSON.stringify(LOOKED_AT.map((name) => line[name]));
  }

  #forget() {
    this.known.clear();
    this.#later();
  }

  #later() {
    clearTimeout(this.timer);
    if (!this.asking) this.timer = setTimeout(() => this.#some(), AFTER_MS);
  }

  async #some() {
    const { project } = this;
    const wanted = project.order.filter((id) => project.lines.get(id).text.trim() && !this.of(id));
    if (project.closed || document.hidden) return;
    if (wanted.length === 0) return this.dispatchEvent(new Event("idle"));
    this.asking = true;
    const went = await this.#ask(wanted.slice(0, AT_ONCE)).then(() => true, () => false);
    this.asking = false;
    if (went && wanted.length > AT_ONCE) this.timer = setTimeout(() => this.#some(), 50);
    else this.#later();
  }

  async #ask(ids) {
    await this.project.flush();
    const keys = new Map(ids.map((id) => [id, this.#key(id)]));
    const { lines } = await this.project.api.check(ids);
    for (const look of lines) this.known.set(look.id, { key: keys.get(look.id), look });
    const missing = ids.filter((id) => !lines.some((look) => look.id === id));
    for (const id of missing) this.known.set(id, { key: keys.get(id), look: { id, warnings: [] } });
    this.dispatchEvent(new CustomEvent("change", { detail: { ids } }));
  }
}
