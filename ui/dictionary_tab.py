"""The tab of the project's dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from pydantic import ValidationError

from ui import projects, recipes, words
from ui.checks import look
from ui.store import StorageError, Store
from ui.table import REFRESH
from ui.word_merge import Clash, merge, seen_now
from ui.words_for_faults import in_words
from zonos.line import Line
from zonos.text.dictionary import Dictionary, Entry
from zonos.words import count

HEADERS = ["Word", "Say it as", "Language", "Match case"]
HOW = """A word and how to say it: a spelling (`Siobhan` → `Shivawn`), phonemes in double brackets
(`[[ʃɪˈvɔːn]]`), or nothing to leave it out. Whole words only. An empty language means every language.
Lines that a change touches become *changed since*."""
BLANK_ROWS = 6
FULL = f"A dictionary holds at most {words.MAX_WORDS} words."
AGAIN = "Save once more to have it as it stands above."


def create(store: Store, token: gr.BrowserState) -> tuple[gr.Dataframe, gr.State]:
    """Put the tab's parts on the page.

    Returns:
        For the page to fill when it opens a project: the table, and the words as this tab has seen them.
    """
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
    seen = gr.State([])
    with gr.Row():
        save = gr.Button("Save the dictionary", variant="primary", size="md", elem_id="studio-words-save")
        said = gr.Markdown(elem_id="studio-words-said")
    with gr.Row():
        trial = gr.Textbox(label="Try a sentence (with the dictionary as it stands above)", max_lines=2)
        language = gr.Textbox("en-us", label="Language", max_lines=1)
        sound = gr.Textbox(label="Phonemes", interactive=False, elem_id="studio-words-sound")

    @in_words
    def write(value: str, rows: list[list[Any]], base: list[words.Word]) -> tuple[Any, str, list[words.Word]]:
        found, faults = parse(rows)
        if faults:
            return gr.update(), "Nothing was saved. " + " ".join(faults), base
        saved = save_words(store, value, base, found)
        if isinstance(saved, Saved):
            return cells(saved.words), str(saved), saved.words
        return gr.update(), f"Nothing was saved. {' '.join(map(str, saved))} {AGAIN}", seen_now(base, saved)

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
    save.click(write, [token, table, seen], [table, said, seen], **quiet).then(None, None, None, js=REFRESH)
    gr.on([trial.submit, trial.blur], try_out, [trial, language, table], sound, **quiet)
    return table, seen


@dataclass(frozen=True, slots=True)
class Saved:
    """A dictionary that was written, and how many lines it changed."""

    words: list[words.Word]
    changed: int

    def __str__(self) -> str:
        lines = f"{count(self.changed, 'line')} {'is' if self.changed == 1 else 'are'}"
        return f"Saved {count(len(self.words), 'word')}. {lines} said otherwise now."


def save_words(
    store: Store, token: str, seen: list[words.Word], wanted: list[words.Word]
) -> Saved | list[Clash]:
    """Write what a tab changed in the dictionary; nothing where another tab changed the same words.

    Raises:
        UnknownProject: no such project.
        StorageError: both tabs' words together are too many.
    """
    with store.transaction() as db:
        project = projects.get(db, token)
        found, clashes = merge(seen, wanted, words.every(db, token))
        if clashes:
            return clashes
        if len(found) > words.MAX_WORDS:
            raise StorageError(f"Nothing was saved. {FULL} Another tab has added some.")
        words.write(db, token, found)
        return Saved(found, recipes.refresh(db, project, projects.bump_about(db, token)))


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
        faults.append(FULL)
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
