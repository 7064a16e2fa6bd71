"""Working on many rows: ranges, bulk changes, filter, replace, undo, paste, import, finer settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, text

from zonos.line import Emotion, Line
from zonos.script import read_script, write_script

pytestmark = pytest.mark.browser

LOOK_MS = 60_000  # the first look at a line imports what the model needs
SEED = str(2**53 + 1)  # more digits than a JavaScript number holds
TEXTS = "l.map((line) => line.text)"


def paste(page: Any, number: int, words: str) -> None:
    """Paste into a row's text, as a spreadsheet's cells come."""
    text(page, number).evaluate(
        "(field, words) => { const data = new DataTransfer(); data.setData('text/plain', words);"
        " field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); }",
        words,
    )


def choose_script(page: Any, path: Path) -> None:
    """Pick a file to import."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import a script").click()
    chooser.value.set_files(path)


def test_range_and_bulk_change_in_one_step_to_undo(visit: Callable[..., Any]) -> None:
    page = visit()
    before = project(page, "l.map((line) => line.voice)")
    row(page, 1).locator(".st-tick").click()
    row(page, 3).locator(".st-tick").click(modifiers=["Shift"])
    bar = page.locator(".st-bulk")
    expect(bar).to_contain_text("3 lines ticked")
    bar.get_by_label("Voice of ticked lines").select_option("Marcus")
    bar.get_by_label("Pace of ticked lines").select_option("17")
    saved(page)
    assert project(page, "l.map((line) => [line.voice, line.speaking_rate ?? null])") == [
        ["Marcus", 17],
        ["Marcus", 17],
        ["Marcus", 17],
        ["Marcus", None],
    ]
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    saved(page)
    reload(page)
    assert project(page, "l.map((line) => line.voice)") == before
    assert project(page, "l.filter((line) => 'speaking_rate' in line).length") == 0
    expect(bar).to_contain_text("3 lines ticked")
    bar.get_by_role("button", name="Delete the ticked lines").click()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    expect(rows(page)).to_have_count(4)


def test_filter_find_and_replace(visit: Callable[..., Any]) -> None:
    page = visit()
    before = project(page, TEXTS)
    text(page, 2).fill("A door (closed). Another DOOR.")
    page.keyboard.press("Escape")
    page.get_by_label("Find in lines").fill("door")
    expect(page.locator(".st-rows > .st-row:visible")).to_have_count(2)
    page.get_by_label("Replace with").fill("gate$&")
    page.get_by_role("button", name="Replace in all").click()
    page.get_by_label("Find in lines").fill("")
    expect(text(page, 2)).to_have_value("A gate$& (closed). Another gate$&.")
    expect(text(page, 4)).to_have_value(before[3].replace("door", "gate$&"))
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    expect(text(page, 4)).to_have_value(before[3])
    page.locator(".st-filter [data-kind=pending]").click()
    expect(page.locator(".st-rows > .st-row:visible")).to_have_count(4)


def test_undo_and_redo_of_typing_moving_and_merging(visit: Callable[..., Any]) -> None:
    page = visit()
    before = project(page, TEXTS)
    text(page, 1).fill("typed")
    menu(page, 3, "Move up")
    menu(page, 1, "Merge with the next")
    after = project(page, TEXTS)
    assert after == [f"typed {before[2]}", before[1], before[3]]
    page.locator(".st-head").click()
    for _ in range(3):
        page.keyboard.press("Control+z")
    assert project(page, TEXTS) == before
    for _ in range(3):
        page.keyboard.press("Control+Shift+z")
    saved(page)
    reload(page)
    assert project(page, TEXTS) == after


def test_paste_from_a_spreadsheet_with_preview(visit: Callable[..., Any]) -> None:
    page = visit()
    cells = (
        'text\tvoice\tspeaking_rate\tlanguage\n"First line\nwith a break, and ""quotes"""\tVera\t15\ten\n'
        "Second\tNobody\t12\tde\nThird\tMarcus\t900\ten-us\n"
    )
    paste(page, 2, cells)
    dialog = page.locator(".st-import")
    expect(dialog).to_contain_text("2 lines will be added. 1 row with bad cells left out, marked below.")
    expect(dialog.locator(".st-says", has_text="The row is left out.")).to_have_count(1)
    expect(dialog).to_contain_text("Not among your voices: Nobody.")
    expect(dialog.locator(".st-bad-cell")).to_have_text("900")
    expect(dialog.locator(".st-odd-cell")).to_have_text("Nobody")
    expect(dialog.locator("tr td:first-child")).to_have_text(["2", "3", "4"])
    expect(dialog.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    expect(rows(page)).to_have_count(4)
    dialog.get_by_role("button", name="Add these lines").click()
    expect(rows(page)).to_have_count(6)
    expect(page.locator(".st-notice").last).to_have_text("2 lines added. Left out for bad cells: row 4.")
    saved(page)
    reload(page)
    expect(text(page, 3)).to_have_value('First line\nwith a break, and "quotes"')
    assert project(page, "[l[2].language, l[2].voice, l[2].speaking_rate, l[3].text]") == [
        "en-us",
        "Vera",
        15,
        "Second",
    ]
    expect(row(page, 4).locator(".st-voice")).to_have_class("st-select st-voice st-missing")
    page.locator(".st-empty").wait_for(state="hidden")


def test_one_line_is_pasted_as_usual(visit: Callable[..., Any]) -> None:
    page = visit()
    paste(page, 1, "just words")
    expect(page.locator(".st-import")).to_be_hidden()


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("script.csv", "\ufefftext;voice\nEins;Vera\nZwei;Marcus\n", ["Eins", "Zwei"]),
        ("script.jsonl", '{"text": "One", "emotion": "happy"}\n{"text": "Two"}\n', ["One", "Two"]),
        ("script.txt", "Line one\n\nLine two\n", ["Line one", "Line two"]),
        (
            "film.srt",
            "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:03,000 --> 00:00:03,200\nThis is far too long a line.\n",
            ["Hello there.", "This is far too long a line."],
        ),
    ],
)
def test_a_script_file_takes_the_place_of_the_lines(
    visit: Callable[..., Any], tmp_path: Path, name: str, content: str, texts: list[str]
) -> None:
    page = visit()
    (tmp_path / name).write_text(content, encoding="utf-8")
    choose_script(page, tmp_path / name)
    dialog = page.locator(".st-import")
    dialog.get_by_text("instead of the lines that are there").click()
    dialog.get_by_role("button", name="Add these lines").click()
    saved(page)
    reload(page)
    assert project(page, TEXTS) == texts
    if name.endswith(".srt"):
        expect(row(page, 2).locator(".st-look")).to_contain_text("too long", timeout=LOOK_MS)
        menu(page, 2, "Fit to its slot")
        expect(page.locator(".st-notice").last).to_contain_text(
            "speaking rate 22. It still runs over its slot"
        )


@pytest.mark.parametrize("kind", ["tsv", "xlsx", "vtt"])
def test_a_script_goes_out_as_it_came_in(visit: Callable[..., Any], tmp_path: Path, kind: str) -> None:
    lines = [
        Line(text="=1+1; “Größe”, مرحبا", voice="Vera", emotion=Emotion(fear=0.5), seed=7),
        Line(text="Second.", language="de", voice="Nobody", speaking_rate=12.5),
    ]
    plain = kind == "vtt"
    times = [(1.0, 2.5), (4.0, 6.25)] if plain else None
    (tmp_path / f"in.{kind}").write_bytes(write_script(lines, kind, times=times))
    page = visit()
    choose_script(page, tmp_path / f"in.{kind}")
    dialog = page.locator(".st-import")
    dialog.get_by_text("instead of the lines that are there").click()
    dialog.get_by_role("button", name="Add these lines").click()
    expect(rows(page)).to_have_count(2)
    saved(page)
    page.get_by_role("tab", name="Export").click()
    page.get_by_text("The script alone").click()
    page.locator("#studio-script-kind input").fill(kind)
    page.get_by_role("option", name=kind, exact=True).click()
    with page.expect_download() as download:
        page.locator("#studio-script-save").click()
    assert download.value.suggested_filename == f"My first script.{kind}"
    download.value.save_as(tmp_path / f"out.{kind}")
    script = read_script(tmp_path / f"out.{kind}")
    assert [row.line for row in script.rows] == [Line(text=line.text) if plain else line for line in lines]
    assert [(row.start, row.end) for row in script.rows] == (times or [(None, None)] * 2)


def test_a_file_that_cannot_be_read_is_said(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    (tmp_path / "empty.csv").write_bytes(b"")
    choose_script(page, tmp_path / "empty.csv")
    expect(page.locator(".st-notice[data-kind=trouble]")).to_contain_text("empty")
    expect(rows(page)).to_have_count(4)


def test_settings_phonemes_and_note_of_a_line(visit: Callable[..., Any]) -> None:
    page = visit()
    menu(page, 2, "Settings and phonemes")
    details = page.locator(".st-details")
    expect(details.locator(".st-phonemes")).to_contain_text("ɹ", timeout=LOOK_MS)
    rate = details.get_by_label("Speaking rate", exact=True)
    expect(rate).to_have_attribute("placeholder", "default 12")
    rate.fill("18")
    rate.press("Tab")
    details.get_by_label("Pitch variation: auto").check()
    details.get_by_label("Note").fill("louder")
    details.locator("label", has_text="Seed").locator("input").fill(SEED)
    details.locator("label", has_text="Seed").locator("input").press("Tab")
    details.locator("summary", has_text="Only for the hybrid").click()
    expect(details.get_by_label("Recording quality", exact=True)).to_be_disabled()
    page.keyboard.press("Escape")
    saved(page)
    reload(page)
    assert project(page, "[l[1].speaking_rate, l[1].pitch_std, l[1].seed, l[1].note]") == [
        18,
        "auto",
        SEED,
        "louder",
    ]
    expect(row(page, 2).locator(".st-look")).to_contain_text("Note: louder")


def test_size_and_warnings_before_a_run(visit: Callable[..., Any]) -> None:
    page = visit()
    expect(row(page, 1).locator(".st-size")).to_contain_text("ch · ≈", timeout=LOOK_MS)
    text(page, 2).fill("Привет, как дела?")
    text(page, 3).fill("This is a sentence that goes on. " * 30)
    expect(row(page, 2).locator(".st-look")).to_be_visible(timeout=LOOK_MS)
    expect(row(page, 3).locator(".st-look")).to_contain_text("Long: spoken in", timeout=LOOK_MS)


def test_new_lines_like_this_one(visit: Callable[..., Any]) -> None:
    page = visit()
    menu(page, 2, "New lines like this one")
    expect(page.locator(".st-notice")).to_contain_text("New lines start like this one.")
    reload(page)
    page.locator(".st-add").click()
    saved(page)
    assert project(page, "[l[4].voice, l[4].emotion, l[4].text]") == [
        "June",
        project(page, "l[1].emotion"),
        "",
    ]
