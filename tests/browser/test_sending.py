"""Edits on their way to the server: what cannot be sent is sent again, what is refused costs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import project, reload, row, rows, saved, text
from test_two_tabs import OFFLINE

pytestmark = pytest.mark.browser

UNREADABLE = "JSON.parse('['.repeat(300) + ']'.repeat(300))"  # deeper than the server reads
PROXY = {"content_type": "text/html", "body": "<h1>Something in between</h1>"}


def test_one_unreadable_edit_costs_no_other(visit: Callable[..., Any]) -> None:
    page = visit()
    project(
        page,
        "[p.set(l[0].id, { text: 'the first' }), p.set(l[1].id, { name: " + UNREADABLE + " }),"
        " p.set(l[2].id, { text: 'the third' }), p.note(l[2].id, 'with a note')]",
    )
    expect(page.locator(".st-notice[data-kind=trouble]")).to_have_count(1)
    expect(page.locator(".st-notice")).to_contain_text("Line 2: What was sent was not understood")
    expect(row(page, 2).locator(".st-kept")).to_contain_text("Not accepted: What was sent was not understood")
    saved(page)
    page.wait_for_function(
        "window.studioReady.then(({ project: p }) => !('name' in p.lines.get(p.order[1])))"
    )
    reload(page)
    expect(text(page, 1)).to_have_value("the first")
    expect(text(page, 3)).to_have_value("the third")
    expect(row(page, 3).locator(".st-look")).to_contain_text("with a note")


def test_what_a_proxy_answers_is_not_the_end(visit: Callable[..., Any]) -> None:
    page = visit()
    answers = [404, 413]

    def answer(route: Any) -> None:
        if answers:
            route.fulfill(status=answers.pop(0), **PROXY)
        else:
            route.continue_()

    page.route("**/studio/edits", answer)
    text(page, 1).fill("typed behind a proxy")
    expect(page.locator(".st-saved")).to_contain_text("fault 404")
    expect(page.locator(".st-saved")).to_contain_text("fault 413")
    saved(page)
    reload(page)
    expect(text(page, 1)).to_have_value("typed behind a proxy")


def test_many_edits_go_in_slices_and_half_a_character_in_none(visit: Callable[..., Any]) -> None:
    page = visit()
    sizes: list[int] = []

    def count(request: Any) -> None:
        if request.url.endswith("/studio/edits"):
            sizes.append(len(request.post_data_json["edits"]))

    page.on("request", count)
    project(
        page,
        "[p.set(l[0].id, { text: 'half \\ud83d of \\ud83d\\ude00' }),"
        " ...Array.from({ length: 1200 }, (_, i) => p.tick([l[1].id], i % 2 === 0))].length",
    )
    saved(page)
    assert (max(sizes), sum(sizes)) == (500, 1201)
    reload(page)
    expect(text(page, 1)).to_have_value("half \ufffd of \U0001f600")


def test_lines_and_notes_typed_while_the_studio_is_away_survive_a_reload(visit: Callable[..., Any]) -> None:
    page = visit()
    page.evaluate(OFFLINE)
    page.locator(".st-add").click()
    page.keyboard.type("A new line, typed while nobody answers.")
    project(page, "p.note(l[4].id, 'softer')")
    project(page, "p.note(l[0].id, 'louder')")
    text(page, 2).fill("other words")
    project(page, "p.move([l[3].id], null)")
    expect(page.locator(".st-saved")).to_contain_text("does not answer")
    for _ in range(2):  # and nothing is sent twice
        reload(page)
        expect(rows(page)).to_have_count(5)
        expect(text(page, 5)).to_have_value("A new line, typed while nobody answers.")
        expect(text(page, 3)).to_have_value("other words")
        expect(row(page, 5).locator(".st-look")).to_contain_text("Note: softer")
        expect(row(page, 2).locator(".st-look")).to_contain_text("Note: louder")
        expect(page.locator(".st-notice")).to_have_count(0)
        saved(page)
    assert (
        page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('zonos-studio-kept'))") == []
    )
