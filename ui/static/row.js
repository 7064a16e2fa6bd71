// One row of the table: built once, then kept in step with its line. A focused field is left alone.

import { button, clock, el, icon, seconds, setText } from "./dom.js";
import { emotionName } from "./emotion.js";
import { keptNode } from "./kept.js";
import { statusOf } from "./status.js";

const GROWS_ALONE = CSS.supports("field-sizing", "content");

export function buildRow(id, limits) {
  const row = el("div", { class: "st-row", role: "listitem", tabindex: "-1", data: { id } });
  const tick = el("input", { type: "checkbox", class: "st-tick", data: { do: "tick" } });
  const number = el("span", { class: "st-number" });
  const voice = el("select", { class: "st-select st-voice", data: { field: "voice" } });
  const text = el("textarea", {
    class: "st-text",
    dir: "auto",
    rows: 1,
    spellcheck: true,
    maxlength: String(limits.characters),
    placeholder: "Type what should be said",
    data: { field: "text" },
  });
  const language = el("select", { class: "st-select st-language", data: { field: "language" } });
  const emotion = el("button", { type: "button", class: "st-emotion", data: { do: "emotion" } });
  const status = el("span", { class: "st-status" }, el("i", { class: "st-dot" }), el("span"));
  const size = el("span", { class: "st-size" });
  const play = button("Play", { class: "st-tool", data: { do: "play" } }, icon("play"));
  const take = el("select", { class: "st-select st-take", data: { do: "take" } });
  const star = button("Star this take for the export", { class: "st-tool", data: { do: "star" } }, icon("star"));
  const download = el(
    "a",
    { class: "st-tool st-download", download: "", "aria-label": "Download this take", title: "Download this take" },
    icon("down"),
  );
  const again = button("Generate this line", { class: "st-tool", data: { do: "generate" } }, icon("again"));
  const menu = button("More for this line", { class: "st-tool", data: { do: "menu" } }, icon("more"));
  const why = el("p", { class: "st-why", hidden: true, dir: "auto" });
  const look = el("p", { class: "st-look", hidden: true, dir: "auto" });
  menu.setAttribute("aria-haspopup", "menu");
  row.append(
    el("label", { class: "st-cell-tick" }, tick),
    number,
    voice,
    el("div", { class: "st-words" }, text, why, look),
    language,
    emotion,
    el("div", { class: "st-state" }, status, size),
    el("div", { class: "st-takes" }, play, take, star, download),
    el("div", { class: "st-last" }, again, menu),
  );
  row.parts = { tick, number, voice, text, language, emotion, status, play, take, star, download, again, menu, why, look, size };
  return row;
}

export function updateRow(row, line, number, context) {
  const { parts } = row;
  setText(parts.number, String(number));
  if (row.number !== number) nameParts(parts, number);
  row.number = number;
  parts.tick.checked = Boolean(line.tick);
  row.classList.toggle("st-ticked", Boolean(line.tick));
  showValue(parts.text, line.text);
  grow(parts.text);
  showChoice(parts.voice, line.voice ?? "", line.voice ?? "No voice");
  parts.voice.classList.toggle("st-missing", Boolean(line.voice) && !context.hasVoice(line.voice));
  showChoice(parts.language, line.language, line.language);
  parts.language.title = context.languageName(line.language);
  setText(parts.emotion, emotionName(line.emotion, context.facts));
  parts.emotion.classList.toggle("st-plain", line.emotion === undefined);
  updateStatus(row, line, context);
  updateTakes(row, line, context);
  updateLook(row, line, context.look(line.id));
  updateKept(row, line, context);
}

// Own words that another tab was quicker than; built where there are any.
function updateKept(row, line, context) {
  const words = context.kept(line.id);
  if (!row.kept && words.length === 0) return;
  row.kept?.remove();
  row.kept = words.length ? keptNode(line, words, context.facts) : null;
  if (row.kept) row.parts.text.parentElement.append(row.kept);
}

export function updateStatus(row, line, context) {
  const status = statusOf(line, context.part(line.id), context.fault());
  const { parts } = row;
  if (parts.status.dataset.kind !== status.kind) parts.status.dataset.kind = status.kind;
  setText(parts.status.lastChild, status.words);
  const why = status.why ?? "";
  setText(parts.why, why);
  parts.why.hidden = !why;
  parts.why.dataset.kind = status.kind;
  parts.again.hidden = status.busy;
  row.classList.toggle("st-busy", Boolean(status.busy));
  row.style.setProperty("--st-part", `${context.part(line.id) ?? 0}%`);
}

// What is known before a line is spoken: its size, its slot in a film, its note, warnings. The size has
// a place of its own: a line that came and went with the focus would move what one is about to click.
export function updateLook(row, line, look) {
  const { parts } = row;
  const expected = look?.seconds ? ` · ${`≈ ${seconds(look.seconds)}`.replaceAll(" ", "\u00a0")}` : "";
  setText(parts.size, line.text.trim() ? `${[...line.text].length} ch${expected}` : "");
  parts.size.title = "Characters, and the seconds they are expected to take";
  const why = parts.why.hidden ? "" : parts.why.textContent; // what the take says already is not said twice
  const found = look?.error ? [look.error] : (look?.warnings ?? []);
  const words = line.state === "failed" && look?.error ? [] : found.filter((sentence) => !why.includes(sentence));
  parts.look.classList.toggle("st-warning", words.length > 0 || isOver(line, look));
  if (line.slot) words.unshift(slotWords(line, look));
  if (line.note) words.push(`Note: ${line.note}`);
  setText(parts.look, words.join(" · "));
  parts.look.hidden = words.length === 0;
}

function isOver({ slot, made = [] }, look) {
  return Boolean(slot) && (made.findLast((take) => !take.old)?.s ?? look?.seconds ?? 0) > slot[1] - slot[0];
}

function slotWords({ slot: [start, end], made = [] }, look) {
  const long = made.findLast((take) => !take.old)?.s ?? look?.seconds;
  const words = `slot ${clock(start)} to ${clock(end)}, ${seconds(end - start)}`;
  return long > end - start ? `${words}: ${seconds(long - (end - start))} too long` : words;
}

export function updateTakes(row, line, context) {
  const { parts } = row;
  const takes = line.made ?? [];
  const take = context.chosen(line);
  row.classList.toggle("st-has-take", Boolean(take));
  if (!take) return;
  showChoice(parts.take, take.id, takeWords(take, takes.length));
  parts.take.disabled = takes.length < 2;
  parts.star.setAttribute("aria-pressed", String(Boolean(take.star)));
  parts.download.href = context.download(take.id); // the server names the file as an export would
  const playing = context.playing() === take.id;
  if (parts.play.dataset.on !== String(playing)) {
    parts.play.dataset.on = String(playing);
    parts.play.replaceChildren(icon(playing ? "pause" : "play"));
    parts.play.setAttribute("aria-label", `${playing ? "Pause" : "Play"} line ${row.number}`);
  }
}

export function takeWords(take, of) {
  const words = [of > 1 ? `${take.n} · ${seconds(take.s)}` : seconds(take.s)];
  if (take.star) words.push("★");
  if (take.old) words.push("changed");
  return words.join(" ");
}

// Selects hold only what they show until someone opens them: 500 rows of all languages are slow.
export function fillChoices(select, choices, current) {
  const wanted = choices.some(([value]) => value === current) ? choices : [[current, current], ...choices];
  select.replaceChildren(...wanted.map(([value, label]) => el("option", { value, text: label })));
  select.value = current;
  select.dataset.full = "yes";
  select.base = current;
}

// A row that does not show has no size to measure; it grows when it shows.
export function grow(text) {
  if (GROWS_ALONE || text.clientWidth === 0) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + text.offsetHeight - text.clientHeight}px`; // with its borders
}

// `base` of a field is what it showed when its producer began to change it; a focused field is left alone,
// so that the line may be newer by then.
function showChoice(select, value, label) {
  if (document.activeElement === select && select.dataset.full && select.value !== value) return;
  select.base = value;
  if (select.value === value && (select.dataset.full || select.selectedOptions[0]?.textContent === label)) return;
  select.replaceChildren(el("option", { value, text: label, selected: true }));
  delete select.dataset.full;
}

function showValue(field, value) {
  if (document.activeElement === field && field.value !== value) return;
  field.base = value;
  if (field.value !== value) field.value = value;
}

function nameParts(parts, number) {
  const names = {
    tick: `Tick line ${number}`,
    voice: `Voice of line ${number}`,
    text: `Text of line ${number}`,
    language: `Language of line ${number}`,
    play: `Play line ${number}`,
    take: `Take of line ${number}`,
    star: `Star this take of line ${number} for the export`,
    download: `Download line ${number}`,
    again: `Generate line ${number}`,
    menu: `More for line ${number}`,
  };
  for (const [part, name] of Object.entries(names)) parts[part].setAttribute("aria-label", name);
  parts.emotion.title = `Emotion of line ${number}`;
}
