"""What this server is, whether it lives, whether it takes work, and its numbers."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from zonos.api.service import Service


class State(BaseModel):
    """A word."""

    status: str


class About(BaseModel):
    """What answers here, for whoever comes without a plan."""

    name: str = "Zonos"
    about: str = "An HTTP API that speaks texts. There is no page at this address; python app.py has one."
    speak: str = "POST /v1/audio/speech"
    voices: str = "GET /v1/audio/voices"
    everything: str = "GET /v1/openapi.json"
    guide: str = "docs/api.md, in the project's folder"


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["health"])

    @routes.get("/", summary="What this is, and where to go on")
    async def about() -> About:
        return About()

    @routes.get("/healthz", summary="Lives")
    async def healthz() -> State:
        return State(status="ok")

    @routes.get("/readyz", summary="Takes work")
    async def readyz() -> State:
        service.check_open()
        return State(status="ready")

    @routes.get(
        "/metrics",
        summary="Numbers for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        return Response(
            await to_thread.run_sync(service.metrics.text), headers={"content-type": CONTENT_TYPE_LATEST}
        )

    return routes
