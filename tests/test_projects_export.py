"""What an export holds: as many files as lines, names that fit, times that add up."""

from __future__ import annotations

import io
import json
import os
import resource
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from pydantic import ValidationError
from studio_support import Bench

from ui import export, sample, takes
from ui.export_plan import Options, Plan
from ui.scratch_zips import KEEP_SECONDS, found_export
from ui.store import StorageError


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.store.close()


def exported(bench: Bench, **options: Any) -> tuple[dict[str, bytes], Plan]:
    path, plan = export.write(bench.store, bench.token, Options(**options))
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    path.unlink()
    assert list(bench.store.scratch.iterdir()) == []
    return files, plan


def test_as_many_files_as_lines_whatever_they_are_called(bench: Bench) -> None:
    first = bench.ids()[0]
    for name in ("a/b", "a:b", "a?b", "A?B", "con", "..", "x" * 200, "x" * 200):
        bench.edit({"op": "add", "id": f"n{len(bench.ids()):011d}", "fields": {"text": "t", "name": name}})
    for line_id in bench.ids():
        bench.give_take(line_id)
    files, plan = exported(bench, template="{name}", manifest=False)
    assert len(plan.items) == len(bench.ids()) == len(files) == 12
    assert len({name.casefold() for name in files}) == 12
    assert all("/" not in name and ":" not in name and len(name) < 120 for name in files)
    assert first


def test_a_single_download_is_the_file_that_the_zip_holds(bench: Bench) -> None:
    for line_id in bench.ids():
        take = bench.give_take(line_id)
    bench.edit({"op": "set", "id": bench.ids()[3], "fields": {"name": "the door"}})
    files, _ = exported(bench, manifest=False)
    found = export.one_file(bench.store, bench.token, take)
    assert found is not None
    name, content = found
    assert name == "004 the door.wav"
    assert files[name] == content
    assert soundfile.info(io.BytesIO(content)).subtype == "PCM_16"
    bench.edit({"op": "tick", "ids": [bench.ids()[3]], "on": True})
    assert list(exported(bench, manifest=False, ticked_only=True)[0]) == [name]
    assert export.one_file(bench.store, bench.token, "0" * 32) is None


def test_starred_then_fitting_then_newest(bench: Bench) -> None:
    a, b, c, d = bench.ids()
    starred = bench.give_take(a, seed=1)
    bench.give_take(a, seed=2)
    bench.edit({"op": "star", "take": starred})
    bench.give_take(b, seed=3)
    text = bench.line(b)["text"]
    bench.edit({"op": "set", "id": b, "fields": {"text": "other"}})
    bench.give_take(b, seed=4)
    bench.edit({"op": "set", "id": b, "fields": {"text": text}})
    bench.give_take(c, seed=5)
    bench.edit({"op": "set", "id": c, "fields": {"text": "changed since"}})
    _, plan = exported(bench)
    assert [item.take["seed"] for item in plan.items] == [1, 3, 5]
    assert plan.notes == ["Line 4 has no take and is left out.", "Line 3 changed since its take was made."]
    assert d


def test_joined_file_tracks_and_subtitles_agree(bench: Bench) -> None:
    bench.edit({"op": "set", "id": bench.ids()[1], "fields": {"voice": "Heart"}})
    for line_id, seconds in zip(bench.ids(), (0.5, 0.75, 1.0, 0.5), strict=True):
        bench.give_take(line_id, seconds=seconds)
    files, plan = exported(bench, joined=True, tracks=True, subtitles=True, gap=0.25, voice_gap=1.0)
    starts = [item.start for item in plan.items]
    assert starts == [0.0, 0.75, 2.5, 4.5]
    joined, rate = soundfile.read(io.BytesIO(files["joined/all.wav"]))
    assert len(joined) / rate == 5.0
    tracks = [
        soundfile.read(io.BytesIO(files[f"joined/{voice}.wav"]))[0] for voice in ("Heart", "Vera", "Marcus")
    ]
    assert np.array_equal(sum(tracks), joined)
    assert np.abs(joined[int(0.55 * rate) : int(0.7 * rate)]).max() == 0
    assert "00:00:02,500 --> 00:00:03,500" in files["script.srt"].decode()
    assert files["joined/labels.txt"].decode().splitlines()[2].startswith("2.500000\t3.500000\t003 ")


def test_slots_of_a_film_lead_and_overruns_are_named(bench: Bench) -> None:
    for line_id in bench.ids():
        bench.edit({"op": "delete", "ids": [line_id]})
    for n, slot in enumerate([(1.0, 2.0), (2.0, 2.3), (2.4, 4.0)]):
        bench.edit({"op": "add", "id": f"slot{n:08d}", "fields": {"text": "x"}, "slot": slot})
        bench.give_take(f"slot{n:08d}", seconds=0.5)
    _, plan = exported(bench)
    assert [item.start for item in plan.items] == [1.0, 2.0, 2.5]
    assert plan.notes == ["Line 2 runs 0.2 s past its slot."]


def test_every_take_can_be_made_again_from_the_manifest(bench: Bench) -> None:
    first = bench.ids()[0]
    bench.give_take(first, seed=2**62)
    files, _ = exported(bench)
    entry = json.loads(files["manifest.jsonl"])
    assert (entry["seed"], entry["line"]["text"]) == (2**62, bench.line(first)["text"])
    assert entry["file"] in files
    assert (
        files["script.csv"].decode("utf-8-sig").splitlines()[0].startswith("id,name,text")
        or b"text" in files["script.csv"]
    )


@pytest.mark.parametrize("format", ["wav24", "wav32f", "flac", "mp3", "ogg"])
def test_every_format_and_loudness(bench: Bench, format: str) -> None:
    bench.give_take(bench.ids()[0], seconds=2.0)
    files, _ = exported(bench, format=format, joined=True, loudness=-20.0, manifest=False)
    for content in (content for name, content in files.items() if name != "notes.txt"):
        samples, rate = soundfile.read(io.BytesIO(content))
        assert len(samples) / rate == pytest.approx(2.0, abs=0.1)
        assert 20 * np.log10(np.sqrt(np.mean(samples**2))) == pytest.approx(-20, abs=2.5)


@pytest.mark.parametrize("template", ["{nope}", "{", "{voice:03}", "{n.__class__}"])
def test_a_bad_template_is_refused_in_words(template: str) -> None:
    with pytest.raises(ValidationError, match=r"name template|takes no width"):
        Options(template=template)


def test_an_empty_project_makes_an_empty_zip_that_says_so(bench: Bench) -> None:
    files, _ = exported(bench, joined=True, tracks=True, subtitles=True)
    assert "no take" in files["notes.txt"].decode()
    assert not any(name.endswith(".wav") for name in files)


def test_a_take_whose_file_is_gone_is_left_out_and_named(bench: Bench) -> None:
    for line_id in bench.ids():
        take = bench.give_take(line_id)
    folder = takes.folder(bench.store, bench.token)
    (folder / f"{take}.wav").unlink()
    files, plan = exported(bench, joined=True, manifest=False)
    assert [item.number for item in plan.items] == [1, 2, 3]
    assert plan.notes == ["Line 4 has lost its take's file and is left out."]
    assert "Line 4" in files["notes.txt"].decode()


def test_a_damaged_take_is_said_with_its_line(bench: Bench) -> None:
    take = [bench.give_take(line_id) for line_id in bench.ids()][1]
    (takes.folder(bench.store, bench.token) / f"{take}.wav").write_bytes(b"no sound")
    with pytest.raises(StorageError, match=r"line 2's take 1 cannot be read .*Generate the line again"):
        export.write(bench.store, bench.token, Options())
    with pytest.raises(StorageError, match="this take cannot be read"):
        export.one_file(bench.store, bench.token, take)
    assert list(bench.store.scratch.iterdir()) == []


@pytest.mark.parametrize("format", ["wav", "flac", "mp3"])
def test_a_disk_that_fills_up_is_said_and_nothing_stays(bench: Bench, format: str) -> None:
    for line_id in bench.ids():
        bench.give_take(line_id, seconds=3.0)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, usual[1]))
    try:
        with pytest.raises(StorageError, match="disk may be full"):
            export.write(bench.store, bench.token, Options(format=format, files=False, tracks=True))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list(bench.store.scratch.iterdir()) == []


def test_a_take_goes_out_under_the_words_and_the_voice_that_it_was_spoken_with(bench: Bench) -> None:
    first, second, third = bench.ids()[:3]
    bench.edit({"op": "set", "id": second, "fields": {"voice": "heart"}})
    for line_id in (first, second, third):
        bench.give_take(line_id)
    change = {"text": "New words.", "voice": "Marcus", "emotion": {"fear": 1.0}}
    bench.edit({"op": "set", "id": third, "fields": change})
    files, plan = exported(
        bench, template="{n} {voice} {emotion} {text}", tracks=True, manifest=False, subtitles=True
    )
    assert plan.items[2].name.startswith("3 Vera sadness The letter came")
    assert "New words" not in files["script.srt"].decode()
    # One voice, however the lines spell it, has one track.
    tracks = {name for name in files if name.startswith("joined/") and name.endswith(".wav")}
    assert tracks == {"joined/Heart.wav", "joined/Vera.wav"}


def test_a_project_keeps_one_zip_and_none_for_longer_than_an_hour(bench: Bench) -> None:
    bench.give_take(bench.ids()[0])
    other = sample.first_project(bench.store)
    old, _ = export.write(bench.store, other.token, Options())
    made = [export.write(bench.store, bench.token, Options())[0] for _ in range(3)]
    assert set(bench.store.scratch.iterdir()) == {old, made[-1]}
    assert found_export(bench.store, bench.token, made[-1].stem) == made[-1]
    assert found_export(bench.store, other.token, made[-1].stem) is None
    assert found_export(bench.store, bench.token, "../studio") is None
    an_hour_ago = time.time() - KEEP_SECONDS - 1
    os.utime(old, (an_hour_ago, an_hour_ago))
    path, _ = export.write(bench.store, bench.token, Options())
    assert set(bench.store.scratch.iterdir()) == {path}
