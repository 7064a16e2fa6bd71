"""``POST /v1/audio/speech``, as OpenAI's clients call it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ValidationError

from zonos.api.encoding import media_type
from zonos.api.errors import ApiError, invalid
from zonos.api.feed import Feed
from zonos.api.guard import Client, client_of
from zonos.api.intake import read_json, too_long
from zonos.api.sending import Pieces, sliced, unless_gone
from zonos.api.service import Service
from zonos.api.speaking import Speaking
from zonos.api.speech_body import SpeechBody

BODY = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/SpeechBody"}}}}
AUDIO: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Audio as it is spoken, or server-sent events with base64 pieces of it.",
        "content": {
            name: {"schema": {"type": "string", "format": "binary"}}
            for name in ("audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm")
        }
        | {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_MOST_HEADER = 4000


class Model(BaseModel):
    """A model that is served."""

    id: str
    object: str = "model"
    owned_by: str = "zonos"
    created: int = 0


class ModelList(BaseModel):
    """There is one."""

    object: str = "list"
    data: list[Model]


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["speech"])

    @routes.post(
        "/v1/audio/speech",
        summary="Speak a text",
        response_class=Response,
        responses=AUDIO,
        openapi_extra={"requestBody": {"required": True, **BODY}},
    )
    async def speech(request: Request, client: Annotated[Client, Depends(client_of)]) -> Response:
        body = await _body(request, service)
        service.check_open()
        with ExitStack() as held:
            _hold(service, client, held)
            speaking = await _begin(service, client, body, held)
            held.callback(speaking.feed.close)
            answer = await _answer(service, request, body, speaking)
            # From here on the response lets go.
            speaking.held = held.pop_all()
        return answer

    @routes.get("/v1/models", summary="List the model")
    async def models() -> ModelList:
        def name() -> str:
            with service.lend() as engine:
                return engine.pipeline.name

        return ModelList(data=[Model(id=await to_thread.run_sync(name))])

    return routes


async def _body(request: Request, service: Service) -> SpeechBody:
    try:
        body = SpeechBody.model_validate(await read_json(request))
    except ValidationError as error:
        raise invalid(error) from None
    if reason := too_long(body.input, service.settings.characters):
        raise ApiError(400, "too_long", reason, param="input")
    return body


def _hold(service: Service, client: Client, held: ExitStack) -> None:
    try:
        held.enter_context(service.requests.hold(client.name))
    except ApiError as error:
        service.metrics.refused.labels(error.code).inc()
        raise


async def _begin(service: Service, client: Client, body: SpeechBody, held: ExitStack) -> Speaking:
    engine = await to_thread.run_sync(held.enter_context, service.lend())
    body.check_model(engine.pipeline.name)
    line = body.line(engine.pipeline.defaults)
    run = engine.submit([line], owner=client.name, voices=service.voices.of(client.owner), stream=True)
    return Speaking(Feed(run), body.response_format, service.metrics)


async def _answer(service: Service, request: Request, body: SpeechBody, speaking: Speaking) -> Response:
    if not body.stream and body.stream_format == "audio":
        data = await unless_gone(request, speaking.whole())
        pieces, length = sliced(data), {"content-length": str(len(data))}
    else:
        await unless_gone(request, speaking.start())
        pieces, length = (speaking.events() if body.stream_format == "sse" else speaking.audio()), {}
    return Pieces(
        pieces,
        media_type="text/event-stream" if body.stream_format == "sse" else media_type(body.response_format),
        stall_seconds=service.settings.stall_seconds,
        headers={**_headers(body, speaking), **length},
        on_close=speaking.close,
    )


def _headers(body: SpeechBody, speaking: Speaking) -> dict[str, str]:
    """Seed and warnings; ASCII, as headers must be."""
    headers = {"x-zonos-seed": str(speaking.feed.run.lines[0].seed)}
    warnings = [*body.warnings(), *speaking.warnings]
    if warnings:
        headers["x-zonos-warnings"] = _list_for_header(warnings)
    return headers


def _list_for_header(sentences: list[str]) -> str:
    """A JSON list of as many as a header may hold; it stays a list."""
    while len(told := json.dumps(sentences)) > _MOST_HEADER:
        sentences = sentences[:-1]
    return told
