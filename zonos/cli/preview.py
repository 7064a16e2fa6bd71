"""``--dry-run``: what would be said, how long it lasts and what memory it takes, without a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from zonos.cli.lines import Gathered, Job
from zonos.cli.options import Options
from zonos.cli.show import Console
from zonos.codec import frame_rate_of
from zonos.config import ZonosConfig
from zonos.devices import pick_device, pick_dtype
from zonos.errors import LineError
from zonos.hub import Checkpoint, generation_defaults, resolve
from zonos.hub.weights import readable_size
from zonos.line import Line
from zonos.plan import MOST_SLOTS, plan_run
from zonos.request import Request, make_request
from zonos.voices import VoiceFolder
from zonos.words import count


@dataclass(frozen=True)
class Foreseen:
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
    good, failed = _foresee(options, gathered.jobs, checkpoint, config)
    for job, reason in failed:
        console.note(f"{job.place}: {reason}")
    memory = _memory(options, checkpoint, config, [one.request for one in good])
    show = _show_json if options.json else _show_text
    show(good, memory, len(failed) + len(gathered.bad_rows))
    return int(bool(failed) or not gathered.whole)


def _foresee(
    options: Options, jobs: Iterable[Job], checkpoint: Checkpoint, config: ZonosConfig
) -> tuple[list[Foreseen], list[tuple[Job, str]]]:
    """Lines made ready, and those that would fail, each with its reason."""
    voices = VoiceFolder(options.voice_folders, allow_paths=True)
    defaults = generation_defaults(checkpoint)
    codec = checkpoint.codec.config
    frame_rate = frame_rate_of(json.loads(codec.read_text(encoding="utf-8")) if codec else {})
    good, failed = [], []
    for job in jobs:
        ready = _ready(job, voices, lambda line: make_request(line, defaults, config, frame_rate))
        if isinstance(ready, LineError):
            failed.append((job, ready.reason))
        else:
            good.append(Foreseen(job, ready, ready.expected_seconds(frame_rate)))
    return good, failed


def _ready(job: Job, voices: VoiceFolder, make: Callable[[Line], Request]) -> Request | LineError:
    try:
        for name in filter(None, (job.line.voice, job.line.prefix_audio)):
            voices.clips(name)
        return make(job.line)
    except LineError as error:
        return error


def _memory(
    options: Options, checkpoint: Checkpoint, config: ZonosConfig, requests: Iterable[Request]
) -> dict[str, Any]:
    """Bytes for the model, and for the longest pieces that are spoken at once."""
    device = pick_device(options.device)
    dtype = pick_dtype(options.dtype, device, config)
    slots = options.slots or MOST_SLOTS[device.type]
    plan = plan_run(config, list(requests), dtype=dtype, device=device.type, slots=slots)
    return {
        "device": device.type,
        "dtype": str(dtype).removeprefix("torch."),
        "model_bytes": plan.weight_bytes + plan.workspace_bytes + checkpoint.bytes_beside_model,
        "kv_bytes": plan.kv_bytes,
        "rows": plan.rows,
    }


def _show_text(good: list[Foreseen], memory: dict[str, Any], failed: int) -> None:
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
    print(
        f"Memory on {memory['device']} in {memory['dtype']}: about {readable_size(memory['model_bytes'])} "
        f"for the model and {readable_size(memory['kv_bytes'])} for {count(memory['rows'], 'take')} at once."
    )


def _show_json(good: list[Foreseen], memory: dict[str, Any], failed: int) -> None:
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
    total = {"lines": len(good), "failed": failed, "expected_seconds": round(seconds, 3)}
    print(json.dumps({"event": "plan", **total, "memory": memory}), file=sys.stdout)
