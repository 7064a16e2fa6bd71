"""A studio with tight limits, whose lines are spoken from the start: refused words, takes, undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Server
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, status, text
from test_page_script import choose_script, paste

pytestmark = pytest.mark.browser

ROWS, CHARACTERS = 6, 100
TOO_LONG = "x" * (CHARACTERS + 1)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """On a Space the sample script has takes: nothing needs to be generated."""
    limits = {"ZONOS_MAX_ROWS": str(ROWS), "ZONOS_MAX_CHARACTERS": str(CHARACTERS)}
    running = Server(tmp_path_factory.mktemp("tight"), SPACE_ID="someone/studio", **limits)
    yield running
    running.stop()


def undo(page: Any) -> None:
    """One step back."""
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()


def test_a_spoken_line_is_duplicated_split_and_a_model_for_new_ones(
    visit: Callable[..., Any], tight: Server
) -> None:
    page = visit(tight.address)
    expect(status(page, 1)).to_have_text("done")
    menu(page, 1, "Duplicate")
    expect(status(page, 2)).to_have_text("pending")
    menu(page, 4, "Split at the caret")
    menu(page, 1, "New lines like this one")
    expect(page.locator(".st-notice").last).to_have_text("New lines start like this one.")
    saved(page)
    expect(page.locator(".st-notice[data-kind=trouble]")).to_have_count(0)
    page.wait_for_function("window.studioReady.then(({ project: p }) => p.about.settings.new_row?.voice)")
    assert project(page, "p.about.settings.new_row") == {"voice": "Heart", "language": "en-us"}
    menu(page, 1, "Settings and phonemes")
    expect(page.locator(".st-details label", has_text="Takes made in one go").locator("input")).to_have_value(
        "1"
    )
    page.keyboard.press("Escape")
    reload(page)
    expect(rows(page)).to_have_count(ROWS)
    expect(status(page, 1)).to_have_text("done")
    expect(status(page, 4)).to_have_text("changed since")


def test_a_script_may_say_how_many_takes_a_line_wants(
    visit: Callable[..., Any], tight: Server, tmp_path: Path
) -> None:
    page = visit(tight.address)
    (tmp_path / "takes.csv").write_text("text,takes\nThree times.,3\nOnce.,\n", encoding="utf-8")
    choose_script(page, tmp_path / "takes.csv")
    page.locator(".st-import").get_by_role("button", name="Add these lines").click()
    expect(rows(page)).to_have_count(ROWS)
    for number in (5, 6):
        expect(status(page, number)).to_have_text("pending")
    saved(page)
    reload(page)
    expect(status(page, 5)).to_have_text("pending")
    assert project(page, "[l[4].takes, l[5].takes ?? 1]") == [3, 1]


def test_refused_words_stay_beside_their_field(visit: Callable[..., Any], tight: Server) -> None:
    page = visit(tight.address)
    before = text(page, 1).input_value()
    expect(text(page, 1)).to_have_attribute("maxlength", str(CHARACTERS))
    project(page, f"p.set(l[0].id, {{ text: '{TOO_LONG}' }})")
    kept = row(page, 1).locator(".st-kept")
    expect(kept).to_contain_text(
        f"Not accepted: A line holds at most {CHARACTERS} characters here; split it."
    )
    expect(kept).to_contain_text(f"Yours: “{TOO_LONG}”.")
    expect(text(page, 1)).to_have_value(before)
    reload(page)
    expect(kept).to_contain_text(TOO_LONG)
    text(page, 1).fill("Short enough.")
    expect(kept).to_have_count(0)
    menu(page, 2, "Settings and phonemes")
    seed = page.locator(".st-details label", has_text="Seed").locator("input")
    seed.fill("a dozen")
    seed.press("Tab")
    expect(row(page, 2).locator(".st-kept")).to_contain_text(
        "Not accepted: seed is 'a dozen'; it must be a whole number. Yours: “a dozen”."
    )
    expect(page.locator(".st-details").get_by_label("Note")).to_have_attribute("maxlength", "2000")


def test_a_line_without_a_place_is_no_ghost(visit: Callable[..., Any], tight: Server) -> None:
    page = visit(tight.address)
    for number in range(5, 8):
        project(page, f"p.add('line0000000{number}', undefined, {{ text: 'Line {number}.' }})")
    notice = page.locator(".st-notice[data-stay]")
    expect(notice).to_contain_text(f"1 line not added. A project holds at most {ROWS} rows here")
    expect(notice).to_contain_text("It reads “Line 7.”.")
    expect(rows(page)).to_have_count(ROWS)
    menu(page, 6, "Delete")
    saved(page)
    notice.get_by_role("button", name="Add it again").click()
    expect(text(page, 6)).to_have_value("Line 7.")
    saved(page)
    reload(page)
    expect(rows(page)).to_have_count(ROWS)
    expect(text(page, 6)).to_have_value("Line 7.")


def test_a_preview_knows_both_limits(visit: Callable[..., Any], tight: Server) -> None:
    page = visit(tight.address)
    paste(page, 1, f"text\tvoice\n{TOO_LONG}\tHeart\nOne.\tHeart\nTwo.\tHeart\nThree.\tHeart\n")
    dialog = page.locator(".st-import")
    full = f"2 lines will be added. A project holds at most {ROWS} rows here: 1 line at the end left out."
    expect(dialog).to_contain_text(full)
    expect(dialog.locator(".st-bad-cell")).to_have_text(TOO_LONG)
    expect(dialog).to_contain_text(f"A line holds at most {CHARACTERS} characters here")
    dialog.get_by_text("instead of the lines that are there").click()
    expect(dialog).to_contain_text("3 lines will be added.")
    dialog.get_by_role("button", name="Cancel", exact=True).click()
    paste(page, 1, TOO_LONG)
    expect(page.locator(".st-notice").last).to_contain_text("the rest of what you pasted was left out")


def test_restoring_and_putting_away_a_take_can_be_undone(visit: Callable[..., Any], tight: Server) -> None:
    page = visit(tight.address)
    spoken = text(page, 1).input_value()
    text(page, 1).fill("Today's words.")
    row(page, 1).locator(".st-voice").focus()
    row(page, 1).locator(".st-voice").select_option("Marcus")
    expect(status(page, 1)).to_have_text("changed since")
    menu(page, 1, "Restore the line of this take")
    expect(text(page, 1)).to_have_value(spoken)
    undo(page)
    expect(text(page, 1)).to_have_value("Today's words.")
    expect(row(page, 1).locator(".st-voice")).to_have_value("Marcus")
    saved(page)
    page.get_by_role("button", name="Redo").click()
    expect(text(page, 1)).to_have_value(spoken)
    menu(page, 2, "Compare takes")
    page.locator(".st-take-pop").get_by_role("button", name="Put away (take 1)").click()
    page.keyboard.press("Escape")
    expect(status(page, 2)).to_have_text("pending")
    undo(page)
    expect(status(page, 2)).to_have_text("done")
    saved(page)
    reload(page)
    expect(status(page, 2)).to_have_text("done")
    expect(text(page, 1)).to_have_value(spoken)


OLD_BROWSER = """
const known = CSS.supports.bind(CSS);
CSS.supports = (...asked) => asked[0] !== 'field-sizing' && known(...asked);
addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '.st-studio .st-text { field-sizing: fixed !important; }';
  document.head.append(style);
});
"""


def test_texts_keep_their_height_where_a_browser_does_not_size_fields(
    chromium: Any, visit: Callable[..., Any], tight: Server
) -> None:
    context = chromium.new_context(viewport={"width": 1360, "height": 900})
    context.add_init_script(OLD_BROWSER)
    page = visit(tight.address, context=context)
    text(page, 1).fill("\n".join("abcdef"))
    saved(page)
    whole = "(field) => field.clientHeight >= field.scrollHeight - 1 && field.clientHeight > 80"
    assert text(page, 1).evaluate(whole)
    page.get_by_label("Find in lines").fill("door")
    expect(row(page, 1)).to_be_hidden()
    project(page, "p.note(l[0].id, 'looked at while hidden')")
    page.get_by_label("Find in lines").fill("")
    expect(row(page, 1)).to_be_visible()
    assert text(page, 1).evaluate(whole)
    page.set_viewport_size({"width": 700, "height": 900})
    text(page, 2).evaluate("(field) => { field.value = 'wide words '.repeat(9); }")
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function(
        "[...document.querySelectorAll('.st-text')].every((f) => f.clientHeight >= f.scrollHeight - 1)"
    )
    context.close()
