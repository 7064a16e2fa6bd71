// Everything about one line that has no column: pace, guidance, sampling, seed, note, phonemes.

import { el, openBeside, popHead, seconds, setText } from "./dom.js";

export class Details {
  constructor(project, facts, checks) {
    Object.assign(this, { project, facts, checks });
    this.title = el("h3", { class: "st-pop-title" });
    this.name = this.#plain("name", "File name", "text", "Used for its files; empty is made from the text.");
    this.seed = this.#plain("seed", "Seed", "digits", "The same seed, line and model give the same take. Empty draws a new one each time.");
    this.takes = this.#plain("takes", "Takes", "number", "Takes made in one go.");
    this.prefix = this.#plain("prefix_text", "Words before", "text", "What is said in that clip; with it no word is lost at the seam.");
    this.prefixAudio = el("select", { class: "st-input", "aria-label": "Continue from the voice's clip" });
    this.prefixAudio.addEventListener("change", () => this.#set("prefix_audio", this.prefixAudio.value || null));
    this.note = el("textarea", { class: "st-input", rows: 2, dir: "auto", maxlength: String(facts.limits.note), "aria-label": "Note" });
    this.note.addEventListener("input", () => {
      project.note(this.id, this.note.value, this.shown.note ?? "");
      this.shown.note = this.note.value;
    });
    this.phonemes = el("p", { class: "st-phonemes", "aria-label": "Phonemes" });
    this.said = el("ul", { class: "st-said" });
    this.settings = facts.settings.flatMap((group) => group.settings.map((setting) => this.#setting(setting)));
    this.choices = facts.choices.map((choice) => this.#choice(choice));
    this.settings.push(...this.choices);
    this.popover = el(
      "div",
      { class: "st-pop st-details", popover: "auto", role: "dialog", "aria-label": "Settings of the line", tabindex: "-1" },
      popHead(this.title),
      this.phonemes,
      this.said,
      this.#labelled("Note", this.note),
      this.name.row,
      this.seed.row,
      this.takes.row,
      this.#labelled("Continue from", this.prefixAudio, "The speech goes on where this voice's clip ends."),
      this.prefix.row,
      ...facts.settings.map((group, index) => this.#group(group, index)),
      ...this.choices.map((choice) => choice.row),
    );
  }

  async open(line, number, anchor) {
    this.id = line.id;
    this.shown = structuredClone(line);
    setText(this.title, `Settings of line ${number}`);
    for (const field of [this.name, this.seed, this.takes, this.prefix]) field.show(line);
    this.note.value = line.note ?? "";
    const voices = this.project.about.voices.map(({ name }) => el("option", { value: name, text: name }));
    this.prefixAudio.replaceChildren(el("option", { value: "", text: "nothing" }), ...voices);
    this.prefixAudio.value = line.prefix_audio ?? "";
    for (const setting of this.settings) setting.show(line);
    this.#look(this.checks.of(line.id));
    openBeside(this.popover, anchor);
    const [voicing, look] = await Promise.all([this.project.api.voicing(), this.checks.now(line.id)]);
    if (this.id !== line.id) return;
    for (const setting of this.settings) setting.know(voicing, this.project.lines.get(line.id));
    this.#look(look);
  }

  // What the fields show stays while the dialogue is open, whatever another tab does to the line.
  #set(name, value) {
    this.project.set(this.id, { [name]: value }, { [name]: this.shown[name] ?? null });
    this.shown[name] = value;
  }

  #look(look) {
    setText(this.phonemes, look?.error ?? look?.phonemes ?? "…");
    const said = look?.seconds ? [`About ${seconds(look.seconds)}.`, ...look.warnings] : [];
    this.said.replaceChildren(...said.map((words) => el("li", { text: words, dir: "auto" })));
  }

  #group(group, index) {
    const rows = this.settings.filter((setting) => group.settings.some(({ name }) => name === setting.name));
    return el("details", { open: index === 0 }, el("summary", { text: group.title }), ...rows.map((setting) => setting.row));
  }

  #labelled(title, field, help = null) {
    return el("label", { class: "st-setting" }, el("span", { text: title }), field, help && el("small", { text: help }));
  }

  // "digits" stay text: a seed may have more of them than a JavaScript number can hold.
  #plain(name, title, kind, help) {
    const type = kind === "number" ? "number" : "text";
    const field = el("input", { class: "st-input", type, min: type === "number" ? 0 : null, inputmode: kind === "digits" ? "numeric" : null, dir: "auto" });
    field.addEventListener("change", () => {
      const value = field.value.trim();
      this.#set(name, value === "" ? null : type === "number" ? Number(value) : value);
    });
    const show = (line) => (field.value = line[name] ?? (name === "takes" ? 1 : ""));
    return { row: this.#labelled(title, field, help), show };
  }

  #choice({ name, title, help, choices }) {
    const select = el("select", { class: "st-input", "aria-label": title }, ...choices.map(([label], i) => el("option", { value: i, text: label })));
    select.addEventListener("change", () => this.#set(name, choices[Number(select.value)][1]));
    const show = (line) => (select.value = Math.max(0, choices.findIndex(([, value]) => value === (line[name] ?? null))));
    const know = ({ conditioners }) => (select.disabled = !conditioners.includes(name));
    return { name, row: this.#labelled(title, select, help), show, know };
  }

  // A number, empty for the model's default, with an "auto" box where the model may decide itself.
  #setting({ name, title, help, step, low, high, auto, hybrid }) {
    const number = el("input", { class: "st-input", type: "number", step, min: low, max: high, "aria-label": title });
    const box = auto ? el("input", { type: "checkbox", "aria-label": `${title}: auto` }) : null;
    const row = el(
      "div",
      { class: "st-setting" },
      el("span", { text: title }),
      number,
      auto && el("label", { class: "st-auto" }, box, "auto"),
      el("small", { text: low === null ? help : `${help} From ${low} to ${high}.` }),
    );
    const send = () => {
      number.disabled = Boolean(box?.checked);
      const value = box?.checked ? "auto" : number.value === "" ? null : Number(number.value);
      this.#set(name, value);
    };
    number.addEventListener("change", send);
    box?.addEventListener("change", send);
    const show = (line) => {
      const value = line[name];
      if (box) box.checked = value === "auto";
      number.value = Array.isArray(value) ? value[0] : typeof value === "number" ? value : "";
      number.disabled = value === "auto";
    };
    const know = ({ defaults, conditioners }, line) => {
      const usual = defaults[name];
      number.placeholder = usual === undefined ? "" : `default ${Array.isArray(usual) ? usual[0] : usual}`;
      const unused = hybrid && !conditioners.includes(name);
      row.classList.toggle("st-unused", unused);
      row.title = unused ? "This model does not know this setting; the hybrid does." : "";
      number.disabled = unused || line?.[name] === "auto";
      if (box) box.disabled = unused;
    };
    return { name, row, show, know };
  }
}
