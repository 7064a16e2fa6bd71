"""Which addresses are the HTTP API's; apart from it, since the API brings torch along."""

from __future__ import annotations

from starlette._utils import get_route_path
from starlette.types import Scope

PREFIXES = ("/v1/", "/healthz", "/readyz", "/metrics")


def is_api(scope: Scope) -> bool:
    """Whether a request is for the API, wherever the application around it is mounted."""
    return scope["type"] == "http" and get_route_path(scope).startswith(PREFIXES)
