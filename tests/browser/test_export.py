"""The export tab: names before anything is made, then a zip that holds them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from test_speaking import generate, keep_only, spoken

pytestmark = pytest.mark.browser


def test_names_are_shown_then_the_zip_holds_them(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    keep_only(page, "First words.", "Second words.")
    generate(page)
    spoken(page, 1, 2)
    page.get_by_role("tab", name="Export").click()
    shown = page.locator("#studio-export-preview textarea")
    template = page.locator("#studio-export-template").locator("input, textarea")
    template.fill("{nope}")
    expect(shown).to_have_value(re.compile(r"no field \{nope\}"))
    template.fill("{voice} {n:02} <b>")
    page.keyboard.press("Tab")
    page.locator("#studio-export-parts").get_by_text("One file of all lines").click()
    expect(shown).to_have_value("2 lines.\nMarcus 01 b.wav\nVera 02 b.wav")
    with page.expect_download() as download:
        page.locator("#studio-export-make").click()
    assert download.value.suggested_filename == "My first script audio.zip"
    download.value.save_as(tmp_path / "audio.zip")
    names = set(zipfile.ZipFile(tmp_path / "audio.zip").namelist())
    assert names == {"Marcus 01 b.wav", "Vera 02 b.wav", "joined/all.wav", "manifest.jsonl", "script.csv"}
