"""The tab of the project's dictionary."""

from __future__ import annotations

from typing import Any

import gradio as gr
from pydantic import ValidationError

from ui import projects, recipes, words
from ui.checks import look
from ui.store import Store
from ui.table import REFRESH
from ui.words_for_faults import in_words
from zonos.line import Line
from zonos.text.dictionary import Dictionary, Entry
from zonos.words import count

HEADERS = ["Word", "Say it as", "Language", "Match case"]
HOW = """A word and how to say it: a spelling (`Siobhan` → `Shivawn`), phonemes in double brackets
(`[[ʃɪˈvɔːn]]`), or nothing to leave it out. Whole words only. An empty language means every language.
Lines that a change touches become *changed since*."""
BLANK_ROWS = 6


def create(store: Store, token: gr.BrowserState) -> gr.Dataframe:
    """Put the tab's parts on the page; gives the table for the page to fill when it opens a project."""
    gr.Markdown(HOW)
    table = gr.Dataframe(
        headers=HEADERS,
        datatype=["str", "str", "str", "bool"],
        type="array",
        row_count=BLANK_ROWS,
        column_count=len(HEADERS),
        interactive=True,
        elem_id="studio-words",
        label="Dictionary",
        show_label=False,
    )
    with gr.Row():
        save = gr.Button("Save the dictionary", variant="primary", size="md", elem_id="studio-words-save")
        said = gr.Markdown(elem_id="studio-words-said")
    with gr.Row():
        trial = gr.Textbox(label="Try a sentence (with the dictionary as it stands above)", max_lines=2)
        language = gr.Textbox("en-us", label="Language", max_lines=1)
        sound = gr.Textbox(label="Phonemes", interactive=False, elem_id="studio-words-sound")

    @in_words
    def write(value: str, rows: list[list[Any]]) -> tuple[Any, str]:
        found, faults = parse(rows)
        if faults:
            return gr.update(), "Nothing was saved. " + " ".join(faults)
        with store.transaction() as db:
            project = projects.get(db, value)
            words.write(db, value, found)
            changed = recipes.refresh(db, project, projects.bump_about(db, value))
        lines = f"{count(changed, 'line')} {'is' if changed == 1 else 'are'}"
        return cells(found), f"Saved {count(len(found), 'word')}. {lines} said otherwise now."

    @in_words
    def try_out(text: str, code: str, rows: list[list[Any]]) -> str:
        if not text.strip():
            return ""
        found, faults = parse(rows)
        if faults:
            return " ".join(faults)
        entries = [Entry(w.word, w.say, w.language or None, w.match_case) for w in found]
        shown = look(Line(id="trial", text=text, language=code), Dictionary(entries), "mini")
        return str(shown.get("phonemes") or shown.get("error"))

    quiet: dict[str, Any] = {"show_progress": "hidden"}
    save.click(write, [token, table], [table, said], **quiet).then(None, None, None, js=REFRESH)
    gr.on([trial.submit, trial.blur], try_out, [trial, language, table], sound, **quiet)
    return table


def cells(found: list[words.Word]) -> list[list[Any]]:
    """Rows of the table, with blank ones to write into."""
    rows: list[list[Any]] = [[w.word, w.say, w.language, w.match_case] for w in found]
    return rows + [["", "", "", False] for _ in range(BLANK_ROWS)]


def parse(rows: list[list[Any]]) -> tuple[list[words.Word], list[str]]:
    """Entries of the table, and a sentence for each row that cannot be one."""
    found, faults = [], []
    for number, row in enumerate(rows, start=1):
        word, say, language, match_case = (*row, *[""] * len(HEADERS))[: len(HEADERS)]
        if not str(word or "").strip():
            if str(say or "").strip():
                faults.append(f"Row {number} has no word.")
            continue
        entry, fault = _entry(word, say, language, match_case)
        found += [entry] if entry else []
        faults += [f"Row {number}: {fault}"] if fault else []
    if len(found) > words.MAX_WORDS:
        faults.append(f"A dictionary holds at most {words.MAX_WORDS} words.")
    return found, faults


def _entry(word: Any, say: Any, language: Any, match_case: Any) -> tuple[words.Word | None, str]:
    try:
        return words.Word(
            word=str(word),
            say=str(say or ""),
            language=str(language or ""),
            match_case=str(match_case).strip().lower() in ("true", "1", "yes"),
        ), ""
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        context = first.get("ctx", {}).get("error")
        return None, str(context or f"{first['loc'][-1]}: {first['msg']}.")
