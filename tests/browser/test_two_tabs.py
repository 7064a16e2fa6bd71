"""Two tabs on one project: nobody's words are lost, nobody's are overwritten without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, text

pytestmark = pytest.mark.browser

OFFLINE = "() => { window.sent = window.fetch; window.fetch = () => Promise.reject(new Error('off')); }"
ONLINE = "() => { window.fetch = window.sent; }"


def test_the_slower_tab_shows_the_newer_words_and_keeps_its_own(visit: Callable[..., Any]) -> None:
    one = visit()
    two = visit(context=one.context)
    two.evaluate(OFFLINE)
    text(two, 1).fill("the other tab's words")
    row(two, 2).locator(".st-voice").focus()
    row(two, 2).locator(".st-voice").select_option("Marcus")
    text(one, 1).fill("written first")
    text(one, 2).fill("another field of line two")
    saved(one)
    two.evaluate(ONLINE)
    text(two, 3).click()
    kept = row(two, 1).locator(".st-kept")
    expect(kept).to_contain_text(
        "Another tab changed the text to “written first”. Yours: “the other tab's words”."
    )
    expect(two.locator(".st-notice[data-kind=trouble]")).to_have_count(1)
    expect(text(two, 1)).to_have_value("written first")
    expect(text(two, 2)).to_have_value("another field of line two")
    expect(row(two, 2).locator(".st-voice")).to_have_value("Marcus")
    reload(two)
    expect(text(two, 1)).to_have_value("written first")
    kept.get_by_role("button", name="Use my text").click()
    expect(text(two, 1)).to_have_value("the other tab's words")
    expect(kept).to_have_count(0)
    saved(two)
    project(one, "clearTimeout(p.pollTimer)")
    one.evaluate("dispatchEvent(new Event('focus'))")
    expect(row(one, 2).locator(".st-voice")).to_have_value("Marcus")
    text(one, 3).click()
    expect(text(one, 1)).to_have_value("the other tab's words")
    expect(row(one, 1).locator(".st-kept")).to_have_count(0)


def test_typing_into_a_field_that_shows_older_words(visit: Callable[..., Any]) -> None:
    one = visit()
    two = visit(context=one.context)
    text(one, 1).click()
    text(two, 1).fill("newer")
    saved(two)
    one.evaluate("window.studioReady.then((studio) => studio.refresh())")
    one.wait_for_function(
        "window.studioReady.then(({ project: p }) => p.lines.get(p.order[0]).text === 'newer')"
    )
    one.keyboard.press("End")
    one.keyboard.type(" Typed on.")
    expect(row(one, 1).locator(".st-kept")).to_contain_text("Typed on.”.")
    assert project(one, "l[0].text") == "newer"
    text(one, 2).click()
    expect(text(one, 1)).to_have_value("newer")
    row(one, 1).get_by_role("button", name="Drop my text").click()
    expect(row(one, 1).locator(".st-kept")).to_have_count(0)
    text(one, 1).fill("newest")
    saved(one)
    expect(row(one, 1).locator(".st-kept")).to_have_count(0)


def test_words_for_a_line_that_the_other_tab_deleted_can_be_added_again(visit: Callable[..., Any]) -> None:
    one = visit()
    two = visit(context=one.context)
    two.evaluate(OFFLINE)
    text(two, 2).fill("words for a line that is gone")
    menu(one, 2, "Delete")
    saved(one)
    two.evaluate(ONLINE)
    expect(rows(two)).to_have_count(3)
    expect(two.locator(".st-notice")).to_contain_text("Yours reads “words for a line that is gone”.")
    two.locator(".st-notice").get_by_role("button", name="Add it again").click()
    expect(text(two, 4)).to_have_value("words for a line that is gone")
    saved(two)
