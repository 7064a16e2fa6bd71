"""Jobs: many lines at once, kept on disk, followed by events, fetched as files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import FileResponse

from zonos.api.archive import archive
from zonos.api.desk import Ticket
from zonos.api.encoding import FileFormat
from zonos.api.errors import ApiError
from zonos.api.guard import Client, client_of
from zonos.api.intake import entries_of, entries_of_script, read_file, read_json
from zonos.api.jobs import Entry, JobInfo, JobList
from zonos.api.sending import Pieces
from zonos.api.service import Service
from zonos.audio.write import FORMATS
from zonos.names import DEFAULT_TEMPLATE, check_template

KEEP_ALIVE_SECONDS = 15.0
PROGRESS = ("n", "take", "frames", "expected")
_LARGEST = 2**62
BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/components/schemas/Line"},
            }
        },
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {
                        "type": "string",
                        "format": "binary",
                        "description": "A script: csv, tsv, xlsx, jsonl, txt, srt or vtt.",
                    }
                },
            }
        },
    },
}
Who = Annotated[Client, Depends(client_of)]


def router(service: Service) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["jobs"])
    jobs, desk = service.jobs, service.desk

    @routes.post(
        "/v1/lines",
        status_code=202,
        summary="Hand over lines as a job",
        openapi_extra={"requestBody": BODY},
    )
    async def submit(
        request: Request,
        client: Who,
        format: Annotated[FileFormat, Query(description="Of the audio files.")] = "wav",
        template: Annotated[
            str, Query(max_length=200, description="Names in the archive, from the fields of a line.")
        ] = DEFAULT_TEMPLATE,
    ) -> JobInfo:
        service.check_open()
        _check_template(template)
        entries, warnings = await _entries(request, service.settings.characters)

        def create() -> JobInfo:
            job = jobs.create(
                client.owner, client.name, entries, format=format, template=template, warnings=warnings
            )
            desk.start(Ticket(job, client.owner, client.name, format))
            return jobs.info(client.owner, job)

        try:
            return await to_thread.run_sync(create)
        except ApiError as error:
            service.metrics.refused.labels(error.code).inc()
            raise

    @routes.get("/v1/jobs", summary="List your jobs")
    async def listed(client: Who) -> JobList:
        return await to_thread.run_sync(jobs.listed, client.owner)

    @routes.get("/v1/jobs/{job}", summary="How far a job is")
    async def info(client: Who, job: str) -> JobInfo:
        return await to_thread.run_sync(jobs.info, client.owner, job)

    @routes.post("/v1/jobs/{job}/cancel", summary="Stop a job and keep what is done")
    async def cancel(client: Who, job: str) -> JobInfo:
        await to_thread.run_sync(jobs.row, client.owner, job)
        await to_thread.run_sync(desk.cancel, job)
        return await to_thread.run_sync(jobs.info, client.owner, job)

    @routes.delete("/v1/jobs/{job}", status_code=204, summary="Stop a job and remove it with its audio")
    async def delete(client: Who, job: str) -> Response:
        await to_thread.run_sync(jobs.row, client.owner, job)
        await to_thread.run_sync(desk.delete, job)
        return Response(status_code=204)

    @routes.get(
        "/v1/jobs/{job}/events",
        summary="Follow a job",
        response_class=Response,
        responses={
            200: {
                "description": "Server-sent events: line, progress, end.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            204: {"description": "The job is over and everything was told."},
        },
    )
    async def events(
        client: Who,
        job: str,
        after: Annotated[int, Query(ge=0, le=_LARGEST)] = 0,
        last_event_id: Annotated[str | None, Header(max_length=30)] = None,
    ) -> Response:
        row = await to_thread.run_sync(jobs.row, client.owner, job)
        seen = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
        after = min(int(last_event_id or 0), _LARGEST) if seen else after
        if seen and row["state"] != "active" and after >= row["revision"]:
            return Response(status_code=204)
        return Pieces(
            _follow(service, client.owner, job, after),
            media_type="text/event-stream",
            stall_seconds=service.settings.stall_seconds,
        )

    @routes.get(
        "/v1/jobs/{job}/audio/{line:path}",
        summary="The audio of a line",
        response_class=FileResponse,
        responses={200: {"content": {"audio/*": {"schema": {"type": "string", "format": "binary"}}}}},
    )
    async def audio(
        client: Who, job: str, line: str, take: Annotated[int, Query(ge=0, lt=100)] = 0
    ) -> FileResponse:
        parent = await to_thread.run_sync(jobs.row, client.owner, job)
        row = await to_thread.run_sync(jobs.take, job, line, take)
        if row is None:
            raise ApiError(404, "unknown_line", f"This job has no line {line!r} with take {take}.")
        if row["state"] != "done":
            reason = row["reason"] or f"It is {row['state']}."
            raise ApiError(409, "no_audio", f"There is no audio of line {line!r}: {reason}")
        path = service.store.jobs / job / row["file"]
        if not path.is_file():
            raise ApiError(404, "no_audio", f"The audio of line {line!r} is no longer on the server's disk.")
        return FileResponse(path, media_type=FORMATS[parent["format"]].mime)

    @routes.get(
        "/v1/jobs/{job}/archive.zip",
        summary="Everything that is done, and a manifest",
        response_class=Response,
        responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
    )
    async def zipped(client: Who, job: str) -> Response:
        row = await to_thread.run_sync(jobs.row, client.owner, job)
        takes = await to_thread.run_sync(jobs.takes, job)
        return Pieces(
            archive(service.store.jobs / job, takes, row["template"]),
            media_type="application/zip",
            stall_seconds=service.settings.stall_seconds,
            headers={"content-disposition": f'attachment; filename="{job}.zip"'},
        )

    return routes


async def _entries(request: Request, characters: int) -> tuple[list[Entry], list[str]]:
    kind = request.headers.get("content-type", "").lower()
    if not kind.startswith("multipart/form-data"):
        body = await read_json(request)
        # Thousands of lines take a while, in which others listen.
        return await to_thread.run_sync(entries_of, body, characters), []
    async with request.form(max_files=1, max_fields=4) as form:
        name, data = await read_file(form.get("file"), "file")
    return await to_thread.run_sync(entries_of_script, name, data, characters)


def _check_template(template: str) -> None:
    try:
        check_template(template)
    except ValueError as error:
        raise ApiError(400, "invalid_request", str(error), param="template") from None


async def _follow(service: Service, owner: str, job: str, after: int) -> AsyncGenerator[bytes, None]:
    """What changed after a number, then what changes, until the job is over.

    A reader that is slow gets the newest state of each line, not every step to it.
    """
    told: dict[tuple[int, int], tuple[int, int]] = {}
    with service.desk.listen(job) as news:
        while True:
            news.clear()
            takes, after = await to_thread.run_sync(service.jobs.changes, job, after)
            for place, take in enumerate(takes, 1):
                # The number counts only when everything up to it was sent.
                number = after if place == len(takes) else None
                yield _event("line", take.model_dump(), number)
            progress = service.desk.progress(job)
            for key, frames in progress.items():
                if told.get(key) != frames:
                    yield _event("progress", dict(zip(PROGRESS, key + frames, strict=True)))
            told = progress
            if end := await to_thread.run_sync(_end, service, owner, job):
                yield _event("end", end, after)
                return
            if service.draining:
                yield b"retry: 5000\n\n"
                return
            try:
                await asyncio.wait_for(news.wait(), KEEP_ALIVE_SECONDS)
            except asyncio.TimeoutError:
                yield b": still here\n\n"


def _end(service: Service, owner: str, job: str) -> dict[str, Any] | None:
    """The last event's data, once the job is over."""
    try:
        info = service.jobs.summary(owner, job)
    except ApiError:
        return {"id": job, "state": "deleted"}
    if info.state == "active" or any(info.counts.get(state) for state in ("waiting", "running")):
        return None
    return info.model_dump(exclude={"lines"})


def _event(kind: str, data: dict[str, Any], number: int | None = None) -> bytes:
    mark = "" if number is None else f"id: {number}\n"
    return f"event: {kind}\n{mark}data: {json.dumps(data)}\n\n".encode()
