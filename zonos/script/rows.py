"""Cells of a script file -> lines: columns are known by name, a bad cell is named, no row stops another."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from zonos.errors import ScriptError
from zonos.line import AUTO, EMOTIONS, Line, explain, limits

MAX_ROWS = 10_000
TEXT_FIELDS = frozenset({"id", "name", "text", "language", "voice", "prefix_audio", "prefix_text"})
NAMES = ("language", "voice", "prefix_audio")
SWITCHES = frozenset({"speaker_noised", "keep_prefix"})
FIELDS = (*Line.model_fields, *EMOTIONS)
Entry = TypeVar("Entry")
_BY_KEY = {re.sub(r"[\W_]+", "", name): name for name in FIELDS}
_MOST_HEADER = 60  # characters of a column's name in a sentence
_NAMED_ROWS = 5  # a warning names this many rows and counts the rest
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One cell that cannot be used."""

    row: int
    column: str  # as the file writes it; empty where the whole row is meant
    message: str

    def __str__(self) -> str:
        place = f"Row {self.row}, column {self.column}" if self.column else f"Row {self.row}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Name:
    """A cell that names a voice, a clip or a language."""

    setting: str  # one of NAMES
    column: str  # as the file writes it
    value: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a script file.

    ``line`` is None where ``problems`` says why, or where ``skipped`` does (a row without text).
    ``start`` and ``end`` are a subtitle's times in seconds. ``names`` is what it refers to, known
    also where it is no line: whoever knows the voices can say in one go what is wrong with it.
    """

    number: int  # as a spreadsheet counts (the header is 1), a text file's line, a subtitle's cue
    line: Line | None
    problems: tuple[Problem, ...] = ()
    raw: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""
    start: float | None = None
    end: float | None = None
    names: tuple[Name, ...] = ()


class Notes:
    """Warnings of a file; the same one on many rows is said once."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}

    def add(self, message: str, row: int | None = None) -> None:
        """Note a sentence without its full stop, and the row it is about."""
        rows = self._rows.setdefault(message, [])
        if row is not None:
            rows.append(row)

    def sentences(self) -> tuple[str, ...]:
        """In the order in which they were first noted."""
        return tuple(f"{message}{_on_rows(rows)}." for message, rows in self._rows.items())


def _on_rows(rows: Sequence[int]) -> str:
    if not rows:
        return ""
    named = ", ".join(str(row) for row in rows[:_NAMED_ROWS])
    more = len(rows) - _NAMED_ROWS
    return f" ({'row' if len(rows) == 1 else 'rows'} {named}{f' and {more} more' if more > 0 else ''})"


def limited(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The same entries, as they come; stops a file that has no end.

    Raises:
        ScriptError: there are more than :data:`MAX_ROWS`.
    """
    for count, entry in enumerate(entries):
        if count >= MAX_ROWS:
            raise ScriptError(f"It has more than {MAX_ROWS} rows; split it.")
        yield entry


def field_of(header: str) -> str | None:
    """The setting that a column's name means; case, spaces and underscores do not matter."""
    return _BY_KEY.get(re.sub(r"[\W_]+", "", header.casefold()))


def note_unknown(header: str, notes: Notes) -> None:
    """Warn of a column that is not used, with the name that may have been meant."""
    close = difflib.get_close_matches(header.casefold().strip(), FIELDS, n=1)
    hint = f"; did you mean {close[0]}" if close else ""
    shown = header if len(header) <= _MOST_HEADER else f"{header[:_MOST_HEADER]}…"
    notes.add(f"The column {shown!r} is not known and is left out{hint}")


def build_row(
    number: int,
    cells: Mapping[str, Any],
    headers: Mapping[str, str],
    notes: Notes,
    *,
    raw: Mapping[str, str] | None = None,
    problems: Sequence[Problem] = (),
    start: float | None = None,
    end: float | None = None,
) -> Row:
    """Make one row from its cells.

    Args:
        number: see :class:`Row`.
        cells: values by setting; an empty one is the default.
        headers: the file's own name of each setting, for messages.
        notes: gets what was read differently from how it is written.
        raw: the row as written, by header.
        problems: what is wrong already.
        start: of a subtitle, in seconds.
        end: likewise.
    """
    found = list(problems)
    values = {name: value for name, value in cells.items() if not _is_empty(value)}
    kept = dict(raw) if raw is not None else {headers.get(n, n): str(v) for n, v in values.items()}
    if "text" not in values and not found:
        skipped = "There is no text, so the row is skipped."
        notes.add("A row without text is skipped", number)
        return Row(number, None, (), kept, skipped, start, end)
    for name in values:
        _convert(values, name, number, headers, notes, found)
    found += _join_emotions(values, number, headers)
    line = None if found else _line(values, number, headers, found)
    names = tuple(
        Name(name, headers.get(name, name), value.strip())
        for name in NAMES
        if isinstance(value := values.get(name), str)
    )
    return Row(number, line, tuple(found), kept, "", start, end, names)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _line(
    values: Mapping[str, Any], number: int, headers: Mapping[str, str], found: list[Problem]
) -> Line | None:
    try:
        return Line(**values)
    except ValidationError as error:
        for name, sentence in explain(error):
            word = sentence.split(" ", 1)[0]  # of an emotion: the weight that is wrong
            known = word if word in headers else name
            found.append(Problem(number, headers.get(known, known), _said_of(known, sentence)))
    return None


def _said_of(name: str, sentence: str) -> str:
    """A sentence that stands behind its column's name and need not say it again."""
    if sentence.startswith(f"{name}: "):
        rest = sentence.removeprefix(f"{name}: ")
        return rest[:1].upper() + rest[1:]
    return f"It {sentence.removeprefix(f'{name} ')}" if sentence.startswith(f"{name} ") else sentence


def _join_emotions(values: dict[str, Any], number: int, headers: Mapping[str, str]) -> list[Problem]:
    """Columns happiness … neutral become the one emotion that a line has."""
    weights = {name: values.pop(name) for name in EMOTIONS if name in values}
    if not weights:
        return []
    if "emotion" in values:
        named = ", ".join(headers.get(name, name) for name in weights)
        return [
            Problem(
                number,
                headers.get("emotion", "emotion"),
                f"The emotion is given here and again in {named}; leave one of them empty.",
            )
        ]
    values["emotion"] = weights
    return []


def _convert(
    values: dict[str, Any],
    name: str,
    number: int,
    headers: Mapping[str, str],
    notes: Notes,
    found: list[Problem],
) -> None:
    header = headers.get(name, name)
    try:
        values[name] = _converted(name, values[name], number, header, notes)
    except ValueError as error:
        found.append(Problem(number, header, f"{error}."))


def _converted(name: str, value: Any, number: int, header: str, notes: Notes) -> Any:
    """A cell as the line's schema takes it.

    Raises:
        ValueError: it can be read in two ways; the sentence lacks its full stop.
    """
    if isinstance(value, bool) and name not in SWITCHES | TEXT_FIELDS:
        raise ValueError(f"It is {value}; it must be a number")
    if not isinstance(value, str):
        return value
    if name in TEXT_FIELDS:
        return value.replace("\r\n", "\n").replace("\r", "\n")
    text = value.strip()
    if text.casefold() == AUTO:
        return AUTO
    if name in SWITCHES:
        return text
    plain = _plain_number(name, text)
    if plain != text:
        notes.add(f"Column {header}: a decimal comma is read as a point", number)
    return plain


def _plain_number(name: str, text: str) -> str:
    """Decimal commas to points, where that is what they are."""
    if "," not in text:
        return text
    if name == "emotion":
        return re.sub(r"(?<=\d),(?=\d)", ".", text)
    if name == "vqscore_8":
        return text if "." in text else re.sub(r"(?<=\d),(?=\d)", ".", text)
    bare = re.sub(r"\s", "", text)
    if not _DECIMAL_COMMA.fullmatch(bare):
        return text
    whole, _, digits = bare.partition(",")
    if len(digits) == 3 and whole.strip("+-0") and _may_be_thousands(name):
        raise ValueError(f"{text} can be read in two ways; write {whole}{digits} or {whole}.{digits}")
    return f"{whole}.{digits}"


def _may_be_thousands(name: str) -> bool:
    high = limits(name)[1]
    return high is not None and high >= 1000
