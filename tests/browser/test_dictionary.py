"""The dictionary changes how lines are said, and which takes are out of date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, text
from test_speaking import SPOKEN_MS

pytestmark = pytest.mark.browser


def test_a_word_is_said_otherwise_from_now_on(visit: Callable[..., Any]) -> None:
    page = visit()
    text(page, 1).fill("Meet Siobhan today.")
    menu(page, 1, "Settings and phonemes")
    phonemes = page.locator(".st-details .st-phonemes")
    expect(phonemes).to_contain_text("m", timeout=SPOKEN_MS)
    before = phonemes.inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Dictionary").click()
    for column, value in enumerate(["Siobhan", "Shivawn"]):
        cell = page.locator(f"#studio-words [data-testid=cell-0-{column}]:visible").first
        cell.dblclick()
        page.keyboard.type(value)
        page.keyboard.press("Enter")
    page.locator("#studio-words-save").click()
    expect(page.locator("#studio-words-said")).to_contain_text("Saved 1 word. 1 line is said otherwise now.")
    page.get_by_role("tab", name="Script").click()
    menu(page, 1, "Settings and phonemes")
    expect(phonemes).not_to_have_text(before)
    expect(phonemes).not_to_have_text("…")
    assert project(page, "l[0].text") == "Meet Siobhan today."
