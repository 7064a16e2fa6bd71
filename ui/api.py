"""The page's own routes beside Gradio's: edits in, numbered changes out, audio.

Plain Starlette routes, so that a body's size is known before it is read. A project's token travels in
a header (in the address for audio, which an audio element cannot ask for otherwise); nothing in a
request is ever used as a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ui import archive, changes, edits, models, projects
from ui.about import about
from ui.api_script import ScriptApi
from ui.api_takes import TakesApi
from ui.api_voices import VoicesApi
from ui.http import Form, Handler, Problem, json_of, said, token_of
from ui.limits import Limits
from ui.runs import Runs, Which
from ui.scratch_zips import found_export
from ui.store import Store
from zonos.names import file_name

STATIC = Path(__file__).parent / "static"


class EditsBody(Form):
    """Edits, and the number of the last change that the page knows."""

    after: Annotated[int, Field(ge=0)]
    edits: Annotated[list[Any], Field(max_length=5000)]


class RunBody(Form):
    """Which rows to generate."""

    which: Which
    ids: list[edits.LineId] = Field(default_factory=list, max_length=5000)
    takes: Annotated[int, Field(ge=1, le=16)] | None = None


class StopBody(Form):
    """Rows to stop; all for null."""

    ids: Annotated[list[edits.LineId], Field(max_length=5000)] | None = None


class ProjectBody(Form):
    """Change of the project's name, or of those settings that are named."""

    name: Annotated[str, Field(max_length=1000)] | None = None
    settings: projects.Settings | None = None


class Api:
    """The routes, over one store and one worker."""

    def __init__(self, store: Store, runs: Runs, limits: Limits) -> None:
        self.store = store
        self.runs = runs
        self.limits = limits

    def routes(self) -> list[BaseRoute]:
        """For ``launch(app_kwargs={"routes": ...})``: ahead of Gradio's own."""
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/studio/about", self.about),
            ("GET", "/studio/changes", self.changes),
            ("POST", "/studio/edits", self.edits),
            ("POST", "/studio/run", self.run),
            ("GET", "/studio/ahead", self.ahead),
            ("POST", "/studio/stop", self.stop),
            ("POST", "/studio/project", self.project),
            ("GET", "/studio/project/{token}.zip", self.archive),
            ("GET", "/studio/export/{token}/{made}.zip", self.export),
        ]
        own: list[BaseRoute] = [Route(path, said(call), methods=[method]) for method, path, call in table]
        more = [
            *ScriptApi(self.store, self.limits).routes(),
            *TakesApi(self.store).routes(),
            *VoicesApi(self.store, self.runs.engines, self.limits).routes(),
        ]
        return [*own, *more, Mount("/studio/static", StaticFiles(directory=STATIC))]

    async def about(self, request: Request) -> Response:
        """What the page needs to know once: languages, presets, limits."""
        return JSONResponse(await run_in_threadpool(about, self.limits))

    async def changes(self, request: Request) -> Response:
        """Changes after a number."""
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit()) or len(after) > 15:
            raise Problem(400, "The number of the last change was not understood.")
        return JSONResponse(await run_in_threadpool(self._changes, token_of(request), int(after)))

    async def edits(self, request: Request) -> Response:
        """Edits in; refusals and changes out."""
        body = await json_of(request, EditsBody)
        token = token_of(request)

        def work() -> dict[str, Any]:
            with self.store.transaction() as db:
                refused = edits.apply(db, projects.get(db, token), body.edits, self.limits)
            return {"refused": refused, **self._changes(token, body.after)}

        return JSONResponse(await run_in_threadpool(work))

    async def run(self, request: Request) -> Response:
        """Generate rows."""
        body = await json_of(request, RunBody)
        said = await run_in_threadpool(self.runs.start, token_of(request), body.which, body.ids, body.takes)
        return JSONResponse({"said": said})

    async def ahead(self, request: Request) -> Response:
        """What generating the pending rows would take."""
        return JSONResponse(await run_in_threadpool(self.runs.ahead, token_of(request), "pending"))

    async def stop(self, request: Request) -> Response:
        """Stop rows, or everything."""
        body = await json_of(request, StopBody)
        said = await run_in_threadpool(self.runs.stop, token_of(request), body.ids)
        return JSONResponse({"said": said})

    async def project(self, request: Request) -> Response:
        """Rename, or change settings."""
        body = await json_of(request, ProjectBody)
        token = token_of(request)

        def work() -> None:
            if sentence := _refused_model(body.settings):
                raise Problem(400, sentence)
            with self.store.transaction() as db:
                project = projects.get(db, token)
                if body.name is not None:
                    projects.rename(db, token, body.name)
                if body.settings is not None:
                    named = {name: getattr(body.settings, name) for name in body.settings.model_fields_set}
                    projects.save_settings(db, token, project.settings.model_copy(update=named))

        await run_in_threadpool(work)
        return JSONResponse({})

    async def archive(self, request: Request) -> Response:
        """The whole project as a zip."""
        path, name = await run_in_threadpool(archive.write_archive, self.store, request.path_params["token"])
        return FileResponse(
            path,
            media_type="application/zip",
            filename=file_name(name, set(), suffix=".zip", fallback="project"),
            background=BackgroundTask(path.unlink, missing_ok=True),
        )

    async def export(self, request: Request) -> Response:
        """A zip that the export tab has made; its name was told to nobody else."""
        token, made = request.path_params["token"], request.path_params["made"]

        def find() -> projects.Project:
            with self.store.transaction() as db:
                return projects.get(db, token)

        project = await run_in_threadpool(find)
        path = found_export(self.store, token, made)
        if path is None:
            raise Problem(404, "This zip was fetched already; make it again.")
        return FileResponse(
            path,
            media_type="application/zip",
            filename=file_name(f"{project.name} audio", set(), suffix=".zip"),
            background=BackgroundTask(path.unlink, missing_ok=True),
        )

    def _changes(self, token: str, after: int) -> dict[str, Any]:
        with self.store.transaction() as db:
            answer = changes.since(db, token, after)
        return answer | {"run": self.runs.status(token)}


def _refused_model(settings: projects.Settings | None) -> str | None:
    if settings is None or "model" not in settings.model_fields_set:
        return None
    return models.refusal(settings.model)
