"""The voice library: names, clips, renaming, zips; cases 'Clips and files'."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_support import Bench
from test_projects_api import Visitor, tone, upload, wav

from ui import library, uploads
from ui.limits import Limits
from ui.voice_archive import ArchiveError, read_voices, write_voices


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    made = Visitor(tmp_path / "data")
    yield made
    made.store.close()


def voices(bench: Bench) -> dict[str, dict[str, Any]]:
    return {voice["name"]: voice for voice in bench.since()["project"]["voices"]}


def change(visitor: Visitor, **body: Any) -> Any:
    return visitor.http.post("/studio/voices/change", json=body)


def test_several_clips_make_one_voice_and_one_can_go(visitor: Visitor) -> None:
    for seconds in (3.0, 4.0):
        uploads.add_clip(
            visitor.store,
            visitor.token,
            io.BytesIO(wav(tone(seconds))),
            "c.wav",
            "Aunt",
            consent=True,
            join=True,
        )
    assert [clip["seconds"] for clip in voices(visitor)["Aunt"]["clips"]] == [3.0, 4.0]
    source = library.ShelfVoices(visitor.store, visitor.project.shelf)
    assert len(source.clips("aunt")) == 2
    content = voices(visitor)["Aunt"]["clips"][0]["hash"]
    assert change(visitor, act="remove-clip", name="Aunt", clip=content).status_code == 200
    assert len(source.clips("Aunt")) == 1
    last = voices(visitor)["Aunt"]["clips"][0]["hash"]
    assert "only clip" in change(visitor, act="remove-clip", name="Aunt", clip=last).json()["error"]


def test_a_renamed_voice_takes_its_lines_along_and_changes_no_take(visitor: Visitor) -> None:
    first = visitor.ids()[0]
    visitor.give_take(first)
    assert change(visitor, act="rename", name="Heart", new_name="Narrator").status_code == 200
    line = visitor.line(first)
    assert line["voice"] == "Narrator"
    assert "old" not in line["made"][0]
    assert "already" in change(visitor, act="rename", name="Narrator", new_name="vera").json()["error"]
    assert (
        "Give the voice a name"
        in change(visitor, act="rename", name="Vera", new_name=" \u202e ").json()["error"]
    )
    assert "no voice" in change(visitor, act="rename", name="Heart", new_name="X").json()["error"]


def test_a_removed_voice_is_gone_and_its_lines_say_changed(visitor: Visitor) -> None:
    first = visitor.ids()[0]
    visitor.give_take(first)
    change(visitor, act="remove", name="Heart")
    assert "Heart" not in voices(visitor)
    assert visitor.line(first)["made"][0]["old"] == 1


def test_clips_are_heard_by_their_owner_only(visitor: Visitor) -> None:
    upload(visitor, wav(tone(4.0)), "mine.wav")
    content = voices(visitor)["mine"]["clips"][0]["hash"]
    assert visitor.http.get(f"/studio/clip/{visitor.token}/{content}").content == wav(tone(4.0))
    other = Bench.__new__(Bench)
    from ui import sample

    other.project = sample.first_project(visitor.store)
    assert visitor.http.get(f"/studio/clip/{other.project.token}/{content}").status_code == 404
    for path in ("..%2f..%2fstudio.sqlite", "x"):
        assert visitor.http.get(f"/studio/clip/{visitor.token}/{path}").status_code == 404


def test_voices_go_out_and_in_as_a_zip(visitor: Visitor, tmp_path: Path) -> None:
    upload(visitor, wav(tone(4.0)), "mine.wav")
    answer = visitor.http.get(f"/studio/voices/{visitor.token}.zip?name=mine")
    other = Bench(tmp_path / "other")
    assert read_voices(other.store, io.BytesIO(answer.content), other.token, Limits()) == ["mine"]
    assert read_voices(other.store, io.BytesIO(answer.content), other.token, Limits()) == ["mine"]
    assert len(voices(other)["mine"]["clips"]) == 1
    path = write_voices(other.store, other.token)
    assert len(zipfile.ZipFile(path).namelist()) == 1 + 7
    for bad in (b"", b"no zip", zip_of({"x.txt": b""}), zip_of({"voices.json": b"{}"})):
        with pytest.raises(ArchiveError):
            read_voices(other.store, io.BytesIO(bad), other.token, Limits())
    other.store.close()


def test_a_zip_dropped_as_a_clip_is_opened(visitor: Visitor) -> None:
    pack = visitor.http.get(f"/studio/voices/{visitor.token}.zip?name=June").content
    change(visitor, act="remove", name="June")
    assert upload(visitor, pack, "voices.zip").json()["said"] == "Opened: June."
    assert "June" in voices(visitor)


def zip_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_long_names_that_begin_alike_stay_two_voices(visitor: Visitor) -> None:
    name = "An interview with the oldest person of the whole village, part"
    for part, seconds in enumerate((3.0, 4.0, 5.0)):
        upload(visitor, wav(tone(seconds)), f"{name} {part}.wav")
    found = {name: voice for name, voice in voices(visitor).items() if name.startswith("An interview")}
    assert [len(voice["clips"]) for voice in found.values()] == [1, 1, 1]
    assert all(len(name) <= library.MAX_NAME for name in found)
    assert sorted(name[-2:] for name in found)[:2] == [" 2", " 3"]


@pytest.mark.parametrize(("stored", "written"), [("Анна", "анна"), ("Élodie", "éLODIE"), ("Aunt", "aunt")])
def test_a_voice_is_known_in_upper_and_lower_case_of_every_script(
    visitor: Visitor, stored: str, written: str
) -> None:
    upload(visitor, wav(tone(3.0)), f"{stored}.wav")
    source = library.ShelfVoices(visitor.store, visitor.project.shelf)
    assert source.clips(written) == source.clips(stored)
    first, second = visitor.ids()[:2]
    for line_id, name in ((first, stored), (second, written)):
        visitor.edit({"op": "set", "id": line_id, "fields": {"voice": name}})
        visitor.give_take(line_id)
    data = io.BytesIO(wav(tone(4.0)))
    joined = uploads.add_clip(visitor.store, visitor.token, data, "c.wav", written, consent=True, join=True)
    assert joined[0] == stored
    assert len(source.clips(stored)) == 2
    assert [visitor.line(line_id)["made"][0]["old"] for line_id in (first, second)] == [1, 1]
    assert change(visitor, act="rename", name=written, new_name="Zoë").status_code == 200
    assert [visitor.line(line_id)["voice"] for line_id in (first, second)] == ["Zoë", "Zoë"]


def test_two_voices_of_an_older_shelf_that_differ_in_case_only_stay_apart(visitor: Visitor) -> None:
    shelf = visitor.project.shelf
    upload(visitor, wav(tone(3.0)), "Анна.wav")
    upload(visitor, wav(tone(4.0)), "other.wav")
    with visitor.store.transaction() as db:
        db.execute("UPDATE voices SET name = 'анна' WHERE shelf = ? AND name = 'other'", (shelf,))
    source = library.ShelfVoices(visitor.store, shelf)
    assert source.clips("Анна") != source.clips("анна")
    first, second = visitor.ids()[:2]
    visitor.edit({"op": "set", "id": first, "fields": {"voice": "Анна"}})
    visitor.edit({"op": "set", "id": second, "fields": {"voice": "анна"}})
    assert change(visitor, act="rename", name="анна", new_name="Maria").status_code == 200
    assert (visitor.line(first)["voice"], visitor.line(second)["voice"]) == ("Анна", "Maria")
