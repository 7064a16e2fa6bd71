"""What every request passes first: who it is, where it comes from, how large it may be."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from anyio import to_thread
from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zonos.api.errors import ApiError
from zonos.api.settings import MEBIBYTE, Settings

EVERYBODY = "everybody"
OPEN_PATHS = frozenset({"/", "/healthz", "/readyz"})
_CLIENT = "zonos.client"


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks.

    Attributes:
        owner: whose jobs and voices it sees: the key's name, or everybody's where there are no keys.
        name: whose limits and whose turn: the key's name, or the address.
    """

    owner: str
    name: str


class Guard:
    """Pure ASGI: identifies the client, bounds the body, refuses foreign web pages.

    Args:
        app: what comes after.
        settings: keys, origins, sizes.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self._keys = {name: _digest(key) for name, key in settings.keys.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_origin(headers)
            scope[_CLIENT] = await self._guest(headers) or self._client(scope, headers)
            most = self._most_bytes(headers)
            _check_length(headers, most)
        except ApiError as error:
            await error.response()(scope, receive, send)
            return
        await self.app(scope, _bounded(receive, most), send)

    def _check_origin(self, headers: Headers) -> None:
        """Without this any page in a browser could use a server on its user's own machine."""
        origin = headers.get("origin")
        if not origin or origin in self.settings.origins or "*" in self.settings.origins:
            return
        if _host_of(origin) == headers.get("host"):
            return
        sentence = "Scripts of other web pages may not call this server; --cors-origin allows one."
        raise ApiError(403, "origin_not_allowed", sentence)

    async def _guest(self, headers: Headers) -> Client | None:
        key = _bearer(headers.get("authorization", ""))
        if self.settings.guests is None or not key:
            return None
        owner = await to_thread.run_sync(self.settings.guests.owner, key)
        return Client(owner, owner) if owner else None

    def _client(self, scope: Scope, headers: Headers) -> Client:
        if not self._keys:
            peer = scope.get("client")
            return Client(EVERYBODY, str(peer[0]) if peer else "local")
        name = _named(self._keys, headers.get("authorization", ""))
        if name is not None:
            return Client(name, name)
        if scope["path"].removeprefix(scope.get("root_path", "")) in OPEN_PATHS:
            return Client("", "")
        sentence = "Send a valid API key: Authorization: Bearer <key>."
        raise ApiError(401, "invalid_api_key", sentence, headers={"www-authenticate": "Bearer"})

    def _most_bytes(self, headers: Headers) -> int:
        if headers.get("content-type", "").lower().startswith("multipart/"):
            return self.settings.upload_bytes
        return self.settings.body_bytes


def client_of(request: Request) -> Client:
    """Who asks (a FastAPI dependency)."""
    found: Client = request.scope[_CLIENT]
    return found


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # a bracket that nobody closes
        return None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _named(keys: Mapping[str, bytes], authorization: str) -> str | None:
    """The key's name; every key is compared, in constant time."""
    key_given = _bearer(authorization)
    digest = _digest(key_given)
    found = None
    for name, key in keys.items():
        if hmac.compare_digest(digest, key):
            found = name
    return found if key_given else None


def _bearer(authorization: str) -> str:
    """The key that a header holds; empty for none, or for one of another scheme."""
    scheme, _, given = authorization.partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _check_length(headers: Headers, most: int) -> None:
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):  # ² is a digit too
        raise ApiError(400, "bad_request", "The header Content-Length is no number.")
    if int(length) > most:
        raise _too_large(most)


def _too_large(most: int) -> ApiError:
    sentence = f"The body is larger than the {most / MEBIBYTE:g} MiB that are allowed here."
    # What is left of the body is not read.
    return ApiError(413, "too_large", sentence, headers={"connection": "close"})


def _bounded(receive: Receive, most: int) -> Receive:
    """A body without a stated length is counted while it comes."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise _too_large(most)
        return message

    return bounded
