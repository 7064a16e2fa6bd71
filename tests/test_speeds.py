"""The speed that this machine was seen to have, from one process to the next."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from engines import mini

from zonos.ahead import Ahead, frame_rate, look_ahead
from zonos.config import ZonosConfig
from zonos.engine import Engine
from zonos.hub import generation_defaults, resolve
from zonos.line import Line
from zonos.request import make_request
from zonos.speeds import Speeds
from zonos.words import duration

CPU, FP32 = torch.device("cpu"), torch.float32


@pytest.fixture
def speeds(tmp_path: Path) -> Speeds:
    return Speeds(tmp_path / "deep" / "speeds.json")


def test_kept_by_model_device_and_number_type(speeds: Speeds) -> None:
    assert speeds.get("mini", CPU, FP32) is None
    speeds.keep("mini", CPU, FP32, 80.0)
    speeds.keep("mini", CPU, torch.bfloat16, 60.0)
    again = Speeds(speeds.path)
    assert again.get("mini", CPU, FP32) == 80.0
    assert again.get("mini", CPU, torch.bfloat16) == 60.0
    assert again.get("other", CPU, FP32) is None
    assert [path.name for path in speeds.path.parent.iterdir()] == ["speeds.json"]


def test_a_small_change_is_not_written(speeds: Speeds) -> None:
    speeds.keep("mini", CPU, FP32, 80.0)
    speeds.keep("mini", CPU, FP32, 82.0)
    assert speeds.get("mini", CPU, FP32) == 80.0
    speeds.keep("mini", CPU, FP32, 40.0)
    assert speeds.get("mini", CPU, FP32) == 40.0


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"mini": "fast"}', "\x00"])
def test_a_broken_file_is_as_none(speeds: Speeds, broken: str) -> None:
    speeds.path.parent.mkdir()
    speeds.path.write_text(broken)
    assert speeds.get("mini", CPU, FP32) is None
    speeds.keep("mini", CPU, FP32, 80.0)
    assert speeds.get("mini", CPU, FP32) == 80.0


def test_a_place_that_cannot_be_written_costs_nothing_but_the_estimate(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Speeds(tmp_path / "file" / "speeds.json").keep("mini", CPU, FP32, 80.0)


def test_a_run_leaves_its_speed_behind_and_the_next_preview_goes_by_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Its own cache: another test of this process may have left the speed of the same model.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    guessed = _ahead()
    assert not guessed.measured
    kept = Speeds()
    with Engine(mini(), slots=2, speeds=kept) as engine:
        # As many measured steps as an estimate needs, whatever the line's length.
        for _ in range(40):
            engine.loop.pace.note(1, 1 / 250)
        for event in engine.submit([Line(text="Hi.", seed=1)]):
            del event
    speed = kept.get("mini", CPU, FP32)
    assert speed is not None
    known = _ahead()
    assert known.measured
    assert known.plan.seconds is not None
    assert guessed.plan.seconds is not None
    ratio = guessed.plan.seconds / known.plan.seconds
    assert ratio == pytest.approx(speed / 60.0, rel=0.01)


def test_a_preview_before_the_model_is_loaded_finds_what_the_run_left(
    speeds: Speeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)  # as a small model does when it is loaded
        speeds.keep("mini", CPU, FP32, 80.0)
        torch.set_num_threads(2)
        assert speeds.get("mini", CPU, FP32) == 80.0
    finally:
        torch.set_num_threads(before)


def _ahead() -> Ahead:
    checkpoint = resolve("mini", download=False)
    config = ZonosConfig.from_file(checkpoint.config)
    line = Line(text="The harbour lay quiet.")
    request = make_request(line, generation_defaults(checkpoint), config, frame_rate(checkpoint))
    return look_ahead(checkpoint, config, [request])


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (40.4, "40 s"), (89.4, "89 s"), (600, "10 min"), (5340, "89 min"), (7500, "2 h 5 min")],
)
def test_durations_are_as_exact_as_an_estimate(seconds: float, said: str) -> None:
    assert duration(seconds) == said
