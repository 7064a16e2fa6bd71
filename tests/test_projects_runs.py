"""Runs without a browser: the embedded checkpoint, a disk that fills up, a project deleted meanwhile."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_support import Bench

from ui import keep, library, lines, projects, space, takes
from ui.engines import Engines, load_engine
from ui.limits import Limits
from ui.runs import FAULT, RESTARTED, Runs
from zonos.errors import CheckpointError
from zonos.events import Cancelled, Done, Failed
from zonos.line import Line
from zonos.text.dictionary import Dictionary

WAIT = 120.0


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    made = Engines(load_engine)
    yield made
    made.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    for line_id, text in zip(made.ids(), ("One.", "Two.", "Three.", "Four."), strict=True):
        made.edit({"op": "set", "id": line_id, "fields": {"text": text, "emotion": None}})
    yield made
    for thread in threading.enumerate():
        if thread.name.startswith("studio-run"):
            thread.join(WAIT)
    made.store.close()


def finished(runs: Runs, bench: Bench) -> None:
    """Wait for the run's own thread."""
    for thread in threading.enumerate():
        if thread.name == f"studio-run {bench.token[:6]}":
            thread.join(WAIT)
    assert not runs.status(bench.token)["on"]


def test_pending_lines_are_spoken_once_and_on_disk_before_they_are_told(
    bench: Bench, engines: Engines
) -> None:
    runs = Runs(bench.store, engines, Limits())
    assert runs.start(bench.token, "pending") == "4 lines on the way."
    assert runs.start(bench.token, "pending") == "These lines are being spoken already."
    finished(runs, bench)
    files = {file.stem for file in takes.folder(bench.store, bench.token).iterdir()}
    assert files == {line["made"][0]["id"] for line in bench.lines()}
    assert runs.start(bench.token, "pending").startswith("Nothing is pending")
    assert all("state" not in line for line in bench.lines())


def test_the_same_seed_makes_the_same_take_again(bench: Bench, engines: Engines) -> None:
    runs = Runs(bench.store, engines, Limits())
    first = bench.ids()[0]
    bench.edit({"op": "set", "id": first, "fields": {"seed": 5}})
    for _ in range(2):
        runs.start(bench.token, "these", [first])
        finished(runs, bench)
    one, two = bench.line(first)["made"]
    folder = takes.folder(bench.store, bench.token)
    assert one["seed"] == two["seed"] == "5"
    assert (folder / f"{one['id']}.wav").read_bytes() == (folder / f"{two['id']}.wav").read_bytes()


def test_a_full_disk_is_said_on_the_row_and_offers_nothing(
    bench: Bench, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keep, "write_take", full)
    runs = Runs(bench.store, engines, Limits())
    runs.start(bench.token, "pending")
    finished(runs, bench)
    for line in bench.lines():
        assert line["state"] == "failed"
        assert "disk is full" in line["why"]
        assert "made" not in line


def test_a_model_that_cannot_be_loaded_is_said_on_the_rows(bench: Bench) -> None:
    def missing(name: str) -> Any:
        raise CheckpointError(f"The model {name} is not here; pick another.")

    runs = Runs(bench.store, Engines(missing), Limits())
    runs.start(bench.token, "pending")
    finished(runs, bench)
    assert {line["why"] for line in bench.lines()} == {"The model mini is not here; pick another."}
    # What ends a whole run is told once for all its rows, until another one begins.
    assert runs.status(bench.token)["fault"] == "The model mini is not here; pick another."


def test_a_fault_of_our_own_is_said_and_the_next_run_works(bench: Bench, engines: Engines) -> None:
    def broken(name: str) -> Any:
        raise ZeroDivisionError(name)

    runs = Runs(bench.store, Engines(broken), Limits())
    runs.start(bench.token, "pending")
    finished(runs, bench)
    assert {line["why"] for line in bench.lines()} == {FAULT}
    assert runs.status(bench.token)["fault"] == FAULT
    runs = Runs(bench.store, engines, Limits())
    assert runs.start(bench.token, "failed") == "4 lines on the way."
    finished(runs, bench)
    assert all(len(line["made"]) == 1 for line in bench.lines())


def test_a_line_that_failed_waits_for_its_own_button(bench: Bench, engines: Engines) -> None:
    runs = Runs(bench.store, engines, Limits())
    first, second = bench.ids()[:2]
    with bench.store.transaction() as db:
        lines.set_state(
            db, bench.token, [first, second], "failed", "Some reason.", projects.bump(db, bench.token)
        )
    bench.edit({"op": "set", "id": second, "fields": {"text": "Changed, so it is pending again."}})
    assert runs.start(bench.token, "pending") == "3 lines on the way."
    finished(runs, bench)
    assert "made" not in bench.line(first)
    assert runs.start(bench.token, "pending").startswith("Nothing is pending")
    assert runs.start(bench.token, "failed") == "1 line on the way."
    finished(runs, bench)
    assert "state" not in bench.line(first)


def test_a_project_deleted_in_mid_run_hurts_nobody(bench: Bench, engines: Engines) -> None:
    runs = Runs(bench.store, engines, Limits())
    runs.start(bench.token, "pending")
    with bench.store.transaction() as db:
        projects.set_deleted(db, bench.token, True)
    finished(runs, bench)
    with bench.store.transaction() as db:
        projects.set_deleted(db, bench.token, False)
    assert all(len(line["made"]) == 1 for line in bench.lines())


def test_stop_while_the_model_loads(bench: Bench, engines: Engines) -> None:
    gate = threading.Event()

    def slow(name: str) -> Any:
        gate.wait(WAIT)
        return load_engine(name)

    mine = Engines(slow)
    runs = Runs(bench.store, mine, Limits())
    runs.start(bench.token, "pending")
    assert runs.stop(bench.token) == "Stopped 4 lines. What was finished is kept."
    gate.set()
    finished(runs, bench)
    assert {line.get("state") for line in bench.lines()} == {"stopped"}
    mine.close()


def test_the_queue_limit_is_said(bench: Bench, engines: Engines) -> None:
    runs = Runs(bench.store, engines, Limits(queued=3))
    assert "At most 3 lines" in runs.start(bench.token, "pending")
    assert all("state" not in line for line in bench.lines())


def test_a_lent_gpu_speaks_in_chunks_and_stops(bench: Bench) -> None:
    engine = space.SpaceEngine("mini")
    voices = library.ShelfVoices(bench.store, bench.project.shelf)
    lines = [Line(id=f"line{n}", text=f"Number {n}.", voice="Heart", seed=n) for n in range(space.CHUNK + 2)]
    lines[1] = lines[1].model_copy(update={"voice": "nobody"})
    run = engine.submit(lines, owner="me", voices=voices, dictionary=Dictionary())
    final: dict[str, Any] = {}
    for event in run:
        if isinstance(event, (Done, Failed, Cancelled)):
            final[event.line] = event
            if len(final) == space.CHUNK:
                run.cancel(line=lines[-1].id)
    kinds = [type(final[str(line.id)]) for line in lines]
    assert kinds == [Done, Failed, *[Done] * (space.CHUNK - 1), Cancelled]
    assert space.gpu_seconds("mini", lines, "me", space.ChunkVoices(voices, lines), Dictionary()) >= 10
    engine.close()


def test_a_line_mended_while_it_is_spoken_is_pending_whatever_came_of_its_old_words(bench: Bench) -> None:
    begun, mended = threading.Event(), threading.Event()

    def missing(name: str) -> Any:
        begun.set()
        mended.wait(WAIT)
        raise CheckpointError(f"The model {name} is not here; pick another.")

    runs = Runs(bench.store, Engines(missing), Limits())
    first, *rest = bench.ids()
    runs.start(bench.token, "pending")
    assert begun.wait(WAIT)
    bench.edit({"op": "set", "id": first, "fields": {"text": "Mended meanwhile."}})
    mended.set()
    finished(runs, bench)
    assert "state" not in bench.line(first)
    assert {bench.line(line_id)["state"] for line_id in rest} == {"failed"}
    assert runs.start(bench.token, "pending") == "1 line on the way."


def test_after_a_crash_deleted_rows_are_free_again_too(bench: Bench, engines: Engines) -> None:
    first, second = bench.ids()[:2]
    with bench.store.transaction() as db:
        lines.set_state(db, bench.token, [first, second], "queued", None, projects.bump(db, bench.token))
    bench.edit({"op": "delete", "ids": [second]})
    seen = bench.since()["revision"]
    assert Runs(bench.store, engines, Limits()).recover() == 2
    assert [line["id"] for line in bench.since(seen)["lines"]] == [first]
    bench.edit({"op": "restore", "ids": [second]})
    assert {bench.line(line_id)["state"] for line_id in (first, second)} == {"stopped"}
    assert bench.line(second)["why"] == RESTARTED
