"""What the person, or the program, at the command line gets to see."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from zonos.cli.lines import BadRow, Place
from zonos.events import Accepted, Event, Progress, Started
from zonos.hub.weights import readable_size
from zonos.words import count

if TYPE_CHECKING:
    from zonos.cli.output import Planned

_NAMED_PLACES = 5


@dataclass
class Tally:
    """How a run stands, in takes."""

    asked: int = 0  # of this run, without those kept
    kept: int = 0  # done by an earlier run
    done: int = 0
    failed: int = 0
    stopped: int = 0
    bad_rows: int = 0
    seconds: float = 0.0  # of speech made now
    frame_rate: float = 0.0  # frames a second of speech
    began: float = field(default_factory=time.monotonic)
    frames: dict[tuple[str, int], int] = field(default_factory=dict)  # decoded, by line and take

    @property
    def elapsed(self) -> float:
        """Seconds since generation began."""
        return max(time.monotonic() - self.began, 1e-6)

    @property
    def frames_per_second(self) -> float:
        """Over all takes."""
        return sum(self.frames.values()) / self.elapsed

    @property
    def times_real_time(self) -> float:
        """Seconds of speech made in a second."""
        return self.frames_per_second / self.frame_rate if self.frame_rate else 0.0

    @property
    def speed(self) -> str:
        """For people."""
        return f"{self.frames_per_second:.0f} frames/s, {self.times_real_time:.1f} times real time"

    def __str__(self) -> str:
        parts = [f"{self.kept} kept from before"] * bool(self.kept)
        if self.asked:
            made = f"{self.done} of {count(self.asked, 'take')} done"
            took = f": {self.seconds:.1f} s of speech in {self.elapsed:.1f} s ({self.speed})"
            parts.append(made + took * bool(self.done))
        parts += [f"{self.failed} failed"] * bool(self.failed)
        parts += [f"{self.stopped} not made"] * bool(self.stopped)
        parts += [f"{count(self.bad_rows, 'row')} could not be read"] * bool(self.bad_rows)
        return f"{'; '.join(parts)}."

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        counts = {name: getattr(self, name) for name in ("done", "kept", "failed", "stopped", "bad_rows")}
        return {
            **counts,
            "seconds": round(self.seconds, 3),
            "elapsed": round(self.elapsed, 3),
            "frames_per_second": round(self.frames_per_second, 1),
            "times_real_time": round(self.times_real_time, 2),
        }


class Console:
    """Plain words: files on standard output, everything else on standard error."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._bar: Any = None
        self._repeats: dict[str, list[str]] = {}  # warning -> places after the first
        self._told: set[tuple[str, str]] = set()
        self._next_percent = 0

    def note(self, text: str) -> None:
        """Something to know."""
        self._print(text, sys.stderr)

    def loading(self, model: str) -> None:
        """The model is being loaded, which may take a while."""
        if sys.stderr.isatty():
            self.note(f"Loading {model} …")

    def downloading(self, done: int, total: int, file: str) -> None:
        """Bytes of a model that had to be fetched first."""
        percent = 100 * done // max(total, 1)
        if sys.stderr.isatty():
            end = "\n" if done >= total else ""
            print(f"\r{file}: {readable_size(done)} of {readable_size(total)} ", end=end, file=sys.stderr)
        elif percent >= self._next_percent:
            self.note(f"Downloading {file}: {percent} % of {readable_size(total)}")
            self._next_percent = percent - percent % 10 + 10

    def begin(self, out: Path) -> None:
        """The model is loaded; takes are coming."""
        self.tally.began = time.monotonic()
        if sys.stderr.isatty():
            from tqdm import tqdm

            shape = "{n_fmt}/{total_fmt} |{bar}| {elapsed}, {remaining} left{postfix}"
            self._bar = tqdm(total=self.tally.asked, file=sys.stderr, bar_format=shape, dynamic_ncols=True)

    def event(self, planned: Planned, event: Event) -> None:
        """Anything but the end of a take."""
        if isinstance(event, Accepted):
            self._warn(planned.job.place, event.warnings)
        elif isinstance(event, Progress):
            self._move(0)

    def done(self, planned: Planned, path: Path, entry: Mapping[str, Any]) -> None:
        """A take's file is written."""
        cut = "  (cut at its length limit)" if entry["ended"] == "length" else ""
        self._print(f"{path}  {entry['seconds']:.2f} s{cut}", sys.stdout)
        self._warn(planned.job.place, entry["warnings"])
        self._move(1)

    def kept(self, planned: Planned, path: Path) -> None:
        """An earlier run made this take."""

    def failed(self, planned: Planned, code: str, reason: str) -> None:
        """A take was not made; the same reason is said once, and at the end where it came again."""
        self._warn(planned.job.place, [reason])
        self._move(1)

    def bad_row(self, row: BadRow) -> None:
        """A row is no line."""
        self._say_once(row.place, row.reason)

    def stopped(self, planned: Planned) -> None:
        """A take was cancelled."""
        self._move(0)

    def joined(self, path: Path, seconds: float, missing: int) -> None:
        """The joined file is written; ``missing`` lines failed and are not in it."""
        what = f"without {count(missing, 'line')} that failed" if missing else "all lines"
        self._print(f"{path}  {seconds:.2f} s, {what}", sys.stdout)

    def end(self, status: int) -> None:
        """Everything is over; warnings that came again are summed up."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        for warning, places in self._repeats.items():
            more = f" and {len(places) - _NAMED_PLACES} more" * (len(places) > _NAMED_PLACES)
            if places:
                self.note(f"{warning} (also {', '.join(places[:_NAMED_PLACES])}{more})")
        self.note(str(self.tally))

    def _say_once(self, place: Place, sentence: str) -> bool:
        if (str(place), sentence) in self._told:
            return False
        self._told.add((str(place), sentence))
        self.note(f"{place}: {sentence}")
        return True

    def _warn(self, place: Place, warnings: tuple[str, ...] | list[str]) -> None:
        for warning in warnings:
            if warning not in self._repeats:
                self._repeats[warning] = []
                self._say_once(place, warning)
            elif (str(place), warning) not in self._told:
                self._told.add((str(place), warning))
                self._repeats[warning].append(str(place))

    def _move(self, takes: int) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(self.tally.speed, refresh=False)
            self._bar.update(takes)

    def _print(self, text: str, stream: TextIO) -> None:
        try:
            if self._bar is not None:
                self._bar.write(text, file=stream)
            else:
                print(text, file=stream, flush=True)
        except BrokenPipeError:
            # Whoever listened has gone (``… | head``); the takes are wanted all the same.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class JsonLines(Console):
    """Every event as a JSON object on a line of standard output; sentences stay on standard error."""

    def begin(self, out: Path) -> None:
        """See :class:`Console`."""
        self.tally.began = time.monotonic()
        self._emit("run", out=str(out), takes=self.tally.asked, kept=self.tally.kept)

    def event(self, planned: Planned, event: Event) -> None:
        """See :class:`Console`."""
        if isinstance(event, Accepted):
            self._emit_take(
                "accepted",
                planned,
                phonemes=event.phonemes,
                expected_seconds=round(event.expected_seconds, 3),
                pieces=event.pieces,
                warnings=event.warnings,
            )
        elif isinstance(event, Started):
            self._emit_take("started", planned)
        elif isinstance(event, Progress):
            self._emit_take("progress", planned, frames=event.frames, expected_frames=event.expected_frames)

    def done(self, planned: Planned, path: Path, entry: Mapping[str, Any]) -> None:
        """See :class:`Console`."""
        told = {name: entry[name] for name in ("seconds", "ended", "seed", "warnings")}
        self._emit_take("done", planned, file=str(path), **told)

    def kept(self, planned: Planned, path: Path) -> None:
        """See :class:`Console`."""
        self._emit_take("kept", planned, file=str(path))

    def failed(self, planned: Planned, code: str, reason: str) -> None:
        """See :class:`Console`."""
        self._emit_take("failed", planned, code=code, reason=reason)
        super().failed(planned, code, reason)

    def bad_row(self, row: BadRow) -> None:
        """See :class:`Console`."""
        place = {"script": row.place.script, "row": row.place.row}
        self._emit("failed", **place, code="bad_row", reason=row.reason)
        super().bad_row(row)

    def stopped(self, planned: Planned) -> None:
        """See :class:`Console`."""
        self._emit_take("cancelled", planned)

    def joined(self, path: Path, seconds: float, missing: int) -> None:
        """See :class:`Console`."""
        self._emit("joined", file=str(path), seconds=round(seconds, 3), missing=missing)

    def end(self, status: int) -> None:
        """See :class:`Console`."""
        self._emit("end", status=status, **self.tally.as_json())

    def _emit_take(self, kind: str, planned: Planned, **more: Any) -> None:
        job = planned.job
        place = {"script": job.place.script, "row": job.place.row}
        self._emit(kind, line=job.key, **place, take=planned.take + 1, **more)

    def _emit(self, kind: str, **more: Any) -> None:
        self._print(json.dumps({"event": kind, **more}), sys.stdout)
