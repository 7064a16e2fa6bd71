"""From nothing to a folder that the engine speaks with, by the real code on a handful of utterances."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("hibari", reason="needs requirements-training.txt")
pytest.importorskip("wordfreq", reason="needs requirements-training.txt")

import zonos
from training import codec, config, data, export, golden, model, speaker
from training.evaluate import emotions_as_intended
from training.listen import comparable, edits, error_rate
from training.teacher import Teacher
from training.texts import Writer
from zonos.events import Done, Failed
from zonos.hub.locate import MINI_FOLDER


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> config.Config:
    runs = tmp_path_factory.mktemp("runs")
    values = json.loads(config.DEFAULT.read_text(encoding="utf-8"))
    values["runs"] = str(runs)
    values["data"] |= {"shards": 1, "shard_size": 40, "utterances_per_pool_speaker": 9, "max_seconds": 4.0}
    values["codec"] |= {"steps": [2, 2], "batch": 2, "shards": 1, "warm_start": None, "threads": 1}
    values["speaker"] |= {"steps": 1, "classes": 8, "shards": 1, "batch": 4, "warm_start": None, "threads": 1}
    values["model"] |= {
        "shards": 1,
        "steps": 2,
        "tokens": 400,
        "warm_start": None,
        "threads": 1,
        "reset_deep": False,
    }
    values["model"]["shape"] = str(MINI_FOLDER / "config.json")
    return config.Config.model_validate(values)


def test_every_step_in_turn_and_the_engine_loads_the_result(
    settings: config.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "_HELD_OUT", 4)
    monkeypatch.setattr(golden, "_LONGEST", 4)
    folder = settings.runs / "data"
    folder.mkdir()
    made = data.make_utterances(settings.data, 0, np.random.default_rng(1), Teacher(), Writer())
    data.write_shard(data.shard_path(folder, 0), *made)
    codec.run(settings)
    speaker.run(settings)
    model.run(settings)
    exported = export.run(settings)
    assert max(path.stat().st_size for path in exported.iterdir()) < 10_000_000
    with zonos.load(
        str(exported), voices=zonos.VoiceFolder([exported / "voices"]), slots=2, device="cpu"
    ) as engine:
        lines = [
            zonos.Line(text="Hello there.", voice=name, max_seconds=1.0, seed=1) for name in ("heart", "otto")
        ]
        final = [event for event in engine.submit(lines) if isinstance(event, Done | Failed)]
        assert len(final) == 2
        assert engine.pipeline.defaults.cfg_scale == 2.0
        numbers = load_file(exported / "golden.safetensors")
        vector = engine.pipeline.voice_vector([exported / "voices" / "otto.wav"])
        torch.testing.assert_close(vector, numbers["speaker/otto"], atol=1e-5, rtol=1e-5)
        assert numbers["greedy0/codes"].shape[1] <= 4
        assert engine.pipeline.codec.decode(torch.zeros(9, 5, dtype=torch.long)).isfinite().all()


def test_the_run_to_go_on_with_finds_where_it_begins() -> None:
    going_on = config.load(config.DEFAULT.with_name("continue.json"))
    begin = going_on.model.warm_start
    assert begin == going_on.codec.warm_start == going_on.speaker.warm_start
    kept = codec.start(going_on)
    assert kept.codebooks.any(dim=-1).all()
    assert kept.config.real == config.load().codec.real_codebooks
    assert speaker.start(begin).config.centre == "level"
    with zonos.load(str(begin), slots=1) as engine:
        (end,) = [
            e for e in engine.submit([zonos.Line(text="Yes.", seed=1)]) if isinstance(e, (Done, Failed))
        ]
    assert isinstance(end, Done)


def test_codec_resumes_in_its_second_phase(
    settings: config.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case: a finished run started again changes nothing and does not refit the codebooks."""
    before = (settings.runs / "codec" / "codec.safetensors").read_bytes()
    codec.run(settings)
    assert (settings.runs / "codec" / "codec.safetensors").read_bytes() == before
    assert "energy left" not in capsys.readouterr().out


def test_pitch_is_read_at_the_middle_of_each_sub_frame() -> None:
    pitch = np.concatenate([np.zeros(4), np.linspace(100, 200, 8), np.zeros(4)]).astype(np.float32)
    read = codec.sub_frame_pitch(pitch, 256, 18)
    assert (read[:4] == 0).all()
    assert (read[-4:] == 0).all()
    voiced = read[read > 0]
    assert (np.diff(voiced) > 0).all()
    assert voiced.min() >= 100
    assert voiced.max() <= 200


def test_lda_keeps_what_tells_voices_apart() -> None:
    torch.manual_seed(0)
    encoder = speaker.start(None)
    labels = torch.arange(40).repeat_interleave(6)
    vectors = torch.randn(240, 256) * 3
    vectors[:, :5] = (torch.randn(40, 5) * 4)[labels] + 0.3 * torch.randn(240, 5)
    speaker.fit_lda(encoder, vectors, labels)
    made = vectors @ encoder.lda.weight.T + encoder.lda.bias
    centres = torch.stack([made[labels == i][:3].mean(0) for i in range(40)])
    rest = torch.stack([made[labels == i][3:].mean(0) for i in range(40)])
    assert (torch.cdist(rest, centres).argmin(1) == torch.arange(40)).float().mean() > 0.9
    assert float(made.detach().std()) == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    ("said", "heard", "wrong"),
    [("Two gray cats.", "2 grey cats", 0), ("Yes.", "Yes! Yes.", 1), ("a b c", "", 3), ("Why?", "why", 0)],
)
def test_word_errors(said: str, heard: str, wrong: int) -> None:
    assert edits(comparable(said), comparable(heard)) == wrong


def test_error_rate_weighs_words_not_lines() -> None:
    assert error_rate(["one", "two three four"], ["one", "two three"]) == pytest.approx(0.25)


def test_emotions_are_judged_against_neutral() -> None:
    plain = {"f0": 200.0, "f0 std": 30.0, "seconds": 10.0, "level": -25.0}
    moved = {
        "happy": {"f0": 240.0, "f0 std": 45.0, "seconds": 9.0, "level": -24.0},
        "sad": {"f0": 170.0, "f0 std": 20.0, "seconds": 12.0, "level": -30.0},
        "disgusted": {"f0": 170.0, "f0 std": 30.0, "seconds": 11.0, "level": -25.0},
        "afraid": {"f0": 250.0, "f0 std": 30.0, "seconds": 8.0, "level": -26.0},
        "surprised": {"f0": 260.0, "f0 std": 50.0, "seconds": 10.0, "level": -25.0},
        "angry": {"f0": 205.0, "f0 std": 40.0, "seconds": 9.0, "level": -20.0},
    }
    assert all(emotions_as_intended({"neutral": plain} | moved).values())
    assert not any(emotions_as_intended({"neutral": plain} | dict.fromkeys(moved, plain)).values())
