"""Hard inputs, "Page, server, machine", without a browser; each test names its row."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engines import VOICES, engine, finals
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_support import Bench
from test_projects_api import Visitor, upload

from ui import duplicate, library, lines, sample
from ui.engines import Engines
from ui.limits import Limits
from ui.runs import Runs
from ui.store import StorageError, Store
from zonos.events import Cancelled, Done
from zonos.line import Line
from zonos.takes import Take

WAIT = 120.0


def brief(text: str, **settings: Any) -> Line:
    return Line(
        **{"text": text, "voice": "Heart", "seed": 3, "max_seconds": 0.2, "cfg_scale": 1.0, **settings}
    )


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    made = Engines(lambda _: engine(inline=False))
    yield made
    made.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Four lines that are spoken in a moment."""
    made = Bench(tmp_path)
    fields = {"emotion": None, "max_seconds": 0.2, "cfg_scale": 1.0}
    for number, line_id in enumerate(made.ids()):
        made.edit({"op": "set", "id": line_id, "fields": {"text": f"Number {number}.", **fields}})
    yield made
    join()
    made.store.close()


def join() -> None:
    """Wait for the threads of all runs."""
    for thread in threading.enumerate():
        if thread.name.startswith("studio-run"):
            thread.join(WAIT)


def test_starts_at_the_same_instant_make_one_run(bench: Bench, engines: Engines) -> None:
    """Row 'double click on Generate; Generate in a second tab': eight tabs, both kinds of button."""
    runs, together = Runs(bench.store, engines, Limits()), threading.Barrier(8)
    said: list[str] = []

    def press(number: int) -> None:
        together.wait(WAIT)
        if number % 2:
            said.append(runs.start(bench.token, "pending"))
        else:
            said.append(runs.start(bench.token, "these", bench.ids()))

    threads = [threading.Thread(target=press, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    join()
    assert sum("on the way" in words for words in said) == 1
    assert all(words.endswith(".") for words in said)
    assert [len(line["made"]) for line in bench.lines()] == [1, 1, 1, 1]


def test_a_stop_at_the_end_of_a_run_never_reaches_the_next(bench: Bench, engines: Engines) -> None:
    """Row 'Stop at the moment a run ends, then a new run': the late flag killed the next one."""
    runs = Runs(bench.store, engines, Limits())
    for first in bench.ids()[:3]:
        runs.start(bench.token, "these", [first])
        while runs.status(bench.token)["on"]:  # again and again, the last time just at the end
            if bench.line(first).get("made"):
                runs.stop(bench.token)
        runs.stop(bench.token)
        runs.start(bench.token, "these", [bench.ids()[3]])
        join()
        assert "state" not in bench.line(bench.ids()[3])
    assert len(bench.line(bench.ids()[3])["made"]) == 3


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 8, 30])
def test_a_cancel_at_any_moment_belongs_to_its_run(turns: int) -> None:
    with engine(slots=2) as running:
        run = running.submit([brief("One.")])
        for _ in range(turns):
            running.pump()
        run.cancel()
        following = running.submit([brief("Two.")])
        run.cancel()
        assert isinstance(finals(run)["0", 0], (Cancelled, Done))
        assert isinstance(finals(following)["0", 0], Done)
        assert running.loop.runner.free_rows == 2


def test_memory_does_not_grow_with_the_run() -> None:
    """Row '300 to 840 lines in one run': what is done is let go of while the run goes on."""
    lines = [brief(f"Number {number % 7}.", max_seconds=0.1) for number in range(40)]
    with engine(slots=6) as running:
        finished = (event for event in running.submit(lines) if isinstance(event, Done))
        for done, _ in enumerate(finished, start=1):
            if done == 39:
                gc.collect()
                alive = sum(isinstance(thing, Take) for thing in gc.get_objects())
    assert alive <= 12


SAY = "from zonos.text import prepare; print(prepare('Hi', 'en', max_piece_phonemes=9).phonemes)"


@pytest.mark.parametrize(
    "hostile",
    [
        {"PATH": "/nonexistent"},
        {
            "PHONEMIZER_ESPEAK_LIBRARY": "/usr/lib/libespeak-ng.so.1",
            "PHONEMIZER_ESPEAK_PATH": "/usr/bin/espeak-ng",
        },
        {"ESPEAK_DATA_PATH": "/nonexistent", "ESPEAKNG_DATA_PATH": "/nonexistent"},
        {"LD_LIBRARY_PATH": "{folder}"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"},
    ],
    ids=["no programs", "another library", "another data folder", "a broken library first", "no locale"],
)
def test_the_wheels_espeak_speaks_whatever_the_system_has(hostile: dict[str, str], tmp_path: Path) -> None:
    """Row 'no eSpeak on the system': the most reported fault of all; here the wheel's own is used."""
    (tmp_path / "libespeak-ng.so.1").write_bytes(b"not a library")
    (tmp_path / "libespeak-ng.so").write_bytes(b"not a library")
    changed = {name: value.format(folder=tmp_path) for name, value in hostile.items()}
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", SAY],
        capture_output=True,
        check=False,
        env=os.environ | changed,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout.decode().strip() == "hˈaɪ", done.stderr.decode()[-2000:]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies stop half-way, as on a disk that fills up."""

    def copy(source: Any, target: Any, *_: Any, **__: Any) -> None:
        content = source.read() if hasattr(source, "read") else Path(source).read_bytes()
        half = content[: len(content) // 2]
        if hasattr(target, "write"):
            target.write(half)
        else:
            Path(target).write_bytes(half)
        raise OSError(errno.ENOSPC, "No space left on device")

    def link(*_: Any) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(shutil, "copyfile", copy)
    monkeypatch.setattr(shutil, "copyfileobj", copy)
    monkeypatch.setattr(os, "link", link)


def rests(store: Store) -> list[Path]:
    return [path for folder in (store.clips, store.scratch) for path in folder.iterdir()]


def test_a_full_disk_at_the_first_visit(tmp_path: Path, full_disk: None) -> None:
    """Row 'disk full while writing': the page once waited for ever, with a traceback in the log."""
    store = Store(tmp_path)
    with pytest.raises(StorageError, match=r"The disk is full\. Nothing was changed"):
        sample.first_project(store)
    with store.transaction() as db:
        assert db.execute("SELECT count(*) FROM projects").fetchone()[0] == 0
        assert db.execute("SELECT count(*) FROM voices").fetchone()[0] == 0
    assert rests(store) == []
    store.close()


def test_a_full_disk_while_a_clip_comes_in(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    visitor = Visitor(tmp_path)
    before = rests(visitor.store)
    clip = VOICES.clips("Marcus")[0].read_bytes()[:200_000]
    request.getfixturevalue("full_disk")
    answer = upload(visitor, clip)
    assert answer.status_code == 503
    assert "The disk is full" in answer.json()["error"]
    assert rests(visitor.store) == before


def test_a_full_disk_while_a_project_is_copied(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    bench = Bench(tmp_path)
    bench.give_take(bench.ids()[0])
    request.getfixturevalue("full_disk")
    with pytest.raises(StorageError, match="The disk is full"):
        duplicate.duplicate(bench.store, bench.token)
    with bench.store.transaction() as db:
        assert db.execute("SELECT count(*) FROM projects").fetchone()[0] == 1
        assert library.names(db, bench.project.shelf)
    bench.store.close()


def test_a_disk_that_was_full_for_the_database_too(
    bench: Bench, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows stayed "running" for ever: what became of them could not be written down, and nobody asked again."""
    runs, real, full = Runs(bench.store, engines, Limits()), lines.set_state, [True]

    def set_state(db: sqlite3.Connection, token: str, ids: Any, state: str | None, *rest: Any) -> None:
        if full[0] and state != "queued":
            raise sqlite3.OperationalError("database or disk is full")
        real(db, token, ids, state, *rest)

    monkeypatch.setattr(lines, "set_state", set_state)
    runs.start(bench.token, "pending")
    join()
    assert all(line["state"] == "queued" for line in bench.lines())
    with pytest.raises(StorageError, match="The disk is full"):
        runs.start(bench.token, "pending")
    assert not runs.status(bench.token)["on"]
    full[0] = False
    assert not runs.status(bench.token)["on"]
    assert all((line["state"], "disk is full" in line["why"]) == ("failed", True) for line in bench.lines())
    assert runs.start(bench.token, "failed") == "4 lines on the way."
    join()
    assert all("state" not in line for line in bench.lines())


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELD = st.sampled_from([*Line.model_fields, "ticked", "position", "nonsense"])
OPERATIONS = ["set", "add", "move", "delete", "restore", "star", "tick", "note", "use-take", "nonsense"]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One project that goes through all edits."""
    made = Bench(tmp_path_factory.mktemp("edits"))
    yield made
    made.store.close()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_edit_is_made_or_refused(data: st.DataObject, edited: Bench) -> None:
    """Whatever a browser sends: no fault, and what the page gets back is JSON."""
    ids = edited.ids()
    known = st.sampled_from(ids) if ids else ANYTHING
    optional = {
        "id": known | ANYTHING,
        "ids": ANYTHING | st.just(ids),
        "fields": st.dictionaries(FIELD, ANYTHING, max_size=4) | ANYTHING,
        "after": known | ANYTHING,
        "take": ANYTHING,
        "on": ANYTHING,
        "note": ANYTHING,
    }
    one = st.fixed_dictionaries({"op": st.sampled_from(OPERATIONS)}, optional=optional)
    for answer in edited.edit(*data.draw(st.lists(one, min_size=1, max_size=3))):
        assert answer["reason"]
    json.dumps(edited.since(), allow_nan=False)
