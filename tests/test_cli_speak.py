"""The command line on the embedded checkpoint, and its dry run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile
from cli_support import CommandLine, cli, embedded
from engines import mini

from zonos.codec import frame_rate_of
from zonos.hub import resolve

__all__ = ["cli", "embedded"]

ROOT = Path(__file__).parents[1]


def test_a_mixed_script_with_bad_clips(cli: CommandLine, embedded: None) -> None:
    """A clip that is missing, empty or no sound fails alone; nobody else's voice is taken for it."""
    cli.write("empty.wav", b"")
    cli.write("letter.wav", "Dear Sir or Madam")
    cli.script(
        [
            {"name": "a", "text": "No, wait.", "voice": "Heart", "emotion": "happy"},
            {"name": "b", "text": "Hi.", "voice": "missing.wav"},
            {"name": "c", "text": "Hi.", "voice": "empty.wav"},
            {"name": "d", "text": "Hi.", "voice": "letter.wav"},
            {"name": "e", "text": "Yes.", "voice": str(ROOT / "examples/voices/Marcus.wav"), "happiness": 0},
            {"name": "f", "text": "?!"},
            {"name": "g", "text": "Hi.", "language": "klingon"},
        ]
    )
    found = cli("scene.jsonl", "--seed", "4", "--slots", "2", "--skip-bad")
    assert found.status == 1
    assert found.files == ["a.wav", "e.wav"]
    for entry in found.entries:
        if entry["status"] == "done":
            assert soundfile.info(found.folder / entry["file"]).duration == pytest.approx(
                entry["seconds"], abs=1e-3
            )
            assert (entry["ended"], entry["seed"], entry["model"]) == ("eos", 4, "mini")
        else:
            assert f"scene.jsonl row {entry['row']}: {entry['reason']}" in found.err
    codes = {entry["row"]: entry["code"] for entry in found.entries if entry["status"] == "failed"}
    clips = {2: "bad_row", 3: "unreadable_clip", 4: "unreadable_clip"}
    assert codes == clips | {6: "no_phonemes", 7: "bad_row"}


def test_a_manifest_entry_makes_its_take_again(cli: CommandLine, embedded: None) -> None:
    first = cli("--text", "No, wait.", "--voice", "Vera", "--takes", "2", "--emotion", "sadness=1")
    cli.script([entry["recipe"]["line"] for entry in first.entries])
    again = cli("scene.jsonl", out="again")
    assert (first.status, again.status) == (0, 0)
    sounds = [[(run.folder / entry["file"]).read_bytes() for entry in run.entries] for run in (first, again)]
    assert sounds[0] == sounds[1]
    assert sounds[0][0] != sounds[0][1]


def test_as_a_program(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "zonos",
        "--text",
        "Yes.",
        "",
        "--voice",
        "June",
        "--json",
        "--seed",
        "1",
    ]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events if event["event"] != "progress"] == [
        *("run", "accepted", "started", "done", "end")
    ]
    assert soundfile.info(tmp_path / "001.wav").duration == pytest.approx(events[-2]["seconds"], abs=1e-3)
    assert "row without text is skipped (row 2)" in done.stderr
    assert not (tmp_path / "zonos.log").exists()


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a dry run loaded a model")

    for place in ("zonos.engine.load", "zonos.engine.load_pipeline", "zonos.hub.weights.iter_tensors"):
        monkeypatch.setattr(place, refuse)


LONG = "The harbour lay quiet in the early light, and nobody had yet come down to the boats. " * 8


def test_a_dry_run_shows_phonemes_lengths_pieces_and_memory(cli: CommandLine, no_model: None) -> None:
    found = cli("--text", "Hello [[wɜːld]].", LONG, "--voice", "Heart", "--takes", "2", "--dry-run")
    assert found.status == 0
    assert "wɜːld" in found.out
    assert "1 piece ·" in found.out
    assert "Memory on cpu in float32" in found.out
    assert re.search(r"Time: about \d+ (s|min) \(", found.out)
    assert not found.folder.exists()


def test_a_dry_run_for_programs(cli: CommandLine, no_model: None) -> None:
    found = cli("--text", "Hello.", LONG, "--voice", "Heart", "--dry-run", "--json", "--slots", "1")
    short, long, plan = found.events
    assert len(short["pieces"]) == 1 < len(long["pieces"])
    assert 0.2 < short["expected_seconds"] < 1.5 < 20 < long["expected_seconds"]
    assert plan["memory"]["rows"] == 1
    assert plan["memory"]["model_bytes"] > sum(p.numel() for p in mini().model.parameters()) * 4


@pytest.mark.parametrize("row", [{"voice": "Nobody"}, {"language": "klingon"}, {"text": "?!"}])
def test_a_dry_run_names_what_would_fail(cli: CommandLine, no_model: None, row: dict[str, str]) -> None:
    cli.script([{"text": "Hello."}, {"text": "Hi.", **row}])
    found = cli("scene.jsonl", "--dry-run")
    assert found.status == 1
    assert "scene.jsonl row 2: " in found.err
    assert "1 line, 1 take, about" in found.out
    assert "1 would fail." in found.out
    assert "həlˈoʊ" in found.out


def test_a_dry_run_downloads_nothing(
    cli: CommandLine, no_model: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody answers there
    found = cli("--text", "Hello.", "--model", "transformer", "--dry-run")
    assert found.status == 2
    assert "not on this machine" in found.err
    assert "127.0.0.1" not in found.err


def test_frame_rates_are_known_without_weights(data: Path) -> None:
    embedded = resolve("mini").codec.config
    assert embedded is not None
    assert frame_rate_of(json.loads(embedded.read_text())) == mini().codec.frame_rate
    assert frame_rate_of({"model_type": "dac", "sampling_rate": 44_100}) == 44_100 / 512
    dac = json.loads((data / "dac/config.json").read_text())
    assert frame_rate_of(dac) == pytest.approx(dac["sampling_rate"] / dac["hop_length"])
