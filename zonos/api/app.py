"""The FastAPI application, alone or beside a page that shares the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from zonos.api import errors, routes_health, routes_jobs, routes_speech, routes_voices
from zonos.api.desk import Lend
from zonos.api.errors import ErrorAnswer
from zonos.api.guard import Guard
from zonos.api.service import Service
from zonos.api.settings import Settings
from zonos.api.speech_body import SpeechBody
from zonos.api_paths import is_api
from zonos.engine import Engine
from zonos.line import Line

_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The request cannot be used; the sentence says why."},
    401: {"model": ErrorAnswer, "description": "A valid API key is needed."},
    403: {"model": ErrorAnswer, "description": "A script of a foreign web page."},
    404: {"model": ErrorAnswer, "description": "Not there, or somebody else's."},
    409: {"model": ErrorAnswer, "description": "Not in this state."},
    413: {"model": ErrorAnswer, "description": "Larger than is allowed here."},
    422: {"model": ErrorAnswer, "description": "The model did not manage this line."},
    429: {"model": ErrorAnswer, "description": "Too much is open; Retry-After says when to try again."},
    503: {"model": ErrorAnswer, "description": "Stopping, or the model is not there."},
}


def create_app(engine: Engine | Lend, settings: Settings) -> FastAPI:
    """The API as an application of its own; ``app.state.service`` holds what it works with.

    Args:
        engine: one that stays, or something that lends the one of the moment.
        settings: of the operator.

    Raises:
        StoreError: the data folder cannot be used.
    """
    service = Service(engine, settings)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title="Zonos",
        description="Speech from a batched Zonos generator: OpenAI's speech route, jobs of many lines.",
        openapi_url="/v1/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
        responses=_REFUSALS,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    for part in (routes_speech, routes_voices, routes_jobs, routes_health):
        app.include_router(part.router(service))
    app.add_middleware(Guard, settings=settings)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["x-zonos-seed", "x-zonos-warnings", "retry-after"],
        )
    errors.install(app)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


def mount(app: Starlette, engine: Engine | Lend, settings: Settings) -> Service:
    """Serve the same routes inside another application, ahead of its own.

    Returns:
        What is started already, and must be closed before the engine is.

    Raises:
        StoreError: the data folder cannot be used.
    """
    api = create_app(engine, settings)
    app.router.routes.insert(0, beside(api))
    service: Service = api.state.service
    service.start()
    return service


def beside(api: ASGIApp) -> BaseRoute:
    """A route that hands the API's addresses to it unchanged; for an application's list of routes."""
    return _Beside(api)


class _Beside(BaseRoute):
    def __init__(self, api: ASGIApp) -> None:
        self.api = api

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if is_api(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.api(scope, receive, send)


def _document(app: FastAPI) -> dict[str, Any]:
    """OpenAPI, with the schemas of the bodies that the routes read themselves."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        _, bodies = models_json_schema(
            [(Line, "validation"), (SpeechBody, "validation")], ref_template="#/components/schemas/{model}"
        )
        document["components"]["schemas"].update(bodies["$defs"])
        app.openapi_schema = document
    return app.openapi_schema
