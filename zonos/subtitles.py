"""Subtitles (srt, vtt) <-> rows. Read by pysubs2, which forgives what real files do wrong."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from zonos.errors import ScriptError
from zonos.script_rows import Notes, Problem, Row, build_row

_VOICE_TAG = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]+)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>")  # <i>, </c>, <c.yellow>, <00:01.500>
_OVERRIDE = re.compile(r"\{\\[^{}]*\}")  # {\an8}
_HEADERS = {"text": "text", "voice": "voice"}


def read_subtitles(text: str, kind: str, notes: Notes) -> list[Row]:
    """Every cue a row, numbered in the file's order; overlaps are flagged.

    Args:
        text: the file, decoded.
        kind: ``srt`` or ``vtt``.
        notes: gets the warnings.

    Raises:
        ScriptError: there is no cue in it.
    """
    import pysubs2

    try:
        parsed = pysubs2.SSAFile.from_string(text, format_=kind, keep_unknown_html_tags=True)
    except (pysubs2.exceptions.Pysubs2Error, ValueError, IndexError) as error:
        raise ScriptError(f"The subtitles cannot be read: {error}.") from error
    if not parsed.events:
        raise ScriptError("There is no subtitle with times (00:00:01,000 --> 00:00:02,500) in it.")
    rows = [_row(number, event, notes) for number, event in enumerate(parsed.events, start=1)]
    _note_overlaps(rows, notes)
    return rows


def _row(number: int, event: object, notes: Notes) -> Row:
    start, end = event.start / 1000, event.end / 1000  # type: ignore[attr-defined]
    source: str = event.text  # type: ignore[attr-defined]
    problems: list[Problem] = []
    if "-->" in source:
        problems.append(Problem(number, "", "It holds a second line of times, which cannot be read."))
    if end <= start:
        notes.add("A subtitle ends before it starts", number)
    cells = {"text": _spoken(source)}
    speakers = {html.unescape(name).strip() for name in _VOICE_TAG.findall(source)}
    if len(speakers) == 1:
        cells["voice"] = speakers.pop()
        notes.add("The speaker that a subtitle names is taken as its voice", number)
    elif speakers:
        notes.add("A subtitle has several speakers, so it gets no voice", number)
    return build_row(number, cells, _HEADERS, notes, problems=problems, start=start, end=end)


def _spoken(source: str) -> str:
    plain = source.replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
    plain = _TAG.sub("", _OVERRIDE.sub("", plain))
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
    from pysubs2.time import ms_to_times

    hours, minutes, whole, thousandths = ms_to_times(round(seconds * 1000))
    return f"{hours:02}:{minutes:02}:{whole:02}{point}{thousandths:03}"
