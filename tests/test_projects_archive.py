"""A project as a zip, a copy of a project, and what leaves the disk."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_support import Bench

from ui import archive, cleanup, library, lines, projects, takes, words
from ui.duplicate import duplicate
from ui.engines import load_engine
from ui.limits import Limits
from ui.voice_archive import ArchiveError, write_voices
from zonos.errors import CheckpointError
from zonos.voices import SAMPLE_VOICES


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "data")
    yield made
    made.store.close()


def filled(bench: Bench) -> None:
    """Takes, a star, a note, a word, a line that changed since."""
    first, second = bench.ids()[:2]
    star = bench.give_take(first, seed=1)
    bench.give_take(first, seed=2)
    bench.give_take(second, seed=2**62)
    with bench.store.transaction() as db:
        words.write(db, bench.token, [words.Word(word="studio", say="stoodio")])
    bench.edit(
        {"op": "star", "take": star},
        {"op": "note", "id": first, "note": "softer ${x}"},
        {"op": "set", "id": second, "fields": {"text": "Changed since."}},
        {"op": "tick", "ids": [second], "on": True},
        {"op": "add", "id": "slotslotslot", "fields": {"text": "In a film."}, "slot": [1.5, 2.25]},
    )


def seen(bench: Bench, token: str) -> list[dict[str, Any]]:
    """Lines without what may differ in a copy."""
    bench.project = bench.project.__class__(token, bench.project.shelf, "", bench.project.settings, 0, 0)
    lines = bench.lines()
    for line in lines:
        for take in line.get("made", []):
            del take["id"]
    return lines


def audio(bench: Bench, token: str) -> list[bytes]:
    return sorted(file.read_bytes() for file in takes.folder(bench.store, token).iterdir())


def test_a_copy_is_whole_and_separate(bench: Bench) -> None:
    filled(bench)
    token = bench.token
    copy = duplicate(bench.store, token).token
    assert audio(bench, copy) == audio(bench, token)
    assert seen(bench, copy) == seen(bench, token)
    bench.edit({"op": "set", "id": bench.ids()[0], "fields": {"text": "only in the first"}})
    assert seen(bench, copy)[0]["text"] != "only in the first"


def test_out_and_in_again_on_another_machine(bench: Bench, tmp_path: Path) -> None:
    filled(bench)
    path, name = archive.write_archive(bench.store, bench.token)
    assert name == "My first script"
    other = Bench(tmp_path / "other")
    library.remove(other.store, other.project.shelf, "Heart")
    opened = archive.read_archive(other.store, path, other.project.shelf, Limits())
    mine, there = seen(bench, bench.token), seen(other, opened.token)
    for line in (*mine, *there):
        line.pop("p")
    assert there == mine
    assert audio(other, opened.token) == audio(bench, bench.token)
    with other.store.transaction() as db:
        assert words.every(db, opened.token) == [words.Word(word="studio", say="stoodio")]
        assert set(library.names(db, other.project.shelf)) == {
            "Heart",
            "June",
            "Marcus",
            "Otto",
            "Rowan",
            "Vera",
        }
    other.store.close()


def test_a_voice_of_the_same_name_but_other_clips_is_kept_apart(bench: Bench, tmp_path: Path) -> None:
    path, _ = archive.write_archive(bench.store, bench.token)
    clip = library.Clip(SAMPLE_VOICES / "Marcus.wav", "x.wav", {})
    library.add(bench.store, bench.project.shelf, "Heart", [clip], consent=True, replace=True)
    opened = archive.read_archive(bench.store, path, bench.project.shelf, Limits())
    assert seen(bench, opened.token)[0]["voice"] == "Heart 2"


def _damaged(path: Path, target: Path, change: Any) -> Path:
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as out:
        for name in source.namelist():
            data = source.read(name)
            if name == archive.CONTENT:
                content = json.loads(data)
                change(content)
                data = json.dumps(content).encode()
            out.writestr(name, data)
    return target


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c["lines"][0]["takes"][0].update(file="../../studio.sqlite"), "damaged"),
        (lambda c: c["lines"][0]["takes"][0].update(file=f"takes/{'0' * 32}.wav"), "is missing"),
        (lambda c: c["lines"][0]["fields"].update(speaking_rate=1e9), "damaged"),
        (lambda c: c["lines"].extend(c["lines"] * 2000), "rows; at most"),
        (lambda c: c["lines"][0].update(slot=[0, float("inf")]), "damaged"),
        (lambda c: c["lines"][0].update(slot=[float("nan"), 1]), "damaged"),
        (lambda c: c["lines"][0]["takes"][0].update(seconds=float("inf")), "damaged"),
        (lambda c: c["lines"][0]["takes"][0].update(seed=2**70), "damaged"),
        (lambda c: c["lines"][0]["takes"][0].update(sample_rate=2**70), "damaged"),
        (lambda c: c.update(kind="other"), "damaged"),
        (lambda c: c["voices"][0]["clips"][0].update(file="clips/../../x.wav"), "damaged"),
    ],
)
def test_a_bad_zip_is_refused_and_leaves_nothing(
    bench: Bench, tmp_path: Path, change: Any, says: str
) -> None:
    filled(bench)
    path, _ = archive.write_archive(bench.store, bench.token)
    bad = _damaged(path, tmp_path / "bad.zip", change)
    path.unlink()
    with bench.store.transaction() as db:
        before = projects.siblings(db, bench.project)
    with pytest.raises(ArchiveError, match=says):
        archive.read_archive(bench.store, bad, bench.project.shelf, Limits())
    with bench.store.transaction() as db:
        assert projects.siblings(db, bench.project) == before
    assert list(bench.store.scratch.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello" * 100])
def test_no_zip_at_all(bench: Bench, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(ArchiveError, match="not a whole zip"):
        archive.read_archive(bench.store, tmp_path / "x.zip", bench.project.shelf, Limits())


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_with_one_wrong_byte_is_refused_in_words(bench: Bench, tmp_path: Path, kind: int) -> None:
    path, _ = archive.write_archive(bench.store, bench.token)
    with zipfile.ZipFile(path) as whole:
        content = {name: whole.read(name) for name in whole.namelist()}
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", kind) as again:
        for name, data in content.items():
            again.writestr(name, data)
    good = packed.read_bytes()
    for place in range(60, 360, 20):
        (tmp_path / "bad.zip").write_bytes(good[:place] + bytes([good[place] ^ 0x5A]) + good[place + 1 :])
        with pytest.raises(ArchiveError):
            archive.read_archive(bench.store, tmp_path / "bad.zip", bench.project.shelf, Limits())


def test_the_dictionary_marks_only_lines_that_it_touches(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    bench.give_take(first)
    bench.give_take(second)
    from ui import recipes

    with bench.store.transaction() as db:
        words.write(db, bench.token, [words.Word(word="studio", say="stoodio", language="en")])
        assert recipes.refresh(db, bench.project, projects.bump(db, bench.token)) == 1
    assert bench.line(first)["made"][0]["old"] == 1
    assert "old" not in bench.line(second)["made"][0]


def test_clean_up_takes_only_what_is_old_or_unnamed(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    kept, dropped = bench.give_take(first), bench.give_take(second)
    bench.edit({"op": "delete", "ids": [second]})
    folder = takes.folder(bench.store, bench.token)
    (folder / "stray.wav").write_bytes(b"x")
    (bench.store.clips / "stray.wav").write_bytes(b"x")
    cleanup.clean(bench.store)
    assert {file.stem for file in folder.iterdir()} == {kept, dropped}
    assert len(list(bench.store.clips.iterdir())) == 6
    cleanup.clean(bench.store, time.time() + 31 * cleanup.DAY)
    assert {file.stem for file in folder.iterdir()} == {kept}
    with bench.store.transaction() as db:
        projects.set_deleted(db, bench.token, True)
    cleanup.clean(bench.store, time.time() + 31 * cleanup.DAY)
    assert not folder.exists()
    assert list(bench.store.clips.iterdir()) == []


def test_takes_and_prefixes_follow_a_voice_that_has_another_name_here(bench: Bench, tmp_path: Path) -> None:
    first, second = bench.ids()[:2]
    bench.edit({"op": "set", "id": second, "fields": {"voice": "Marcus", "prefix_audio": "heart"}})
    bench.give_take(first)
    path, _ = archive.write_archive(bench.store, bench.token)
    other = Bench(tmp_path / "other")
    clip = library.Clip(SAMPLE_VOICES / "Marcus.wav", "x.wav", {})
    library.add(other.store, other.project.shelf, "Heart", [clip], consent=True, replace=True)
    opened = archive.read_archive(other.store, path, other.project.shelf, Limits())
    with other.store.transaction() as db:
        rows = lines.every(db, opened.token)
        take = takes.whole(db, opened.token, rows[0].id)[0]
    assert [rows[0].line.voice, rows[1].line.prefix_audio] == ["Heart 2", "Heart 2"]
    assert json.loads(take["fields"])["voice"] == "Heart 2"
    other.store.close()


@pytest.mark.parametrize("model", ["/", "Someone/something", "../mini", ""])
def test_a_zip_brings_no_model_that_is_not_offered_here(bench: Bench, tmp_path: Path, model: str) -> None:
    path, _ = archive.write_archive(bench.store, bench.token)
    other = _damaged(path, tmp_path / "x.zip", lambda content: content["settings"].update(model=model))
    opened = archive.read_archive(bench.store, other, bench.project.shelf, Limits())
    assert opened.settings.model == "mini"
    with pytest.raises(CheckpointError, match="pick one of: mini"):
        load_engine(model)


def test_what_a_zip_unpacks_to_is_limited_also_where_one_file_stands_for_many(
    bench: Bench, tmp_path: Path
) -> None:
    bench.give_take(bench.ids()[0], seconds=2.0)  # 144 KB
    path, _ = archive.write_archive(bench.store, bench.token)
    tight = Limits(upload_bytes=2**20)
    assert archive.read_archive(bench.store, path, bench.project.shelf, tight)

    def repeat(content: dict[str, Any]) -> None:
        content["lines"][0]["takes"] *= 30

    big = _damaged(path, tmp_path / "big.zip", repeat)
    path.unlink()
    before = sorted(bench.store.takes.rglob("*"))
    with pytest.raises(ArchiveError, match="more room than the 4 MB"):
        archive.read_archive(bench.store, big, bench.project.shelf, tight)
    assert sorted(bench.store.takes.rglob("*")) == before
    assert list(bench.store.scratch.iterdir()) == []


def test_a_clip_that_is_gone_is_named_and_leaves_nothing(bench: Bench) -> None:
    for file in bench.store.clips.iterdir():
        file.unlink()
    with pytest.raises(
        library.VoiceError, match=r"The clip “.*” of the voice “.*” is not on the disk any more"
    ):
        archive.write_archive(bench.store, bench.token)
    with pytest.raises(library.VoiceError, match="Remove it in the Voices tab"):
        write_voices(bench.store, bench.token)
    assert list(bench.store.scratch.iterdir()) == []
