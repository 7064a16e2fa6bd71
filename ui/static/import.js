// Lines from a file or a spreadsheet: a preview first, which names bad cells; then they are added.

import { button, el, newId, plural, setText } from "./dom.js";

const NAMED = 8; // numbers of rows in a notice
const SHOWN = 200;

export class Importer {
  constructor(project, facts, history, notices, checks) {
    Object.assign(this, { project, facts, history, notices, checks });
    this.summary = el("p", { class: "st-import-summary" });
    this.warnings = el("ul", { class: "st-said" });
    this.table = el("table", { class: "st-import-table" });
    this.replace = el("input", { type: "checkbox" });
    this.takeButton = button("Add these lines", { class: "st-button st-primary" }, "Add");
    const close = button("Cancel", { class: "st-button", title: "Close without adding" }, "Cancel");
    this.dialog = el(
      "dialog",
      { class: "st-pop st-import", "aria-label": "Preview of the lines" },
      el("h3", { class: "st-pop-title", text: "Before anything changes" }),
      this.summary,
      this.warnings,
      el("div", { class: "st-import-scroll", tabindex: "0" }, this.table),
      el("div", { class: "st-pop-foot" }, el("label", {}, this.replace, " instead of the lines that are there"), close, this.takeButton),
    );
    close.addEventListener("click", () => this.dialog.close());
    this.takeButton.addEventListener("click", () => this.#take());
    this.replace.addEventListener("change", () => this.#count());
  }

  // Cells copied from a spreadsheet: more than one cell or row. Anything else is pasted as usual.
  isTable(text) {
    return text.includes("\t") || text.trim().split(/\r?\n/).length > 1;
  }

  async open(script, after = undefined) {
    this.after = after;
    try {
      this.#show(await this.project.api.script(script));
      this.dialog.showModal();
    } catch (error) {
      this.notices.show(error.message, { kind: "trouble" });
    }
  }

  #show({ rows, warnings, columns }) {
    this.good = rows.filter((row) => row.fields);
    this.lost = rows.filter((row) => row.problems.length && !row.fields).map((row) => row.number);
    this.words = this.#words(rows);
    this.#count();
    this.warnings.replaceChildren(...warnings.map((text) => el("li", { text, dir: "auto" })));
    const head = el("tr", {}, el("th", { text: "Row" }), ...columns.map((name) => el("th", { text: name, dir: "auto" })), el("th", { text: "What is wrong" }));
    // In the file's order; where it is long, rows with something to say are among those that show.
    const says = (row) => row.problems.length || row.missing;
    const shown = new Set([...rows.filter(says), ...rows.filter((row) => !says(row))].slice(0, SHOWN));
    this.table.replaceChildren(head, ...rows.filter((row) => shown.has(row)).map((row) => this.#row(row, columns)));
    if (rows.length > SHOWN) {
      const rest = el("td", { colspan: columns.length + 2, text: `… and ${plural(rows.length - SHOWN, "more row")}` });
      this.table.append(el("tr", {}, rest));
    }
  }

  // The lines that a project has room for.
  #fitting() {
    const { rows } = this.facts.limits;
    return this.good.slice(0, Math.max(0, rows - (this.replace.checked ? 0 : this.project.order.length)));
  }

  #count() {
    const n = this.#fitting().length;
    const over = this.good.length - n;
    const words = [`${plural(n, "line")} will be added.`];
    if (over) words.push(`A project holds at most ${plural(this.facts.limits.rows, "row")} here: ${plural(over, "line")} at the end left out.`);
    setText(this.summary, [...words, ...this.words].join(" "));
    this.takeButton.disabled = n === 0;
  }

  #words(rows) {
    const bad = rows.filter((row) => row.problems.length);
    const lost = this.lost.length;
    const skipped = rows.filter((row) => row.skipped).length;
    const missing = [...new Set(rows.flatMap((row) => row.missing ?? []).map(({ name }) => name))];
    const words = [];
    if (bad.length > lost) words.push(`${plural(bad.length - lost, "row")} with bad cells, marked below: what they say is not taken over.`);
    if (lost) words.push(`${plural(lost, "row")} with bad cells left out, marked below.`);
    if (skipped) words.push(`${plural(skipped, "row")} without text left out.`);
    if (missing.length) words.push(`Not among your voices: ${missing.join(", ")}.`);
    return words;
  }

  #row(row, columns) {
    const cells = columns.map((name) => {
      const wrong = row.problems.some((problem) => problem.column === name);
      const odd = row.missing?.some(({ column }) => column === name);
      return el("td", { class: wrong ? "st-bad-cell" : odd ? "st-odd-cell" : "", text: row.raw[name] ?? (name === "text" ? row.fields?.text : "") ?? "", dir: "auto" });
    });
    const missing = (row.missing ?? []).map(({ name }) => `There is no voice “${name}” here (yet).`);
    const fate = row.problems.length ? [row.fields ? "The cell is left as the model has it." : "The row is left out."] : [];
    const says = [...row.problems.map((problem) => problem.message), ...fate, ...missing].join(" ") || row.skipped;
    return el("tr", {}, el("td", { text: row.number }), ...cells, el("td", { class: "st-says", text: says, dir: "auto" }));
  }

  #take() {
    this.dialog.close();
    const lines = this.#fitting();
    let after = this.replace.checked ? undefined : this.after;
    this.history.group("import", () => {
      if (this.replace.checked) this.project.remove([...this.project.order]);
      for (const row of lines) {
        const id = newId();
        this.project.add(id, after, row.fields, row.slot ? { slot: row.slot } : {});
        after = id;
      }
    });
    this.notices.show(`${plural(lines.length, "line")} added.${leftOut(this.lost)}`);
  }
}

function leftOut(numbers) {
  if (!numbers.length) return "";
  const more = numbers.length > NAMED ? ` and ${numbers.length - NAMED} more` : "";
  return ` Left out for bad cells: ${numbers.length === 1 ? "row" : "rows"} ${numbers.slice(0, NAMED).join(", ")}${more}.`;
}
