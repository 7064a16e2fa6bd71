// A clip for a voice: picked from the disk or dropped on a row.

import { el } from "./dom.js";

export function pickClip(got) {
  const input = el("input", { type: "file", accept: "audio/*,video/mp4,video/webm" });
  input.addEventListener("change", () => input.files[0] && got(input.files[0]));
  input.click();
}

export function dropClips(list, got) {
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (row) => {
    for (const marked of list.querySelectorAll(".st-drop")) if (marked !== row) marked.classList.remove("st-drop");
    row?.classList.add("st-drop");
  };
  list.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(event.target.closest(".st-row"));
  });
  list.addEventListener("dragleave", (event) => list.contains(event.relatedTarget) || mark(null));
  list.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(null);
    const row = event.target.closest(".st-row");
    const file = event.dataTransfer.files[0];
    if (row && file) got(row, file);
  });
}
