"""Hard inputs, "Batching, sampling, length", on the embedded checkpoint; each test names its row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import OPENING, engine, finals, mini, with_opening

from zonos.events import Done, Event, Failed
from zonos.line import Emotion, Line
from zonos.scheduler import Scheduler
from zonos.voices import VoiceFolder

SENTENCE = "The lantern on the pier went out at nine, and nobody came to light it again. "


def speak(*lines: Line, voices: VoiceFolder | None = None, **options: Any) -> list[Event]:
    """Final event of each line's first take, in the lines' order."""
    with engine(**options) as running:
        found = finals(running.submit(lines, voices=voices))
    return [found[(line.id or str(i), 0)] for i, line in enumerate(lines)]


def codes(event: Event) -> list[bytes]:
    assert isinstance(event, Done), event
    return [piece.tobytes() for piece in event.speech.codes]


def brief(text: str, **settings: Any) -> Line:
    """A line that costs little: cut after a dozen frames."""
    return Line(**{"text": text, "voice": "Heart", "seed": 3, "max_seconds": 0.4, **settings})


@pytest.fixture(scope="module")
def hi() -> list[bytes]:
    return codes(speak(brief("Hi."), slots=1)[0])


@pytest.mark.parametrize(
    "neighbour",
    [
        brief(SENTENCE * 4),
        brief("Two words", temperature=1.5, top_k=5),
        brief("Hi.", voice="Marcus"),
        brief("Grüße aus Köln", language="de", cfg_scale=1.0),
        brief(
            "the ferry brings visitors.",
            emotion="angry",
            speaking_rate=30,
            prefix_audio="Opening",
            prefix_text=OPENING,
        ),
    ],
    ids=["300 characters", "other sampling", "other voice", "other language", "prefix audio"],
)
def test_hi_alone_and_beside_a_neighbour(hi: list[bytes], neighbour: Line, tmp_path: Path) -> None:
    """Rows '"Hi." alone and beside a 300-character line' and 'two different lines, first nine frames'."""
    voices = with_opening(tmp_path)
    first = speak(brief("Hi."), neighbour, voices=voices, slots=4)
    second = speak(neighbour, brief("Hi."), voices=voices, slots=4)
    assert codes(first[0]) == codes(second[1]) == hi
    assert codes(first[1]) == codes(second[0]) != hi


def test_three_lines_three_emotions() -> None:
    """Row 'three lines, three emotions': each its own, as alone."""
    lines = [
        brief("Well, now.", emotion=mix) for mix in ("happy", "sad", Emotion(fear=0.5, other=0.1), "auto")
    ]
    together = [codes(event) for event in speak(*lines, slots=4)]
    assert together == [codes(speak(line, slots=1)[0]) for line in lines]
    assert len({codes[0] for codes in together}) == 4


def test_top_k_of_a_neighbour(hi: list[bytes]) -> None:
    """Row 'row A top_k 0, row B top_k 5, same seed': A unchanged; so with the other limits."""
    for limits in ({"top_k": 5}, {"top_p": 0.2}, {"min_p": 0.5}, {"temperature": 0}):
        assert codes(speak(brief("Hi."), brief("Hi.", **limits), slots=2)[0]) == hi


def test_guidance_of_one_batch() -> None:
    """Row 'cfg_scale 1, 1.0, and a batch mixing 1, 2 and 4': equal to alone, rows at 1 cost half."""
    lines = [brief("No, no.", cfg_scale=scale) for scale in (1, 1.0, 2, 4, 1.01)]
    with engine(slots=5) as running:
        run = running.submit(lines)
        running.pump()
        lanes = {plan.sampling.cfg_scale: plan.lanes for plan in running.loop.runner.plans}
        found = finals(run)
    assert lanes == {1: 1, 2: 2, 4: 2, 1.01: 2}
    together = [codes(found[(str(i), 0)]) for i in range(5)]
    assert together == [codes(speak(line, slots=1)[0]) for line in lines]
    assert together[0] == together[1] != together[2] != together[3]


@pytest.mark.parametrize("mix", [Emotion(), "happiness=0", [0.0] * 8, {"sadness": 0}])
def test_all_zero_emotions_are_unconditioned(mix: Any) -> None:
    """Row 'emotion all zeros': NaN and silence elsewhere."""
    zero, auto = speak(brief("Well.", emotion=mix), brief("Well.", emotion="auto"))
    assert codes(zero) == codes(auto)
    assert isinstance(zero, Done)
    assert any("All emotions are 0" in warning for warning in zero.speech.warnings)


def test_slots_refill_beside_long_rows() -> None:
    """Row '60 short lines and 4 long ones': no waiting for the longest, hardly an idle slot."""
    lines = [brief(f"{n}", seed=n, max_seconds=0.2, cfg_scale=1.0) for n in range(60)]
    lines += [brief(SENTENCE, seed=n, max_seconds=1.5, cfg_scale=1.0) for n in range(4)]
    with engine(slots=8) as running:
        order = [event for event in running.submit(lines) if isinstance(event, Done | Failed)]
        stats = running.loop.stats
    assert all(isinstance(event, Done) for event in order)
    assert stats["row_steps"] > 0.85 * 8 * stats["steps"]
    assert int(order[10].line) < 60  # short lines come out while the long ones go on


def test_short_lines_do_not_wait_for_a_long_text() -> None:
    """Row 'a 3 000-character line among short ones': here all its pieces once came first."""
    lines = [
        brief(SENTENCE * 12, id="long", max_seconds=0.1),
        *(brief(f"Number {n}.", id=f"short {n}") for n in range(3)),
    ]
    with engine(slots=2) as running:
        done = [event.line for event in running.submit(lines) if isinstance(event, Done)]
    assert done[-1] == "long"
    assert set(done) == {"short 0", "short 1", "short 2", "long"}


@dataclass
class Waits:
    """What the scheduler knows of a piece."""

    name: str
    order: int
    expected_frames: int
    owner: str = "me"
    run: str = "run"
    stream: bool = False
    due: float = 0.0
    playing: bool = False


def test_first_pieces_come_before_second_ones() -> None:
    scheduler: Scheduler[Waits] = Scheduler()
    for piece in [Waits("long", n, 300) for n in range(3)] + [Waits("short", 0, 9), Waits("middle", 0, 90)]:
        scheduler.add(piece)
    order = [(piece.name, piece.order) for piece in iter(scheduler.next, None)]
    assert order == [("long", 0), ("middle", 0), ("short", 0), ("long", 1), ("long", 2)]


def test_a_text_longer_than_the_models_longest_piece_is_whole() -> None:
    """Row '1 000 characters of English': the checkpoint's own limit on a piece once cut the whole."""
    longest = mini().defaults.max_seconds
    (event,) = speak(Line(text=SENTENCE * round(longest / 3), voice="Heart", seed=5, cfg_scale=1.0))
    assert isinstance(event, Done)
    assert event.speech.ended == "eos"
    assert event.speech.seconds > 1.05 * longest
    assert event.speech.recipe["line"]["max_seconds"] is None


def test_a_cut_at_the_lines_own_limit_is_said() -> None:
    """Rows of long text: never cut silently."""
    (event,) = speak(brief(SENTENCE, max_seconds=0.5))
    assert isinstance(event, Done)
    assert event.speech.ended == "length"
    assert any("Cut at 0.5 s" in warning for warning in event.speech.warnings)


@pytest.mark.parametrize("text", ["Hi", "No.", "A", "Ok?", "Mm.", "Eight."])
def test_a_word_alone_is_short_speech(text: str) -> None:
    """Row '"Hi", "No.", "...", "?!"': a ramble of 30 s elsewhere; marks alone are in the text tests."""
    (event,) = speak(Line(text=text, voice="Heart", seed=11))
    assert isinstance(event, Done)
    assert 0.2 < event.speech.seconds < 2.5
    assert np.abs(event.speech.samples).max() > 0.05


def test_words_are_over_before_the_end() -> None:
    """Row '20 short lines: energy in the last 50 ms': the last sound was cut elsewhere, with a click."""
    words = ["Stop", "Lamp", "Bread", "Kind", "Eight", "Ships", "Milk", "Left", "Jump", "Cats"]
    events = speak(
        *(Line(text=f"{word}.", voice="Heart", seed=n) for n, word in enumerate(words * 2)), slots=8
    )
    tails = []
    for event in events:
        assert isinstance(event, Done)
        samples, rate = event.speech.samples, event.speech.sample_rate
        assert abs(samples[-1]) < 1e-3
        blocks = samples[len(samples) % (rate // 20) :].reshape(-1, rate // 20)
        power = np.square(blocks).mean(1)
        tails.append(10 * np.log10(power[-1] / power.max() + 1e-9))
    assert max(tails) < -30  # decibels under the loudest 50 ms
