"""Engines for tests: the embedded checkpoint, loaded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import soundfile

from zonos.engine import Engine
from zonos.events import Event, Final
from zonos.pipeline import Pipeline, load_pipeline
from zonos.run import Run
from zonos.voices import VoiceFolder

OPENING_SECONDS = 1.2
VOICES = VoiceFolder([Path(__file__).parents[1] / "examples" / "voices"])


@cache
def mini() -> Pipeline:
    """The embedded checkpoint, fp32 on the CPU."""
    return load_pipeline("mini", device="cpu", dtype="float32")


OPENING = "Every evening"


def with_opening(folder: Path) -> VoiceFolder:
    """The sample voices and ``Opening``: the first words of Vera's clip, which are OPENING; a prefix clip."""
    samples, rate = soundfile.read(VOICES.clips("Vera")[0])
    soundfile.write(folder / "Opening.wav", samples[: int(OPENING_SECONDS * rate)], rate)
    return VoiceFolder([folder, *VOICES.folders])


def engine(**options: Any) -> Engine:
    """An engine that does its work in the thread of whoever iterates a run: no races in tests."""
    options.setdefault("inline", True)
    return Engine(mini(), voices=VOICES, **options)


def finals(run: Run) -> dict[tuple[str, int], Event]:
    """Final event of every take; checks on the way that each has just one, and that it is the last."""
    found: dict[tuple[str, int], Event] = {}
    for event in run:
        key = (event.line, event.take)
        assert key not in found, f"{event} after the final event"
        if isinstance(event, Final):
            found[key] = event
    return found
