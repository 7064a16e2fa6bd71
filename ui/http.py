"""Helpers of the page's routes: bodies that are checked before they are read, faults as sentences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ui import library, projects
from ui.store import StorageError, file_words
from ui.voice_archive import ArchiveError
from zonos.errors import CheckpointError, LineError, ScriptError

TOKEN_HEADER = "x-studio-project"
MAX_JSON_BYTES = 8 * 2**20


class Form(BaseModel):
    """What a request's JSON must look like; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(Exception):
    """An answer other than 200, with a sentence for the page."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


Body = TypeVar("Body", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]


def said(call: Handler) -> Handler:
    """Faults that a person can act on become a sentence, not a traceback."""

    async def answer(request: Request) -> Response:
        try:
            return await call(request)
        except Problem as problem:
            return _problem(problem.status, str(problem))
        except projects.UnknownProject as error:
            return _problem(404, str(error))
        except (library.VoiceError, ArchiveError, ScriptError, LineError) as error:
            return _problem(400, str(error))
        except (StorageError, CheckpointError) as error:
            return _problem(503, str(error))
        except OSError as error:
            return _problem(503, file_words(error))

    return answer


def _problem(status: int, sentence: str) -> Response:
    """``studio`` tells our own answers from those of a proxy in between, after which the page tries again."""
    return JSONResponse({"error": sentence, "studio": True}, status_code=status)


def token_of(request: Request) -> str:
    """The project's token; unknown for none.

    Raises:
        UnknownProject: none, or no possible one.
    """
    token = request.headers.get(TOKEN_HEADER, "")
    if not token or len(token) > 64:
        raise projects.UnknownProject
    return token


def check_length(request: Request, most: int) -> None:
    """Refuse a body of unknown or too large a size before it is read."""
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        raise Problem(411, "The size of what was sent is not known; it was not read.")
    if int(length) > most:
        raise Problem(413, f"That is larger than the {most // 2**20} MB that are allowed here.")


async def json_of(request: Request, kind: type[Body]) -> Body:
    """The checked JSON of a request.

    Raises:
        Problem: not JSON, or not what was expected.
    """
    check_length(request, MAX_JSON_BYTES)
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "JSON"
        raise Problem(400, f"What was sent was not understood ({where}: {first['msg']}).") from error
