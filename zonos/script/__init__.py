"""Script files in and out: csv, tsv, jsonl, json, txt, srt, vtt, xlsx, or what was copied from one.

One bad row costs no other row anything: it comes back with its problems instead of a line. Only a
file that cannot be read at all raises.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zonos.errors import ScriptError
from zonos.line import Line
from zonos.script.rows import MAX_ROWS, Notes, Problem, Row, build_row, field_of, limited, note_unknown
from zonos.script.subtitles import read_subtitles
from zonos.script.tables import read_delimited, read_xlsx
from zonos.script.write import FORMATS, write_script

__all__ = [
    "FORMATS",
    "MAX_FILE_BYTES",
    "MAX_ROWS",
    "Problem",
    "Row",
    "Script",
    "read_script",
    "write_script",
]

MAX_FILE_BYTES = 20_000_000
_SUFFIXES = {
    **{f".{name}": name for name in FORMATS},
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".text": "txt",
    ".webvtt": "vtt",
    ".xlsm": "xlsx",
}
_ZIP, _OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# Files that people take for scripts, by how they begin.
_NO_SCRIPTS = {
    "a PDF": re.compile(rb"%PDF-"),
    "an RTF document": re.compile(rb"\{\\rtf"),
    "a web page": re.compile(rb"<!doctype html|<html\b", re.IGNORECASE),
    "a sound": re.compile(rb"RIFF.{4}WAVE|ID3[\x02-\x04]|OggS\0|fLaC\0", re.DOTALL),
}
_SNIFFED_CHARACTERS = 2000
# Western text in a one-byte encoding has few letters beyond ASCII; more means another script.
_FOREIGN_SHARE = 0.3
_OTHER_ENCODINGS = ["cp1251", "cp932", "gb18030", "cp949", "big5"]

Source = Path | str | tuple[str, bytes]


@dataclass(frozen=True)
class Script:
    """What a file holds."""

    rows: tuple[Row, ...]
    warnings: tuple[str, ...]
    columns: tuple[str, ...]  # those in use, as the file names them

    @property
    def lines(self) -> list[Line]:
        """The good ones, in order."""
        return [row.line for row in self.rows if row.line is not None]

    @property
    def problems(self) -> list[Problem]:
        """Of all rows; empty when the script is whole."""
        return [problem for row in self.rows for problem in row.problems]


def read_script(source: Source, *, encoding: str | None = None) -> Script:
    """Read a script file.

    Args:
        source: a path, or a name and the bytes (an upload; for a paste ``("paste.tsv", …)``). The
            name's ending gives the format; where it gives none, the content does.
        encoding: where the guess is wrong; by default UTF-8, UTF-16 and Windows' own are told apart.

    Raises:
        ScriptError: the file cannot be read at all; names it and, where there is one, the row.
    """
    name, data = source if isinstance(source, tuple) else _load(Path(source))
    try:
        return _read(name, data, encoding)
    except ScriptError as error:
        raise ScriptError(f"{Path(name).name or 'The script'}: {error}") from error


def _load(path: Path) -> tuple[str, bytes]:
    try:
        if path.is_dir():
            raise ScriptError(f"{path} is a folder; give a script file.")
        with path.open("rb") as file:
            return str(path), file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ScriptError(f"{path} cannot be read: {error.strerror}.") from error


def _read(name: str, data: bytes, encoding: str | None) -> Script:
    if len(data) > MAX_FILE_BYTES:
        raise ScriptError(f"It is larger than {MAX_FILE_BYTES // 1_000_000} MB; split it.")
    if not data.strip():
        raise ScriptError("The file is empty.")
    notes = Notes()
    kind = _SUFFIXES.get(Path(name).suffix.lower())
    if data.startswith(_ZIP) or kind == "xlsx":
        table = read_xlsx(data, notes)
        return _script(table.rows, table.columns, notes)
    text = _decode(data, encoding, notes)
    kind = kind or _sniff(text)
    if kind in {"csv", "tsv"}:
        table = read_delimited(text, notes, tabs=kind == "tsv")
        return _script(table.rows, table.columns, notes)
    if kind in {"srt", "vtt"}:
        return _script(read_subtitles(text, kind, notes), ("text",), notes)
    if kind in {"jsonl", "json"}:
        return _script(*_json_rows(text, notes, one_a_line=kind == "jsonl"), notes)
    return _script(_text_rows(text, notes), ("text",), notes)


def _script(rows: Iterable[Row], columns: tuple[str, ...], notes: Notes) -> Script:
    unique = _refuse_twins(limited(rows))
    if not unique:
        raise ScriptError("There is not one line in it.")
    return Script(tuple(unique), notes.sentences(), columns)


def _refuse_twins(rows: Iterable[Row]) -> list[Row]:
    """An id names one line only."""
    seen: dict[str, int] = {}
    checked: list[Row] = []
    for row in rows:
        name = row.line.id if row.line else None
        if name is not None and name in seen:
            problem = Problem(row.number, "id", f"The id {name!r} stands in row {seen[name]} already.")
            row = replace(row, line=None, problems=(problem,))
        elif name is not None:
            seen[name] = row.number
        checked.append(row)
    return checked


def _decode(data: bytes, encoding: str | None, notes: Notes) -> str:
    if data.startswith(_OLD_OFFICE):
        raise ScriptError("This is an old Excel or Word file; save it as xlsx or csv.")
    start = data[:200].removeprefix(codecs.BOM_UTF8).lstrip()
    for name, beginning in _NO_SCRIPTS.items():
        if beginning.match(start):
            raise ScriptError(f"This is {name}, whatever its name says; save its words as txt, csv or xlsx.")
    try:
        text = data.decode(encoding) if encoding else _decoded(data, notes)
    except (UnicodeDecodeError, LookupError) as error:
        raise ScriptError(f"The text cannot be decoded: {error}.") from error
    if "\0" in text:
        raise ScriptError(f"This is no text file; scripts are {', '.join(FORMATS)}.")
    return text.removeprefix("\ufeff")


def _decoded(data: bytes, notes: Notes) -> str:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # its mark begins with UTF-16's
        return data.decode("utf-32")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    if wide := _wide(data):
        return data.decode(wide)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _old_encoding(data, notes)


def _wide(data: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of Latin text is zero."""
    even, odd = data[0:4000:2].count(0), data[1:4000:2].count(0)
    half = min(len(data), 4000) // 2
    if odd > 0.4 * half and odd > 4 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * half and even > 4 * odd else None


def _old_encoding(data: bytes, notes: Notes) -> str:
    from charset_normalizer import from_bytes

    letters = sum(byte > 32 for byte in data)
    foreign = sum(byte >= 128 for byte in data)
    if foreign > _FOREIGN_SHARE * letters:
        best = from_bytes(data, cp_isolation=_OTHER_ENCODINGS).best()
        if best is not None:
            _note_encoding(best.encoding, notes)
            return str(best)
    _note_encoding("Windows-1252", notes)
    return data.decode("cp1252", errors="replace")


def _note_encoding(name: str, notes: Notes) -> None:
    notes.add(f"The file is not UTF-8 and is read as {name}; if letters look wrong, save it as UTF-8")


def _sniff(text: str) -> str:
    start = text[:_SNIFFED_CHARACTERS].lstrip()
    if start.startswith("WEBVTT"):
        return "vtt"
    if "-->" in start:
        return "srt"
    if start.startswith(("{", "[{")) or re.match(r"\[\s*[{\"]", start):
        return "json"
    first = start.split("\n", 1)[0]
    cells = [cell.strip().strip('"') for cell in re.split(r"[,;\t|]", first)]
    if len(cells) > 1 and any(field_of(cell) == "text" for cell in cells):
        return "tsv" if "\t" in first else "csv"
    return "txt"


def _text_rows(text: str, notes: Notes) -> Iterator[Row]:
    for number, part in _filled_lines(text, notes):
        yield build_row(number, {"text": part}, {"text": "text"}, notes)


def _filled_lines(text: str, notes: Notes) -> Iterator[tuple[int, str]]:
    for number, part in enumerate(re.split(r"\r\n|\r|\n", text.rstrip()), start=1):
        if part.strip():
            yield number, part.strip()
        else:
            notes.add("A blank line is skipped", number)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_rows(text: str, notes: Notes, *, one_a_line: bool) -> tuple[list[Row], tuple[str, ...]]:
    """Rows of one JSON array, of an object with ``lines``, or of a JSON value a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        if not one_a_line and not _is_json(text.strip().split("\n", 1)[0]):
            raise ScriptError(f"It is not valid JSON: {error}.") from error
        entries = list(_json_lines(text, notes))
    else:
        if isinstance(whole, dict) and isinstance(whole.get("lines"), list):
            whole = whole["lines"]
        many = whole if isinstance(whole, list) else [whole]
        entries = list(limited(enumerate(many, start=1)))
    columns: dict[str, str] = {}
    rows = [_json_row(number, entry, columns, notes) for number, entry in entries]
    return rows, tuple(columns.values())


@dataclass(frozen=True)
class _BadJson:
    source: str
    reason: str


def _json_lines(text: str, notes: Notes) -> Iterator[tuple[int, Any]]:
    for number, part in limited(_filled_lines(text, notes)):
        yield number, _loaded(part)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return _BadJson(text, f"It is not valid JSON: {error.msg} at character {error.pos + 1}.")
    except (ValueError, RecursionError) as error:
        return _BadJson(text, f"It is not valid JSON: {error}.")


def _json_row(number: int, entry: Any, columns: dict[str, str], notes: Notes) -> Row:
    if isinstance(entry, _BadJson):
        return Row(number, None, (Problem(number, "", entry.reason),), {"": entry.source})
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, Mapping):
        reason = 'It must be an object with a text, such as {"text": "Hello."}.'
        return Row(number, None, (Problem(number, "", reason),), {"": str(entry)})
    cells: dict[str, Any] = {}
    for key, value in entry.items():
        name = field_of(key)
        if name is None:
            note_unknown(key, notes)
        elif name not in cells:
            cells[name] = value
            columns.setdefault(name, key)
    return build_row(number, cells, columns, notes, raw={k: str(v) for k, v in entry.items()})
