"""The voice library and the takes of a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from studio_page import menu, project, row, saved, text
from test_speaking import SPOKEN_MS, generate, keep_only, spoken

pytestmark = pytest.mark.browser
CLIP = Path(__file__).resolve().parents[2] / "examples" / "voices" / "Marcus.wav"


def test_a_voice_is_added_heard_renamed_and_removed(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    page.get_by_role("tab", name="Voices").click()
    cards = page.locator(".st-card")
    expect(cards).to_have_count(6)
    add = page.locator("#studio-add-voice")
    add.locator("input[type=file]").set_input_files(CLIP)
    page.locator("#studio-voice-name input, #studio-voice-name textarea").fill("Grandpa <b>")
    page.locator("#studio-voice-add").click()
    expect(page.get_by_text("Tick that you may use this voice first.")).to_be_visible()
    page.locator("#studio-consent input").check()
    page.locator("#studio-voice-add").click()
    expect(cards).to_have_count(7, timeout=SPOKEN_MS)
    card = page.locator('.st-card[data-voice="Grandpa <b>"]')
    expect(card).to_contain_text("consent given")
    expect(card).to_contain_text("kHz")
    card.get_by_role("button", name="Say a test sentence").click()
    page.wait_for_function("document.querySelector('audio').duration > 1", timeout=SPOKEN_MS)
    card.locator(".st-voice-name").fill("Grandpa")
    page.keyboard.press("Enter")
    expect(page.locator('.st-card[data-voice="Grandpa"]')).to_be_visible()
    page.locator('.st-card[data-voice="Heart"]').get_by_role("button", name="Remove").click()
    expect(cards).to_have_count(6)
    page.get_by_role("tab", name="Script").click()
    expect(row(page, 1).locator(".st-voice")).to_have_class("st-select st-voice st-missing")


def test_a_file_that_is_no_sound_is_refused_when_it_is_chosen(visit: Callable[..., Any]) -> None:
    page = visit()
    page.get_by_role("tab", name="Voices").click()
    page.locator("#studio-voice-add").click()
    said = page.locator("#studio-voice-said")
    expect(said).to_contain_text("Choose or record a clip first.")
    letter = {"name": "letter.wav", "mimeType": "audio/wav", "buffer": b"Dear Sir or Madam, " * 40}
    page.locator("#studio-add-voice input[type=file]").set_input_files(letter)
    expect(said).to_contain_text("letter.wav", timeout=SPOKEN_MS)
    expect(said).not_to_contain_text("Choose")
    page.locator("#studio-add-voice input[type=file]").set_input_files(CLIP)
    expect(said).to_contain_text("s of sound.", timeout=SPOKEN_MS)


def test_a_voice_is_recorded_with_the_microphone(visit: Callable[..., Any]) -> None:
    page = visit(permissions=["microphone"])
    page.get_by_role("tab", name="Voices").click()
    add = page.locator("#studio-add-voice")
    add.get_by_label("Record audio").click()
    add.get_by_role("button", name="Record", exact=True).click()
    expect(add.locator(".timestamps, #record .time, time").last).to_have_text(re.compile(r"0:0[2-9]"))
    add.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#studio-voice-said")).to_contain_text("s of sound.", timeout=SPOKEN_MS)
    page.locator("#studio-voice-name input, #studio-voice-name textarea").fill("Recorded")
    page.locator("#studio-consent input").check()
    page.locator("#studio-voice-add").click()
    card = page.locator('.st-card[data-voice="Recorded"]')
    expect(card).to_contain_text("consent given", timeout=SPOKEN_MS)
    (clip,) = project(page, "p.about.voices.find(({ name }) => name === 'Recorded').clips")
    assert clip["seconds"] > 1.5
    assert clip["level_dbfs"] > -40


def test_takes_side_by_side(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "Two takes of this.")
    generate(page)
    spoken(page, 1)
    menu(page, 1, "New take")
    expect(row(page, 1).locator(".st-take")).to_contain_text("2 ·", timeout=SPOKEN_MS)
    text(page, 1).fill("Other words.")
    saved(page)
    menu(page, 1, "Compare takes")
    pop = page.locator(".st-take-pop")
    expect(pop.locator(".st-take-row")).to_have_count(2)
    expect(pop.locator(".st-take-row").first).to_contain_text("text was Two takes of this.")
    pop.get_by_role("button", name="Check the words (take 1)").click()
    expect(pop.locator(".st-heard").last).to_contain_text("eard", timeout=SPOKEN_MS)
    pop.get_by_role("button", name="Star take 1").click()
    expect(pop.get_by_role("button", name="Star take 1")).to_have_attribute("aria-pressed", "true")
    pop.get_by_role("button", name="Put away (take 2)").click()
    expect(pop.locator(".st-take-row")).to_have_count(1)
    pop.get_by_role("button", name="Restore into the line (take 1)").click()
    expect(text(page, 1)).to_have_value("Two takes of this.")
    spoken(page, 1)
    assert project(page, "l[0].made.map((take) => [take.n, take.star ?? 0])") == [[1, 1]]
