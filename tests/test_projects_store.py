"""The data folder: locks, versions, full disks."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from studio_support import Bench

from ui import lines, projects
from ui.engines import Engines
from ui.limits import Limits
from ui.migrations import VERSIONS
from ui.runs import RESTARTED, Runs
from ui.store import StorageError, Store


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = bench.ids()[0]
    bench.edit({"op": "set", "id": first, "fields": {"text": "kept"}})
    take = bench.give_take(first)
    bench.store.close()
    again = Bench.__new__(Bench)
    again.store, again.project = Store(tmp_path), bench.project
    assert again.line(first)["text"] == "kept"
    assert again.line(first)["made"][0]["id"] == take
    again.store.close()


def test_a_transaction_is_whole_or_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def killed_in_between() -> None:
        with bench.store.transaction() as db:
            projects.rename(db, bench.token, "half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        killed_in_between()
    assert bench.since()["project"]["name"] == "My first script"
    bench.store.close()


def test_a_locked_database_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.store.BUSY_SECONDS", 0.05)
    store = Store(tmp_path)
    other = sqlite3.connect(tmp_path / "studio.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="Another program"), store.transaction():
        pass
    other.execute("ROLLBACK")
    with store.transaction() as db:
        assert db.in_transaction
    other.close()
    store.close()


def test_a_full_disk_is_said_in_words_and_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store.transaction() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    bench.store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(StorageError, match="disk is full"):
        bench.edit({"op": "set", "id": bench.ids()[0], "fields": {"text": "long " * 3900}})
    assert not bench.line(bench.ids()[0])["text"].startswith("long")
    bench.store.close()


def test_a_folder_that_cannot_be_used_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match="is a file, where a folder is needed"):
        Store(tmp_path / "file")


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    db = sqlite3.connect(tmp_path / "studio.sqlite")
    db.execute(f"PRAGMA user_version = {len(VERSIONS) + 1}")
    db.close()
    with pytest.raises(StorageError, match="newer version"):
        Store(tmp_path)


def test_two_studios_on_one_folder_and_only_the_first_cleans_up(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    assert first.own()
    (first.scratch / "being-written.part").write_text("x")
    assert not second.own()
    assert (first.scratch / "being-written.part").exists()
    first.close()
    assert second.own()
    assert not (second.scratch / "being-written.part").exists()
    second.close()


def test_killed_server_makes_running_lines_pending_and_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    a, b, c, _ = bench.ids()
    with bench.store.transaction() as db:
        revision = projects.bump(db, bench.token)
        lines.set_state(db, bench.token, [a], "running", None, revision)
        lines.set_state(db, bench.token, [b], "queued", None, revision)
        lines.set_state(db, bench.token, [c], "failed", "its own reason", revision)

    def no_model(name: str) -> None:
        raise AssertionError(name)

    runs = Runs(bench.store, Engines(no_model), Limits())  # type: ignore[arg-type]
    assert runs.recover() == 2
    assert [bench.line(x).get("state") for x in (a, b, c)] == ["stopped", "stopped", "failed"]
    assert bench.line(a)["why"] == RESTARTED
    assert bench.line(c)["why"] == "its own reason"
    bench.store.close()


def test_a_list_of_takes_in_the_settings_of_an_earlier_studio_is_left_out() -> None:
    stored = {"model": "mini", "new_row": {"takes": [{"id": "ab"}], "speaking_rate": 12}}
    assert projects.Settings.model_validate(stored).new_row == {"speaking_rate": 12}
    assert projects.Settings(new_row={"takes": 3}).new_row == {"takes": 3}
