"""Routes around takes: their audio, outline and details, and the check of their words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui import lines, listen, projects, takes
from ui.export import one_file
from ui.http import Problem, said, token_of
from ui.store import Store

NO_TAKE = "That take is not in this project."
FOR_EVER = {"cache-control": "private, max-age=31536000, immutable"}
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class TakesApi:
    """The routes, over one store."""

    store: Store

    def routes(self) -> list[BaseRoute]:
        """See :meth:`ui.api.Api.routes`."""
        return [
            Route("/studio/take/{token}/{take}.wav", said(self.audio)),
            Route("/studio/download/{token}/{take}", said(self.download)),
            Route("/studio/peaks/{take}", said(self.peaks)),
            Route("/studio/takes/{line}", said(self.details)),
            Route("/studio/listen/{take}", said(self.listen), methods=["POST"]),
        ]

    async def audio(self, request: Request) -> Response:
        """A take's audio, with ranges."""
        token = request.path_params["token"]
        path = await self._with_take(request, token, lambda _, take: self._file(token, take))
        return FileResponse(path, media_type="audio/wav", headers=FOR_EVER)

    async def download(self, request: Request) -> Response:
        """A take to keep: as an export would write and call it."""
        token, take = request.path_params["token"], request.path_params["take"]
        await self._with_take(request, token, lambda _, found: self._file(token, found))
        found = await run_in_threadpool(one_file, self.store, token, take)
        if found is None:
            raise Problem(404, NO_TAKE)
        name, content = found
        headers = {"content-disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
        return Response(content, media_type="audio/wav", headers=headers)

    async def peaks(self, request: Request) -> Response:
        """The outline of a take's waveform, one byte a point."""
        outline = await self._with_take(
            request, token_of(request), lambda _, take: bytes(take["peaks"] or b"")
        )
        return Response(outline, media_type="application/octet-stream", headers=FOR_EVER)

    async def details(self, request: Request) -> Response:
        """Everything about a line's takes that a producer compares them by."""
        token, line = token_of(request), request.path_params["line"]

        def work() -> list[dict[str, Any]]:
            with self.store.transaction() as db:
                projects.get(db, token)
                row = lines.get(db, token, line)
                found = takes.whole(db, token, line)
            now = lines.stored(row.line) if row else {}
            return [_described(take, now, row.recipe if row else "") for take in found]

        return JSONResponse({"takes": await run_in_threadpool(work)})

    async def listen(self, request: Request) -> Response:
        """Check by ear which words of a take differ from its text."""
        token = token_of(request)

        def find(_: sqlite3.Connection, take: sqlite3.Row) -> tuple[Path, dict[str, Any]]:
            return self._file(token, take), json.loads(take["fields"])

        path, fields = await self._with_take(request, token, find)
        words = await run_in_threadpool(listen.check_words, path, fields["text"], fields["language"])
        return JSONResponse({"said": words})

    async def _with_take(
        self, request: Request, token: str, work: Callable[[sqlite3.Connection, sqlite3.Row], Found]
    ) -> Found:
        def find() -> Found:
            with self.store.transaction() as db:
                projects.get(db, token)
                take = takes.get(db, token, request.path_params["take"])
                if take is None:
                    raise Problem(404, NO_TAKE)
                return work(db, take)

        return await run_in_threadpool(find)

    def _file(self, token: str, take: sqlite3.Row) -> Path:
        path = takes.folder(self.store, token) / str(take["file"])
        if not path.is_file():
            raise Problem(404, "The file of this take is gone from the disk; generate the line again.")
        return path


def _described(take: sqlite3.Row, now: dict[str, Any], recipe: str) -> dict[str, Any]:
    fields = json.loads(take["fields"])
    ignored = lines.NOT_IN_RECIPE
    other = {
        name: fields.get(name)
        for name in sorted({*fields, *now} - ignored)
        if fields.get(name) != now.get(name)
    }
    return takes.shown(take, recipe) | {
        "model": take["model"],
        "created": take["created"],
        "was": other,
        "phonemes": json.loads(take["detail"]).get("phonemes", ""),
    }
