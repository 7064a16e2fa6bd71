"""Runs: a worker of this process speaks lines of any project; no tab has to stay open for it.

A run belongs to nobody's browser: it writes every finished take to disk, then its row, and the page
learns of it by the number of the change. A stop belongs to the runs that go on at that moment.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import sqlite3
import threading
from collections.abc import Iterable
from typing import Any, Literal

from ui import library, lines, outcomes, projects, takes, words
from ui.ahead import ahead
from ui.desk import Desk, RunningLine
from ui.engines import Engines
from ui.keep import keep_take
from ui.limits import Limits
from ui.outcomes import Outcome
from ui.projects import Project
from ui.store import StorageError, Store, disk_words
from zonos import events
from zonos.errors import CheckpointError
from zonos.line import Line
from zonos.text.dictionary import Dictionary
from zonos.words import count

Which = Literal["pending", "ticked", "failed", "these"]

log = logging.getLogger("zonos.studio")

RESTARTED = "The studio was restarted while this line was waiting or being spoken. It is pending again."
FAULT = "The studio hit a fault of its own while this line was being spoken; its log has the details."
MAX_SEED_DRAWN = 2**31
NOTHING: dict[Which, str] = {
    "pending": "Nothing is pending: every line has a take that fits it, or has failed and waits for “Failed”.",
    "ticked": "No line is ticked.",
    "failed": "No line has failed.",
    "these": "That line is not in this project (any more).",
}


class Runs:
    """All runs of this process.

    Args:
        store: where lines and takes live.
        engines: loads models.
        limits: how many lines one visitor may have in the queue.
    """

    def __init__(self, store: Store, engines: Engines, limits: Limits) -> None:
        self.store = store
        self.engines = engines
        self.limits = limits
        self._desks: dict[str, Desk] = {}
        # What the disk refused to hear of, by project and row; told as soon as it listens again.
        self._owed: dict[str, dict[str, Outcome]] = {}
        self._mutex = threading.Lock()

    def recover(self) -> int:
        """After a crash: lines that were waiting or being spoken are pending again, and say so."""
        with self.store.transaction() as db:
            return outcomes.recover(db, RESTARTED)

    def start(self, token: str, which: Which, ids: Iterable[str] = (), takes_each: int | None = None) -> str:
        """Begin to speak lines; those already waiting or speaking are left alone.

        Args:
            token: of the project.
            which: rows without a take that fits them (``pending``; not those that failed), ``ticked`` or
                ``failed`` rows, or ``these``.
            ids: rows, for ``these``.
            takes_each: takes of each line, all with new seeds; the line's own number for None.

        Returns:
            A sentence that says what happens now.
        """
        self._settle(token)
        with self.store.transaction() as db:
            project = projects.get(db, token)
            chosen = _chosen(db, token, which, set(ids))
            free = [row for row in chosen if not row.busy]
            ready = [row for row in free if _ready(row)]
            if refusal := self._refusal(token, which, chosen, free, ready):
                return refusal
            revision = projects.bump(db, token)
            lines.set_state(db, token, [row.id for row in ready], "queued", None, revision)
            spellings = words.dictionary(db, token)
        jobs = [_job(row, takes_each, reroll=which == "these" and takes_each is not None) for row in ready]
        desk = self._desk(token)
        running = desk.open(
            [RunningLine(row.id, row.recipe, job) for row, job in zip(ready, jobs, strict=True)]
        )
        name = f"studio-run {token[:6]}"
        work = (project, spellings, desk, running)
        threading.Thread(target=self._speak, args=work, name=name, daemon=True).start()
        skipped = len(free) - len(ready)
        return f"{count(len(ready), 'line')} on the way." + (
            f" {count(skipped, 'line')} without text left out." if skipped else ""
        )

    def ahead(self, token: str, which: Which) -> dict[str, Any]:
        """What a run of these rows would take, without starting it; see :func:`ui.ahead.ahead`."""
        with self.store.transaction() as db:
            project = projects.get(db, token)
            chosen = [row.line for row in _chosen(db, token, which, set()) if _ready(row) and not row.busy]
            spellings = words.dictionary(db, token)
        model = project.settings.model
        return ahead(chosen, spellings, model, self.engines.speed(model))

    def stop(self, token: str, ids: Iterable[str] | None = None) -> str:
        """Stop runs that go on now (some rows, or all); finished takes are kept."""
        stopped = self._desk(token).stop(None if ids is None else set(ids))
        return (
            f"Stopped {count(stopped, 'line')}. What was finished is kept."
            if stopped
            else "Nothing is running."
        )

    def status(self, token: str) -> dict[str, Any]:
        """What is going on in a project now."""
        with contextlib.suppress(StorageError):  # still full: it is said where something is asked for
            self._settle(token)
        return self._desk(token).status()

    def _refusal(
        self,
        token: str,
        which: Which,
        chosen: list[lines.Row],
        free: list[lines.Row],
        ready: list[lines.Row],
    ) -> str | None:
        if not chosen:
            return NOTHING[which]
        if not free:
            return "These lines are being spoken already."
        if not ready:
            return "These lines have no text yet."
        if self._desk(token).waiting() + len(ready) > self.limits.queued:
            most = count(self.limits.queued, "line")
            return f"At most {most} may wait here at once; generate fewer at a time."
        return None

    def _desk(self, token: str) -> Desk:
        with self._mutex:
            return self._desks.setdefault(token, Desk())

    def _speak(self, project: Project, spellings: Dictionary, desk: Desk, running: list[RunningLine]) -> None:
        """One run from the first line to the last, in its own thread."""
        try:
            self._follow(project, spellings, desk, running)
        except CheckpointError as error:
            self._fail(project.token, desk, running, str(error))
        except StorageError as error:
            log.warning("%s", error)
            self._fail(project.token, desk, running, str(error))
        except Exception:  # the thread's last line of defence; the line says so and the log has the rest
            log.exception("a run of the studio broke off")
            self._fail(project.token, desk, running, FAULT)
        finally:
            desk.close(running)

    def _follow(
        self, project: Project, spellings: Dictionary, desk: Desk, running: list[RunningLine]
    ) -> None:
        desk.say(f"Loading {project.settings.model} …")
        with self.engines.use(project.settings.model) as engine:
            desk.say(None)
            waiting = [one for one in running if not one.stopped]
            self._stopped(project.token, [one for one in running if one.stopped])
            voices = library.ShelfVoices(self.store, project.shelf)
            spoken = [one.line for one in waiting]
            run = engine.submit(spoken, owner=project.token, voices=voices, dictionary=spellings)
            desk.attach(waiting, run)
            by_id = {one.id: one for one in waiting}
            try:
                for event in run:
                    self._tell(project, by_id[event.line], event)
            finally:
                run.cancel()  # when it broke off, nobody waits for the rest

    def _tell(self, project: Project, one: RunningLine, event: events.Event) -> None:
        match event:
            case events.Accepted():
                one.accepted(event)
            case events.Started():
                one.started()
                self._state(project.token, one, "running", None)
            case events.Progress():
                one.progressed(event)
            case events.Done():
                self._done(project, one, event)
            case events.Failed():
                self._ended(project.token, one, "failed", event.reason)
            case events.Cancelled():
                self._ended(project.token, one, "stopped", None)

    def _done(self, project: Project, one: RunningLine, event: events.Done) -> None:
        try:
            take = keep_take(self.store, project, one.line, one.recipe, event.speech, one.expected)
        except OSError as error:
            self._ended(project.token, one, "failed", disk_words(error))
            return
        with self.store.transaction() as db:
            revision = projects.bump(db, project.token)
            takes.add(db, project.token, take)
            lines.touched(db, project.token, one.id, revision)
        one.finished(event.speech.seconds)
        self._ended(project.token, one, None, None)

    def _ended(self, token: str, one: RunningLine, state: str | None, reason: str | None) -> None:
        """One take came to its end; the row rests when it was the last, and a failure is not hidden."""
        one.end(state, reason)
        if one.over:
            self._state(token, one, one.outcome, one.reason)

    def _state(self, token: str, one: RunningLine, state: str | None, reason: str | None) -> None:
        outcome = Outcome(one.id, one.recipe, state, reason)
        try:
            with self.store.transaction() as db, contextlib.suppress(projects.UnknownProject):
                # A project may be deleted while its last lines come in.
                outcomes.tell(db, token, [outcome], projects.bump(db, token))
        except StorageError:
            with self._mutex:
                self._owed.setdefault(token, {})[one.id] = outcome
            raise

    def _settle(self, token: str) -> None:
        """Tell what is owed; a row that stayed "running" on a full disk could never be spoken again."""
        with self._mutex:
            owed = self._owed.pop(token, {})
        if not owed:
            return
        try:
            with self.store.transaction() as db, contextlib.suppress(projects.UnknownProject):
                outcomes.tell(db, token, owed.values(), projects.bump(db, token))
        except StorageError:
            with self._mutex:
                self._owed[token] = owed | self._owed.get(token, {})
            raise

    def _stopped(self, token: str, some: list[RunningLine]) -> None:
        for one in some:
            one.give_up("stopped", None)
            self._state(token, one, "stopped", None)

    def _fail(self, token: str, desk: Desk, running: list[RunningLine], reason: str) -> None:
        desk.broke_off(reason)
        for one in running:
            if not one.over:
                one.give_up("failed", reason)
                with contextlib.suppress(StorageError):  # said on the page by the change that is missing
                    self._state(token, one, "failed", reason)


def _ready(row: lines.Row) -> bool:
    return bool(row.line.text.strip())


def _chosen(db: sqlite3.Connection, token: str, which: Which, ids: set[str]) -> list[lines.Row]:
    rows = lines.every(db, token)
    if which == "these":
        return [row for row in rows if row.id in ids]
    if which == "ticked":
        return [row for row in rows if row.ticked]
    if which == "failed":
        return [row for row in rows if row.state == "failed"]
    done = takes.current_lines(db, token)
    return [row for row in rows if row.id not in done and row.state != "failed"]


def _job(row: lines.Row, takes_each: int | None, *, reroll: bool) -> Line:
    """The line to hand to the engine: with a seed of its own, so that the take can be made again."""
    seed = row.line.seed
    if seed is None or reroll:
        seed = secrets.randbelow(MAX_SEED_DRAWN)
    return row.line.model_copy(update={"seed": seed, "takes": takes_each or row.line.takes})
