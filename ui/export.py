"""The finished script as a zip: files, one joined file, tracks by voice, subtitles, a manifest.

Audio passes through in pieces, so that a long script needs no more memory than its longest line.
"""

from __future__ import annotations

import json
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ui import lines, projects, takes
from ui.export_audio import Reel, load
from ui.export_plan import Item, Options, Plan, name_of, plan
from ui.scratch_zips import export_zip, new_zip
from ui.store import Store

Report = Callable[[int, int], None]
SHOWN_NAMES = 6


def names(made: Plan, options: Options) -> list[str]:
    """The first file names, for a preview."""
    suffix = Reel.suffix(options.format)
    return [item.name + suffix for item in made.items[:SHOWN_NAMES]]


def one_file(store: Store, token: str, take_id: str) -> tuple[str, bytes] | None:
    """A single take as the zip would hold it without further choices: same name, same sound, same bits.

    Returns:
        File name and content; None where the project has no such take.

    Raises:
        UnknownProject: no such project.
        StorageError: the take's file is gone or damaged.
    """
    options = Options()
    with store.transaction() as db:
        project = projects.get(db, token)
        take = takes.get(db, token, take_id)
        rows = [row.id for row in lines.every(db, token)]
        row = lines.get(db, token, take["line"]) if take else None
    if take is None or row is None:
        return None
    line = takes.line_of(take, row.line)
    name = name_of(rows.index(row.id) + 1, line, take, project, options, set())
    samples, rate = load(takes.folder(store, token) / take["file"], options.loudness, "this take")
    return name + Reel.suffix(options.format), _encoded(samples, rate, options)


def write(store: Store, token: str, options: Options, report: Report | None = None) -> tuple[Path, Plan]:
    """Make the zip, in the scratch folder; gives it and what went in.

    Raises:
        UnknownProject: no such project.
        OSError: the disk is full.
        StorageError: so it is, or a take's file is damaged.
    """
    with store.transaction() as db:
        project = projects.get(db, token)
        made = plan(db, project, options, takes.folder(store, token))
    path = export_zip(store, token)
    work = store.scratch / uuid.uuid4().hex
    try:
        with new_zip(path) as archive:
            with Reel(work, made.items, options) as reel:
                for done, item in enumerate(made.items, start=1):
                    _write_item(archive, reel, takes.folder(store, token), item, options)
                    if report:
                        report(done, len(made.items))
            for file in reel.files():
                archive.write(file, f"{Reel.FOLDER}/{file.name}")
            for name, content in _texts(made, options):
                archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    finally:
        Reel.remove(work)
    return path, made


def _write_item(archive: zipfile.ZipFile, reel: Reel, folder: Path, item: Item, options: Options) -> None:
    whose = f"line {item.number}'s take {item.take['number']}"
    samples, rate = load(folder / item.take["file"], options.loudness, whose)
    reel.add(item, samples, rate)
    if options.files:
        archive.writestr(item.name + Reel.suffix(options.format), _encoded(samples, rate, options))


def _encoded(samples: np.ndarray, rate: int, options: Options) -> bytes:
    from zonos.audio.write import encode_audio

    return encode_audio(samples, rate, options.format)


def _texts(made: Plan, options: Options) -> Iterator[tuple[str, bytes]]:
    from zonos.script.subtitles import write_subtitles
    from zonos.script.write import write_script

    times = [(item.start, item.end) for item in made.items]
    if options.subtitles:
        yield "script.srt", write_subtitles([item.line.text for item in made.items], times, "srt").encode()
    if options.tracks:
        labels = [f"{start:.6f}\t{end:.6f}\t{item.name}\n" for item, (start, end) in _timed(made)]
        yield f"{Reel.FOLDER}/labels.txt", "".join(labels).encode()
    if options.manifest:
        entries = (json.dumps(_entry(item, options), ensure_ascii=False) + "\n" for item in made.items)
        yield "manifest.jsonl", "".join(entries).encode()
        yield "script.csv", write_script([item.line for item in made.items], "csv")
    if made.notes:
        yield "notes.txt", ("\n".join(made.notes) + "\n").encode()


def _timed(made: Plan) -> Iterator[tuple[Item, tuple[float, float]]]:
    return ((item, (item.start, item.end)) for item in made.items)


def _entry(item: Item, options: Options) -> dict[str, Any]:
    take = item.take
    return {
        "file": item.name + Reel.suffix(options.format) if options.files else None,
        "line": json.loads(take["fields"]),
        "take": take["number"],
        "seed": take["seed"],
        "model": take["model"],
        "seconds": take["seconds"],
        "ended": take["ended"],
        "start": round(item.start, 6),
        "note": item.row.note,
        "warnings": json.loads(take["warnings"]),
        "recipe": json.loads(take["detail"]),
    }
