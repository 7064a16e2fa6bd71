// Small helpers for building the page. User text only ever passes through textContent or .value.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const ICONS = {
  play: "M5 3.5v9l7.5-4.5z",
  pause: "M4.5 3.5h2.5v9H4.5zM9 3.5h2.5v9H9z",
  star: "M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
  down: "M8 2v7.2M4.8 6.4 8 9.6l3.2-3.2M3 13h10",
  again: "M13 8a5 5 0 1 1-1.6-3.7M13 2.2v2.9h-2.9",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  plus: "M8 3v10M3 8h10",
  stop: "M4 4h8v8H4z",
  close: "M4 4l8 8M12 4l-8 8",
};
const FILLED = new Set(["play", "pause", "stop"]);

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `st-icon st-icon-${name}${FILLED.has(name) ? " st-filled" : ""}`);
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function button(label, props = {}, ...children) {
  return el("button", { type: "button", "aria-label": label, title: label, ...props }, ...children);
}

// Title of a popover, and the button that closes it.
export function popHead(title) {
  const close = button("Close", { class: "st-tool st-pop-close" }, icon("close"));
  close.addEventListener("click", () => close.closest("[popover]").hidePopover());
  return el("header", { class: "st-pop-head" }, title, close);
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

export function seconds(value) {
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function clock(value) {
  if (!Number.isFinite(value)) return "0.0";
  if (value < 60) return value.toFixed(1);
  return `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, "0")}`;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Where a popover goes: below its anchor, above it where there is no room, inside the window. It gets the
// focus, so that keys reach it and not the row below.
export function openBeside(popover, anchor) {
  popover.showPopover();
  if (!popover.contains(document.activeElement)) popover.focus();
  const box = anchor.getBoundingClientRect();
  const own = popover.getBoundingClientRect();
  const below = box.bottom + 4 + own.height <= innerHeight;
  const top = below ? box.bottom + 4 : Math.max(8, box.top - 4 - own.height);
  const left = Math.min(Math.max(8, box.left), innerWidth - own.width - 8);
  popover.style.top = `${top}px`;
  popover.style.left = `${left}px`;
}
