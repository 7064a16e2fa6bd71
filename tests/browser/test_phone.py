"""A phone shows each line as a card; nothing is out of reach of a thumb."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, text

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 390, 844
THUMB = 36


@pytest.fixture
def phone(chromium: Any, visit: Callable[..., Any]) -> Iterator[Any]:
    context = chromium.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True
    )
    yield visit(context=context)
    context.close()


def box(part: Any) -> dict[str, float]:
    found: dict[str, float] = part.bounding_box()
    return found


def test_lines_are_cards_and_fit_the_screen(phone: Any) -> None:
    page = phone
    expect(rows(page)).to_have_count(4)
    expect(page.locator(".st-head")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    text(page, 1).fill("A sentence that takes more than a single row on a screen as narrow as this one is.")
    card = box(row(page, 1))
    parts = [
        ".st-text",
        ".st-voice",
        ".st-language",
        ".st-emotion",
        ".st-status",
        "[data-do=generate]",
        "[data-do=menu]",
    ]
    places = {part: box(row(page, 1).locator(part)) for part in parts}
    for part, place in places.items():
        assert card["x"] <= place["x"], part
        assert place["x"] + place["width"] <= card["x"] + card["width"], part
        assert place["y"] + place["height"] <= card["y"] + card["height"], part
        if part != ".st-status":
            assert place["height"] >= THUMB, part
    assert places[".st-text"]["y"] < places[".st-voice"]["y"] < places[".st-emotion"]["y"]
    assert places[".st-text"]["width"] > WIDTH * 0.6


def test_a_line_is_edited_on_a_phone(phone: Any) -> None:
    page = phone
    row(page, 2).locator("[data-do=emotion]").tap()
    editor = page.locator(".st-emotion-editor")
    place = box(editor)
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= WIDTH
    assert 0 <= place["y"] <= HEIGHT - place["height"]
    editor.get_by_role("button", name="sad", exact=True).tap()
    editor.get_by_role("button", name="Close").tap()
    expect(editor).to_be_hidden()
    menu(page, 2, "Duplicate")
    expect(rows(page)).to_have_count(5)
    saved(page)
    reload(page)
    assert project(page, "[l[1].emotion, l[2].emotion]") == [project(page, "l[1].emotion")] * 2
    assert project(page, "l[2].emotion.sadness") > 0
