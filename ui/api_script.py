"""Routes around the script: a look at lines before they are spoken, and scripts read for a preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui import checks, edits, library, lines, projects
from ui.http import Form, Problem, check_length, json_of, said, token_of
from ui.limits import Limits
from ui.script_file import KINDS, script_file
from ui.store import Store
from zonos.line import Line
from zonos.names import file_name
from zonos.script.rows import Row, field_of


class CheckBody(Form):
    """Rows to look at."""

    ids: Annotated[list[edits.LineId], Field(min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True)
class ScriptApi:
    """The routes, over one store."""

    store: Store
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """See :meth:`ui.api.Api.routes`."""
        return [
            Route("/studio/check", said(self.check), methods=["POST"]),
            Route("/studio/voicing", said(self.voicing)),
            Route("/studio/script", said(self.script), methods=["POST"]),
            Route("/studio/script/{token}.{kind}", said(self.save)),
        ]

    async def check(self, request: Request) -> Response:
        """Seconds, phonemes and warnings of rows."""
        body = await json_of(request, CheckBody)
        token = token_of(request)

        def work() -> list[dict[str, Any]]:
            with self.store.transaction() as db:
                project = projects.get(db, token)
                found = checks.check(db, project, body.ids)
            return [checks.look(line, spellings, project.settings.model) for line, spellings in found]

        return JSONResponse({"lines": await run_in_threadpool(work)})

    async def voicing(self, request: Request) -> Response:
        """The model's defaults, and which settings it knows."""
        token = token_of(request)

        def work() -> dict[str, Any]:
            with self.store.transaction() as db:
                model = projects.get(db, token).settings.model
            known = checks.voicing(model)
            return {
                "defaults": known.defaults.model_dump(mode="json", exclude={"max_seconds", "languages"}),
                "conditioners": list(known.config.conditioner_names),
            }

        return JSONResponse(await run_in_threadpool(work))

    async def script(self, request: Request) -> Response:
        """Read a script file or a paste; nothing of the project changes."""
        check_length(request, self.limits.upload_bytes)
        token = token_of(request)
        async with request.form(max_files=1, max_fields=2, max_part_size=20 * 2**20) as form:
            given = form.get("script")
            if given is None:
                raise Problem(400, "No script arrived; choose a file again.")
            if isinstance(given, str):
                name, content = "paste.tsv", given.encode()
            else:
                name, content = given.filename or "script", await given.read()
        return JSONResponse(await run_in_threadpool(self._preview, token, name, content))

    async def save(self, request: Request) -> Response:
        """The script without audio, in any kind of file that can be imported again."""
        token, kind = request.path_params["token"], request.path_params["kind"]

        def work() -> tuple[str, bytes]:
            with self.store.transaction() as db:
                project = projects.get(db, token)
                return project.name, script_file(db, project, kind)

        if kind not in KINDS:
            raise Problem(404, f"A script can be saved as {', '.join(KINDS)}.")
        name, content = await run_in_threadpool(work)
        file = file_name(name, set(), suffix=f".{kind}", fallback="script")
        headers = {"content-disposition": f"attachment; filename*=utf-8''{quote(file, safe='')}"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    def _preview(self, token: str, name: str, content: bytes) -> dict[str, Any]:
        from zonos.script import read_script

        with self.store.transaction() as db:
            project = projects.get(db, token)
            known = {voice.casefold() for voice in library.names(db, project.shelf)}
        script = read_script((name, content))
        speaks = checks.voicing(project.settings.model).defaults.languages
        rows = []
        for row in script.rows:
            problems = [{"column": p.column, "message": p.message} for p in row.problems]
            shown: dict[str, Any] = {"number": row.number, "raw": dict(row.raw), "skipped": row.skipped}
            if row.line is not None:
                line, refused = edits.checked(
                    Line(text=""), _fields(row.line), speaks, self.limits.characters
                )
                columns = {field_of(header): header for header in row.raw}
                problems += [{"column": columns.get(f, f), "message": reason} for f, reason in refused]
                if "text" not in dict(refused):
                    shown["fields"] = lines.for_page(lines.stored(line))
            if missing := _missing(row, known):
                shown["missing"] = missing
            if row.start is not None:
                shown["slot"] = [row.start, row.end]
            rows.append(shown | {"problems": problems})
        return {"rows": rows, "warnings": list(script.warnings), "columns": list(script.columns)}


def _missing(row: Row, known: set[str]) -> list[dict[str, str]]:
    """Cells that name a voice which is not on the shelf; it may come later, so that the row is not bad."""
    voices = [name for name in row.names if name.setting in ("voice", "prefix_audio")]
    return [
        {"name": name.value, "column": name.column} for name in voices if name.value.casefold() not in known
    ]


def _fields(line: Line) -> dict[str, Any]:
    return line.model_dump(mode="json", exclude_none=True, exclude={"id"})
