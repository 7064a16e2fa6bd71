"""Generating on the page with the embedded checkpoint; cases 'Page, server, machine'."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile
from conftest import Server
from playwright.sync_api import expect
from studio_page import menu, project, reload, row, rows, saved, status, text

pytestmark = pytest.mark.browser

SPOKEN_MS = 90_000  # for a short line on two busy cores, model loading included
LONG = "This line is long enough to be spoken for a good while, so that there is time to act on it. " * 4


def generate(page: Any, which: str = "pending") -> None:
    """Press a button of the run bar."""
    page.locator(f".st-runbar [data-which={which}]").click()


def keep_only(page: Any, *texts: str) -> None:
    """A script of these lines."""
    project(page, "p.remove([...p.order])")
    for words in texts:
        page.locator(".st-add").click()
        page.keyboard.type(words)
    for number in range(1, len(texts) + 1):
        row(page, number).locator(".st-voice").focus()
        row(page, number).locator(".st-voice").select_option(["Heart", "Marcus", "Vera", "June"][number % 4])
    saved(page)


def spoken(page: Any, *numbers: int) -> None:
    """Wait until rows are done."""
    for number in numbers:
        expect(status(page, number)).to_have_text("done", timeout=SPOKEN_MS)


def sound(page: Any, number: int) -> bytes:
    """The file behind a row's download link."""
    address = row(page, number).locator(".st-download").get_attribute("href")
    answer = page.request.get(address)
    assert answer.ok
    return bytes(answer.body())


def test_type_choose_generate_hear_download_reload(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    text(page, 1).fill("The river was cold and clear.")
    row(page, 1).locator(".st-voice").focus()
    row(page, 1).locator(".st-voice").select_option("Vera")
    row(page, 1).locator("[data-do=emotion]").click()
    page.locator(".st-emotion-editor").get_by_role("button", name="cheerful").click()
    page.keyboard.press("Escape")
    generate(page)
    spoken(page, 1, 2, 3, 4)
    info = soundfile.info(io.BytesIO(sound(page, 1)))
    assert 0.8 < info.duration < 8

    row(page, 1).locator("[data-do=play]").click()
    page.wait_for_function("document.querySelector('audio').duration > 0")
    assert page.evaluate("document.querySelector('audio').duration") == pytest.approx(info.duration, abs=0.01)
    page.wait_for_function("document.querySelector('audio').currentTime > 0.1")

    with page.expect_download() as download:
        row(page, 1).locator(".st-download").click()
    assert download.value.suggested_filename == "001 The river was cold and clear.wav"
    download.value.save_as(tmp_path / "line.wav")
    samples, _ = soundfile.read(tmp_path / "line.wav")
    assert abs(samples).max() > 0.05

    reload(page)
    spoken(page, 1, 2, 3, 4)
    expect(row(page, 1).locator("[data-do=emotion]")).to_have_text("cheerful")
    assert (
        hashlib.sha256(sound(page, 1)).digest()
        == hashlib.sha256((tmp_path / "line.wav").read_bytes()).digest()
    )


def test_a_double_click_runs_once(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "Hello there, friend.")
    page.locator(".st-runbar [data-which=pending]").dblclick()
    spoken(page, 1)
    assert project(page, "l[0].made.length") == 1


def test_a_second_tab_does_not_run_the_same_lines_again(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, LONG, "A short one.")
    second = visit(context=page.context)
    generate(page)
    menu_token = project(second, "p.api.run('pending')")
    generate_again = project(second, "p.api.run('these', { ids: l.map((line) => line.id) })")
    assert "already" in menu_token["said"]
    assert "already" in generate_again["said"]
    spoken(second, 2, 1)
    assert project(second, "l.map((line) => line.made.length)") == [1, 1]


def test_a_new_take_leaves_every_other_file_alone(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "One small line.", "Two small lines.")
    generate(page)
    spoken(page, 1, 2)
    before = [hashlib.sha256(sound(page, n)).digest() for n in (1, 2)]
    menu(page, 1, "Three new takes")
    expect(row(page, 1).locator(".st-take")).to_contain_text("4 ·", timeout=SPOKEN_MS)
    spoken(page, 1)
    takes = project(page, "l[0].made")
    assert len({take["seed"] for take in takes}) == 4
    assert hashlib.sha256(sound(page, 2)).digest() == before[1]
    assert project(page, "l[1].made.length") == 1
    row(page, 1).locator(".st-take").focus()
    row(page, 1).locator(".st-take").select_option(takes[0]["id"])
    assert hashlib.sha256(sound(page, 1)).digest() == before[0]
    row(page, 1).locator("[data-do=star]").click()
    saved(page)
    reload(page)
    expect(row(page, 1).locator(".st-take")).to_contain_text("1 ·")
    assert hashlib.sha256(sound(page, 1)).digest() == before[0]


def test_stop_keeps_what_is_done_and_the_next_run_is_not_stopped(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "Short.", LONG)
    generate(page)
    spoken(page, 1)
    page.locator(".st-stop").click()
    expect(status(page, 2)).to_have_text("stopped", timeout=SPOKEN_MS)
    spoken(page, 1)
    text(page, 2).fill("Now a short one.")
    generate(page)
    spoken(page, 1, 2)


def test_editing_a_line_that_is_spoken_keeps_take_and_focus(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "These words are being spoken now.")
    generate(page)
    text(page, 1).click()
    page.keyboard.press("End")
    page.keyboard.type(" More words.")
    expect(status(page, 1)).to_have_text("changed since", timeout=SPOKEN_MS)
    expect(text(page, 1)).to_be_focused()
    expect(text(page, 1)).to_have_value("These words are being spoken now. More words.")
    expect(row(page, 1).locator(".st-take")).to_contain_text("changed")
    menu(page, 1, "Restore the line of this take")
    expect(text(page, 1)).to_have_value("These words are being spoken now.")
    spoken(page, 1)


def test_a_run_goes_on_without_the_tab(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "Spoken while nobody looks.")
    context = page.context
    generate(page)
    expect(status(page, 1)).not_to_have_text("pending")
    page.close()
    spoken(visit(context=context), 1)


def test_a_bad_line_fails_alone_and_says_why(visit: Callable[..., Any]) -> None:
    page = visit()
    keep_only(page, "This one is fine.", "?!", "   ")
    project(page, "p.set(l[0].id, { voice: 'Vera' })")
    project(page, "p.add('badbadbadbad', undefined, { text: 'Unknown voice.', voice: 'Nobody' })")
    saved(page)
    generate(page)
    expect(page.locator(".st-notice").first).to_contain_text("1 line without text left out")
    spoken(page, 1)
    expect(status(page, 4)).to_have_text("failed", timeout=SPOKEN_MS)
    expect(row(page, 4).locator(".st-why")).to_contain_text("There is no voice 'Nobody' here; pick one of")
    expect(status(page, 3)).to_have_text("no text")
    expect(status(page, 2)).to_have_text("failed")
    assert row(page, 2).locator(".st-why").inner_text().endswith(".")
    expect(page.locator(".st-live")).to_have_text("The run is over, 2 lines failed.")


def test_two_people_at_once_get_their_own_voices(visit: Callable[..., Any]) -> None:
    one, two = visit(), visit()
    keep_only(one, "The same words for both of us.")
    keep_only(two, "The same words for both of us.")
    for page, voice in ((one, "Heart"), (two, "Marcus")):
        row(page, 1).locator(".st-voice").focus()
        row(page, 1).locator(".st-voice").select_option(voice)
        project(page, "p.set(l[0].id, { seed: 11 })")
        saved(page)
    generate(one)
    generate(two)
    spoken(one, 1)
    spoken(two, 1)
    assert pitch(sound(one, 1)) > 1.3 * pitch(sound(two, 1))


def test_a_dropped_clip_becomes_a_voice(visit: Callable[..., Any]) -> None:
    page = visit()
    clip = Path(__file__).resolve().parents[2] / "examples" / "voices" / "Marcus.wav"
    keep_only(page, "Spoken by my uncle.")
    row(page, 1).locator(".st-voice").focus()
    with page.expect_file_chooser() as chooser:
        row(page, 1).locator(".st-voice").select_option(label="Upload a clip …")
    chooser.value.set_files({"name": "Uncle.wav", "mimeType": "audio/wav", "buffer": clip.read_bytes()})
    expect(page.locator(".st-notice[data-stay]")).to_contain_text("“Uncle.wav”: is this voice yours")
    expect(row(page, 1).locator(".st-voice")).not_to_have_value("Uncle")
    page.get_by_role("button", name="I may use this voice").click()
    expect(row(page, 1).locator(".st-voice")).to_have_value("Uncle")
    saved(page)
    with page.expect_file_chooser() as chooser:
        row(page, 1).locator(".st-voice").select_option(label="Upload a clip …")
    chooser.value.set_files({"name": "text.wav", "mimeType": "audio/wav", "buffer": b"not a sound at all"})
    page.get_by_role("button", name="I may use this voice").click()
    expect(page.locator(".st-notice[data-kind=trouble]")).to_contain_text("text.wav")
    expect(row(page, 1).locator(".st-voice")).to_have_value("Uncle")
    generate(page)
    spoken(page, 1)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may kill."""
    running = Server(tmp_path)
    yield running
    running.stop()


def test_killed_in_mid_run_and_started_again(visit: Callable[..., Any], own_server: Server) -> None:
    page = visit(own_server.address)
    keep_only(page, "Short.", LONG, LONG)
    generate(page)
    spoken(page, 1)
    before = sound(page, 1)
    own_server.kill()
    text(page, 1).fill("Typed while the server is down.")
    expect(page.locator(".st-saved")).to_contain_text("does not answer")
    own_server.start()
    saved(page)
    for number in (2, 3):
        expect(status(page, number)).to_have_text("stopped")
        expect(row(page, number).locator(".st-why")).to_contain_text("restarted")
    expect(status(page, 1)).to_have_text("changed since")
    assert sound(page, 1) == before
    reload(page)
    expect(rows(page)).to_have_count(3)
    expect(text(page, 1)).to_have_value("Typed while the server is down.")


def pitch(content: bytes) -> float:
    """Median fundamental in Hz, by autocorrelation of the loud frames."""
    import numpy as np

    samples, rate = soundfile.read(io.BytesIO(content))
    size = int(0.04 * rate)
    frames = [samples[i : i + size] for i in range(0, len(samples) - size, size // 2)]
    loud = [frame for frame in frames if np.abs(frame).mean() > 0.3 * np.abs(samples).max() * 0.3]
    found = []
    for frame in loud:
        spectrum = np.abs(np.fft.rfft(frame - frame.mean(), 4 * size)) ** 2
        correlation = np.fft.irfft(spectrum)[: 2 * size]
        low, high = int(rate / 350), int(rate / 70)
        found.append(rate / (low + int(np.argmax(correlation[low:high]))))
    return float(np.median(found))
