"""Hard inputs that only a real page can show; each test names its row."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.sync_api import expect
from studio_page import project, reload, row, saved, text
from test_speaking import LONG, generate, keep_only, spoken

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("words", "direction"),
    [
        ("مرحبا بالعالم", "rtl"),
        ("مرحبا 3 قطط and English, بالعالم!", "rtl"),
        ("עברית 123 abc", "rtl"),
        ("English with שלום inside (1)", "ltr"),
        ("123 مرحبا", "rtl"),
    ],
)
def test_right_to_left_and_mixed_text(visit: Callable[..., Any], words: str, direction: str) -> None:
    """Row 'right-to-left and mixed text in the table': readable, and what is typed lands at the caret."""
    page = visit()
    text(page, 1).fill("")
    text(page, 1).click()
    page.keyboard.type(words)
    assert text(page, 1).evaluate("(field) => getComputedStyle(field).direction") == direction
    assert text(page, 1).evaluate("(field) => field.selectionStart") == len(words)
    page.keyboard.press("Home")
    page.keyboard.type("א")
    expect(text(page, 1)).to_have_value(f"א{words}")
    saved(page)
    reload(page)
    expect(text(page, 1)).to_have_value(f"א{words}")
    assert text(page, 1).evaluate("(field) => getComputedStyle(field).direction") == "rtl"


def test_refresh_in_mid_run_and_a_second_tab(visit: Callable[..., Any]) -> None:
    """Row 'refresh or close the tab in mid-run, come back': it went on, and Stop still works from there."""
    page = visit()
    keep_only(page, "Short.", LONG, LONG)
    generate(page)
    reload(page)
    expect(page.locator(".st-stop")).to_be_enabled()
    spoken(page, 1)
    second = visit(context=page.context)
    page.close()
    second.locator(".st-stop").click()
    expect(second.locator(".st-stop")).to_be_disabled(timeout=60_000)
    spoken(second, 1)
    assert project(second, "l.filter((line) => ['queued', 'running'].includes(line.state)).length") == 0


def wav(samples: np.ndarray) -> bytes:
    sink = io.BytesIO()
    soundfile.write(sink, samples, 24_000, format="WAV")
    return sink.getvalue()


def test_clips_that_are_no_voice_change_nothing(visit: Callable[..., Any]) -> None:
    """Rows '0-byte file, a text file named .wav' and 'clip of 0.05 s; pure silence': never another voice."""
    page = visit()
    before = row(page, 1).locator(".st-voice").input_value()
    voices = project(page, "p.about.voices.map((voice) => voice.name)")
    clips = {
        "nothing.wav": b"",
        "letter.wav": b"Dear Sir or Madam,\n" * 40,
        "silence.wav": wav(np.zeros(48_000)),
        "moment.wav": wav(0.3 * np.sin(np.arange(1200) / 9)),
    }
    row(page, 1).locator(".st-voice").focus()
    for name, content in clips.items():
        with page.expect_file_chooser() as chooser:
            row(page, 1).locator(".st-voice").select_option(label="Upload a clip …")
        chooser.value.set_files({"name": name, "mimeType": "audio/wav", "buffer": content})
        page.get_by_role("button", name="I may use this voice").click()
        expect(page.locator(".st-notice[data-kind=trouble]", has_text=name)).to_be_visible()
        expect(row(page, 1).locator(".st-voice")).to_have_value(before)
    saved(page)
    assert project(page, "p.about.voices.map((voice) => voice.name)") == voices
