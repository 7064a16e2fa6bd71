"""Tables -> rows: csv and tsv as spreadsheets of any country write them, and xlsx. Read with pandas."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from zonos.errors import ScriptError
from zonos.script.rows import MAX_ROWS, TEXT_FIELDS, Notes, Problem, Row, build_row, field_of, note_unknown
from zonos.words import count

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_COLUMNS = 200
MAX_UNPACKED_BYTES = 200_000_000
_DELIMITERS = (",", ";", "\t", "|")
_NO_DELIMITER = "\x1f"  # stands in no text
_RAW_FIELD = re.compile(
    r"""(?<![^\t\r\n])(?: (?P<quoted> "(?:[^"\t]|"")*" (?=[\t\r\n]|\Z) ) | (?P<raw> "[^\t\r\n]* ) )""",
    re.VERBOSE,
)
_SEPARATOR_LINE = re.compile(r"\s*sep=(.)\s*(\r\n|\r|\n)", re.IGNORECASE)
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_DANGEROUS = re.compile(r"'*[=+\-@\t\r]")

# What the readers of a workbook raise on damaged bytes; they have no error of their own.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
)

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SNIFFED_CHARACTERS = 20_000

Grid = list[list[str]]


def guard(cell: str) -> str:
    """A text cell that no spreadsheet takes for a formula: an apostrophe goes before it."""
    return "'" + cell if _DANGEROUS.match(cell) else cell


def unguard(cell: str) -> str:
    """The cell as it was before :func:`guard`."""
    return cell[1:] if _GUARDED.match(cell) else cell


@dataclass(frozen=True)
class Table:
    """Rows of a table and the columns that were used, as the file names them."""

    rows: list[Row]
    columns: tuple[str, ...]


def read_delimited(text: str, notes: Notes, *, tabs: bool) -> Table:
    """Read csv or tsv text, whatever its delimiter is.

    Raises:
        ScriptError: it is no table, or has no column ``text``.
    """
    if match := _SEPARATOR_LINE.match(text):  # a note of Excel to itself
        delimiter, text = match[1], text[match.end() :]
    else:
        delimiter = _delimiter(text, tabs=tabs)
    return read_grid(_delimited_grid(text, delimiter), notes, guarded=True)


def _delimiter(text: str, *, tabs: bool) -> str:
    """The delimiter that finds the most known columns in the first row; then the most columns."""
    first = next((part for part in _LINE_BREAK.split(text[:_SNIFFED_CHARACTERS]) if part.strip()), "")

    def worth(delimiter: str) -> tuple[int, int]:
        cells = [cell.strip().strip('"') for cell in first.split(delimiter)]
        return sum(field_of(cell) is not None for cell in cells), len(cells)

    candidates = ("\t", ",", ";", "|") if tabs else _DELIMITERS
    best = max(candidates, key=worth)
    known, n_cells = worth(best)
    if n_cells == 1:
        return "\t" if tabs else _NO_DELIMITER  # one column: a comma is part of the text
    # No known name: prose with commas must not be torn apart, a spreadsheet's paste has tabs.
    return best if known or best in "\t;|" else candidates[0]


def _delimited_grid(text: str, delimiter: str) -> Grid:
    import pandas as pd

    if delimiter == "\t":
        text = _RAW_FIELD.sub(_requoted, text)
    _check_width(text, delimiter)
    try:
        return _parse(text, delimiter)
    except pd.errors.EmptyDataError as error:
        raise ScriptError("The file is empty.") from error
    except pd.errors.ParserError as error:
        raise ScriptError(_broken(str(error))) from error


def _check_width(text: str, delimiter: str) -> None:
    """pandas takes minutes over a first row of a million cells; later ones it refuses at once."""
    try:
        first = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise ScriptError(
            f'The first row has a cell of more than {csv.field_size_limit()} characters; a quotation mark (") '
            "may never be closed."
        ) from error
    if len(first) > MAX_COLUMNS:
        raise ScriptError(f"Row 1 has more than {MAX_COLUMNS} columns.")


def _requoted(match: re.Match[str]) -> str:
    """Cells copied from a spreadsheet carry their quotation marks as they are, unless they hold a
    line break; the parser would drop them, or run on to the next one."""
    return match["quoted"] or '"' + match["raw"].replace('"', '""') + '"'


def _parse(text: str, delimiter: str) -> Grid:
    import pandas as pd

    frame = pd.read_csv(
        io.StringIO(text),
        sep=delimiter,
        engine="c" if delimiter.isascii() else "python",
        header=None,
        names=range(MAX_COLUMNS + 1),
        index_col=False,
        dtype=str,
        na_filter=False,
        keep_default_na=False,
        skip_blank_lines=False,
        nrows=MAX_ROWS + 2,
    )
    return _grid(frame)


def _grid(frame: DataFrame) -> Grid:
    """Cells as text, without the empty columns at the right."""
    filled = frame.fillna("").astype(str)
    used = (filled != "").any().to_numpy().nonzero()[0]
    width = int(used[-1]) + 1 if len(used) else 0
    if width > MAX_COLUMNS:
        raise ScriptError(f"A row has more than {MAX_COLUMNS} columns.")
    grid: Grid = filled.iloc[:, :width].to_numpy().tolist()
    return grid


def _broken(message: str) -> str:
    """pandas counts rows from 0 in one message and lines from 1 in another."""
    if match := re.search(r"inside string starting at row (\d+)", message):
        row = int(match[1]) + 1
        return f'Row {row} opens a quotation mark (") that is never closed; close it or double it.'
    if match := re.search(r"in line (\d+), saw", message):
        return f"Row {match[1]} has more than {MAX_COLUMNS} columns."
    return f"It cannot be read as a table: {message}"


def read_xlsx(data: bytes, notes: Notes) -> Table:
    """Read the first sheet that has a column ``text``, else the first one.

    Raises:
        ScriptError: it is no xlsx file, or has no column ``text``.
    """
    with _in_words():
        sheets = _sheets(data)
        if not sheets:
            raise ScriptError("The workbook has no sheets.")
        name = next((name for name, grid in sheets.items() if _has_text(grid)), next(iter(sheets)))
        if len(sheets) > 1:
            notes.add(f"The workbook has {len(sheets)} sheets; only {name!r} is read")
        _note_unreadable(data, name, notes)
    return read_grid(sheets[name], notes, guarded=False)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise ScriptError(
            "This is no xlsx workbook that can be read (damaged, protected or of another kind); "
            "save it again as xlsx or csv."
        ) from error


def _note_unreadable(data: bytes, sheet: str, notes: Notes) -> None:
    """Cells that show something in a spreadsheet and come out empty here."""
    from openpyxl import load_workbook

    formulas, results = (
        load_workbook(io.BytesIO(data), read_only=True, data_only=results)[sheet].iter_rows(
            max_row=MAX_ROWS, max_col=MAX_COLUMNS
        )
        for results in (False, True)
    )
    for number, (written, shown) in enumerate(zip(formulas, results, strict=False), start=1):
        if any(a.data_type == "f" and b.value is None for a, b in zip(written, shown, strict=False)):
            notes.add("A formula has no saved result and is read as empty; save the workbook first", number)
        if any(cell.data_type == "e" for cell in shown):
            notes.add("A cell that shows an error such as #REF! is read as empty", number)


def _sheets(data: bytes) -> dict[str, Grid]:
    import pandas as pd

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise ScriptError("The workbook is far larger unpacked than a script can be.")
    frames = pd.read_excel(
        io.BytesIO(data),
        sheet_name=None,
        header=None,
        dtype=str,
        na_filter=False,
        keep_default_na=False,
        engine="openpyxl",
        nrows=MAX_ROWS + 2,
    )
    return {str(name): _grid(frame) for name, frame in frames.items()}


def _has_text(grid: Grid) -> bool:
    first = _first_filled(grid)
    return first is not None and any(field_of(cell) == "text" for cell in grid[first])


def _first_filled(grid: Grid) -> int | None:
    return next((i for i, cells in enumerate(grid) if any(cell.strip() for cell in cells)), None)


def read_grid(grid: Grid, notes: Notes, *, guarded: bool) -> Table:
    """Rows of a grid whose first filled row names the columns.

    A grid of one column without a known name is taken as text from its first row on.

    Args:
        grid: cells by row and column.
        notes: gets the warnings.
        guarded: take away the apostrophe that a safe export puts before a formula.

    Raises:
        ScriptError: there is no column ``text``.
    """
    first = _first_filled(grid)
    if first is None:
        raise ScriptError("The file is empty.")
    header = _Header.read(grid[first], notes)
    body = first + 1
    if "text" not in header.fields.values():
        if header.fields or any(cell.strip() for cells in grid for cell in cells[1:]):
            raise ScriptError(
                "There is no column named text. The first row must name the columns; it says: "
                + ", ".join(cell.strip() for cell in grid[first] if cell.strip())
            )
        notes.add("No row names the columns, so every row is taken as text")
        header, body = _Header({0: "text"}, {"text": "text"}, {0: "text"}, 1), first
    else:
        header.note_unknown(grid[first], notes)
    rows = [
        header.row(number, cells, notes, guarded=guarded)
        for number, cells in enumerate(grid[body:], start=body + 1)
        if any(cell.strip() for cell in cells) or _blank(number, notes)
    ]
    return Table(rows, tuple(header.names.values()))


def _blank(number: int, notes: Notes) -> bool:
    notes.add("A blank row is skipped", number)
    return False


@dataclass(frozen=True)
class _Header:
    fields: dict[int, str]  # column's index -> setting
    names: dict[str, str]  # setting -> as the file writes it
    headers: dict[int, str]  # column's index -> as the file writes it, unknown ones too
    width: int

    @classmethod
    def read(cls, cells: Sequence[str], notes: Notes) -> _Header:
        fields: dict[int, str] = {}
        names: dict[str, str] = {}
        for index, cell in enumerate(cells):
            name = field_of(cell)
            if name is None:
                continue
            if name in names:
                notes.add(f"The column {cell.strip()} stands there twice; the first is used")
                continue
            fields[index], names[name] = name, cell.strip()
        headers = {index: cell.strip() for index, cell in enumerate(cells) if cell.strip()}
        return cls(fields, names, headers, max(headers, default=-1) + 1)

    def note_unknown(self, cells: Sequence[str], notes: Notes) -> None:
        for cell in cells[: self.width]:
            if cell.strip() and field_of(cell) is None:
                note_unknown(cell.strip(), notes)

    def row(self, number: int, cells: Sequence[str], notes: Notes, *, guarded: bool) -> Row:
        values = {name: cells[index].strip() for index, name in self.fields.items() if index < len(cells)}
        if guarded:
            values = {name: unguard(v) if name in TEXT_FIELDS else v for name, v in values.items()}
        beyond = sum(bool(cell.strip()) for cell in cells[self.width :])
        problems = (
            [
                Problem(
                    number,
                    "",
                    f"It has {count(self.width + beyond, 'cell')} where the first row names "
                    f"{count(self.width, 'column')}; "
                    "a text that holds the delimiter needs quotation marks around it.",
                )
            ]
            if beyond
            else []
        )
        raw = {header: cells[i] for i, header in self.headers.items() if i < len(cells)}
        return build_row(number, values, self.names, notes, raw=raw, problems=problems)
