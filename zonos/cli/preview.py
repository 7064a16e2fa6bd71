"""``--dry-run``: what would be said, how long that lasts, and what memory and time it takes, without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from zonos.ahead import Ahead, frame_rate, look_ahead
from zonos.cli.lines import Gathered, Job
from zonos.cli.options import Options
from zonos.cli.show import Console
from zonos.config import ZonosConfig
from zonos.errors import LineError
from zonos.hub import Checkpoint, generation_defaults, resolve
from zonos.hub.weights import readable_size
from zonos.line import Line
from zonos.request import Request, make_request
from zonos.voices import VoiceFolder
from zonos.words import count, duration


@dataclass(frozen=True)
class Ready:
    """One line, made ready as far as that goes without a model."""

    job: Job
    request: Request
    seconds: float  # of one take


def preview(options: Options, gathered: Gathered, console: Console) -> int:
    """Print what would be spoken; returns the exit status. Downloads nothing.

    Raises:
        CheckpointError: the model is not on this machine.
    """
    checkpoint = resolve(options.model, download=False)
    config = ZonosConfig.from_file(checkpoint.config)
    for row in gathered.bad_rows:
        console.bad_row(row)
    good, failed = _make_ready(options, gathered.jobs, checkpoint, config)
    for job, reason in failed:
        console.note(f"{job.place}: {reason}")
    ahead = look_ahead(
        checkpoint,
        config,
        [one.request for one in good],
        device=options.device,
        dtype=options.dtype,
        slots=options.slots,
    )
    show = _show_json if options.json else _show_text
    show(good, ahead, len(failed) + len(gathered.bad_rows))
    return int(bool(failed) or not gathered.whole)


def _make_ready(
    options: Options, jobs: Iterable[Job], checkpoint: Checkpoint, config: ZonosConfig
) -> tuple[list[Ready], list[tuple[Job, str]]]:
    """Lines made ready, and those that would fail, each with its reason."""
    voices = VoiceFolder(options.voice_folders, allow_paths=True)
    defaults = generation_defaults(checkpoint)
    rate = frame_rate(checkpoint)
    good, failed = [], []
    for job in jobs:
        ready = _ready(job, voices, lambda line: make_request(line, defaults, config, rate))
        if isinstance(ready, LineError):
            failed.append((job, ready.reason))
        else:
            good.append(Ready(job, ready, ready.expected_seconds(rate)))
    return good, failed


def _ready(job: Job, voices: VoiceFolder, make: Callable[[Line], Request]) -> Request | LineError:
    try:
        for name in filter(None, (job.line.voice, job.line.prefix_audio)):
            voices.clips(name)
        return make(job.line)
    except LineError as error:
        return error


def _show_text(good: list[Ready], ahead: Ahead, failed: int) -> None:
    for one in good:
        line, pieces = one.job.line, len(one.request.pieces)
        about = [line.name or line.id or "", line.voice or "no voice", one.request.spoken.language]
        about += [f"{one.seconds:.1f} s", count(pieces, "piece")]
        about += [count(line.takes, "take")] * (line.takes > 1)
        print(f"{one.job.place}: {' · '.join(filter(None, about))}")
        print(f"    {one.request.phonemes}")
        for warning in one.request.warnings:
            print(f"    ! {warning}")
    takes = sum(one.job.line.takes for one in good)
    seconds = sum(one.seconds * one.job.line.takes for one in good)
    planned = f"{count(len(good), 'line')}, {count(takes, 'take')}"
    print(f"{planned}, about {seconds:.1f} s of speech; {failed} would fail.")
    plan, dtype = ahead.plan, _name(ahead.dtype)
    print(
        f"Memory on {ahead.device.type} in {dtype}: about {readable_size(ahead.model_bytes)} "
        f"for the model and {readable_size(plan.kv_bytes)} for {count(plan.rows, 'take')} at once."
    )
    if plan.seconds is not None:
        by = "at the speed last seen here" if ahead.measured else "a guess: nothing was spoken here yet"
        print(f"Time: about {duration(plan.seconds)} ({by}).")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _show_json(good: list[Ready], ahead: Ahead, failed: int) -> None:
    for one in good:
        job, request = one.job, one.request
        entry = {
            "event": "preview",
            "line": job.key,
            "script": job.place.script,
            "row": job.place.row,
            "language": request.spoken.language,
            "phonemes": request.phonemes,
            "pieces": [piece.phonemes for piece in request.pieces],
            "expected_seconds": round(one.seconds, 3),
            "takes": job.line.takes,
            "warnings": request.warnings,
        }
        print(json.dumps(entry))
    seconds = sum(one.seconds * one.job.line.takes for one in good)
    plan = ahead.plan
    print(
        json.dumps(
            {
                "event": "plan",
                "lines": len(good),
                "failed": failed,
                "expected_seconds": round(seconds, 3),
                "memory": {
                    "device": ahead.device.type,
                    "dtype": _name(ahead.dtype),
                    "model_bytes": ahead.model_bytes,
                    "kv_bytes": plan.kv_bytes,
                    "rows": plan.rows,
                },
                "work_seconds": None if plan.seconds is None else round(plan.seconds, 1),
                "work_seconds_measured": ahead.measured,
            }
        )
    )
