"""From the command line's scripts and texts to the lines that are to be spoken."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from zonos.cli.options import STANDARD_INPUT, Options
from zonos.errors import CheckpointError, LineError, ScriptError
from zonos.line import Line
from zonos.script import Script, read_script
from zonos.script.rows import Notes, Problem, Row, build_row
from zonos.voices import CLIP_SUFFIXES, VoiceFolder, VoiceSource, existing

_PATHS = ("voice", "prefix_audio")


@dataclass(frozen=True)
class Place:
    """Where a line stands."""

    script: str  # as given on the command line; empty for --text
    row: int  # as the script counts
    ordinal: int  # among the script's rows that hold anything, from 1

    def __str__(self) -> str:
        return f"{self.script} row {self.row}" if self.script else f"text {self.row}"

    @property
    def stem(self) -> str:
        """What files of a line without a name are called."""
        number = f"{self.ordinal:03}"
        return f"{Path(self.script).stem}-{number}" if self.script else number


@dataclass(frozen=True)
class Job:
    """A line to speak."""

    line: Line  # with the command line's values where it left them open
    key: str  # its id in a run: its own, or one made from its place
    place: Place
    number: int  # among all lines, from 1


@dataclass(frozen=True)
class BadRow:
    """A row that is no line."""

    place: Place
    reason: str
    raw: Mapping[str, str]


@dataclass
class Gathered:
    """Everything that the command line points at."""

    jobs: list[Job] = field(default_factory=list)
    bad_rows: list[BadRow] = field(default_factory=list)  # left out with --skip-bad
    held_back: dict[str, list[BadRow]] = field(default_factory=dict)  # scripts that wait to be mended
    unreadable: list[str] = field(default_factory=list)  # files that cannot be read at all: sentences
    warnings: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether every row of every script is spoken."""
        return not (self.bad_rows or self.held_back or self.unreadable)


class _Names:
    """Looks up what rows refer to, so that all that is wrong with a script is told at once.

    Args:
        voices: of the command line.
        model: whose languages are named where a language is unknown.
    """

    def __init__(self, voices: VoiceSource, model: str) -> None:
        self._voices, self._model = voices, model
        self._why = cache(self._look_up)

    def problems(self, row: Row, script: str = "") -> list[Problem]:
        """Of names that lead nowhere; cells that have a problem already are left alone."""
        told = {problem.column for problem in row.problems}
        found = []
        for name in row.names:
            value = name.value if name.setting == "language" else _beside(name.value, script)
            reason = self._why(name.setting, value)
            if reason and name.column not in told:
                found.append(Problem(row.number, name.column, reason))
        return found

    def judged(self, row: Row, script: str) -> Row:
        """The row, no line any more where a name of it leads nowhere."""
        found = self.problems(row, script)
        return replace(row, line=None, problems=(*row.problems, *found)) if found else row

    def _look_up(self, setting: str, value: str) -> str | None:
        try:
            if setting == "language":
                from zonos.text.languages import resolve_language  # takes a while to import

                resolve_language(value, self._speaks())
            else:
                self._voices.clips(value)
        except LineError as error:
            return error.reason
        return None

    def _speaks(self) -> Collection[str]:
        """What the model has learnt; nothing where it is not on this machine yet."""
        from zonos.hub import generation_defaults, resolve

        try:
            return generation_defaults(resolve(self._model, download=False)).languages
        except CheckpointError:
            return ()  # told when the model is loaded


def check_cells(cells: Mapping[str, str], names: _Names) -> Mapping[str, Any]:
    """The values for every line, as a line holds them.

    Raises:
        ScriptError: one of them is wrong; says which option.
    """
    row = build_row(1, {"text": "-", **cells}, {name: f"--{name}" for name in cells}, Notes())
    found = [*row.problems, *names.problems(row)]
    if found or row.line is None:
        raise ScriptError(f"argument {found[0].column}: {found[0].message}")
    return {name: getattr(row.line, name) for name in cells}


def gather(options: Options) -> Gathered:
    """Read all scripts and texts; what is wrong with one costs the others nothing.

    Raises:
        ScriptError: an option for every line is wrong.
    """
    names = _Names(VoiceFolder(options.voice_folders, allow_paths=True), options.model)
    values = check_cells(options.cells, names)
    gathered, keys = Gathered(), set[str]()
    if options.texts:
        _add_rows(gathered, "", _text_rows(options.texts, gathered), values, keys)
    for given in options.scripts:
        name = "stdin" if given == STANDARD_INPUT else given
        try:
            script = _read(given)
        except ScriptError as error:
            gathered.unreadable.append(str(error))
            continue
        gathered.warnings += [f"{name}: {warning}" for warning in script.warnings]
        rows = [names.judged(row, name) for row in script.rows]
        bad = [_bad_row(Place(name, row.number, 0), row) for row in rows if row.problems]
        # A dry run speaks nothing anyway, and tells of all rows at once.
        if bad and not (options.skip_bad or options.dry_run):
            gathered.held_back[name] = bad
        else:
            _add_rows(gathered, name, rows, values, keys)
    return gathered


def _read(name: str) -> Script:
    if name == STANDARD_INPUT:
        return read_script(("stdin", sys.stdin.buffer.read()))
    return read_script(name)


def _text_rows(texts: Iterable[str], gathered: Gathered) -> list[Row]:
    notes = Notes()
    rows = [build_row(number, {"text": text}, {}, notes) for number, text in enumerate(texts, start=1)]
    gathered.warnings += [f"--text: {warning}" for warning in notes.sentences()]
    return rows


def _add_rows(
    gathered: Gathered, script: str, rows: Iterable[Row], values: Mapping[str, Any], keys: set[str]
) -> None:
    filled = [row for row in rows if not row.skipped]
    for ordinal, row in enumerate(filled, start=1):
        place = Place(script, row.number, ordinal)
        if row.line is None:
            gathered.bad_rows.append(_bad_row(place, row))
            continue
        line = _resolved(row.line, values, script)
        key = _new_key(line.id or f"{script or 'text'}:{row.number}", keys)
        gathered.jobs.append(Job(line, key, place, len(gathered.jobs) + len(gathered.bad_rows) + 1))


def _bad_row(place: Place, row: Row) -> BadRow:
    sentences = [f"column {p.column}: {p.message}" if p.column else p.message for p in row.problems]
    return BadRow(place, " ".join(sentences), row.raw)


def _new_key(wanted: str, keys: set[str]) -> str:
    """Two scripts may use the same id."""
    key, number = wanted, 1
    while key in keys:
        number += 1
        key = f"{wanted} ({number})"
    keys.add(key)
    return key


def _resolved(line: Line, values: Mapping[str, Any], script: str) -> Line:
    left_open = {name: value for name, value in values.items() if name not in line.model_fields_set}
    paths = {name: _beside(getattr(line, name), script) for name in _PATHS if name in line.model_fields_set}
    return line.model_copy(update={**left_open, **paths})


def _beside(name: str, script: str) -> str:
    """A clip named in a script is looked for here first, then beside the script."""
    beside = str(Path(script).parent / name)
    is_clip = Path(name).suffix.lower() in CLIP_SUFFIXES or "/" in name or "\\" in name
    return beside if script and is_clip and existing(name) is None and existing(beside) else name
