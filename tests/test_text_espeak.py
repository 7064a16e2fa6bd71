"""eSpeak in its own process: a text that crashes it fails alone, and the next one is spoken."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from zonos.errors import LineError
from zonos.text import espeak, espeak_worker, prepare
from zonos.text.espeak import phonemise


@pytest.fixture(autouse=True)
def _fresh() -> None:
    phonemise.cache_clear()


def test_a_worker_that_dies_is_replaced() -> None:
    assert phonemise("hello", "en-us") == "həlˈoʊ"
    process = espeak._WORKER._process
    assert process is not None
    process.kill()
    process.wait()
    assert phonemise("world", "en-us") == "wˈɜːld"


def test_a_text_that_crashes_espeak_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = espeak._Worker()
    monkeypatch.setattr(espeak, "_WORKER", worker)
    real = worker._exchange
    monkeypatch.setattr(
        worker, "_exchange", lambda process, line: "" if "crash" in line else real(process, line)
    )
    with pytest.raises(LineError, match="cannot read 'crash'") as caught:
        prepare("crash", "en-us", max_piece_phonemes=50)
    assert caught.value.code == "espeak_crashed"
    assert prepare("hello", "en-us", max_piece_phonemes=50).phonemes == "həlˈoʊ"
    monkeypatch.undo()
    process = worker._process
    assert process is not None
    worker._end(process)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("kl", "8 28 66858 0 1,5 10:08 21.03.2024 $8.08 1998"),
        ("da", "x" * 200),
        ("ro", "ntotqocxmotywwxlzrlfehvufnopwx" * 7),
        ("ar", "⣿ ⣟ مرحبا"),
        ("am", "ⓜ ሰላም"),
        ("vi", "` `xin chào`"),
        ("de", "🤠 🤡 Hallo"),
    ],
)
def test_texts_that_crash_espeak_are_spoken(language: str, text: str) -> None:
    espeak.espeak_version()
    before = espeak._WORKER._process
    assert prepare(text, language, max_piece_phonemes=100).phonemes
    assert espeak._WORKER._process is before


def test_a_missing_program_is_a_line_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(espeak, "_WORKER", espeak._Worker())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(LineError, match="could not start") as caught:
        phonemise("hello", "en-us")
    assert caught.value.code == "no_espeak"


def test_a_missing_wheel_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    espeak_worker._use_bundled_library.cache_clear()
    espeak_worker._backend.cache_clear()
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    found = espeak_worker.answer({"text": "hello", "language": "en-us", "marks": " "})
    assert found["code"] == "no_espeak"
    assert "pip install" in found["reason"]


def test_a_language_the_library_lacks_is_answered_in_words() -> None:
    with pytest.raises(LineError, match="eSpeak NG could not start for xx"):
        phonemise("hello", "xx")


def test_a_deep_folder_gets_a_short_path(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a" * 40] * 5)
    deep.mkdir(parents=True)
    (deep / "phontab").write_text("x")
    short = Path(espeak_worker.short_path(deep))
    assert len(str(short)) < 140
    assert (short / "phontab").read_text() == "x"
    assert espeak_worker.short_path(tmp_path) == str(tmp_path)


def test_many_threads_share_one_worker() -> None:
    found: dict[int, str] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: phonemise(f"number {n}", "de")}))
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found.values())) == 16
