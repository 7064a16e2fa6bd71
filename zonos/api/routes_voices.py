"""Voices: list, make, remove."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, File, Form, Response, UploadFile

from zonos.api.errors import ApiError
from zonos.api.guard import Client, client_of
from zonos.api.service import Service
from zonos.api.voices import Upload, VoiceInfo, VoiceList
from zonos.errors import LineError

Who = Annotated[Client, Depends(client_of)]


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["voices"])

    @routes.get("/v1/audio/voices", summary="List the voices that you may use")
    async def listed(client: Who) -> VoiceList:
        return await to_thread.run_sync(service.voices.listed, client.owner)

    @routes.post("/v1/voices", status_code=201, summary="Make a voice of one to ten clips")
    async def add(
        client: Who,
        name: Annotated[str, Form(max_length=400)],
        consent: Annotated[bool, Form(description="That you may use this person's voice.")],
        clip: Annotated[list[UploadFile], File(description="10 to 30 s of one person speaking.")],
    ) -> VoiceInfo:
        if not consent:
            raise ApiError(400, "no_consent", "Say with consent=true that you may use this voice.")
        service.check_open()
        uploads = [Upload(one.filename or "", await one.read()) for one in clip]
        return await to_thread.run_sync(_add, service, client.owner, name, uploads)

    @routes.delete("/v1/voices/{voice}", status_code=204, summary="Remove one of your voices")
    async def remove(client: Who, voice: str) -> Response:
        await to_thread.run_sync(service.voices.remove, client.owner, voice)
        return Response(status_code=204)

    return routes


def _add(service: Service, owner: str, name: str, uploads: list[Upload]) -> VoiceInfo:
    """Keep it only when the model can make a voice of it.

    Raises:
        LineError: it cannot.
    """
    voice = service.voices.add(owner, name, uploads)
    clips: list[Path] = service.voices.find(owner, voice.id) or []
    try:
        with service.lend() as engine:
            engine.pipeline.voice_vector(clips)
    except LineError:
        service.voices.remove(owner, voice.id)
        raise
    return voice
