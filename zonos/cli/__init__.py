"""``python -m zonos``: scripts and texts in, one audio file a line out. See :mod:`zonos.cli.options`."""

from __future__ import annotations

import io
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zonos.cli.options import Options, read_options
from zonos.folders import problem_with_file

if TYPE_CHECKING:
    from zonos.cli.lines import Gathered
    from zonos.cli.show import Console

LOG_NAME = "zonos.log"
NOTHING, STOPPED, ENOUGH = 2, 130, 0

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None takes the process's own.

    Returns:
        Exit status: 0 all done, 1 some lines failed, 2 nothing could be read or an option is wrong,
        130 stopped by Ctrl-C.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["serve"]:
        from zonos.server import main as serve

        return serve(arguments[1:])
    if arguments[:1] == ["doctor"]:
        from zonos.doctor import main as examine

        return examine(arguments[1:])
    try:
        options = read_options(arguments)
    except SystemExit as end:  # argparse has said why
        return int(end.code or 0)
    return _guarded(options)


def _guarded(options: Options) -> int:
    """Whatever happens, a person gets a sentence; the traceback of a fault of ours goes to the log."""
    # What follows takes a while to import; --help and a wrong option do not wait for it.
    from zonos.cli.show import Console, JsonLines
    from zonos.errors import CheckpointError, ScriptError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # phonemes on a console that does not know them
            stream.reconfigure(encoding="utf-8" if options.json else None, errors="backslashreplace")
    console = JsonLines() if options.json else Console()
    with _logging(options, console):
        try:
            status = _run(options, console)
            sys.stdout.flush()
            return status
        except (ScriptError, CheckpointError) as error:
            console.note(str(error))
        except BrokenPipeError:  # whoever read has enough (``… | head``)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ENOUGH
        except OSError as error:
            console.note(f"{error.filename or options.out}: {error.strerror or error}.")
        except KeyboardInterrupt:
            console.note("Stopped.")
            return STOPPED
        except Exception as error:
            log.exception("the command line failed")
            console.note(f"This is a fault of the program: {type(error).__name__}: {error}.")
    return NOTHING


def _run(options: Options, console: Console) -> int:
    from zonos.cli.lines import gather

    gathered = gather(options)
    _report(gathered, console)
    if not gathered.jobs:
        for row in gathered.bad_rows:
            console.bad_row(row)
        console.note("There is nothing to speak.")
        return NOTHING
    if options.dry_run:
        from zonos.cli.preview import preview

        return preview(options, gathered, console)
    from zonos.cli.speak import speak

    return speak(options, gathered, console)


def _report(gathered: Gathered, console: Console) -> None:
    """What is wrong with the scripts, before the model is loaded."""
    for sentence in [*gathered.unreadable, *gathered.warnings]:
        console.note(sentence)
    for script, rows in gathered.held_back.items():
        for row in rows:
            console.bad_row(row)
        console.tally.bad_rows += len(rows)
        console.note(
            f"{script}: nothing is spoken from it. Mend it, or add --skip-bad to leave bad rows out."
        )


@contextmanager
def _logging(options: Options, console: Console) -> Iterator[None]:
    """Warnings become notes; faults go, with their tracebacks, to a file that a note then names."""
    folder = Path(tempfile.gettempdir()) if options.dry_run else options.out
    faults, notes = _FaultFile(folder / LOG_NAME), _Notes(console)
    logger = logging.getLogger("zonos")
    before = logger.propagate
    logger.propagate = False
    for handler in (faults, notes):
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.propagate = before
        for handler in (faults, notes):
            logger.removeHandler(handler)
        if faults.stream is not None:
            console.note(f"What went wrong inside is in {faults.baseFilename}.")
        faults.close()


class _FaultFile(logging.FileHandler):
    """A log that is not there until something went wrong; among temporary files where nothing else can be."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self.setLevel(logging.ERROR)
        self.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))

    def _open(self) -> Any:
        if problem_with_file(Path(self.baseFilename)):
            self.baseFilename = str(Path(tempfile.gettempdir()) / LOG_NAME)
        return super()._open()


class _Notes(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """What is worse than a warning has a failed line to go with it."""
        if record.levelno < logging.ERROR:
            self._console.note(record.getMessage())
