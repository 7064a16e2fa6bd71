// Takes of one line side by side: hear, star, see what differs, restore, check the words, put away.

import { button, el, icon, openBeside, popHead, seconds, setText } from "./dom.js";

export class Takes {
  constructor(project, facts, acts, player) {
    Object.assign(this, { project, facts, acts, player });
    this.title = el("h3", { class: "st-pop-title" });
    this.list = el("div", { class: "st-take-list" });
    this.popover = el(
      "div",
      { class: "st-pop st-take-pop", popover: "auto", role: "dialog", "aria-label": "Takes", tabindex: "-1" },
      popHead(this.title),
      this.list,
    );
    this.list.addEventListener("click", (event) => this.#clicked(event.target.closest("[data-act]")));
    player.addEventListener("change", () => this.#mark());
    project.addEventListener("lines", ({ detail }) => {
      if (this.popover.matches(":popover-open") && (!detail.ids || detail.ids.includes(this.id))) this.#fill();
    });
  }

  open(id, number, anchor) {
    this.id = id;
    this.number = number;
    setText(this.title, `Takes of line ${number}`);
    this.list.replaceChildren();
    openBeside(this.popover, anchor);
    this.#fill().then(() => openBeside(this.popover, anchor));
  }

  async #fill() {
    const { takes } = await this.project.api.takes(this.id);
    this.list.replaceChildren(...takes.toReversed().map((take) => this.#row(take)));
    if (takes.length === 0) this.list.append(el("p", { class: "st-hint", text: "No take yet." }));
    this.#mark();
  }

  #row(take) {
    const was = Object.entries(take.was).map(([name, value]) => `${name} was ${words(value)}`);
    const made = new Date(take.created * 1000).toLocaleString();
    const small = [`seed ${take.seed}`, take.model, made].join(" · ");
    const tool = (act, label, picture) => button(`${label} take ${take.n}`, { class: "st-tool", data: { act, take: take.id } }, icon(picture));
    const star = tool("star", "Star", "star");
    star.setAttribute("aria-pressed", String(Boolean(take.star)));
    const small_button = (act, label) => button(`${label} (take ${take.n})`, { class: "st-small", data: { act, take: take.id } }, label);
    return el(
      "div",
      { class: "st-take-row", data: { take: take.id, seconds: take.s, n: take.n } },
      tool("play", "Play", "play"),
      el(
        "div",
        {},
        el("b", { text: `Take ${take.n} · ${seconds(take.s)}${take.old ? " · changed since" : ""}` }),
        el("p", { class: "st-hint", text: small }),
        take.warn ? el("p", { class: "st-hint st-says", text: take.warn, dir: "auto" }) : null,
        was.length ? el("p", { class: "st-hint", text: was.join(" · "), dir: "auto" }) : null,
        el("p", { class: "st-hint st-heard", hidden: true, dir: "auto" }),
        el(
          "div",
          { class: "st-take-acts" },
          take.old ? small_button("use-take", "Restore into the line") : null,
          this.facts.listens ? small_button("listen", "Check the words") : null,
          small_button("drop-take", "Put away"),
        ),
      ),
      star,
    );
  }

  async #clicked(target) {
    if (!target) return;
    const { act, take } = target.dataset;
    const row = target.closest(".st-take-row");
    const line = this.project.lines.get(this.id);
    const known = { id: take, s: Number(row.dataset.seconds), n: Number(row.dataset.n) };
    if (act === "play") return this.player.toggle(line, known, this.number);
    if (act === "listen") return this.#listen(row, take);
    if (act === "star") return this.project.star(this.id, take, target.getAttribute("aria-pressed") !== "true");
    if (act === "drop-take") return this.acts.dropTake(this.id, known);
    this.project.useTake(this.id, take, this.facts.fields);
  }

  async #listen(row, take) {
    const heard = row.querySelector(".st-heard");
    heard.hidden = false;
    heard.textContent = "Listening …";
    heard.textContent = await this.project.api.listen(take).then(({ said }) => said, (error) => error.message);
  }

  #mark() {
    for (const play of this.list.querySelectorAll("[data-act=play]"))
      play.replaceChildren(icon(this.player.playing === play.dataset.take ? "pause" : "play"));
  }
}

function words(value) {
  if (value === null || value === undefined) return "default";
  if (typeof value === "object") return Object.entries(value).map(([name, weight]) => `${name} ${weight}`).join(", ");
  return String(value);
}
