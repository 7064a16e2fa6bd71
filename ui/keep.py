"""Writing a finished take: the audio file first, whole, then what its row needs to know."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np

from ui import lines, takes
from ui.projects import Project
from ui.store import Store
from ui.verdict import faults
from zonos.events import Speech
from zonos.line import Line


def write_take(path: Path, samples: np.ndarray, sample_rate: int) -> None:
    """Write a take whole, in 24 bit, so that any export format can be made of it."""
    from zonos.audio.write import write_audio

    write_audio(path, samples, sample_rate, "wav24")


def keep_take(
    store: Store, project: Project, line: Line, recipe: str, speech: Speech, expected: float = 0.0
) -> takes.NewTake:
    """Write the audio and describe the take; its row is not written yet.

    Raises:
        OSError: the disk refused; nothing half-written stays.
    """
    take_id = uuid.uuid4().hex
    file = f"{take_id}.wav"
    write_take(takes.folder(store, project.token) / file, speech.samples, speech.sample_rate)
    return takes.NewTake(
        id=take_id,
        line=str(line.id),
        file=file,
        seconds=speech.seconds,
        sample_rate=speech.sample_rate,
        seed=speech.seed,
        ended=speech.ended,
        model=project.settings.model,
        fields=lines.stored(line),
        recipe=recipe,
        detail=speech.recipe,
        warnings=(*speech.warnings, *faults(speech.samples, speech.sample_rate, expected)),
        peaks=takes.peaks_of(speech.samples),
    )
