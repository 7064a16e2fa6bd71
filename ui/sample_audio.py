"""Audio of the sample script, so that a Space has something to hear before anything is generated.

``python -m ui.sample_audio`` makes it anew with the embedded checkpoint (after another one came in).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ui import lines, projects, takes
from ui.projects import Project
from ui.store import Store
from zonos.line import Line

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "takes"
LIST = "takes.json"
SEED = 1


def give_takes(store: Store, db: sqlite3.Connection, project: Project) -> None:
    """Put the ready-made takes into a new sample project."""
    entries = json.loads((FOLDER / LIST).read_text(encoding="utf-8"))
    for row, entry in zip(lines.every(db, project.token), entries, strict=True):
        take_id = uuid.uuid4().hex
        target = takes.folder(store, project.token) / f"{take_id}.wav"
        shutil.copyfile(FOLDER / entry["file"], target)
        known = {name: value for name, value in entry.items() if name not in ("file", "warnings", "peaks")}
        made = takes.NewTake(
            id=take_id,
            line=row.id,
            file=target.name,
            fields=lines.stored(row.line),
            recipe=row.recipe,
            peaks=bytes.fromhex(entry["peaks"]),
            warnings=tuple(entry["warnings"]),
            **known,
        )
        takes.add(db, project.token, made)
        lines.touched(db, project.token, row.id, projects.bump(db, project.token))


def make(script: Sequence[Line]) -> None:
    """Speak the sample script with the embedded checkpoint and keep the files."""
    from zonos.audio.write import write_audio
    from zonos.engine import load
    from zonos.events import Done
    from zonos.voices import SAMPLE_VOICES, VoiceFolder

    FOLDER.mkdir(exist_ok=True)
    entries: dict[int, dict[str, Any]] = {}
    named = [line.model_copy(update={"id": str(n), "seed": SEED}) for n, line in enumerate(script)]
    with load("mini", voices=VoiceFolder([SAMPLE_VOICES])) as engine:
        for event in engine.submit(named):
            if not isinstance(event, Done):
                continue
            speech, n = event.speech, int(event.line)
            file = f"{n + 1}.wav"
            write_audio(FOLDER / file, speech.samples, speech.sample_rate)
            entries[n] = {
                "file": file,
                "seconds": speech.seconds,
                "sample_rate": speech.sample_rate,
                "seed": speech.seed,
                "ended": speech.ended,
                "model": "mini",
                "detail": speech.recipe,
                "warnings": list(speech.warnings),
                "peaks": takes.peaks_of(speech.samples).hex(),
            }
    listed = [entries[n] for n in range(len(script))]
    (FOLDER / LIST).write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Make the files anew."""
    from ui.sample import SAMPLE

    make(SAMPLE)
    print(f"{len(SAMPLE)} takes in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
