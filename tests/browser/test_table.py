"""Editing in a real browser: nothing is lost, nothing typed ever runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, status, text

pytestmark = pytest.mark.browser

NASTY = [
    "back`tick` and ${document.title='hacked'}",
    "{{constructor.constructor('document.title=1')()}}",
    "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>",
    "\u202eright to left\u202c and \u0645\u0631\u062d\u0628\u0627 mixed",
]


def test_first_visit_shows_the_sample(visit: Callable[..., Any]) -> None:
    page = visit()
    expect(rows(page)).to_have_count(4)
    expect(status(page, 1)).to_have_text("pending")
    assert {row(page, n).locator(".st-voice").input_value() for n in range(1, 5)} == {
        "Vera",
        "Heart",
        "Marcus",
        "June",
    }


def test_edits_survive_a_reload(visit: Callable[..., Any]) -> None:
    page = visit()
    text(page, 1).fill("First line,\nwith a second row in it.")
    row(page, 1).locator(".st-voice").focus()
    row(page, 1).locator(".st-voice").select_option("Marcus")
    row(page, 2).locator(".st-language").focus()
    row(page, 2).locator(".st-language").select_option("de")
    row(page, 3).locator("[data-do=emotion]").click()
    editor = page.locator(".st-emotion-editor")
    editor.get_by_role("button", name="angry", exact=True).click()
    editor.get_by_label("surprise, number").fill("0.4")
    page.keyboard.press("Escape")
    row(page, 4).locator(".st-tick").check()
    saved(page)
    reload(page)
    expect(text(page, 1)).to_have_value("First line,\nwith a second row in it.")
    expect(row(page, 1).locator(".st-voice")).to_have_value("Marcus")
    expect(row(page, 2).locator(".st-language")).to_have_value("de")
    expect(row(page, 3).locator("[data-do=emotion]")).to_have_text("anger 0.90 +2")
    expect(row(page, 4).locator(".st-tick")).to_be_checked()
    assert project(page, "l[2].emotion") == {"anger": 0.9, "neutral": 0.1, "surprise": 0.4}


def test_leaving_at_once_loses_nothing(visit: Callable[..., Any]) -> None:
    page = visit()
    text(page, 2).fill("typed a moment before the reload")
    reload(page)
    expect(text(page, 2)).to_have_value("typed a moment before the reload")


@pytest.mark.parametrize("nasty", NASTY)
def test_text_is_shown_as_typed_and_never_runs(visit: Callable[..., Any], nasty: str) -> None:
    page = visit()
    title = page.title()
    text(page, 1).fill(nasty)
    page.locator("#studio-name textarea, #studio-name input").fill(nasty)
    page.keyboard.press("Tab")
    saved(page)
    menu(page, 1, "Duplicate")
    menu(page, 1, "Delete")
    page.locator(".st-notice button").last.click()
    saved(page)
    reload(page)
    expect(text(page, 1)).to_have_value(nasty)
    expect(text(page, 2)).to_have_value(nasty)
    expect(page.locator("#studio-name textarea, #studio-name input")).to_have_value(nasty)
    assert page.title() == title
    assert page.locator(".st-studio img, .st-studio script").count() == 0


def test_rows_add_duplicate_split_move_delete_undo(visit: Callable[..., Any]) -> None:
    page = visit()
    first = text(page, 1).input_value()
    menu(page, 1, "Duplicate")
    expect(rows(page)).to_have_count(5)
    expect(text(page, 2)).to_have_value(first)
    text(page, 2).evaluate("(field) => { field.focus(); field.setSelectionRange(22, 22); }")
    menu(page, 2, "Split at the caret")
    expect(rows(page)).to_have_count(6)
    assert text(page, 2).input_value() + " " + text(page, 3).input_value() == first
    menu(page, 3, "Move up")
    expect(text(page, 3)).to_have_value(first[:22].strip())
    menu(page, 2, "Delete")
    expect(rows(page)).to_have_count(5)
    page.locator(".st-notice button").last.click()
    expect(rows(page)).to_have_count(6)
    page.locator(".st-add").click()
    page.keyboard.type("Typed into the new row.")
    saved(page)
    order = project(page, "l.map((line) => line.text)")
    reload(page)
    assert project(page, "l.map((line) => line.text)") == order
    assert order[-1] == "Typed into the new row."


def test_keyboard_walks_ticks_moves_and_deletes(visit: Callable[..., Any]) -> None:
    page = visit()
    texts = project(page, "l.map((line) => line.text)")
    text(page, 1).click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    expect(row(page, 2).locator(".st-tick")).to_be_checked()
    page.keyboard.press("Alt+ArrowDown")
    assert project(page, "l.map((line) => line.text)") == [texts[0], texts[2], texts[1], texts[3]]
    page.keyboard.press("Delete")
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("?")
    expect(page.locator(".st-keys")).to_be_visible()
    page.keyboard.press("Escape")
    text(page, 1).click()
    page.keyboard.press("Control+Shift+Enter")
    page.keyboard.type("Really? Yes.")
    expect(text(page, 2)).to_have_value("Really? Yes.")
    expect(page.locator(".st-keys")).to_be_hidden()


def test_every_popover_closes_with_escape_and_with_its_button(visit: Callable[..., Any]) -> None:
    page = visit()
    project(page, "p.set(l[0].id, { emotion: { fear: 0.3, anger: 0.1 } })")  # no preset to put the focus on
    opened = {
        ".st-emotion-editor": lambda: row(page, 1).locator("[data-do=emotion]").click(),
        ".st-details": lambda: menu(page, 1, "Settings and phonemes"),
        ".st-keys": lambda: page.get_by_role("button", name="? Keys").click(),
    }
    for popover, open_it in opened.items():
        open_it()
        expect(page.locator(popover)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(popover)).to_be_hidden()
        open_it()
        page.locator(popover).get_by_role("button", name="Close").click()
        expect(page.locator(popover)).to_be_hidden()


def test_nothing_fires_while_an_input_method_composes(visit: Callable[..., Any]) -> None:
    page = visit()
    text(page, 1).evaluate(
        "(field) => field.dispatchEvent(new KeyboardEvent('keydown',"
        " { key: 'Enter', ctrlKey: true, isComposing: true, bubbles: true }))"
    )
    saved(page)
    assert project(page, "l[0].state ?? null") is None


def test_a_focused_field_is_never_overwritten(visit: Callable[..., Any]) -> None:
    page = visit()
    second = visit(context=page.context)
    text(page, 1).click()
    text(second, 1).fill("from the other tab")
    text(second, 2).fill("also from there")
    saved(second)
    page.evaluate("window.studioReady.then((studio) => studio.refresh())")
    expect(text(page, 2)).to_have_value("also from there")
    assert text(page, 1).input_value().startswith("Welcome")
    text(page, 2).click()
    expect(text(page, 1)).to_have_value("from the other tab")


def test_a_bad_value_is_refused_in_words_and_shown_as_it_is(visit: Callable[..., Any]) -> None:
    page = visit()
    project(page, "p.set(l[0].id, { speaking_rate: 0 })")
    expect(page.locator(".st-notice")).to_contain_text("Line 1: speaking_rate is 0; it must be from 1 to 40.")
    page.wait_for_function(
        "window.studioReady.then((s) => !('speaking_rate' in s.project.lines.get(s.project.order[0])))"
    )


def test_two_people_do_not_see_each_other(visit: Callable[..., Any]) -> None:
    one, two = visit(), visit()
    text(one, 1).fill("mine alone")
    saved(one)
    reload(two)
    assert "mine alone" not in json.dumps(project(two, "l"))
    assert project(one, "p.api.token") != project(two, "p.api.token")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_ground(visit: Callable[..., Any], scheme: str) -> None:
    page = visit(color_scheme=scheme)
    ratio = page.evaluate(CONTRAST, ".st-text")
    assert ratio >= 7
    assert page.evaluate(CONTRAST, ".st-status") >= 4.5
    assert page.evaluate(CONTRAST, ".st-primary") >= 4.5


CONTRAST = """(selector) => {
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const node = document.querySelector(selector);
  let ground = node;
  while (rgb(getComputedStyle(ground).backgroundColor)[3] < 255 && ground.parentElement) ground = ground.parentElement;
  const [a, b] = [light(rgb(getComputedStyle(node).color)), light(rgb(getComputedStyle(ground).backgroundColor))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""
