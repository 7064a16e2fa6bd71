// One audio element for the whole page, in a dock at the bottom with the take's waveform.

import { button, clock, el, icon, setText } from "./dom.js";

export class Player extends EventTarget {
  constructor(api) {
    super();
    this.api = api;
    this.audio = el("audio", { preload: "auto" });
    this.toggleButton = button("Play", { class: "st-tool st-tool-big" }, icon("play"));
    this.title = el("span", { class: "st-dock-title", dir: "auto" });
    this.time = el("span", { class: "st-dock-time" });
    this.canvas = el("canvas", { class: "st-wave", height: 36, width: 600 });
    this.seek = el("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "Position in the take" });
    this.through = el("input", { type: "checkbox" });
    const close = button("Close the player", { class: "st-tool" }, icon("close"));
    this.dock = el(
      "div",
      { class: "st-dock", hidden: true, role: "region", "aria-label": "Player" },
      this.toggleButton,
      this.title,
      el("div", { class: "st-wave-box" }, this.canvas, this.seek),
      this.time,
      el("label", { class: "st-through" }, this.through, "play through"),
      close,
      this.audio,
    );
    this.toggleButton.addEventListener("click", () => this.#resume());
    close.addEventListener("click", () => this.close());
    this.seek.addEventListener("input", () => {
      if (this.audio.duration) this.audio.currentTime = (this.seek.value / 1000) * this.audio.duration;
    });
    for (const type of ["play", "pause", "timeupdate", "durationchange", "emptied"])
      this.audio.addEventListener(type, () => this.#show());
    this.audio.addEventListener("ended", () => this.#ended());
    this.audio.addEventListener("error", () => this.take && this.#tell("trouble", "This take cannot be played."));
  }

  get playing() {
    return this.take && !this.audio.paused && !this.audio.ended ? this.take.id : null;
  }

  async toggle(line, take, number) {
    if (this.take?.id === take.id) return this.#resume();
    this.line = line.id;
    this.take = take;
    this.audio.src = this.api.takeAddress(take.id);
    setText(this.title, `${number}  ${line.text}`);
    this.title.title = line.text;
    this.dock.hidden = false;
    this.peaks = null;
    this.#draw();
    this.api.peaks(take.id).then((peaks) => {
      if (this.take?.id === take.id) this.peaks = peaks;
      this.#draw();
    }, () => {});
    await this.audio.play().catch(() => {}); // the error event says it in words
  }

  // A sound that is no take: a voice's clip, a test sentence.
  async hear(address, words) {
    if (this.audio.src.startsWith("blob:")) URL.revokeObjectURL(this.audio.src);
    this.take = { id: address };
    this.line = this.peaks = null;
    this.audio.src = address;
    setText(this.title, words);
    this.dock.hidden = false;
    this.#draw();
    await this.audio.play().catch(() => {});
  }

  close() {
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.audio.load();
    this.take = this.line = null;
    this.dock.hidden = true;
    this.#tell("change");
  }

  #resume() {
    if (this.audio.paused) return this.audio.play().catch(() => {});
    this.audio.pause();
  }

  #ended() {
    this.#show();
    if (this.through.checked) this.#tell("next", this.line);
  }

  #show() {
    const { currentTime, duration } = this.audio;
    setText(this.time, `${clock(currentTime)} / ${clock(duration)}${duration < 60 ? " s" : ""}`);
    if (duration) this.seek.value = String(Math.round((1000 * currentTime) / duration));
    if (this.shown !== this.playing) {
      this.shown = this.playing;
      this.toggleButton.replaceChildren(icon(this.playing ? "pause" : "play"));
      this.toggleButton.setAttribute("aria-label", this.playing ? "Pause" : "Play");
      this.#tell("change");
    }
    this.#draw();
  }

  #draw() {
    const { canvas, peaks } = this;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    if (!peaks?.length) return;
    const wide = canvas.width / peaks.length;
    const played = (this.audio.currentTime / this.audio.duration || 0) * peaks.length;
    const top = Math.max(24, ...peaks);
    peaks.forEach((peak, i) => {
      const tall = Math.max(2, (peak / top) * canvas.height);
      pen.fillStyle = style.getPropertyValue(i < played ? "--st-accent" : "--st-line");
      pen.fillRect(i * wide, (canvas.height - tall) / 2, Math.max(1, wide - 1), tall);
    });
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
