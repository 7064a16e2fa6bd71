// The voice library: each voice with its clips, what they are like, and how it sounds.

import { button, el, icon, plural, seconds } from "./dom.js";

export class Voices {
  constructor(project, acts, player) {
    Object.assign(this, { project, acts, player });
    this.list = el("div", { class: "st-voice-list" });
    const open = button("Open a zip of voices", { class: "st-small" }, "Open a zip of voices …");
    this.all = el("a", { class: "st-small", download: "", text: "Save all voices as a zip" });
    open.addEventListener("click", () => this.#openZip());
    this.node = el("div", { class: "st-studio st-voices" }, this.list, el("div", { class: "st-foot" }, open, this.all));
    this.list.addEventListener("click", (event) => this.#clicked(event.target.closest("[data-act]")));
    this.list.addEventListener("change", (event) => this.#renamed(event.target));
    project.addEventListener("about", () => this.show());
    project.addEventListener("lines", ({ detail }) => detail.ids === null && this.show());
    this.show();
  }

  show() {
    const { voices } = this.project.about;
    this.all.href = this.project.api.address(`studio/voices/${encodeURIComponent(this.project.api.token)}.zip`);
    this.list.replaceChildren(...voices.map((voice) => this.#card(voice)));
  }

  #card(voice) {
    const name = el("input", { class: "st-input st-voice-name", value: voice.name, "aria-label": `Name of the voice ${voice.name}`, dir: "auto" });
    const act = (what, label) => button(`${label} (${voice.name})`, { class: "st-small", data: { act: what } }, label);
    const used = [...this.project.lines.values()].filter((line) => line.voice === voice.name).length;
    const facts = [voice.sample ? "comes with the studio" : voice.consent ? "consent given" : "no consent", `used by ${plural(used, "line")} here`];
    const zip = this.project.api.address(`studio/voices/${encodeURIComponent(this.project.api.token)}.zip?name=${encodeURIComponent(voice.name)}`);
    return el(
      "article",
      { class: "st-card", data: { voice: voice.name } },
      el("header", {}, name, act("test", "Say a test sentence"), el("a", { class: "st-small", href: zip, download: "", text: "Save as zip" }), act("remove", "Remove")),
      el("p", { class: "st-hint", text: facts.join(" · ") }),
      ...voice.clips.map((clip) => this.#clip(voice, clip)),
    );
  }

  #clip(voice, clip) {
    const remove = voice.clips.length > 1 ? button(`Remove the clip ${clip.title}`, { class: "st-tool", data: { act: "remove-clip", clip: clip.hash } }, icon("close")) : null;
    const play = button(`Play the clip ${clip.title}`, { class: "st-tool", data: { act: "play", clip: clip.hash } }, icon("play"));
    return el(
      "div",
      { class: "st-clip" },
      play,
      el(
        "div",
        {},
        el("span", { text: clip.title, dir: "auto" }),
        el("p", { class: "st-hint", text: report(clip) }),
        ...(clip.advice ?? []).map((words) => el("p", { class: "st-hint st-look st-warning", text: words, dir: "auto" })),
      ),
      remove,
    );
  }

  async #clicked(target) {
    if (!target) return;
    const { act, clip } = target.dataset;
    const name = target.closest("[data-voice]").dataset.voice;
    const { api } = this.project;
    if (act === "play") return this.player.hear(api.address(`studio/clip/${encodeURIComponent(api.token)}/${clip}`), name);
    if (act === "test") return this.#test(target, name);
    await this.#change({ act, name, ...(clip ? { clip } : {}) });
  }

  async #test(target, name) {
    target.disabled = true;
    await this.acts.told(async () => {
      const sound = await this.project.api.testVoice(name);
      this.player.hear(URL.createObjectURL(sound), `${name} says`);
    });
    target.disabled = false;
  }

  async #renamed(field) {
    if (!field.classList.contains("st-voice-name")) return;
    const { voice } = field.closest("[data-voice]").dataset;
    await this.#change({ act: "rename", name: voice, new_name: field.value });
    field.value = voice; // shown anew with the next change where it was accepted
  }

  async #change(body) {
    await this.acts.told(async () => {
      await this.project.flush();
      const { said } = await this.project.api.changeVoice(body);
      this.project.pollNow();
      return said;
    });
  }

  #openZip() {
    const input = el("input", { type: "file", accept: ".zip" });
    input.addEventListener("change", () =>
      this.acts.told(async () => {
        const { said } = await this.project.api.voice(input.files[0], "", true);
        this.project.pollNow();
        return said;
      }),
    );
    input.click();
  }
}

function report(clip) {
  if (clip.seconds === undefined) return "";
  const words = [seconds(clip.seconds), `${(clip.sample_rate / 1000).toFixed(1)} kHz`];
  if (clip.level_dbfs !== null) words.push(`level ${Math.round(clip.level_dbfs)} dB`);
  if (clip.noise_dbfs !== null) words.push(`noise ${Math.round(clip.noise_dbfs)} dB`);
  words.push(clip.clipped_share > 0.0005 ? `clipped ${(100 * clip.clipped_share).toFixed(2)} %` : "not clipped");
  return words.join(" · ");
}
