"""The training pass is the product's model: same numbers, right targets, a loss that falls, exact resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

pytest.importorskip("hibari", reason="needs requirements-training.txt")

from training import dataset
from training.config import ModelConfig
from training.export import read_model, tie_deep, write_model
from training.forward import forward
from training.model import Trainer, fresh, guidance, loss, silence_deep, turn_voices
from training.muon import orthogonal
from training.speaker import turn
from zonos.codebooks import fill_frame, prefix_cells
from zonos.config import ZonosConfig
from zonos.hub.locate import MINI_FOLDER

REAL = 4
FRAME_RATE = 31.25


class Nothing:
    """A cache that keeps nothing."""

    def prefill(self, layer: int, k: Tensor, v: Tensor) -> None: ...


class FakeCodec:
    class config:
        real = REAL

    frame_rate = FRAME_RATE


@pytest.fixture(scope="module")
def shape() -> ZonosConfig:
    whole = ZonosConfig.from_file(MINI_FOLDER / "config.json")
    backbone = whole.backbone.model_copy(
        update={"n_layer": 5, "attn_layer_idx": tuple(range(5)), "attn_mlp_d_intermediate": 64}
    )
    return whole.model_copy(update={"backbone": backbone})


def make_items(shape: ZonosConfig, count: int = 6) -> list[dataset.Item]:
    rng = np.random.default_rng(0)
    items = []
    for i in range(count):
        frames, characters = 6 + 3 * i, 4 + i
        codes = rng.integers(8, size=(shape.n_codebooks, frames))
        codes[REAL:] = 0
        items.append(
            dataset.Item(
                tokens=torch.from_numpy(rng.integers(4, 100, characters + 2)),
                times=torch.linspace(0, frames / FRAME_RATE, characters + 2),
                codes=torch.from_numpy(codes).short(),
                voices=torch.randn(2, 128, generator=torch.Generator().manual_seed(i)),
                emotion=(0.0,) * 7 + (1.0,),
                pitch_std=30.0,
                speaking_rate=12.0,
            )
        )
    return items


def settings(**changes: Any) -> ModelConfig:
    values = {"shards": 1, "steps": 40, "tokens": 400, "muon_lr": 0.02, "adam_lr": 0.003, "threads": 1, "hours": 1.0,
              "shape": "unused", "warm_start": None, "reset_deep": False}  # fmt: skip
    return ModelConfig.model_validate(values | changes)


def test_padded_training_pass_equals_the_products_prefill(shape: ZonosConfig) -> None:
    torch.manual_seed(0)
    model = fresh(shape, REAL)
    batch = dataset.collate(make_items(shape), shape, REAL, np.random.default_rng(0), noisy=False)
    with torch.no_grad():
        passed = forward(model, batch.rows)
        for row, frames in enumerate(batch.rows.frames):
            values = {name: v[row] for name, v in batch.rows.values.items()} | {
                "espeak": batch.rows.tokens[row]
            }
            values["language_id"] = values["language_id"].long()
            x = torch.cat(
                [
                    model.prefix_conditioner(values),
                    sum(t(f) for t, f in zip(model.embeddings, frames, strict=True)),
                ]
            )
            alone = model.backbone.prefill(x, [len(x)], Nothing())
            torch.testing.assert_close(passed.hidden[row, : len(x)], alone, atol=2e-4, rtol=1e-3)


def test_targets_are_what_generation_would_have_to_sample(shape: ZonosConfig) -> None:
    """Case: EOS in codebook 0 one frame after the last code, each cell where fill_frame puts it."""
    item = make_items(shape, 1)[0]
    batch = dataset.collate([item], shape, REAL, np.random.default_rng(0), noisy=False)
    n, count = item.codes.shape
    mask, eos = shape.masked_token_id, shape.eos_token_id
    frame = torch.full((1, n), mask)
    cells, eos_step = prefix_cells(item.codes[:, :0].long(), mask)[None], torch.tensor([-1])
    for step in range(batch.rows.frames[0].shape[1]):
        assert torch.equal(batch.rows.frames[0][:, step], frame[0]), f"input of step {step}"
        wanted = batch.targets[step]
        sampled = torch.where(wanted >= 0, wanted, 7)[None]
        filled = fill_frame(sampled, torch.tensor([step]), torch.tensor([999]), eos_step, cells, eos, mask)
        frame, eos_step = filled.frame, filled.eos_step
        assert torch.equal(frame[0][wanted >= 0], wanted[wanted >= 0])
    assert int(eos_step) == count
    for k in range(REAL):
        said = batch.targets[:, k]
        assert said[said >= 0].tolist() == item.codes[k].tolist() + ([eos] if k == 0 else [])


def test_conditions_are_dropped_together_and_alone() -> None:
    keep = dataset._keep(4000, np.random.default_rng(0), noisy=True)
    joint = torch.stack(list(keep.values())).any(0)
    assert 0.09 < 1 - joint.float().mean() < 0.15
    assert all(0.18 < 1 - k.float().mean() < 0.27 for k in keep.values())


def test_loss_falls_and_a_stopped_run_goes_on_as_if_it_had_not(shape: ZonosConfig) -> None:
    items = make_items(shape)

    def batch(step: int) -> dataset.Batch:
        return dataset.collate(items, shape, REAL, np.random.default_rng(step))

    torch.manual_seed(0)
    straight = Trainer(fresh(shape, REAL), settings(), FakeCodec())  # type: ignore[arg-type]
    losses = [straight.update(batch(i)) for i in range(8)]
    assert losses[-1]["cb0"] < 0.9 * losses[0]["cb0"]
    torch.manual_seed(0)
    first = Trainer(fresh(shape, REAL), settings(), FakeCodec())  # type: ignore[arg-type]
    for i in range(4):
        first.update(batch(i))
    state = first.state_dict()
    torch.manual_seed(1)
    second = Trainer(fresh(shape, REAL), settings(), FakeCodec())  # type: ignore[arg-type]
    second.load_state_dict(state)
    for i in range(4, 8):
        second.update(batch(i))
    for name, value in straight.average.items():
        torch.testing.assert_close(second.average[name], value, msg=name)


def test_guidance_rewards_looking_at_the_phoneme_being_said() -> None:
    frames, tokens = 20, 10
    times = torch.linspace(0, frames / FRAME_RATE, tokens)
    right, wrong = torch.zeros(1, 30, 30), torch.zeros(1, 30, 30)
    for frame in range(frames):
        at = int((times - (frame + 0.5) / FRAME_RATE).abs().argmin())
        right[0, 10 + frame, at] = 1.0
        wrong[0, 10 + frame, tokens - 1 - at] = 1.0
    scores = [float(guidance([a], [10], [frames], [times], [0], FRAME_RATE)) for a in (right, wrong)]
    assert scores[0] < 0.3 < 2 < scores[1]


def test_silent_codebooks_say_nothing_and_cost_nothing(shape: ZonosConfig) -> None:
    torch.manual_seed(0)
    model = fresh(shape, REAL)
    with torch.no_grad():
        model.backbone.norm_f.bias.normal_()
    silence_deep(model, REAL)
    tied = tie_deep(model.state_dict(), REAL)
    assert torch.equal(tied["embeddings.5.weight"][0], tied["embeddings.5.weight"][1023])
    assert not torch.equal(tied["embeddings.2.weight"][0], tied["embeddings.2.weight"][1023])
    batch = dataset.collate(make_items(shape), shape, REAL, np.random.default_rng(0), noisy=False)
    assert loss(model, batch, REAL, FRAME_RATE, deep=REAL)[1]["deep"] < 1.0


def test_every_silent_codebook_has_its_turn(shape: ZonosConfig) -> None:
    settings = ModelConfig(
        shards=1, steps=100, tokens=100, muon_lr=0.02, adam_lr=0.002, threads=1, hours=1.0,
        shape=MINI_FOLDER / "config.json", warm_start=None, reset_deep=False,
    )  # fmt: skip
    trainer = Trainer(fresh(shape, REAL), settings, FakeCodec())  # type: ignore[arg-type]
    turns = []
    for trainer.step in range(100):
        turns.append(trainer._silent())
    assert {turn for turn in turns if turn is not None} == set(range(REAL, shape.n_codebooks))
    assert sum(turn is not None for turn in turns) <= 25  # they cost what a real one costs


def test_a_new_last_layer_of_the_speaker_encoder_keeps_what_the_model_knows(shape: ZonosConfig) -> None:
    torch.manual_seed(0)
    model = fresh(shape, REAL)
    old = torch.randn(300, 128)
    new = old @ torch.randn(128, 128).T + torch.randn(128)
    module: Any = model.prefix_conditioner.conditioners[1]
    before = module.project(old)
    turn_voices(model, turn(new, old))
    assert float((module.project(new) - before).abs().mean()) < 0.1 * float(before.std())


def test_orthogonal_has_singular_values_near_one() -> None:
    values = torch.linalg.svdvals(orthogonal(torch.randn(40, 24), iterations=6).float())
    assert values.min() > 0.6
    assert values.max() < 1.4


def test_exported_model_is_split_and_whole(
    shape: ZonosConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.export.LARGEST_FILE", 2_000_000)
    tensors = fresh(shape, REAL).state_dict()
    write_model(tensors, tmp_path)
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    again = read_model(tmp_path)
    assert set(again) == set(tensors)
    assert all(torch.equal(again[n], v.bfloat16()) for n, v in tensors.items())
