"""Lines -> a script file that :func:`zonos.script.read_script` reads back as the same lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from zonos.errors import ScriptError
from zonos.line import AUTO, EMOTIONS, PRESETS, Emotion, Line
from zonos.script.rows import TEXT_FIELDS
from zonos.script.subtitles import write_subtitles
from zonos.script.tables import guard

FORMATS = ("csv", "tsv", "jsonl", "json", "txt", "srt", "vtt", "xlsx")
Times = Sequence[tuple[float, float]]
_CHARACTERS_PER_SECOND = 15.0  # only lays subtitles out where nobody knows how long the speech is
_DEFAULTS = {name: info.default for name, info in Line.model_fields.items() if not info.is_required()}
_FIRST = ("id", "name", "text", "language", "voice", "emotion")


def write_script(lines: Sequence[Line], kind: str, *, times: Times | None = None) -> bytes:
    """Write lines as a script file.

    Tables hold only the columns in use. In csv and tsv a text that a spreadsheet would run as a
    formula gets an apostrophe before it, which reading takes away again; xlsx marks it as text.
    In tsv a tab becomes a
    space. txt, srt and vtt hold the text alone (srt and vtt the times too; txt puts each on one row).

    Args:
        lines: in order.
        kind: one of :data:`FORMATS`.
        times: start and end of each line in seconds, for srt and vtt; laid end to end by default.

    Raises:
        ScriptError: there is no such format.
    """
    if kind in {"csv", "tsv"}:
        return _delimited(lines, "," if kind == "csv" else "\t")
    if kind == "jsonl":
        return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in map(_entry, lines)).encode()
    if kind == "json":
        return (json.dumps([_entry(line) for line in lines], ensure_ascii=False, indent=1) + "\n").encode()
    if kind == "txt":
        return "".join(" ".join(line.text.split()) + "\n" for line in lines).encode()
    if kind in {"srt", "vtt"}:
        return write_subtitles([line.text for line in lines], times or _laid_out(lines), kind).encode()
    if kind == "xlsx":
        return _xlsx(lines)
    raise ScriptError(f"There is no script format {kind!r}; there are {', '.join(FORMATS)}.")


def _entry(line: Line) -> dict[str, Any]:
    """What the line says itself, as JSON."""
    full = line.model_dump(mode="json")
    return {n: v for n, v in full.items() if n == "text" or v != _DEFAULTS.get(n)}


def _columns(lines: Sequence[Line]) -> list[str]:
    used = {n for line in lines for n in Line.model_fields if getattr(line, n) != _DEFAULTS.get(n)}
    used |= {"text", "language", "voice"}
    return [n for n in _FIRST if n in used] + [n for n in Line.model_fields if n in used and n not in _FIRST]


def _cell(line: Line, name: str) -> str:
    value = getattr(line, name)
    if value is None or (value == _DEFAULTS.get(name) and name != "language"):
        return ""
    if isinstance(value, Emotion):
        return _emotion(value)
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("\0", "")  # which would make the file look like no text at all


def _emotion(emotion: Emotion) -> str:
    preset = next((name for name, mix in PRESETS.items() if mix == emotion and name != AUTO), None)
    weights = {name: getattr(emotion, name) for name in EMOTIONS}
    filled = {name: weight for name, weight in weights.items() if weight} or {EMOTIONS[0]: 0.0}
    return preset or " ".join(f"{name}={weight!r}" for name, weight in filled.items())


def _delimited(lines: Sequence[Line], delimiter: str) -> bytes:
    columns = _columns(lines)
    out = io.StringIO(newline="")
    # Excel ends rows so; a lone return inside a cell would otherwise end one.
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(columns)
    for line in lines:
        cells = ((name, _cell(line, name)) for name in columns)
        row = [guard(cell) if name in TEXT_FIELDS else cell for name, cell in cells]
        writer.writerow([cell.replace("\t", " ") for cell in row] if delimiter == "\t" else row)
    # The mark makes Excel read UTF-8.
    return out.getvalue().encode("utf-8-sig")


def _xlsx(lines: Sequence[Line]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    columns = _columns(lines)
    book = Workbook()
    sheet = book.active
    sheet.title = "script"
    for row, line in enumerate([None, *lines], start=1):
        for column, name in enumerate(columns, start=1):
            text = _cell(line, name) if line else name
            if not text:
                continue
            cell = sheet.cell(row, column, ILLEGAL_CHARACTERS_RE.sub("", text))
            cell.data_type = "s"  # never a formula
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _laid_out(lines: Sequence[Line]) -> list[tuple[float, float]]:
    times: list[tuple[float, float]] = []
    at = 0.0
    for line in lines:
        end = at + max(1.0, len(line.text) / _CHARACTERS_PER_SECOND)
        times.append((at, end))
        at = end
    return times
