"""Bodies of requests that become a job: a JSON array of lines, or a script file."""

from __future__ import annotations

import codecs
from typing import Any

from fastapi import Request
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.datastructures import UploadFile

from zonos.api.errors import ApiError, faults
from zonos.api.jobs import Entry
from zonos.errors import ScriptError
from zonos.line import MAX_TEXT_CHARACTERS, Line
from zonos.script import MAX_ROWS, Row, read_script


async def read_json(request: Request) -> Any:
    """A JSON body, lone surrogates and endless nesting refused.

    Raises:
        ApiError: it is none.
    """
    body = (await request.body()).removeprefix(codecs.BOM_UTF8)
    try:
        return from_json(body)
    except ValueError as error:
        raise ApiError(400, "invalid_json", f"The body is not JSON: {error}.") from None


def entries_of(body: Any, characters: int) -> list[Entry]:
    """Lines of an array, each judged alone.

    Args:
        body: as it was decoded.
        characters: most of one line.

    Raises:
        ApiError: it is no array, empty or too long.
    """
    if not isinstance(body, list):
        raise ApiError(400, "invalid_request", "Send a JSON array of lines, or a script file as a form.")
    if not 0 < len(body) <= MAX_ROWS:
        raise ApiError(400, "invalid_request", f"Send 1 to {MAX_ROWS} lines, not {len(body)}.")
    return [_entry(item, characters) for item in body]


def entries_of_script(name: str, data: bytes, characters: int) -> tuple[list[Entry], list[str]]:
    """Lines and warnings of a script file; rows that are none say why.

    Args:
        name: of the file, whose ending tells its format.
        data: its content.
        characters: most of one line.

    Raises:
        ApiError: it cannot be read at all.
    """
    try:
        script = read_script((name, data))
    except ScriptError as error:
        raise ApiError(400, "unreadable_script", str(error)) from None
    return [_row(row, characters) for row in script.rows], list(script.warnings)


async def read_file(upload: object, what: str) -> tuple[str, bytes]:
    """Name and content of an uploaded file.

    Raises:
        ApiError: there is none.
    """
    if not isinstance(upload, UploadFile):
        raise ApiError(400, "invalid_request", f"Send a file in the form's field {what!r}.", param=what)
    return upload.filename or "", await upload.read()


def too_long(text: str, characters: int) -> str | None:
    """Why a text is not taken, if it is longer than this server allows."""
    if len(text) <= characters:
        return None
    most = min(characters, MAX_TEXT_CHARACTERS)
    return f"The text has {len(text)} characters; at most {most} are taken here. Split it."


def _entry(item: Any, characters: int) -> Entry:
    name = item.get("id") if isinstance(item, dict) else None
    name = name if isinstance(name, str) and len(name) <= 200 else None
    try:
        line = Line.model_validate(item)
    except ValidationError as error:
        return Entry(name, None, "invalid_line", faults(error))
    return _checked(line, characters)


def _row(row: Row, characters: int) -> Entry:
    if row.line is not None:
        return _checked(row.line, characters)
    if row.skipped:
        return Entry(None, None, "skipped", f"Row {row.number}: {row.skipped}", "skipped")
    return Entry(None, None, "invalid_line", " ".join(str(problem) for problem in row.problems))


def _checked(line: Line, characters: int) -> Entry:
    reason = too_long(line.text, characters)
    return Entry(line.id or None, None if reason else line, "too_long" if reason else "", reason or "")
