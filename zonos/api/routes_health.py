"""Whether the server lives, whether it takes work, and its numbers."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from zonos.api.service import Service


class State(BaseModel):
    """A word."""

    status: str


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["health"])

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
