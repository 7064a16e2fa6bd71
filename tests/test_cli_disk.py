"""Places that the command line cannot write to, before and during a run."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from cli_support import CommandLine, HummingEngine, cli, hum

__all__ = ["cli", "hum"]

THREE = [{"name": name, "text": f"{name.capitalize()}."} for name in ("one", "two", "three")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--out", "notes.txt"], "argument --out: notes.txt is a file, where a folder is needed."),
        (["--out", "notes.txt/deeper"], "argument --out: notes.txt is a file, where a folder is needed."),
        (["--out", "taken"], "argument --out: taken/manifest.jsonl is a folder"),
        (["--join", "taken.wav"], "argument --join: taken.wav is a folder"),
        (["--join", "notes.txt/all.wav"], "argument --join: notes.txt is a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_model_is_loaded(
    cli: CommandLine, hum: HummingEngine, options: list[str], told: str
) -> None:
    cli.write("notes.txt", "words")
    for folder in ("taken/manifest.jsonl", "taken.wav"):
        (cli.folder / folder).mkdir(parents=True)
    out = options[1] if options[0] == "--out" else "out"
    found = cli("--text", "Hello.", *(options if options[0] != "--out" else []), out=out)
    assert found.status == 2
    assert told in found.err
    assert f"Choose another place with {options[0]}." in found.err
    assert not hum.loads


def test_a_full_disk_is_told_before_the_model_is_loaded(
    cli: CommandLine, hum: HummingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("zonos.folders.try_to_write", full)
    found = cli("--text", "Hello.")
    assert (found.status, found.err) == (
        2,
        "argument --out: The disk of out is full; free some space. Choose another place with --out.\n",
    )
    assert not hum.loads


def refuse(monkeypatch: pytest.MonkeyPatch, code: int, which: str) -> None:
    """The rename that would make the file appear fails, as the last step of a write."""
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if Path(target).match(which):
            raise OSError(code, os.strerror(code))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_stops_the_run_and_leaves_nothing_half_written(
    cli: CommandLine, hum: HummingEngine, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    refuse(monkeypatch, code, "two.wav")
    cli.script(THREE)
    found = cli("scene.jsonl")
    assert found.status == 1
    assert found.files == ["one.wav"]
    assert "The disk is full" in found.err
    assert [(entry["name"], entry["status"]) for entry in found.entries] == [
        ("one", "done"),
        ("two", "failed"),
    ]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EROFS])
def test_one_file_that_cannot_be_written_fails_alone(
    cli: CommandLine, hum: HummingEngine, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    refuse(monkeypatch, code, "two.wav")
    cli.script(THREE)
    found = cli("scene.jsonl")
    assert (found.status, found.files) == (1, ["one.wav", "three.wav"])
    assert "'two.wav' was not written" in found.err
    monkeypatch.undo()


def test_a_manifest_that_cannot_grow_stays_whole(
    cli: CommandLine, hum: HummingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.script(THREE)
    manifest = cli.write("out/manifest.jsonl", "")
    real = os.fsync

    def fsync(file: int) -> None:
        if os.path.samestat(os.fstat(file), manifest.stat()) and b"Two." in manifest.read_bytes():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    found = cli("scene.jsonl")
    monkeypatch.undo()
    assert found.status == 1
    assert found.files == ["one.wav", "two.wav"]
    assert "two is not in" in found.err
    assert "The disk is full" in found.err
    assert [entry["name"] for entry in found.entries] == ["one"]
