"""The engine on the embedded checkpoint: one batch for everybody, faults stay with their line."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from engines import OPENING, OPENING_SECONDS, VOICES, engine, finals, mini, with_opening
from failing import run_out_of_memory

from zonos.engine import Engine
from zonos.events import Accepted, AudioChunk, Cancelled, Done, Event, Failed, Started
from zonos.line import Emotion, Line
from zonos.request import take_seed


def eight() -> list[Line]:
    """Lines that differ in everything."""
    return [
        Line(text="The kettle is on.", voice="Heart", seed=1),
        Line(text="Can you hear me?", voice="Marcus", seed=2, cfg_scale=1.0),
        Line(text="We left at first light.", voice="June", seed=3, emotion="happy", temperature=0.8),
        Line(text="No, wait.", voice="Vera", seed=4, cfg_scale=3.0, pitch_std=70),
        Line(text="Guten Morgen, mein Freund.", language="de", voice="Heart", seed=5, top_k=30),
        Line(text="A long road lies before us.", seed=6, emotion="auto", speaking_rate=18, min_p=0.05),
        Line(text="Who is there?", voice="Vera", seed=7, repetition_penalty=1.2, top_p=0.9),
        Line(text="It is late, go home now.", voice="June", seed=8, temperature=0, max_seconds=2.5),
    ]


def speak(lines: list[Line], **options: Any) -> dict[str, Event]:
    with engine(**options) as running:
        return {key[0]: event for key, event in finals(running.submit(lines)).items()}


def sound(event: Event) -> bytes:
    assert isinstance(event, Done), event
    assert event.speech.samples.dtype == np.float32
    return event.speech.samples.tobytes()


@pytest.fixture(scope="module")
def alone() -> list[bytes]:
    return [sound(speak([line], slots=1)["0"]) for line in eight()]


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_audio_bytes_do_not_depend_on_the_batch(alone: list[bytes], slots: int) -> None:
    found = speak(eight(), slots=slots)
    assert [sound(found[str(i)]) == alone[i] for i in range(8)] == [True] * 8


def test_order_and_failing_neighbours_change_nothing(alone: list[bytes]) -> None:
    order = [6, 0, 3, 7, 5, 1, 4, 2]
    bad = [Line(text=" "), Line(text="Hi", voice="Nobody"), Line(text="Hi", language="klingon")]
    named = [eight()[i].model_copy(update={"id": f"line {i}"}) for i in order]
    found = speak([bad[0], *named[:3], bad[1], *named[3:], bad[2]], slots=4)
    assert [sound(found[f"line {i}"]) == alone[i] for i in range(8)] == [True] * 8
    codes = [event.code for event in found.values() if isinstance(event, Failed)]
    assert sorted(codes) == ["empty_text", "unknown_language", "unknown_voice"]


def test_two_people_with_different_voices_at_once(alone: list[bytes]) -> None:
    """Case 'two users with different voices within 100 ms': one batch, no voice crosses."""
    with Engine(mini(), slots=8, voices=VOICES) as running:
        runs = [running.submit([line], owner=f"person {i}") for i, line in enumerate(eight())]
        found = [finals(run)[("0", 0)] for run in runs]
        assert running.loop.stats["row_steps"] > running.loop.stats["steps"]  # shared steps
    assert [sound(event) for event in found] == alone


def test_events_come_in_order() -> None:
    with engine(slots=2) as running:
        events = list(running.submit([Line(text="Good morning to you all.", voice="Heart", seed=3)]))
    kinds = [type(event) for event in events]
    assert kinds[0] is Accepted
    assert kinds[1] is Started
    assert kinds[-1] is Done
    accepted = events[0]
    assert isinstance(accepted, Accepted)
    assert accepted.phonemes
    assert 0.5 < accepted.expected_seconds < 5


def test_recipe_makes_the_same_take_again() -> None:
    line = Line(text="Say it once more.", voice="Vera", takes=2)
    with engine() as running:
        found = finals(running.submit([line]))
    second = found[("0", 1)]
    assert isinstance(second, Done)
    assert sound(second) != sound(found[("0", 0)])
    again = speak([Line.model_validate(second.speech.recipe["line"])])["0"]
    assert sound(again) == sound(second)


def test_first_take_has_the_lines_own_seed() -> None:
    assert take_seed(77, 0) == 77
    assert len({take_seed(77, take) for take in range(50)}) == 50


def test_cancel_one_line_keeps_the_others() -> None:
    lines = [Line(text=f"This is sentence number {i}.", voice="Heart", seed=i) for i in range(4)]
    with engine(slots=2) as running:
        run = running.submit(lines)
        run.cancel("2")
        found = {key[0]: type(event) for key, event in finals(run).items()}
    assert found == {"0": Done, "1": Done, "2": Cancelled, "3": Done}


def test_cancel_in_mid_decoding_frees_the_slot_at_once() -> None:
    with engine(slots=1) as running:
        run = running.submit([Line(text="A rather long sentence that nobody needs to hear.", seed=1)])
        for event in run:
            if isinstance(event, Started):
                break
        for _ in range(5):
            running.pump()
        run.cancel()
        running.pump()
        assert running.loop.runner.free_rows == 1
        assert [type(event) for event in run] == [Cancelled]
        # A cancel belongs to its run: the next one is not touched (AllTalk #193).
        assert isinstance(finals(running.submit([Line(text="Yes.", voice="Heart", seed=2)]))[("0", 0)], Done)


def test_streamed_samples_are_the_same_as_at_the_end(alone: list[bytes]) -> None:
    with engine(slots=8) as running:
        events = list(running.submit(eight(), stream=True))
    for i in range(8):
        chunks = [e for e in events if isinstance(e, AudioChunk) and e.line == str(i)]
        starts = np.cumsum([0, *(chunk.samples.size for chunk in chunks)])
        assert [chunk.start for chunk in chunks] == starts[:-1].tolist()
        assert np.concatenate([chunk.samples for chunk in chunks]).tobytes() == alone[i]
    assert sum(isinstance(event, AudioChunk) for event in events) > 8  # more than one a line


def test_stream_of_a_long_text_is_the_same_as_at_the_end() -> None:
    line = Line(text="First we pack. [pause 0.4s] Then we drive to the sea, and we stay there. " * 3, seed=5)
    whole = speak([line.model_copy(update={"voice": "Heart"})])["0"]
    assert isinstance(whole, Done)
    assert len(whole.speech.codes) > 1
    with engine(slots=3) as running:
        events = list(running.submit([line.model_copy(update={"voice": "Heart"})], stream=True))
    streamed = np.concatenate([e.samples for e in events if isinstance(e, AudioChunk)])
    assert streamed.tobytes() == sound(whole)


def test_later_pieces_stream_while_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case: only the first piece of a long text came chunk by chunk. See also test_finish."""
    monkeypatch.setattr("zonos.finish.LEAD_SECONDS", 0.3)
    monkeypatch.setattr("zonos.takes.DRY_SECONDS", math.inf)  # the listener is never far enough ahead
    line = Line(text="Go now. [pause 0.4s] Then we drive to the sea.", voice="Heart", seed=5)
    whole = speak([line])["0"]
    assert isinstance(whole, Done)
    rate = whole.speech.sample_rate
    first, second = (codes.shape[1] / mini().codec.frame_rate for codes in whole.speech.codes)
    with engine(slots=1) as running:
        chunks = [event for event in running.submit([line], stream=True) if isinstance(event, AudioChunk)]
    assert np.concatenate([chunk.samples for chunk in chunks]).tobytes() == sound(whole)
    later = [chunk for chunk in chunks if chunk.start > first * rate]
    assert len(later) > 1
    assert later[0].samples.size < 0.7 * second * rate


def test_all_emotions_zero_is_auto() -> None:
    zero = speak([Line(text="All is well.", voice="Heart", seed=9, emotion=Emotion())])["0"]
    auto = speak([Line(text="All is well.", voice="Heart", seed=9, emotion="auto")])["0"]
    assert sound(zero) == sound(auto)
    assert isinstance(zero, Done)
    assert any("auto" in warning for warning in zero.speech.warnings)


def test_limit_cuts_and_says_so() -> None:
    text = "This sentence would take a good deal longer than the limit allows it to."
    event = speak([Line(text=text, voice="Heart", seed=1, max_seconds=1.0)])["0"]
    assert isinstance(event, Done)
    assert event.speech.ended == "length"
    assert event.speech.seconds == pytest.approx(1.0, abs=0.05)
    assert abs(event.speech.samples[-1]) < 1e-3  # faded, no click


def test_ends_are_faded() -> None:
    """Cases Zonos #199 #71: no click at the end, the delay tail is drained."""
    for event in speak([Line(text=f"Number {n}.", voice="Vera", seed=n) for n in range(6)]).values():
        assert isinstance(event, Done)
        assert abs(event.speech.samples[0]) < 1e-3
        assert abs(event.speech.samples[-1]) < 1e-3


def test_hybrid_settings_on_the_transformer_are_named() -> None:
    event = speak([Line(text="Yes.", voice="Heart", seed=2, dnsmos_ovrl=4.0)])["0"]
    assert isinstance(event, Done)
    assert any("dnsmos_ovrl" in warning and "hybrid" in warning for warning in event.speech.warnings)


def test_prefix_audio_on_one_line_only(alone: list[bytes], tmp_path: Path) -> None:
    """Cases Zonos #192 #156: per row, cut from the output by choice."""
    line = Line(
        text="the ferry brings a handful of visitors.",
        voice="Heart",
        seed=4,
        prefix_audio="Opening",
        prefix_text=OPENING,
    )
    lines = [line, eight()[0], line.model_copy(update={"keep_prefix": True})]
    with engine(slots=3) as running:
        events = finals(running.submit(lines, voices=with_opening(tmp_path)))
    found = {key[0]: event for key, event in events.items()}
    assert sound(found["1"]) == alone[0]
    cut, kept = found["0"], found["2"]
    assert isinstance(cut, Done)
    assert isinstance(kept, Done)
    prefix = kept.speech.samples.size - cut.speech.samples.size
    assert prefix / cut.speech.sample_rate == pytest.approx(OPENING_SECONDS, abs=0.05)


@pytest.mark.parametrize("fails_at", [0, 3, 40])
def test_out_of_memory_in_mid_run_loses_nothing(
    alone: list[bytes], monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The pool is halved, what ran is decoded again, and everybody gets the same audio."""
    run_out_of_memory(monkeypatch, fails_at)
    with engine(slots=8) as running:
        found = finals(running.submit(eight()))
        assert running.loop.slots == 4
        assert running.loop.stats["back_offs"] == 1
    assert [sound(found[(str(i), 0)]) for i in range(8)] == alone


def test_full_pool_makes_room_and_loses_nothing(alone: list[bytes]) -> None:
    with engine(slots=8, max_blocks=26) as running:
        found = finals(running.submit(eight()))
        assert running.loop.slots == 8
    assert [sound(found[(str(i), 0)]) for i in range(8)] == alone


def test_line_that_can_never_fit_fails_alone(alone: list[bytes]) -> None:
    with engine(slots=2, max_blocks=8) as running:
        long = Line(text="One very long sentence, " * 8 + "ends here at last.", voice="Heart", seed=1)
        found = finals(running.submit([long, eight()[0].model_copy(update={"cfg_scale": 2.0})]))
    assert isinstance(found[("0", 0)], Failed)
    assert sound(found[("1", 0)]) == alone[0]


def test_broken_numbers_fail_that_line_alone(alone: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    original = mini().voice_vector

    def broken(clips: list[Any]) -> torch.Tensor:
        vector = original(clips)
        return vector * float("nan") if "Marcus" in clips[0].name else vector

    monkeypatch.setattr(mini(), "voice_vector", broken)
    found = speak(eight(), slots=8)
    failed = found["1"]
    assert isinstance(failed, Failed)
    assert failed.code == "not_finite"
    assert [sound(found[str(i)]) == alone[i] for i in range(8) if i != 1] == [True] * 7


def test_run_on_row_is_tried_again_and_then_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without EOS a row would speak for ever: guard, two new seeds, then words."""
    from zonos import rows

    original = rows.fill_frame

    def never_ends(sampled: torch.Tensor, *rest: Any) -> Any:
        return original(sampled.clamp(max=1023), *rest)

    monkeypatch.setattr(rows, "fill_frame", never_ends)
    with engine(slots=2) as running:
        found = finals(running.submit([Line(text="Hi.", voice="Heart", seed=1)]))
    event = found[("0", 0)]
    assert isinstance(event, Failed)
    assert event.code == "run_on"
    assert "3 seeds" in event.reason


def test_silent_take_is_tried_again(alone: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """An EOS at once is zero frames: a new seed, which the recipe records."""
    from zonos import rows

    original = rows.fill_frame

    def ends_at_once(sampled: torch.Tensor, step: torch.Tensor, *rest: Any) -> Any:
        first = torch.arange(sampled.shape[1]) == 0
        silent = (step == 0)[:, None] & first & (running.loop.stats["frames"] == 0)
        return original(torch.where(silent, 1024, sampled), step, *rest)

    monkeypatch.setattr(rows, "fill_frame", ends_at_once)
    with engine(slots=1) as running:
        event = finals(running.submit([Line(text="Wait a moment.", voice="Heart", seed=1)]))[("0", 0)]
        assert isinstance(event, Failed)  # every attempt ended at once
        assert event.code == "silent"
        calls = iter(range(100))
        monkeypatch.setattr(
            rows,
            "fill_frame",
            lambda s, step, *rest: (ends_at_once if next(calls) == 0 else original)(s, step, *rest),
        )
        again = finals(running.submit([Line(text="Wait a moment.", voice="Heart", seed=1)]))[("0", 0)]
    assert isinstance(again, Done)
    assert again.speech.recipe["pieces"][0]["retried_seeds"] == [1]
    assert again.speech.recipe["pieces"][0]["seed"] != 1


def test_closing_ends_every_take() -> None:
    running = Engine(mini(), slots=1, voices=VOICES)
    run = running.submit([Line(text=f"Sentence number {i}.", voice="Heart") for i in range(30)])
    running.close()
    found = [type(event) for event in finals(run).values()]
    assert len(found) == 30
    assert Cancelled in found
    with pytest.raises(RuntimeError):
        running.submit([Line(text="Too late.")])


def test_threads_and_inline_agree(alone: list[bytes]) -> None:
    with Engine(mini(), slots=3, voices=VOICES) as running:
        results: list[dict[tuple[str, int], Event]] = []
        run = running.submit(eight())
        reader = threading.Thread(target=lambda: results.append(finals(run)))
        reader.start()
        reader.join()
    assert [sound(results[0][(str(i), 0)]) for i in range(8)] == alone


def test_preview_needs_no_decoding() -> None:
    with engine() as running:
        preview = running.preview(Line(text="Hello [pause 1s] world."))
        assert running.loop.stats["steps"] == 0
    assert preview.language == "en-us"
    assert len(preview.pieces) == 2
    assert preview.seconds > 1
