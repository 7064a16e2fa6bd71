"""The command line's run: lines to the engine, takes to files, each the moment it is done."""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from zonos.cli.lines import BadRow, Gathered
from zonos.cli.manifest import FILE_NAME, Busy, Entry, Manifest, hold
from zonos.cli.options import Options
from zonos.cli.output import (
    Planned,
    Recipes,
    Sound,
    bad_row_name,
    failed_row,
    failed_take,
    give_names,
    join_files,
    plan,
    replaced,
    write_take,
)
from zonos.cli.show import Console
from zonos.errors import LineError, ScriptError
from zonos.events import Cancelled, Done, Event, Failed, Final, Progress
from zonos.folders import problem_with_file
from zonos.line import Line
from zonos.request import new_seed, take_seed
from zonos.voices import VoiceFolder

if TYPE_CHECKING:
    from zonos.events import Speech
    from zonos.run import Run

DONE, SOME_FAILED, NOTHING, STOPPED = 0, 1, 2, 130
_LOOK_SECONDS = 0.2  # how soon a Ctrl-C is seen
_FULL = (errno.ENOSPC, errno.EDQUOT)


def speak(options: Options, gathered: Gathered, console: Console) -> int:
    """Speak everything that was gathered; returns the exit status.

    Raises:
        CheckpointError: the model cannot be loaded.
        ScriptError: a place cannot be written to, or the joined file would replace a line's.
    """
    _check_places(options)
    try:
        with hold(options.out):
            return _speak(options, gathered, console)
    except Busy:
        raise ScriptError(
            f"argument --out: another run writes into {options.out}; wait for it, or choose another place."
        ) from None


def _speak(options: Options, gathered: Gathered, console: Console) -> int:
    voices = VoiceFolder(options.voice_folders, allow_paths=True)
    session = _Session(options, voices, console)
    session.prepare(gathered)
    status = session.run()
    if not gathered.whole and status == DONE:
        status = SOME_FAILED
    if options.join is not None and status != STOPPED and not session.join(options.join):
        status = SOME_FAILED
    console.end(status)
    return status


def _check_places(options: Options) -> None:
    """What cannot be written is told before a model is loaded for it."""
    places = {"--out": options.out / FILE_NAME} | ({"--join": options.join} if options.join else {})
    for option, place in places.items():
        if problem := problem_with_file(place):
            raise ScriptError(f"argument {option}: {problem} Choose another place with {option}.")


class _Session:
    """One run of the command line."""

    def __init__(self, options: Options, voices: VoiceFolder, console: Console) -> None:
        self.options, self.voices, self.console = options, voices, console
        self.sound = Sound(options.format, options.loudness, options.trim)
        self.manifest = Manifest(options.out)
        self.takes: list[Planned] = []
        self.bad_rows: list[BadRow] = []
        self.there: set[str] = set()  # files that are whole and up to date
        self.stop = threading.Event()
        self.disk_full = False
        self.unrecorded = 0  # takes that the manifest lacks

    def prepare(self, gathered: Gathered) -> None:
        """Decide what is to be made, under which names, and what is there already."""
        options, tally = self.options, self.console.tally
        recipes = Recipes(options.model, self.sound, self.voices, options.name_template)
        seeds = [new_seed() if job.line.seed is None else job.line.seed for job in gathered.jobs]
        takes = plan(gathered.jobs, seeds, recipes, self.manifest, resume=options.resume)
        self.takes = give_names(takes, self.manifest, self.sound.suffix, options.name_template)
        self._check_join()
        self.there = {one.file for one in self.takes if one.kept}
        tally.kept = len(self.there)
        tally.asked = len(self.takes) - tally.kept
        tally.bad_rows += len(gathered.bad_rows)
        self.bad_rows = gathered.bad_rows
        for row in gathered.bad_rows:
            self.console.bad_row(row)
            self._note_down(failed_row(row, self.sound))
        again = replaced(self.takes, options.out)
        if again:
            files = f"{len(again)} files" if len(again) > 1 else again[0]
            self.console.note(f"Replacing {files} of an earlier run in {options.out} (--resume keeps them).")

    def _check_join(self) -> None:
        """The joined file must not take the place of one of its lines."""
        join, out = self.options.join, self.options.out
        if join and join.resolve() in {(out / one.file).resolve() for one in self.takes}:
            raise ScriptError(
                f"argument --join: {join} is the file of one of the lines; choose another name."
            )

    def run(self) -> int:
        """Make what is not there yet."""
        tally = self.console.tally
        for one in self.takes:
            if one.kept:
                self.console.kept(one, self.options.out / one.file)
        if tally.asked:
            self._generate([one for one in self.takes if not one.kept])
            self._tidy()
        if tally.stopped:
            why = "The disk is full, so the run stopped." if self.disk_full else "Stopped."
            self.console.note(f"{why} What is done stays in {self.options.out}; --resume makes the rest.")
        if tally.stopped and not self.disk_full:
            return STOPPED
        return SOME_FAILED if tally.failed or tally.stopped or self.unrecorded else DONE

    def join(self, target: Path) -> bool:
        """Join the first take of every line; False when one is missing or the file cannot be written."""
        firsts = [one for one in self.takes if one.take == 0]
        files = [self.options.out / one.file for one in firsts if one.file in self.there]
        missing = len(firsts) - len(files) + len(self.bad_rows)
        if not files:
            self.console.note(f"{target} was not written: there is nothing to join.")
            return False
        try:
            seconds = join_files(files, target, self.options.gap, self.options.join_format)
        except (OSError, LineError) as error:
            self.console.note(f"{target} was not written: {error}")
            return False
        self.console.joined(target, seconds, missing)
        if missing:
            self.console.note(f"{target} lacks {missing} of the lines, which failed.")
        return not missing

    # ---- generating --------------------------------------------------------------------------

    def _generate(self, takes: Sequence[Planned]) -> None:
        import zonos

        options, console = self.options, self.console
        console.loading(options.model)
        more: dict[str, Any] = {} if options.slots is None else {"slots": options.slots}
        with zonos.load(
            options.model,
            device=options.device,
            dtype=options.dtype,
            voices=self.voices,
            progress=console.downloading,
            **more,
        ) as engine:
            console.tally.frame_rate = engine.pipeline.codec.frame_rate
            console.begin(options.out)
            with _stop_signals(self.stop):
                self._listen(engine.submit([_line(one, i) for i, one in enumerate(takes)]), takes)

    def _listen(self, run: Run, takes: Sequence[Planned]) -> None:
        left = len(takes)
        while left:
            if self.stop.is_set() or self.disk_full:
                run.cancel()
            event = run.next_event(timeout=_LOOK_SECONDS)
            if event is not None:
                self._handle(takes[int(event.line)], event)
                left -= isinstance(event, Final)

    def _handle(self, planned: Planned, event: Event) -> None:
        tally = self.console.tally
        if isinstance(event, Done):
            tally.frames[planned.job.key, planned.take] = sum(codes.shape[1] for codes in event.speech.codes)
            self._keep(planned, event.speech)
        elif isinstance(event, Failed):
            self._fail(planned, event.code, event.reason)
        elif isinstance(event, Cancelled):
            tally.stopped += 1
            self.console.stopped(planned)
        else:
            if isinstance(event, Progress):
                tally.frames[planned.job.key, planned.take] = event.frames
            self.console.event(planned, event)

    def _keep(self, planned: Planned, speech: Speech) -> None:
        """File first, then manifest: an entry never names a file that is not there."""
        try:
            entry = write_take(self.options.out, planned, speech, self.sound)
        except OSError as error:
            self._fail(planned, "not_written", str(error))
            self._stop_if_full(error)
            return
        self.there.add(planned.file)
        self.console.tally.done += 1
        self.console.tally.seconds += entry["seconds"]
        self._note_down(entry)
        self.console.done(planned, self.options.out / planned.file, entry)

    def _fail(self, planned: Planned, code: str, reason: str) -> None:
        self.console.tally.failed += 1
        self._note_down(failed_take(planned, self.sound, code, reason))
        self.console.failed(planned, code, reason)

    # ---- the manifest ------------------------------------------------------------------------

    def _note_down(self, entry: Entry) -> None:
        try:
            self.manifest.add(entry)
        except OSError as error:
            self.unrecorded += 1
            self.console.note(f"{entry['name']} is not in {self.manifest.path}: {error.strerror or error}.")
            self._stop_if_full(error)

    def _tidy(self) -> None:
        try:
            names = [bad_row_name(row) for row in self.bad_rows] + [one.name for one in self.takes]
            self.manifest.tidy((name, self.sound.format) for name in names)
        except OSError as error:
            self.console.note(f"The manifest stays in the order in which takes ended: {error}")

    def _stop_if_full(self, error: OSError) -> None:
        """Speech that cannot be written is not worth making."""
        self.disk_full = self.disk_full or error.errno in _FULL


def _line(planned: Planned, index: int) -> Line:
    """Each take is a line of its own to the engine, so that any of them can be made alone."""
    seed = take_seed(planned.seed, planned.take)
    return planned.job.line.model_copy(update={"id": str(index), "seed": seed, "takes": 1})


@contextmanager
def _stop_signals(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and a polite kill set ``stop``; a second one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, _: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
