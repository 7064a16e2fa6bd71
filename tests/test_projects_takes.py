"""What is said of a take: faults that can be heard, words that differ, what changed since."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from test_projects_api import Visitor

from ui import listen, projects
from ui.ahead import ahead
from ui.checks import look
from ui.engines import Engines
from ui.verdict import faults
from zonos.line import Line
from zonos.text.dictionary import Dictionary, Entry

RATE = 24_000


def speech(seconds: float, level: float = 0.3) -> np.ndarray:
    return (level * np.sin(np.arange(int(RATE * seconds)) / 15)).astype(np.float32)


@pytest.mark.parametrize(
    ("samples", "expected", "says"),
    [
        (np.zeros(RATE, np.float32), 1.0, "silent"),
        (np.zeros(0, np.float32), 1.0, "silent"),
        (np.clip(speech(2.0, 5.0), -1, 1), 2.0, "clipped"),
        (speech(9.0), 2.0, "Far too long"),
        (speech(0.5), 4.0, "Far too short"),
    ],
)
def test_a_bad_take_is_flagged_in_words(samples: np.ndarray, expected: float, says: str) -> None:
    assert says in " ".join(faults(samples, RATE, expected))


@pytest.mark.parametrize(("seconds", "expected"), [(2.0, 2.0), (1.4, 0.5), (0.4, 0.9), (3.0, 0.0)])
def test_a_good_take_is_not(seconds: float, expected: float) -> None:
    assert faults(speech(seconds), RATE, expected) == ()


def test_words_that_differ_are_named() -> None:
    assert listen.compare("It's 5 o'clock, [pause 1s] Ann!", "it's 5 o'clock ann") == "Every word was heard."
    assert (
        listen.compare("The cat sat.", "the cap sat down") == "Heard otherwise: “cat” → “cap”, “–” → “down”."
    )


def test_without_a_recogniser_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ZONOS_ASR_MODEL", str(tmp_path))
    assert listen.model_folder() is None
    assert "faster-whisper" in listen.check_words(tmp_path / "x.wav", "x", "en-us")


def test_takes_are_compared_with_the_line_as_it_is_now(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    first = visitor.ids()[0]
    visitor.give_take(first, seed=2**62 + 1)
    visitor.edit({"op": "set", "id": first, "fields": {"speaking_rate": 20}})
    found = visitor.http.get(f"/studio/takes/{first}").json()["takes"]
    assert found[0]["was"] == {"speaking_rate": None}
    assert found[0]["seed"] == str(2**62 + 1)
    visitor.store.close()


def test_a_look_at_a_line_names_sound_length_and_trouble() -> None:
    plain = look(Line(id="a", text="Hello, big world."), Dictionary(), "mini")
    assert 0.5 < plain["seconds"] < 4
    assert plain["warnings"] == []
    respelled = look(Line(id="a", text="Hello, big world."), Dictionary([Entry("big", "tiny")]), "mini")
    assert respelled["phonemes"] != plain["phonemes"]
    assert "error" in look(Line(id="a", text="?!"), Dictionary(), "mini")
    foreign = look(Line(id="a", text="Bonjour, le monde.", language="fr-fr"), Dictionary(), "mini")
    assert "has learnt en-us (English (America)) only; fr-fr (French" in foreign["warnings"][0]
    unknown = look(Line(id="a", text="Hello.", language="klingon"), Dictionary(), "mini")
    assert "It speaks en-us (English (America))." in unknown["error"]
    slow = look(Line(id="a", text="Hello, big world.", speaking_rate=5), Dictionary(), "no-such-model")
    assert slow["seconds"] > plain["seconds"]


def test_a_run_is_foreseen_at_the_speed_of_the_engine_that_is_there() -> None:
    said = [Line(id="a", text="Hello there."), Line(id="b", text="And a longer line, for the second row.")]
    slow, fast = (ahead(said, Dictionary(), "mini", speed)["seconds"] for speed in (1.0, 100.0))
    assert slow == pytest.approx(100 * fast)
    engine = SimpleNamespace(status=lambda: SimpleNamespace(alone=42.0), closed=False)
    engines = Engines(lambda _: engine)  # type: ignore[arg-type,return-value]
    assert engines.speed("mini") is None
    with engines.use("mini"):
        assert engines.speed("mini") == 42.0
        assert engines.speed("transformer") is None


def test_a_run_is_foreseen_before_it_is_started(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    ahead = visitor.http.get("/studio/ahead").json()
    assert (ahead["takes"], ahead["rows"]) == (4, 4)
    assert ahead["memory"].endswith(" MB")
    first, *rest = visitor.ids()
    visitor.edit({"op": "delete", "ids": rest}, {"op": "set", "id": first, "fields": {"takes": 3}})
    fewer = visitor.http.get("/studio/ahead").json()
    assert (fewer["takes"], fewer["rows"]) == (3, 3)
    visitor.edit({"op": "set", "id": first, "fields": {"text": "?!"}})
    assert visitor.http.get("/studio/ahead").json() == {}
    with visitor.store.transaction() as db:
        projects.save_settings(db, visitor.token, projects.Settings(model="not-here"))
    visitor.edit({"op": "set", "id": first, "fields": {"text": "Words."}})
    assert visitor.http.get("/studio/ahead").json() == {}
    visitor.store.close()


def test_a_space_has_something_to_hear_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    visitor = Visitor(tmp_path)
    for line in visitor.lines():
        (take,) = line["made"]
        assert "old" not in take
        sound = visitor.http.get(f"/studio/take/{visitor.token}/{take['id']}.wav")
        info = soundfile.info(io.BytesIO(sound.content))
        assert info.duration == pytest.approx(take["s"], abs=0.01)
    visitor.store.close()
