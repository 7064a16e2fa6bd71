"""The player at the bottom: one line after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Server
from playwright.sync_api import expect
from studio_page import project, row, saved

pytestmark = pytest.mark.browser

NEAR_THE_END = (
    "() => { const audio = document.querySelector('audio'); audio.currentTime = audio.duration - 0.2; }"
)
PLAYING = "(take) => { const { paused, src } = document.querySelector('audio'); return !paused && src.endsWith(`/${take}.wav`); }"


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Server]:
    """On a Space the sample script has takes from the start: nothing needs to be generated."""
    running = Server(tmp_path, SPACE_ID="someone/studio")
    yield running
    running.stop()


def test_playing_through_from_a_row_skips_what_has_no_take(visit: Callable[..., Any], space: Server) -> None:
    page = visit(space.address)
    takes = project(page, "l.map((line) => line.made[0].id)")
    project(page, "p.dropTake(l[2].made[0].id)")
    project(page, "p.remove([l[0].id])")
    saved(page)
    title = page.locator(".st-dock-title")
    row(page, 1).locator("[data-do=play]").click()
    expect(title).to_have_text("1  I cannot believe we won the whole race!")
    page.locator(".st-through input").check()
    page.wait_for_function(PLAYING, arg=takes[1])
    page.evaluate(NEAR_THE_END)
    expect(title).to_have_text("3  Put the box down and step away from the door.")
    page.wait_for_function(PLAYING, arg=takes[3])
    expect(row(page, 3).locator("[data-do=play]")).to_have_attribute("aria-label", "Pause line 3")
    page.evaluate(NEAR_THE_END)
    page.wait_for_function("document.querySelector('audio').ended")
    expect(title).to_have_text("3  Put the box down and step away from the door.")
    expect(row(page, 3).locator("[data-do=play]")).to_have_attribute("aria-label", "Play line 3")
