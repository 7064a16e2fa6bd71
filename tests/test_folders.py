"""Places that cannot be written to, in a sentence. Case: "output folder read-only, missing, or disk full"."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from zonos.folders import problem_with_file, problem_with_folder


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    assert problem_with_folder(tmp_path / "a" / "b") is None
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize("below", ["", "a", "a/b"])
def test_a_file_in_the_way_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "notes").write_text("words")
    assert problem_with_folder(tmp_path / "notes" / below) == (
        f"{tmp_path / 'notes'} is a file, where a folder is needed."
    )


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere" / "x")
    for folder in (link, link / "deeper"):
        assert problem_with_folder(folder) == f"{link} is a link to a place that is not there."
    assert "too long" in str(problem_with_folder(tmp_path / ("x" * 300)))
    assert "embedded null" in str(problem_with_folder(tmp_path / "a\0b"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has such a place")
def test_a_place_where_nothing_can_be_stored() -> None:
    assert problem_with_folder(Path("/proc/x")) == (
        "/proc/x cannot be made: nothing can be stored at that place."
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.ENOSPC, "The disk of {} is full; free some space."),
        (errno.EDQUOT, "The disk of {} is full; free some space."),
        (errno.EACCES, "{} may not be written to."),
        (errno.EROFS, "{} may not be written to."),
        (errno.EIO, "{} cannot be written to (Input/output error)."),
    ],
)
def test_a_disk_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, told: str) -> None:
    def refuse(**_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert problem_with_folder(tmp_path) == told.format(tmp_path)
    assert problem_with_file(tmp_path / "all.wav") == told.format(tmp_path)


def test_a_folder_where_a_file_must_be(tmp_path: Path) -> None:
    (tmp_path / "all.wav").mkdir()
    assert problem_with_file(tmp_path / "all.wav") == (
        f"{tmp_path / 'all.wav'} is a folder, so no file can be written there."
    )
