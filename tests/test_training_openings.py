"""Rows that go on from another utterance, the record of runs, and the way of a checkpoint into the tree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

pytest.importorskip("hibari", reason="needs requirements-training.txt")

from training import config, dataset, export, model, place
from training.dataset import Item
from training.model import guidance
from training.openings import LONGEST, Openings
from zonos.config import ZonosConfig
from zonos.hub.locate import MINI_FOLDER
from zonos.text.tokens import tokenise

FRAME_RATE = 31.25
REAL = 3


def item(words: str, frames: int, clips: list[int]) -> Item:
    tokens = torch.tensor(tokenise(words))
    return Item(
        tokens=tokens,
        times=torch.linspace(0, frames / FRAME_RATE, len(tokens)),
        codes=torch.arange(9 * frames).view(9, frames).short() % 1024,
        voices=torch.stack([torch.full((128,), float(clip)) for clip in clips]),
        emotion=(0.0,) * 7 + (1.0,),
        pitch_std=30.0,
        speaking_rate=12.0,
    )


FIRST, SECOND, STRANGER = item("wˈʌn", 20, [1, 2]), item("tˈuː", 30, [1, 3]), item("θɹˈiː", 25, [7])


def test_only_utterances_of_one_voice_are_joined() -> None:
    openings = Openings([FIRST, SECOND, STRANGER], FRAME_RATE)
    rows = [row for seed in range(20) for row in openings.draw(np.random.default_rng(seed), share=1.0)]
    assert {row.opening for row in rows} == {20, 30}
    for row in rows:
        first, second = (FIRST, SECOND) if row.opening == 20 else (SECOND, FIRST)
        assert torch.equal(row.codes, torch.cat([first.codes, second.codes], dim=1))


def test_an_opening_may_be_of_several_utterances() -> None:
    voice = [item(word, frames, [1]) for word, frames in (("wˈʌn", 20), ("tˈuː", 30), ("fˈoːɹ", 7))]
    openings = Openings(voice, FRAME_RATE)
    rows = [row for seed in range(30) for row in openings.draw(np.random.default_rng(seed), share=1.0)]
    assert {row.opening for row in rows} == {20, 30, 7, 50, 27, 37}
    for row in rows:
        own = {20: 20, 30: 30, 7: 7}[row.codes.shape[1] - row.opening]
        assert own != row.opening
        told = len(row.tokens) > max(len(one.tokens) for one in voice)
        assert told == (float(row.times[0]) < 0.01)


def test_what_is_too_long_is_left_out() -> None:
    long = item("a", LONGEST - 30, [1])
    assert Openings([long, FIRST], FRAME_RATE).draw(np.random.default_rng(0), share=1.0) == []


def test_words_stand_as_the_product_puts_them() -> None:
    row = Openings([], FRAME_RATE).join(FIRST, SECOND, told=True)
    assert row.tokens.tolist() == list(tokenise("wˈʌn tˈuː"))
    assert row.times.shape == row.tokens.shape
    assert (row.times.diff() >= 0).all()
    assert float(row.times[-1]) == pytest.approx(50 / FRAME_RATE)
    silent = Openings([], FRAME_RATE).join(FIRST, SECOND, told=False)
    assert silent.tokens.tolist() == SECOND.tokens.tolist()
    torch.testing.assert_close(silent.times, SECOND.times + 20 / FRAME_RATE)


def test_given_frames_are_inputs_and_never_targets() -> None:
    shape = ZonosConfig.from_file(MINI_FOLDER / "config.json")
    row = Openings([], FRAME_RATE).join(FIRST, SECOND, told=True)
    batch = dataset.collate([row], shape, REAL, np.random.default_rng(0), noisy=False)
    assert batch.openings == [20]
    for k in range(REAL):
        asked = batch.targets[:, k]
        asked = asked[(asked >= 0) & (asked < shape.eos_token_id)]
        assert asked.tolist() == SECOND.codes[k].tolist()
        assert batch.rows.frames[0][k, k + 1 : k + 21].tolist() == FIRST.codes[k].tolist()


def test_attention_during_the_opening_is_not_guided() -> None:
    frames, given = 40, 25
    times = torch.linspace(0, frames / FRAME_RATE, 10)
    attention = torch.full((1, 50, 50), 0.02)
    nearest = (times[None] - (torch.arange(frames)[:, None] + 0.5) / FRAME_RATE).abs().argmin(1)
    for frame in range(given, frames):
        attention[0, 10 + frame, :10] = 0.0
        attention[0, 10 + frame, nearest[frame]] = 1.0
    judged = [float(guidance([attention], [10], [frames], [times], [n], FRAME_RATE)) for n in (0, given)]
    assert judged[1] < 0.1 < judged[0]


@pytest.fixture
def going_on(tmp_path: Path) -> config.Config:
    """A run that began with the checkpoint in place."""
    values = json.loads(config.DEFAULT.with_name("continue.json").read_text(encoding="utf-8"))
    values["runs"] = str(tmp_path / "runs")
    found = config.Config.model_validate(values)
    (found.runs / "model" / "items").mkdir(parents=True)
    torch.save([vars(FIRST), vars(SECOND)], found.runs / "model" / "items" / "shard-0000.pt")
    codec = found.runs / "codec"
    codec.mkdir()
    for name in ("codec.json", "codec.safetensors"):
        shutil.copyfile(MINI_FOLDER / name, codec / name)
    return found


def test_the_record_of_runs_goes_on(going_on: config.Config, tmp_path: Path) -> None:
    before = model.history(MINI_FOLDER)
    past = export.write_history(tmp_path, going_on, {"step": 12, "seconds": 120.0})
    assert past["begun"] == before["begun"] == "random numbers"
    assert past["runs"][:-1] == before["runs"]
    last = past["runs"][-1]
    assert (last["steps"], last["minutes"], last["utterances"]) == (12, 2, 2)
    export.write_card(tmp_path, going_on, past)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| 12 | 2700 | 2 |" in card
    assert "{" not in card


def test_a_second_export_tells_a_run_once(going_on: config.Config, tmp_path: Path) -> None:
    """Even when the first was put in place of what the run began with."""
    (going_on.runs / "model" / export.HISTORY).write_text('{"begun": "random numbers", "runs": []}')
    for steps in (12, 14):
        past = export.write_history(tmp_path, going_on, {"step": steps, "seconds": 60.0})
        assert [run["steps"] for run in past["runs"]] == [steps]


def test_weights_without_a_record_are_not_called_begun_from_random_numbers(tmp_path: Path) -> None:
    assert str(tmp_path) in model.history(tmp_path)["begun"]
    assert model.history(None)["begun"] == "random numbers"


def test_placing_puts_every_part_where_it_belongs(tmp_path: Path) -> None:
    made, root = tmp_path / "export", tmp_path / "tree"
    (made / "voices").mkdir(parents=True)
    for folder in ("zonos/checkpoints/mini", "examples/voices", "tests/data/mini"):
        (root / folder).mkdir(parents=True)
    (root / "zonos/checkpoints/mini/stale.safetensors").write_text("old")
    for name in (*place._NEEDED, "voices/heart.wav"):
        (made / name).write_text(name)
    save_file({"speaker/heart": torch.ones(3), "greedy0/codes": torch.zeros(2)}, made / "golden.safetensors")
    place.run(made, root)
    files = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    assert files == {
        *(f"zonos/checkpoints/mini/{name}" for name in place._NEEDED if not name.startswith("golden")),
        "examples/voices/Heart.wav",
        "tests/data/mini/greedy.json",
        "tests/data/mini/greedy.safetensors",
        "tests/data/mini_codec.safetensors",
        "tests/data/mini_speaker.safetensors",
    }
    assert list(load_file(root / "tests/data/mini_speaker.safetensors")) == ["heart"]


@pytest.mark.parametrize("lacking", ["golden_codec.safetensors", "README.md", "voices/heart.wav"])
def test_what_is_no_whole_export_changes_nothing(tmp_path: Path, lacking: str) -> None:
    made, kept = tmp_path / "export", tmp_path / "zonos/checkpoints/mini/config.json"
    (made / "voices").mkdir(parents=True)
    for name in {*place._NEEDED, "voices/heart.wav"} - {lacking}:
        (made / name).write_text(name)
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    with pytest.raises(FileNotFoundError, match=lacking.split("/")[0]):
        place.run(made, tmp_path)
    assert kept.read_text() == "kept"
