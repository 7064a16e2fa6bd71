"""Routes of the voice library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui import library, projects, uploads
from ui.engines import Engines
from ui.http import Form, Problem, check_length, json_of, said, token_of
from ui.limits import Limits
from ui.speak_once import speak_once
from ui.store import Store
from ui.voice_archive import read_voices, write_voices
from zonos.names import file_name

Name = Annotated[str, Field(min_length=1, max_length=200)]


class VoiceBody(Form):
    """A change of one voice."""

    act: Literal["rename", "remove", "remove-clip"]
    name: Name
    new_name: Name | None = None
    clip: Annotated[str, Field(pattern=r"^[a-f0-9]{32}$")] | None = None


class TestBody(Form):
    """Which voice should say the test sentence."""

    name: Name


@dataclass(frozen=True, slots=True)
class VoicesApi:
    """The routes, over one store and one worker's engines."""

    store: Store
    engines: Engines
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """See :meth:`ui.api.Api.routes`."""
        return [
            Route("/studio/voices", said(self.add), methods=["POST"]),
            Route("/studio/voices/change", said(self.change), methods=["POST"]),
            Route("/studio/voices/test", said(self.test), methods=["POST"]),
            Route("/studio/clip/{token}/{clip}", said(self.clip)),
            Route("/studio/voices/{token}.zip", said(self.pack)),
        ]

    async def add(self, request: Request) -> Response:
        """A clip that was dropped on a row or picked there becomes a voice; a zip holds several."""
        check_length(request, self.limits.upload_bytes)
        token = token_of(request)
        async with request.form(max_files=1, max_fields=4) as form:
            clip = form.get("clip")
            if clip is None or isinstance(clip, str):
                raise Problem(400, "No clip arrived; choose a file again.")
            title = clip.filename or ""
            if Path(title).suffix.lower() == ".zip":
                names = await run_in_threadpool(read_voices, self.store, clip.file, token, self.limits)
                return JSONResponse({"name": names[0], "said": f"Opened: {', '.join(names)}."})
            name, sentence = await run_in_threadpool(
                lambda: uploads.add_clip(
                    self.store,
                    token,
                    clip.file,
                    title,
                    str(form.get("name") or ""),
                    consent=form.get("consent") == "yes",
                    join=form.get("join") == "yes",
                )
            )
        return JSONResponse({"name": name, "said": sentence})

    async def change(self, request: Request) -> Response:
        """Rename or remove a voice, or remove one of its clips."""
        body = await json_of(request, VoiceBody)
        token = token_of(request)

        def work() -> dict[str, Any]:
            with self.store.transaction() as db:
                shelf = projects.get(db, token).shelf
                if body.act == "rename":
                    new = library.rename(db, shelf, body.name, body.new_name or "")
                    return {"said": f"Voice “{body.name}” is now called “{new}”."}
                if body.act == "remove-clip":
                    library.remove_clip(db, shelf, body.name, body.clip or "")
                    return {"said": f"A clip of “{body.name}” is removed."}
                library.remove(self.store, shelf, body.name)
                return {"said": f"Voice “{body.name}” is removed."}

        return JSONResponse(await run_in_threadpool(work))

    async def test(self, request: Request) -> Response:
        """The voice says a sentence."""
        body = await json_of(request, TestBody)
        audio = await run_in_threadpool(speak_once, self.store, self.engines, token_of(request), body.name)
        return Response(audio, media_type="audio/wav")

    async def clip(self, request: Request) -> Response:
        """A clip's own audio, for its owner."""
        token, content = request.path_params["token"], request.path_params["clip"]

        def find() -> Path:
            with self.store.transaction() as db:
                file = library.clip_file(db, projects.get(db, token).shelf, content)
            if file is None:
                raise Problem(404, "That clip is not among your voices.")
            return self.store.clips / file

        return FileResponse(await run_in_threadpool(find))

    async def pack(self, request: Request) -> Response:
        """All voices, or the one named by ``?name=``, as a zip."""
        name = request.query_params.get("name")
        path = await run_in_threadpool(write_voices, self.store, request.path_params["token"], name)
        return FileResponse(
            path,
            media_type="application/zip",
            filename=file_name(name or "voices", set(), suffix=".zip"),
            background=BackgroundTask(path.unlink, missing_ok=True),
        )
