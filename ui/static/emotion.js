// The emotion chip's popover: presets, eight weights with sliders and numbers, auto and default.

import { button, el, openBeside, popHead, setText } from "./dom.js";

export function emotionName(emotion, facts) {
  if (emotion === undefined || emotion === null) return "default";
  if (emotion === "auto") return "auto";
  const preset = Object.entries(facts.presets).find(([, weights]) => same(weights, emotion, facts.emotions));
  return preset ? preset[0] : strongest(emotion, facts.emotions);
}

function same(a, b, names) {
  return names.every((name) => Math.abs((a[name] ?? 0) - (b[name] ?? 0)) < 1e-4);
}

function strongest(emotion, names) {
  const used = names.filter((name) => (emotion[name] ?? 0) > 0).sort((a, b) => emotion[b] - emotion[a]);
  if (used.length === 0) return "auto (all zero)";
  const first = `${used[0]} ${emotion[used[0]].toFixed(2)}`;
  return used.length > 1 ? `${first} +${used.length - 1}` : first;
}

export class EmotionEditor {
  constructor(facts, { change, copyToTicked }) {
    this.facts = facts;
    this.change = change;
    this.title = el("h3", { class: "st-pop-title" });
    this.presets = el("div", { class: "st-presets", role: "group", "aria-label": "Presets" });
    for (const name of ["default", "auto", ...Object.keys(facts.presets)])
      this.presets.append(el("button", { type: "button", class: "st-preset", text: name, data: { preset: name } }));
    this.sliders = facts.emotions.map((name) => this.#slider(name));
    const copy = button("Copy to ticked rows", { class: "st-small", title: "Give this emotion to all ticked rows" }, "Copy to ticked rows");
    copy.addEventListener("click", () => copyToTicked(this.current()));
    this.popover = el(
      "div",
      { class: "st-pop st-emotion-editor", popover: "auto", role: "dialog", "aria-label": "Emotion", tabindex: "-1" },
      popHead(this.title),
      this.presets,
      el("div", { class: "st-sliders" }, ...this.sliders.map((slider) => slider.row)),
      el("p", {
        class: "st-hint",
        text: "The model hears the eight weights in proportion. “default” is the model's own mix; “auto” leaves the manner to the model.",
      }),
      el("div", { class: "st-pop-foot" }, copy),
    );
    this.presets.addEventListener("click", (event) => this.#pick(event.target.dataset.preset));
  }

  open(line, number, anchor) {
    this.id = line.id;
    setText(this.title, `Emotion of line ${number}`);
    this.#show(line.emotion);
    openBeside(this.popover, anchor);
    this.presets.querySelector("[aria-pressed=true]")?.focus();
  }

  current() {
    return this.value ?? null;
  }

  #slider(name) {
    const range = el("input", { type: "range", min: 0, max: 1, step: 0.01, "aria-label": name });
    const number = el("input", { type: "number", min: 0, max: 1, step: 0.05, "aria-label": `${name}, number` });
    const row = el("label", { class: "st-slider" }, el("span", { text: name }), range, number);
    const moved = (source) => () => {
      const weight = Math.min(1, Math.max(0, Number(source.value) || 0));
      range.value = weight;
      if (source !== number) number.value = weight;
      this.#weigh();
    };
    range.addEventListener("input", moved(range));
    number.addEventListener("input", moved(number));
    number.addEventListener("change", () => (number.value = range.value));
    return { name, row, range, number };
  }

  #weigh() {
    const weights = {};
    for (const { name, range } of this.sliders) if (Number(range.value) > 0) weights[name] = Number(range.value);
    const shown = this.current();
    this.value = Object.keys(weights).length ? weights : "auto";
    this.#mark();
    this.change(this.id, this.value, shown);
  }

  #pick(preset) {
    if (!preset) return;
    const value = preset === "default" ? undefined : preset === "auto" ? "auto" : { ...this.facts.presets[preset] };
    const shown = this.current();
    this.#show(value);
    this.change(this.id, value ?? null, shown);
  }

  #show(value) {
    this.value = value;
    const weights = typeof value === "object" ? value : {};
    for (const { name, range, number } of this.sliders) {
      range.value = weights[name] ?? 0;
      number.value = range.value;
    }
    this.#mark();
  }

  #mark() {
    const now = emotionName(this.value, this.facts);
    for (const preset of this.presets.children)
      preset.setAttribute("aria-pressed", String(preset.dataset.preset === now));
  }
}
