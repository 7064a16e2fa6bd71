"""A response in pieces to a reader that may be slow, or gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from zonos.api.errors import ApiError

log = logging.getLogger("zonos.api")

T = TypeVar("T")

SLICE = 65_536


class BrokenOff(Exception):
    """The source of a response failed after its start; the reader must not take it for whole."""


class _Gone(Exception):
    """The client hung up."""


class Pieces(Response):
    """Sends pieces as they come.

    A reader that hangs up ends it at once; one that takes nothing for ``stall_seconds`` is let go;
    when the source breaks off, so does the connection, so that nobody takes half for the whole.

    Args:
        body: made of bytes; closed in every case.
        media_type: content type.
        stall_seconds: see above.
        headers: more headers.
        on_close: called when it is over, however it ended.
    """

    def __init__(
        self,
        body: AsyncGenerator[bytes, None],
        *,
        media_type: str,
        stall_seconds: float,
        headers: Mapping[str, str] | None = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.pieces, self.stall_seconds, self.on_close = body, stall_seconds, on_close
        self.status_code, self.media_type, self.background = 200, media_type, None
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        try:
            await _unless_gone(receive, self._send(send))
        except _Gone:
            log.debug("a reader hung up")
        except BrokenOff as error:
            log.info("a response broke off: %s", error)
        finally:
            self.on_close()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.pieces) as pieces:
            async for piece in pieces:
                await self._send_piece(send, piece)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_piece(self, send: Send, piece: bytes) -> None:
        try:
            with anyio.fail_after(self.stall_seconds):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise BrokenOff(f"the reader took nothing for {self.stall_seconds:g} s") from None


async def sliced(data: bytes) -> AsyncGenerator[bytes, None]:
    """Pieces of something whole: a slow reader is noticed."""
    for start in range(0, len(data), SLICE):
        yield data[start : start + SLICE]


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do some work for a client that waits; stop when it hangs up.

    Raises:
        ApiError: 499, which nobody reads.
    """
    try:
        return await _unless_gone(request.receive, work)
    except _Gone:
        raise ApiError(499, "client_gone", "The client hung up.") from None


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise _Gone
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    """Return when the client is gone; the body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
