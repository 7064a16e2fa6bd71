"""Whole checkpoints in a folder: a random hybrid with the embedded codec, transformers with DAC."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from engines import VOICES, finals
from failing import run_out_of_memory
from hybrid_tiny import hybrid_config
from safetensors.torch import load_file, save_file

import zonos
from benchmarks.random_model import random_config, random_tensors
from zonos.config import ZonosConfig
from zonos.engine import Engine
from zonos.events import Accepted, AudioChunk, Done, Event, Failed, Started
from zonos.hub.locate import MINI_FOLDER
from zonos.line import HYBRID_ONLY, Line
from zonos.request import make_request

DATA = Path(__file__).parent / "data"
HYBRID_VALUES: dict[str, Any] = {
    "vqscore_8": (0.78,) * 8,
    "ctc_loss": 300.0,
    "dnsmos_ovrl": 4.0,
    "speaker_noised": True,
}
SECONDS = 1.0  # random weights find no end by themselves


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def write_checkpoint(folder: Path, config: ZonosConfig) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(config.model_dump_json())
    save_file(dict(random_tensors(config, seed=6)), folder / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def hybrid_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random hybrid; codec and speaker encoder are the embedded checkpoint's."""
    folder = write_checkpoint(tmp_path_factory.mktemp("hybrid"), hybrid_config())
    for part in ("codec", "speaker"):
        for suffix in (".json", ".safetensors"):
            (folder / (part + suffix)).symlink_to(MINI_FOLDER / (part + suffix))
    return folder


@pytest.fixture
def load(hybrid_folder: Path) -> Callable[..., Engine]:
    return lambda **options: start(hybrid_folder, **options)


def start(folder: Path, **options: Any) -> Engine:
    return zonos.load(str(folder), device="cpu", dtype="float32", inline=True, voices=VOICES, **options)


def line(text: str, seed: int, **settings: Any) -> Line:
    return Line(text=text, seed=seed, **{"max_seconds": SECONDS, **settings})


def five() -> list[Line]:
    """Every hybrid setting on some row and not on others; guidance, voices and lengths mixed."""
    return [
        line("The kettle is on.", 1, voice="Heart", **HYBRID_VALUES),
        line("Can you hear me?", 2, voice="Marcus", cfg_scale=1, vqscore_8=0.6),
        line("We left at first light.", 3, emotion="happy", max_seconds=1.6, speaker_noised="auto"),
        line("No, wait.", 4, voice="Heart", cfg_scale=3, dnsmos_ovrl=2.5, ctc_loss="auto", top_k=30),
        line("and then home.", 5, prefix_audio="June", prefix_text="We walk", speaker_noised=True),
    ]


def codes(event: Event) -> bytes:
    assert isinstance(event, Done), event
    return b"".join(part.tobytes() for part in event.speech.codes)


@pytest.fixture(scope="module")
def alone(hybrid_folder: Path) -> list[bytes]:
    found = []
    for one in five():
        with start(hybrid_folder, slots=1) as engine:
            found.append(codes(finals(engine.submit([one]))[("0", 0)]))
    return found


@pytest.mark.parametrize("slots", [2, 5])
def test_hybrid_lines_do_not_know_their_neighbours(
    load: Callable[..., Engine], alone: list[bytes], slots: int
) -> None:
    """Mixed settings in one batch, another order, and lines that fail between them."""
    order = [3, 0, 4, 2, 1]
    named = [five()[i].model_copy(update={"id": f"line {i}"}) for i in order]
    bad = [line(" ", 1), line("Hi", 1, voice="Nobody"), line("Hi", 1, language="klingon")]
    with load(slots=slots) as engine:
        found = finals(engine.submit([bad[0], *named[:2], bad[1], *named[2:], bad[2]]))
    assert [codes(found[(f"line {i}", 0)]) == alone[i] for i in range(5)] == [True] * 5
    failed = [event.code for event in found.values() if isinstance(event, Failed)]
    assert sorted(failed) == ["empty_text", "unknown_language", "unknown_voice"]


def test_hybrid_line_whose_numbers_break_fails_alone(
    load: Callable[..., Engine], alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN in its recurrent state stays in its lane."""
    with load(slots=5) as engine:
        original = engine.pipeline.voice_vector

        def broken(clips: list[Path]) -> torch.Tensor:
            return original(clips) * (float("nan") if clips[0].stem == "Marcus" else 1)

        monkeypatch.setattr(engine.pipeline, "voice_vector", broken)
        found = finals(engine.submit(five()))
    event = found[("1", 0)]
    assert isinstance(event, Failed)
    assert event.code == "not_finite"
    assert [codes(found[(str(i), 0)]) == alone[i] for i in (0, 2, 3, 4)] == [True] * 4


def test_out_of_memory_rebuilds_the_states(
    load: Callable[..., Engine], alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_out_of_memory(monkeypatch, 12)
    with load(slots=5) as engine:
        found = finals(engine.submit(five()))
        assert engine.loop.slots == 2
    assert [codes(found[(str(i), 0)]) for i in range(5)] == alone


def test_hybrid_events_and_recipe(load: Callable[..., Engine], alone: list[bytes]) -> None:
    with load(slots=2) as engine:
        events = list(engine.submit(five()[:1], stream=True))
        kinds = [type(event) for event in events]
        assert kinds[:2] == [Accepted, Started]
        assert kinds[-1] is Done
        speech = events[-1].speech
        assert not any("hybrid" in warning for warning in speech.warnings)
        assert speech.ended == "length"
        assert speech.seconds == pytest.approx(SECONDS, abs=1 / engine.pipeline.codec.frame_rate)
        chunks = [event.samples for event in events if isinstance(event, AudioChunk)]
        assert np.array_equal(np.concatenate(chunks), speech.samples)
        assert {name: speech.recipe["line"][name] for name in HYBRID_ONLY} == {
            **HYBRID_VALUES,
            "vqscore_8": [0.78] * 8,
        }
        again = finals(engine.submit([Line.model_validate(speech.recipe["line"])]))
    assert codes(again[("0", 0)]) == codes(events[-1]) == alone[0]


# ---- conditioners ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HYBRID_ONLY)
def test_each_hybrid_setting_reaches_the_prefix(load: Callable[..., Engine], name: str) -> None:
    """The value's own embedding, and nothing else, is what changes before the joint projection."""
    with load() as engine:
        pipeline = engine.pipeline
        plain, wanted = (
            make_request(one, pipeline.defaults, pipeline.config, pipeline.codec.frame_rate).values
            for one in (line("Yes.", 1, **{name: "auto"}), line("Yes.", 1, **{name: HYBRID_VALUES[name]}))
        )
        assert name not in plain
        assert wanted == {**plain, name: HYBRID_VALUES[name]}
        ids = {"espeak": (2, 50, 60, 3)}
        prefixes = [pipeline.prefixes.make({**values, **ids}, twin=True) for values in (plain, wanted)]
    (without, twin), (with_it, same_twin) = prefixes
    place = len(ids["espeak"]) - 1 + pipeline.config.conditioner_names.index(name)
    changed = (without != with_it).any(1).nonzero().flatten().tolist()
    assert changed == [place]
    assert torch.equal(twin, same_twin)


def test_hybrid_defaults(load: Callable[..., Engine]) -> None:
    """The product's defaults: ctc_loss 0 and speaker_noised 0 are told, the two scores are left open."""
    with load() as engine:
        pipeline = engine.pipeline
        request = make_request(line("Yes.", 1), pipeline.defaults, pipeline.config, 30.0)
    told = {name: request.values.get(name) for name in HYBRID_ONLY}
    assert told == {"vqscore_8": None, "ctc_loss": 0.0, "dnsmos_ovrl": None, "speaker_noised": 0}
    assert request.warnings == ()


@pytest.mark.parametrize("name", HYBRID_ONLY)
def test_each_hybrid_setting_is_heard(load: Callable[..., Engine], name: str) -> None:
    lines = [line("Yes.", 1), line("Yes.", 1, **{name: HYBRID_VALUES[name]})]
    with load(slots=2) as engine:
        found = finals(engine.submit(lines))
    assert codes(found[("0", 0)]) != codes(found[("1", 0)])


# ---- other rates, other numbers of codebooks ---------------------------------------------------


@pytest.fixture
def tiny_folder(tmp_path: Path) -> Path:
    """The golden transformer with the tiny DAC: 44 100 Hz, 86.13 frames a second, no speaker encoder."""
    folder = tmp_path / "tiny"
    shutil.copytree(DATA / "dac", folder / "dac")
    for name in ("config.json", "model.safetensors"):
        shutil.copy(DATA / "tiny" / name, folder)
    return folder


@pytest.fixture
def five_codebooks_folder(tiny_folder: Path) -> Path:
    """A random transformer on the first five codebooks of the same codec."""
    config = random_config("transformer", d_model=32, n_layer=2, heads=4, n_codebooks=5)
    write_checkpoint(tiny_folder, config)
    dac = tiny_folder / "dac"
    settings = json.loads((dac / "config.json").read_text())
    (dac / "config.json").write_text(json.dumps({**settings, "n_codebooks": 5}))
    tensors = load_file(dac / "model.safetensors")
    gone = tuple(f"quantizer.quantizers.{k}." for k in range(5, 9))
    save_file({n: t for n, t in tensors.items() if not n.startswith(gone)}, dac / "model.safetensors")
    return tiny_folder


@pytest.mark.parametrize(("checkpoint", "codebooks"), [("tiny_folder", 9), ("five_codebooks_folder", 5)])
def test_a_checkpoint_brings_its_own_rates(
    request: pytest.FixtureRequest, checkpoint: str, codebooks: int
) -> None:
    lines = [
        line("Good morning.", 1, cfg_scale=2),
        line("How are you?", 2, cfg_scale=1, temperature=0.7),
        line("and home.", 3, prefix_audio="June", prefix_text="We walk"),
    ]
    with start(request.getfixturevalue(checkpoint), slots=3) as engine:
        codec = engine.pipeline.codec
        assert (codec.sample_rate, codec.hop, codec.n_codebooks) == (44_100, 512, codebooks)
        assert engine.preview(lines[0]).seconds == pytest.approx(1.1, abs=0.5)
        events = list(engine.submit(lines, stream=True))
        failed = finals(engine.submit([line("It fails.", 4, voice="Heart")]))[("0", 0)]
    assert isinstance(failed, Failed)
    assert failed.code == "no_speaker_encoder"
    for i in "012":
        done = next(event for event in events if isinstance(event, Done) and event.line == i)
        speech = done.speech
        frames = speech.codes[0].shape[1]
        assert speech.codes[0].shape[0] == codebooks
        assert frames == round(SECONDS * 44_100 / 512)
        assert speech.sample_rate == 44_100
        assert speech.samples.size == min(frames * 512, round(SECONDS * 44_100))
        chunks = [event for event in events if isinstance(event, AudioChunk) and event.line == i]
        assert {chunk.sample_rate for chunk in chunks} == {44_100}
        assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), speech.samples)


def test_hybrid_settings_on_a_transformer_are_warned_about(tiny_folder: Path) -> None:
    with start(tiny_folder) as engine:
        lines = [line("Yes.", 1), line("Yes.", 1, **HYBRID_VALUES)]
        found = finals(engine.submit(lines))
    plain, with_settings = (found[(str(i), 0)] for i in range(2))
    assert codes(plain) == codes(with_settings)
    assert isinstance(plain, Done)
    assert isinstance(with_settings, Done)
    (warning,) = set(with_settings.speech.warnings) - set(plain.speech.warnings)
    assert all(name in warning for name in HYBRID_ONLY)
