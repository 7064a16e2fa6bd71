"""Errors as JSON: a code for programs, a sentence for people.

The shape is OpenAI's, so that its clients show code and sentence: ``{"error": {"code", "message",
"type", "param"}}``.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect

from zonos.errors import CheckpointError, LineError
from zonos.line import explain
from zonos.words import count

log = logging.getLogger("zonos.api")

# What is nobody's mistake: the line may be tried again.
_OURS = {"internal": 500, "engine_failed": 500, "out_of_memory": 503, "stopped": 503}
# The field that a line's failure is about, where there is one.
_FIELDS = {
    "empty_text": "input",
    "no_phonemes": "input",
    "unknown_voice": "voice",
    "unknown_language": "language",
}
# The model did not manage a line that is valid.
_MODEL = {"run_on", "silent", "not_finite", "too_long"}
_MOST_FAULTS = 20
_MOST_PARAM = 100  # characters
_PLAIN = {
    400: ("bad_request", "The request was not understood."),
    404: ("not_found", "There is nothing at this address; GET /v1/openapi.json lists what there is."),
    405: ("method_not_allowed", "This address does not take that method; see /v1/openapi.json."),
}


class ErrorBody(BaseModel):
    """What went wrong."""

    code: str
    message: str
    type: str
    param: str | None = None


class ErrorAnswer(BaseModel):
    """Body of every answer that is no success."""

    error: ErrorBody


class ApiError(HTTPException):
    """An answer other than 2xx.

    Args:
        status: HTTP status.
        code: stable slug for programs.
        message: a sentence or two: what is wrong and what to do.
        param: the field it is about.
        headers: of the answer.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.code, self.message, self.param = code, message, param

    def body(self) -> dict[str, Any]:
        """As sent."""
        kind = "server_error" if self.status_code >= 500 else "invalid_request_error"
        if self.status_code == 429:
            kind = "rate_limit_error"
        error = ErrorBody(code=self.code, message=self.message, type=kind, param=self.param)
        return ErrorAnswer(error=error).model_dump()

    def response(self) -> JSONResponse:
        """The answer."""
        return JSONResponse(self.body(), self.status_code, dict(self.headers or {}))


def line_failed(code: str, reason: str) -> ApiError:
    """A line's failure as an answer to the request that asked for it."""
    status = _OURS.get(code) or (422 if code in _MODEL else 400)
    return ApiError(status, code, reason, param=_FIELDS.get(code))


def invalid(error: ValidationError) -> ApiError:
    """A body that does not fit its schema."""
    return ApiError(400, "invalid_request", faults(error), param=explain(error)[0][0][:_MOST_PARAM])


def faults(error: ValidationError) -> str:
    """What does not fit, a sentence each; the rest of very many are counted."""
    said = [sentence for _, sentence in explain(error)]
    more = len(said) - _MOST_FAULTS
    return " ".join(said[:_MOST_FAULTS] + [f"And {count(more, 'more fault')}."] * (more > 0))


def install(app: FastAPI) -> None:
    """Make every error of ``app`` answer in this shape."""

    @app.exception_handler(ApiError)
    async def own(_: Request, error: ApiError) -> JSONResponse:
        return error.response()

    @app.exception_handler(LineError)
    async def line(_: Request, error: LineError) -> JSONResponse:
        return line_failed(error.code, error.reason).response()

    @app.exception_handler(CheckpointError)
    async def checkpoint(_: Request, error: CheckpointError) -> JSONResponse:
        return ApiError(503, "model_not_available", str(error)).response()

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, error: ClientDisconnect) -> JSONResponse:
        return ApiError(499, "client_gone", "The client hung up.").response()

    @app.exception_handler(sqlite3.OperationalError)
    async def storage(_: Request, error: sqlite3.OperationalError) -> JSONResponse:
        log.error("the database refused: %s", error)
        sentence = "The server's disk is full or busy; nothing was changed. Try again later."
        return ApiError(503, "storage", sentence).response()

    @app.exception_handler(RequestValidationError)
    async def parameters(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        name = str(first["loc"][-1]) if first["loc"] else "request"
        return ApiError(400, "invalid_request", f"{name}: {first['msg']}.", param=name).response()

    @app.exception_handler(StarletteHTTPException)
    async def plain(_: Request, error: StarletteHTTPException) -> JSONResponse:
        code, sentence = _PLAIN.get(error.status_code, ("bad_request", str(error.detail)))
        if error.status_code == 400:  # of a form: the detail says what is wrong with it
            sentence = f"{sentence} {error.detail}"
        return ApiError(error.status_code, code, sentence, headers=error.headers).response()

    @app.exception_handler(Exception)
    async def fault(_: Request, error: Exception) -> JSONResponse:
        # Starlette hands the exception on to the server's log.
        return ApiError(500, "internal", "The server hit a fault of its own; its log has it.").response()
