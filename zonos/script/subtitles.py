"""Subtitles (srt, vtt) <-> rows.

Read by our own few lines: pysubs2 takes a last line of digits ("In the year / 2026") for a cue's
number and drops it, and speaks the notes and cue names of vtt.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zonos.errors import ScriptError
from zonos.script.rows import Notes, Problem, Row, build_row, limited

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-{{1,2}}>\s*{_TIME}")
_BROKEN_TIMES = re.compile(r"\s*\d[\d:.,]*\s*-->|.*-->\s*\d[\d:.,]*\s*$")
_NUMBER = re.compile(r"\s*\d+\s*")
_VOICE_TAG = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]+)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>")  # <i>, </c>, <c.yellow>, <00:01.500>
_OVERRIDE = re.compile(r"\{\\[^{}]*\}")  # {\an8}
_HEADERS = {"text": "text", "voice": "voice"}


@dataclass(frozen=True, slots=True)
class _Cue:
    times: str  # the line as written
    lines: list[str]


def read_subtitles(text: str, kind: str, notes: Notes) -> list[Row]:
    """Every cue a row, numbered in the file's order; overlaps are flagged.

    Args:
        text: the file, decoded.
        kind: ``srt`` or ``vtt``.
        notes: gets the warnings.

    Raises:
        ScriptError: there is no cue in it.
    """
    lines = re.split(r"\r\n|\r|\n", text)
    rows = [_row(number, cue, notes) for number, cue in enumerate(limited(_cues(lines, kind)), start=1)]
    if not rows:
        raise ScriptError("There is no subtitle with times (00:00:01,000 --> 00:00:02,500) in it.")
    _note_overlaps([row for row in rows if row.start is not None], notes)
    return rows


def _cues(lines: Sequence[str], kind: str) -> Iterator[_Cue]:
    starts = [index for index in range(len(lines)) if _is_times(lines[index])]
    ends = [*(_head(lines, start, kind) for start in starts[1:]), len(lines)]
    for start, end in zip(starts, ends, strict=False):
        body = list(lines[start + 1 : max(end, start + 1)])
        if kind == "vtt":  # a blank line ends a cue; notes and styles may follow
            body = body[: next((i for i, line in enumerate(body) if not line.strip()), len(body))]
        yield _Cue(lines[start], body)


def _is_times(line: str) -> bool:
    return "->" in line and bool(_TIMES.match(line) or _BROKEN_TIMES.match(line))


def _head(lines: Sequence[str], times: int, kind: str) -> int:
    """Where a cue begins: its number (or a vtt cue's name) stands above its times."""
    above = times - 1
    if _blank(lines, above):
        while _blank(lines, above):
            above -= 1
        lone = above >= 0 and _NUMBER.fullmatch(lines[above]) and _blank(lines, above - 1)
        return above if lone else times
    named = kind == "vtt" and _blank(lines, above - 1)
    return above if named or (above >= 0 and _NUMBER.fullmatch(lines[above])) else times


def _blank(lines: Sequence[str], index: int) -> bool:
    return index >= 0 and not lines[index].strip()


def _row(number: int, cue: _Cue, notes: Notes) -> Row:
    source = "\n".join(cue.lines)
    cells = {"text": _spoken(source)}
    match = _TIMES.match(cue.times)
    if match is None:
        problem = Problem(number, "", f"Its times cannot be read: {cue.times.strip()!r}.")
        return build_row(number, cells, _HEADERS, notes, problems=[problem])
    start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
    if end <= start:
        notes.add("A subtitle ends before it starts", number)
    speakers = {html.unescape(name).strip() for name in _VOICE_TAG.findall(source)}
    if len(speakers) == 1:
        cells["voice"] = speakers.pop()
        notes.add("The speaker that a subtitle names is taken as its voice", number)
    elif speakers:
        notes.add("A subtitle has several speakers, so it gets no voice", number)
    return build_row(number, cells, _HEADERS, notes, start=start, end=end)


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, whole, fraction = (part or "0" for part in parts)
    thousandths = int(fraction.ljust(3, "0"))
    return (((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1000 + thousandths) / 1000


def _spoken(source: str) -> str:
    plain = _TAG.sub("", _OVERRIDE.sub("", source))
    return html.unescape(plain).replace("\xa0", " ").strip()


def _note_overlaps(rows: Sequence[Row], notes: Notes) -> None:
    order = sorted(rows, key=lambda row: (row.start or 0, row.number))
    latest = -1.0
    for row in order:
        if (row.start or 0) < latest:
            notes.add("A subtitle starts before an earlier one ends; both are kept", row.number)
        latest = max(latest, row.end or 0)
    if order != list(rows):
        notes.add("The subtitles are not in order of time; the file's order is kept")


def write_subtitles(texts: Sequence[str], times: Sequence[tuple[float, float]], kind: str) -> str:
    """Subtitles of texts spoken at given times.

    Args:
        texts: one a cue.
        times: start and end in seconds.
        kind: ``srt`` or ``vtt``.
    """
    point = "," if kind == "srt" else "."
    cues = [
        f"{number}\n{_clock(start, point)} --> {_clock(end, point)}\n{_escaped(text)}\n"
        for number, (text, (start, end)) in enumerate(zip(texts, times, strict=True), start=1)
    ]
    return ("WEBVTT\n\n" if kind == "vtt" else "") + "\n".join(cues)


def _escaped(text: str) -> str:
    """Text whose blank lines, arrows and angle brackets cannot be taken for a file's own."""
    lines = "\n".join(part for part in (line.strip() for line in text.split("\n")) if part)
    needed = "<" in lines or "-->" in lines or html.unescape(lines) != lines
    return html.escape(lines, quote=False) if needed else lines


def _clock(seconds: float, point: str) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours:02}:{minutes:02}:{whole % 60:02}{point}{thousandths:03}"
