"""What the bar above the table says: what a run would take, and what ended one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Server
from playwright.sync_api import expect
from studio_page import project, row, saved, status
from test_speaking import SPOKEN_MS, generate

pytestmark = pytest.mark.browser


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Server]:
    """A server that may not fetch anything."""
    running = Server(tmp_path, HF_HUB_OFFLINE="1")
    yield running
    running.stop()


def test_a_run_is_foreseen_and_what_ends_it_is_said_once(visit: Callable[..., Any], offline: Server) -> None:
    page = visit(offline.address)
    words = page.locator(".st-bar-words")
    expect(words).to_contain_text("4 lines · pending: 4 at once, ", timeout=SPOKEN_MS)
    project(page, "p.api.project({ settings: { ...p.about.settings, model: 'transformer' } })")
    generate(page)
    fault = page.locator(".st-fault")
    expect(fault).to_contain_text("HF_HUB_OFFLINE", timeout=SPOKEN_MS)
    for number in (1, 2, 3, 4):
        expect(status(page, number)).to_have_text("failed")
        expect(row(page, number).locator(".st-why")).to_be_hidden()
    expect(page.locator(".st-runbar [data-which=pending]")).to_be_disabled()
    expect(page.locator(".st-runbar [data-which=failed] .st-count")).to_have_text("4")
    expect(page.locator(".st-filter [data-kind=pending]")).to_be_hidden()
    project(page, "p.api.project({ settings: { ...p.about.settings, model: 'mini' } })")
    project(page, "p.remove(p.order.slice(1))")
    saved(page)
    generate(page, "failed")
    expect(fault).to_be_hidden()
    expect(status(page, 1)).to_have_text("done", timeout=SPOKEN_MS)
