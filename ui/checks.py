"""What can be said of a line before it is spoken: length, phonemes, pieces, warnings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ui import lines, words
from ui.projects import Project
from zonos import hub
from zonos.config import ZonosConfig
from zonos.defaults import Defaults
from zonos.errors import CheckpointError, LineError
from zonos.line import Line
from zonos.text.dictionary import Dictionary

# Estimates are rounded to this many steps a second; no codec is needed for them.
STEPS_A_SECOND = 100.0
LONG_PIECES = 4  # from here on a producer is better off with more rows


@dataclass(frozen=True, slots=True)
class Voicing:
    """What a model makes of settings that a line leaves open, and which it knows at all."""

    defaults: Defaults
    config: ZonosConfig


def voicing(model: str) -> Voicing:
    """Read from the model's files; for one that is not on this machine, the embedded one's.

    Nothing is downloaded here: a look at a line must not start a download of gigabytes.
    """
    # Asked each time: a model may have come since.
    here = any(info.name == model and info.present for info in hub.available())
    return _voicing(model if here else "mini")


@lru_cache(maxsize=8)
def _voicing(model: str) -> Voicing:
    try:
        checkpoint = hub.resolve(model, download=False)
    except CheckpointError:
        checkpoint = hub.resolve("mini")
    return Voicing(hub.generation_defaults(checkpoint), ZonosConfig.from_file(checkpoint.config))


def check(db: sqlite3.Connection, project: Project, ids: Iterable[str]) -> list[tuple[Line, Dictionary]]:
    """The lines to look at, read in one transaction; :func:`look` needs none."""
    spellings = words.dictionary(db, project.token)
    rows = (lines.get(db, project.token, line_id) for line_id in ids)
    return [(row.line, spellings) for row in rows if row]


def look(line: Line, spellings: Dictionary, model: str) -> dict[str, Any]:
    """Phonemes, seconds, pieces and warnings of a line, as JSON values."""
    from zonos.request import make_request, preview

    known = voicing(model)
    try:
        request = make_request(line, known.defaults, known.config, STEPS_A_SECOND, spellings)
    except LineError as error:
        return {"id": line.id, "error": error.reason}
    shown = preview(request, STEPS_A_SECOND)
    warnings = list(shown.warnings)
    if len(shown.pieces) >= LONG_PIECES:
        warnings.append(
            f"Long: spoken in {len(shown.pieces)} pieces. More, shorter rows give you more control."
        )
    return {
        "id": line.id,
        "phonemes": shown.phonemes,
        "pieces": list(shown.pieces),
        "seconds": round(shown.seconds, 1),
        "warnings": warnings,
    }
