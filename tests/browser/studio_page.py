"""Words for what a producer does on the page."""

from __future__ import annotations

import re
from typing import Any


def rows(page: Any) -> Any:
    """All rows."""
    return page.locator(".st-rows > .st-row")


def row(page: Any, number: int) -> Any:
    """A row, counted from 1 as on the page."""
    return rows(page).nth(number - 1)


def text(page: Any, number: int) -> Any:
    """A row's text."""
    return row(page, number).locator(".st-text")


def status(page: Any, number: int) -> Any:
    """A row's status in words."""
    return row(page, number).locator(".st-status")


def saved(page: Any) -> None:
    """Wait until the server has everything."""
    page.wait_for_function("document.querySelector('.st-saved').dataset.kind === 'saved'")


def reload(page: Any) -> None:
    """Reload and wait for the table."""
    page.reload()
    page.wait_for_selector("[data-ready=yes]")


def project(page: Any, expression: str) -> Any:
    """Look into the browser's copy of the project: ``p`` is the project, ``l`` its lines in order."""
    return page.evaluate(
        "async (body) => { const p = (await window.studioReady).project;"
        " const l = p.order.map((id) => p.lines.get(id)); return new Function('p', 'l', body)(p, l); }",
        f"return {expression}",
    )


def menu(page: Any, number: int, words: str) -> None:
    """Choose from a row's menu."""
    row(page, number).locator("[data-do=menu]").click()
    page.locator(".st-menu").get_by_role("menuitem", name=re.compile(f"^{re.escape(words)}")).click()
