"""Projects are opened, copied, deleted and brought back, saved and opened as a zip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import project, reload, rows, saved, text

pytestmark = pytest.mark.browser


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def choose(page: Any, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("#studio-import").click()
    chooser.value.set_files(path)


def test_projects_open_copy_delete_undo(visit: Callable[..., Any]) -> None:
    page = visit()
    text(page, 1).fill("In the first project.")
    first = project(page, "p.api.token")
    tab(page, "Projects")
    page.locator("#studio-new").click()
    page.wait_for_function("(t) => window.studioReady.then((s) => s.project.api.token !== t)", arg=first)
    expect(rows(page)).to_have_count(0)
    tab(page, "Script")
    page.locator(".st-add").click()
    page.keyboard.type("In the second.")
    page.locator("#studio-name input, #studio-name textarea").fill("Second script")
    page.keyboard.press("Enter")
    saved(page)
    tab(page, "Projects")
    page.locator("#studio-projects input").click()
    page.get_by_role("option", name="My first script").click()
    expect(text(page, 1)).to_have_value("In the first project.")
    page.locator("#studio-duplicate").click()
    expect(page.locator("#studio-name input, #studio-name textarea")).to_have_value("My first script (copy)")
    expect(rows(page)).to_have_count(4)
    page.locator("#studio-delete").click()
    expect(page.locator("#studio-name input, #studio-name textarea")).not_to_have_value(
        "My first script (copy)"
    )
    page.locator("#studio-undelete").click()
    expect(page.locator("#studio-name input, #studio-name textarea")).to_have_value("My first script (copy)")
    reload(page)
    expect(page.locator("#studio-name input, #studio-name textarea")).to_have_value("My first script (copy)")
    page.keyboard.press("?")
    expect(page.locator(".st-keys")).to_be_visible()


def test_a_project_goes_out_and_in_as_a_zip(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    text(page, 1).fill("Packed up.")
    tab(page, "Projects")
    with page.expect_download() as download:
        page.locator("#studio-export").click()
    assert download.value.suggested_filename == "My first script.zip"
    download.value.save_as(tmp_path / "script.zip")
    stranger = visit()
    tab(stranger, "Projects")
    choose(stranger, tmp_path / "script.zip")
    expect(text(stranger, 1)).to_have_value("Packed up.")
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    choose(stranger, tmp_path / "bad.zip")
    expect(stranger.get_by_text("This file is not a whole zip")).to_be_visible()
    expect(text(stranger, 1)).to_have_value("Packed up.")
