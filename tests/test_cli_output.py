"""Files and manifest of the command line: names, resuming, full disks, being stopped."""

from __future__ import annotations

import json
import signal
from typing import Any

import numpy as np
import pytest
import soundfile
from cli_support import RATE, CommandLine, HummingEngine, cli, hum, interrupt_at

from zonos.cli.manifest import hold
from zonos.cli.options import FORMAT_NAMES

__all__ = ["cli", "hum"]

THREE = [
    {"name": "one", "text": "One."},
    {"name": "two", "text": "Two."},
    {"name": "three", "text": "Three."},
]


# ---- names -----------------------------------------------------------------------------------------

UNSAFE = [
    "a/b",
    "a\\b",
    'say "hi": now?',
    "two\nrows",
    "..",
    "../../up",
    "CON",
    "x" * 300,
    "名前 😀",
    "تجربة",
    "a*b|c<d>",
]


def test_names_with_unsafe_characters_stay_in_the_folder(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"name": name, "text": "Hi."} for name in UNSAFE])
    found = cli("scene.jsonl")
    assert found.status == 0
    assert len(found.files) == len(UNSAFE)
    assert {path.name for path in cli.folder.iterdir()} == {"scene.jsonl", "out"}
    for entry in found.entries:
        assert (found.folder / entry["file"]).is_file()
        assert not set(entry["file"]) & set('/\\:*?"<>|\n')
        assert len(entry["file"].encode()) < 255


@pytest.mark.parametrize("names", [["a", "a", "a"], ["Intro", "intro", "INTRO"], ["a/b", "a:b", "a b"]])
def test_the_same_name_twice_makes_two_files(cli: CommandLine, hum: HummingEngine, names: list[str]) -> None:
    cli.script([{"name": name, "text": f"Line {i}"} for i, name in enumerate(names)])
    found = cli("scene.jsonl")
    assert len({name.casefold() for name in found.files}) == 3
    assert [entry["text"] for entry in found.entries] == ["Line 0", "Line 1", "Line 2"]


@pytest.mark.parametrize(
    ("template", "file"),
    [
        ("{n:02} {voice} {text}", "01 Heart Good day.wav"),
        ("{project}-{name}-{take}", "scene-hello-1.wav"),
        ("{emotion} {language} {seed}", "happy en-us 7.wav"),
    ],
)
def test_a_template_names_files(cli: CommandLine, hum: HummingEngine, template: str, file: str) -> None:
    cli.script([{"name": "hello", "text": "Good day", "voice": "Heart", "emotion": "happy", "seed": 7}])
    assert cli("scene.jsonl", "--name-template", template).files == [file]


def test_takes_get_files_of_their_own(cli: CommandLine, hum: HummingEngine) -> None:
    found = cli("--text", "Hello.", "--takes", "3", "--seed", "1")
    assert found.files == ["001 take 1.wav", "001 take 2.wav", "001 take 3.wav"]
    assert len({(found.folder / name).read_bytes() for name in found.files}) == 3


@pytest.mark.parametrize("name", ["Heart", "one", "HEART"])
def test_a_file_of_somebody_else_is_never_replaced(cli: CommandLine, hum: HummingEngine, name: str) -> None:
    clip = cli.write(f"out/{name}.wav", b"a clip of my own")
    found = cli("--text", "Hello.", "--name-template", name)
    assert clip.read_bytes() == b"a clip of my own"
    assert found.entries[0]["file"] == f"{name} (2).wav"


def test_a_second_run_replaces_its_own_files_and_says_so(cli: CommandLine, hum: HummingEngine) -> None:
    cli("--text", "Hello.")
    found = cli("--text", "Good bye now.")
    assert found.files == ["001.wav"]
    assert [entry["text"] for entry in found.entries] == ["Good bye now."]
    assert "Replacing 001.wav" in found.err


# ---- how they are stored ---------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMAT_NAMES)
def test_formats(cli: CommandLine, hum: HummingEngine, format: str) -> None:
    found = cli("--text", "One two three four five six.", "--format", format)
    assert found.status == 0
    data = (found.folder / found.files[0]).read_bytes()
    start = {"wav": b"RIFF", "flac": b"fLaC", "ogg": b"OggS", "opus": b"OggS"}.get(format.rstrip("234f"))
    assert start is None or data.startswith(start)
    assert len(data) > 1000


def test_loudness_and_trim_are_recorded_and_done(cli: CommandLine, hum: HummingEngine) -> None:
    import pyloudnorm

    text = "One two three four five six seven."
    found = cli("--text", text, "--loudness", "-30", "--trim", "--format", "wav32f")
    samples, rate = soundfile.read(found.folder / "001.wav")
    assert pyloudnorm.Meter(rate).integrated_loudness(samples) == pytest.approx(-30, abs=0.2)
    assert (found.entries[0]["loudness"], found.entries[0]["trim"]) == (-30.0, True)
    assert found.entries[0]["seconds"] == pytest.approx(len(samples) / rate, abs=1e-3)


def test_join_keeps_order_and_gaps(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"text": "A b c", "seed": 0}, {"text": "D", "seed": 150}, {"text": "E f", "seed": 300}])
    found = cli("scene.jsonl", "--join", "all.flac", "--gap", "0.25", "--takes", "2")
    samples, rate = soundfile.read(cli.folder / "all.flac")
    assert found.status == 0
    assert len(samples) / rate == pytest.approx(0.3 + 0.25 + 0.1 + 0.25 + 0.2, abs=0.001)
    assert not np.any(samples[round(0.31 * RATE) : round(0.54 * RATE)])
    assert np.any(samples[round(0.56 * RATE) : round(0.64 * RATE)])


@pytest.mark.parametrize("format", ["mp3", "opus", "aac", "ogg"])
def test_join_reads_back_what_it_wrote(cli: CommandLine, hum: HummingEngine, format: str) -> None:
    cli.script([{"text": "A b c d e"}, {"text": "F g h"}])
    found = cli("scene.jsonl", "--format", format, "--join", "all.wav", "--gap", "1")
    samples, rate = soundfile.read(cli.folder / "all.wav")
    assert found.status == 0
    assert len(samples) / rate == pytest.approx(1.8, abs=0.4)  # coders add up to a frame at each end


@pytest.mark.parametrize("target", ["out/two.wav", "./out/../out/two.wav"])
def test_join_never_replaces_a_line(cli: CommandLine, hum: HummingEngine, target: str) -> None:
    cli.script(THREE)
    found = cli("scene.jsonl", "--join", target)
    assert (found.status, hum.loads) == (2, [])
    assert "--join" in found.err


def test_join_says_what_it_lacks(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"text": "A"}, {"text": "B"}])
    hum.dumb = {"B"}
    found = cli("scene.jsonl", "--join", "all.wav")
    assert found.status == 1
    assert "all.wav lacks 1 of the lines" in found.err
    assert "without 1 line that failed" in found.out


def test_join_says_what_it_lacks_to_programs(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"text": "One."}, {"text": "Two.", "voice": "nobody"}])
    found = cli("scene.jsonl", "--skip-bad", "--join", "all.wav", "--json")
    events = [json.loads(line) for line in found.out.splitlines()]
    assert [event["missing"] for event in events if event["event"] == "joined"] == [1]


# ---- resuming --------------------------------------------------------------------------------------


def test_resume_without_anything_to_do_loads_no_model(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script(THREE)
    before = cli("scene.jsonl")
    contents = [(before.folder / name).read_bytes() for name in before.files]
    hum.loads.clear()
    found = cli("scene.jsonl", "--resume")
    assert (found.status, hum.loads) == (0, [])
    assert found.entries == before.entries
    assert [(found.folder / name).read_bytes() for name in found.files] == contents
    assert "3 kept" in found.err


def change_text(cli: CommandLine) -> None:
    cli.script([THREE[0], {**THREE[1], "text": "Two changed."}, THREE[2]])


def change_setting(cli: CommandLine) -> None:
    cli.script([THREE[0], {**THREE[1], "speaking_rate": 20}, THREE[2]])


def remove_file(cli: CommandLine) -> None:
    (cli.folder / "out" / "two.wav").unlink()


def lose_entry(cli: CommandLine) -> None:
    """A kill while the manifest was being written."""
    path = cli.folder / "out" / "manifest.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (cli.folder / "out" / "two.wav").unlink()
    path.write_bytes(lines[0] + lines[2] + lines[1][:70])


@pytest.mark.parametrize("change", [change_text, change_setting, remove_file, lose_entry])
def test_resume_makes_only_what_is_missing_or_changed(
    cli: CommandLine, hum: HummingEngine, change: Any
) -> None:
    cli.script(THREE)
    cli("scene.jsonl")
    hum.spoken.clear()
    change(cli)
    found = cli("scene.jsonl", "--resume")
    assert found.status == 0
    assert [text.split(maxsplit=1)[0].strip(".") for text in hum.spoken] == ["Two"]
    assert found.files == ["one.wav", "three.wav", "two.wav"]
    assert sorted(entry["name"] for entry in found.entries) == ["one", "three", "two"]


def test_resume_notices_another_clip_of_the_same_name(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("voices/anna.wav", b"first")
    cli.script([{"text": "By Anna", "voice": "anna"}, {"text": "By nobody"}])
    cli("scene.jsonl")
    cli.write("voices/anna.wav", b"second")
    hum.spoken.clear()
    cli("scene.jsonl", "--resume")
    assert hum.spoken == ["By Anna"]


@pytest.mark.parametrize(
    "option", [["--format", "flac"], ["--loudness", "-20"], ["--trim"], ["--takes", "2"]]
)
def test_resume_follows_the_options(cli: CommandLine, hum: HummingEngine, option: list[str]) -> None:
    cli.script(THREE)
    cli("scene.jsonl")
    hum.spoken.clear()
    found = cli("scene.jsonl", "--resume", *option)
    assert (found.status, len(hum.spoken)) == (0, 3)


def test_a_row_put_in_at_the_top_costs_no_finished_line(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("lines.txt", "One.\nTwo.\n")
    before = cli("lines.txt")
    kept = {name: (before.folder / name).read_bytes() for name in before.files}
    cli.write("lines.txt", "Zero first.\nOne.\nTwo.\n")
    hum.spoken.clear()
    found = cli("lines.txt", "--resume")
    assert hum.spoken == ["Zero first."]
    assert len(found.files) == 3
    assert {name: (found.folder / name).read_bytes() for name in kept} == kept


def test_twin_rows_are_each_made_and_each_kept(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("lines.txt", "No.\nNo.\nNo.\n")
    assert len(cli("lines.txt").files) == 3
    hum.spoken.clear()
    assert cli("lines.txt", "--resume").status == 0
    assert hum.spoken == []


def test_a_failed_line_is_tried_again_and_its_failure_forgotten(cli: CommandLine, hum: HummingEngine) -> None:
    rows = [
        {"name": "a", "text": "A"},
        {"name": "b", "text": "B"},
        {"name": "c", "text": "C", "voice": "anna"},
    ]
    cli.script(rows)
    hum.dumb = {"A"}
    assert cli("scene.jsonl", "--skip-bad").status == 1
    hum.dumb = set()
    cli.write("voices/anna.wav", b"now she is here")
    found = cli("scene.jsonl", "--resume")
    assert found.status == 0
    assert [entry["status"] for entry in found.entries] == ["done", "done", "done"]


def test_two_runs_never_write_into_one_folder(cli: CommandLine, hum: HummingEngine) -> None:
    """Both would give their takes the same names, and the later would replace the earlier's."""
    cli.script(THREE)
    (cli.folder / "out").mkdir()
    with hold(cli.folder / "out"):
        found = cli("scene.jsonl")
    assert (found.status, hum.loads) == (2, [])
    assert "argument --out: another run writes into out; wait for it, or choose another place." in found.err
    assert cli("scene.jsonl").status == 0


# ---- being stopped ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("done", [1, 2])
def test_a_stop_keeps_what_is_done_and_resume_makes_the_rest(
    cli: CommandLine, hum: HummingEngine, number: int, done: int
) -> None:
    cli.script(THREE)
    hum.after = interrupt_at(done, number)
    before = signal.getsignal(signal.SIGINT)
    found = cli("scene.jsonl", "--json")
    assert found.status == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert len(found.files) == len(found.entries) == done
    assert [event["event"] for event in found.events].count("cancelled") == 3 - done
    assert "Stopped" in found.err
    assert "--resume" in found.err
    hum.spoken.clear()
    hum.after = lambda _: None
    assert cli("scene.jsonl", "--resume").status == 0
    assert len(hum.spoken) == 3 - done


def test_a_stop_after_the_last_take_stops_nothing(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script(THREE)
    hum.after = interrupt_at(3)
    assert cli("scene.jsonl").status == 0


def test_three_hundred_lines(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("book.txt", "".join(f"Line {number}\n" for number in range(300)))
    found = cli("book.txt")
    assert found.status == 0
    assert len(found.files) == len(found.entries) == 300
    assert [entry["row"] for entry in found.entries] == list(range(1, 301))
