"""The whole hybrid against an fp64 forward written here, and both published models' tensor lists."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from golden_tiny import OFF
from hybrid_tiny import SSM, Hybrid, hybrid_config
from safetensors.torch import load_file, save_file
from test_golden_model import logits_of_next_step
from test_mamba2 import recurrence
from torch import Tensor

from benchmarks.random_model import parameter_count, random_config, random_model, random_tensors
from zonos.codebooks import delay
from zonos.config import ZonosConfig
from zonos.errors import CheckpointError
from zonos.mamba2 import Mamba2, state_bytes_per_row
from zonos.model import Zonos, build, load_weights
from zonos.rows import RowPlan
from zonos.runner import Runner

DATA = Path(__file__).parent / "data"
STEPS = 24
CPU = torch.device("cpu")
PARAMETERS = {"transformer": 1_624_399_872, "hybrid": 1_651_798_912}  # as published


# ---- the network from its equations: whole sequences, fp64, no cache ---------------------------


def layer_norm(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def turn_halves(x: Tensor) -> Tensor:
    """Rotary embedding [frames, heads, d]: channel i pairs with i + d/2."""
    frames, _, width = x.shape
    angle = torch.arange(frames).double()[:, None] * 10_000.0 ** -(torch.arange(0, width, 2).double() / width)
    turn = torch.polar(torch.ones_like(angle), angle)[:, None]
    turned = torch.complex(x[..., : width // 2], x[..., width // 2 :]) * turn
    return torch.cat([turned.real, turned.imag], dim=-1)


def attention(x: Tensor, weights: dict[str, Tensor], name: str, heads: int, kv_heads: int) -> Tensor:
    width = x.shape[-1] // heads
    qkv = (x @ weights[f"{name}.in_proj.weight"].T).view(len(x), heads + 2 * kv_heads, width)
    q, k = turn_halves(qkv[:, :heads]), turn_halves(qkv[:, heads : heads + kv_heads])
    out = torch.empty_like(q)
    for head in range(heads):
        shared = head // (heads // kv_heads)
        scores = q[:, head] @ k[:, shared].T / math.sqrt(width)
        future = torch.ones_like(scores).triu(1).bool()
        out[:, head] = scores.masked_fill(future, -math.inf).softmax(-1) @ qkv[:, heads + kv_heads + shared]
    return out.flatten(1) @ weights[f"{name}.out_proj.weight"].T


def mlp(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    y, gate = (x @ weights[f"{name}.fc1.weight"].T).chunk(2, dim=-1)
    return (y * gate * gate.sigmoid()) @ weights[f"{name}.fc2.weight"].T


def reference_logits(model: Zonos, prefix: Tensor, frames: Tensor) -> Tensor:
    """prefix [tokens, d_model], delayed frames [codebooks, n] -> logits [n, codebooks, 1025] after each."""
    weights = {name: tensor.double() for name, tensor in model.state_dict().items()}
    shape = model.config.backbone.attn_cfg
    x = prefix.double()
    heard = sum(weights[f"embeddings.{k}.weight"][codes] for k, codes in enumerate(frames))
    x = torch.cat([x, heard])
    for i, layer in enumerate(model.backbone.layers):
        name = f"backbone.layers.{i}"
        normed = layer_norm(x, weights, f"{name}.norm")
        if i in model.config.backbone.attn_layer_idx:
            x = x + attention(normed, weights, f"{name}.mixer", shape.num_heads, shape.num_heads_kv)
        else:
            x = x + recurrence(layer.mixer, normed)[0]
        if f"{name}.mlp.fc1.weight" in weights:
            x = x + mlp(layer_norm(x, weights, f"{name}.norm2"), weights, f"{name}.mlp")
    hidden = layer_norm(x, weights, "backbone.norm_f")[len(prefix) :]
    heads = [weights[f"heads.{k}.weight"] for k in range(model.config.n_codebooks)]
    return torch.stack([hidden @ head.T for head in heads], dim=1)


@pytest.fixture(scope="module")
def hybrid() -> Hybrid:
    return Hybrid.load()


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("row", range(8))
def test_prefill_and_decode_with_an_fp64_forward(hybrid: Hybrid, row: int, scale: float) -> None:
    """Prefixes of 15 to 113 tokens around chunks of 32, some with audio behind them, then single frames."""
    assert_agrees(hybrid, row, scale)


@pytest.mark.parametrize(("attention_mlp", "mamba_mlp"), [(0, 0), (0, 48), (96, 48)])
def test_mlps_are_where_the_config_says(attention_mlp: int, mamba_mlp: int) -> None:
    widths = {"attn_mlp_d_intermediate": attention_mlp, "d_intermediate": mamba_mlp}
    backbone = hybrid_config().backbone.model_copy(update=widths)
    model = random_model(hybrid_config().model_copy(update={"backbone": backbone}), seed=4)
    names = {name for name in model.state_dict() if name.endswith("mlp.fc1.weight")}
    with_mlp = [i for i in range(6) if (attention_mlp if i % 4 == 0 else mamba_mlp)]
    assert names == {f"backbone.layers.{i}.mlp.fc1.weight" for i in with_mlp}
    assert_agrees(Hybrid(model), 2, 2.0)


def assert_agrees(hybrid: Hybrid, row: int, scale: float) -> None:
    """The runner's guided logits, after prefill and after each of some given frames."""
    model, heard = hybrid.model, hybrid.audio_prefix(row)
    prefixes = hybrid.prefixes(row)[: 1 if scale == 1 else 2]
    draw = torch.Generator().manual_seed(row)
    given = torch.randint(0, 1026, (model.config.n_codebooks, STEPS), generator=draw)
    delayed = torch.cat([delay(heard, 1025)[:, : heard.shape[1] + 1], given], dim=1)

    wanted = [reference_logits(model, prefix, delayed)[heard.shape[1] :] for prefix in prefixes]
    exact = wanted[-1] + (wanted[0] - wanted[-1]) * scale

    runner = Runner(model, slots=1)
    runner.admit([RowPlan(prefixes, heard, STEPS, 0, replace(OFF, cfg_scale=scale))])
    for found, expected in zip(forced(runner, given), exact, strict=True):
        torch.testing.assert_close(found.double(), expected, atol=1e-4, rtol=0)


@torch.inference_mode()
def forced(runner: Runner, frames: Tensor) -> Iterator[Tensor]:
    """Logits [codebooks, 1025] of the first row after its prefix, and after each delayed frame given."""
    yield logits_of_next_step(runner)[0, :, :1025]
    for frame in frames.T:
        runner.plans[0].position += 1
        runner.rows.position[0] += 1
        runner.rows.frame[0] = frame
        yield logits_of_next_step(runner)[0, :, :1025]


def test_the_reference_looks_back(hybrid: Hybrid) -> None:
    """What came first changes what is said much later, in both kinds of layers: else nothing is tested."""
    prefix = hybrid.prefixes(2)[0]
    frames = torch.zeros(9, 40, dtype=torch.int64)
    other = prefix.clone()
    other[0] = other[1]  # (a shift would be taken out by the norms)
    change = reference_logits(hybrid.model, prefix, frames) - reference_logits(hybrid.model, other, frames)
    assert change[-1].abs().max() > 0.01


# ---- tensor lists ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def configs() -> dict[str, ZonosConfig]:
    given = json.loads((DATA / "real_configs.json").read_text())
    return {kind: ZonosConfig.model_validate(config) for kind, config in given.items()}


@pytest.mark.parametrize("kind", PARAMETERS)
def test_published_keys_and_shapes(configs: dict[str, ZonosConfig], kind: str) -> None:
    published = json.loads((DATA / f"real_{kind}_keys.json").read_text())
    ours = {name: list(tensor.shape) for name, tensor in build(configs[kind]).state_dict().items()}
    assert ours == published
    assert parameter_count(configs[kind]) == PARAMETERS[kind]


@pytest.mark.parametrize("kind", PARAMETERS)
def test_random_models_have_the_published_make(configs: dict[str, ZonosConfig], kind: str) -> None:
    """What is timed with random weights is the network that was published."""
    real = configs[kind]
    ours = random_config(kind, d_model=real.backbone.d_model, n_layer=real.backbone.n_layer)
    assert ours == real


def test_state_of_the_published_hybrid(configs: dict[str, ZonosConfig]) -> None:
    """34 layers of 64 heads of 64 x 128, and 3 frames of 4352 channels, in fp32."""
    per_layer = (64 * 64 * 128 + 3 * 4352) * 4
    assert state_bytes_per_row(configs["hybrid"].backbone) == 34 * per_layer
    assert state_bytes_per_row(configs["transformer"].backbone) == 0


# ---- loading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_come_back_from_a_file(tmp_path: Path, dtype: torch.dtype) -> None:
    """The recurrence's own parameters keep fp32 in a bf16 model, all others are rounded once."""
    given = dict(random_tensors(hybrid_config(), seed=9))
    save_file(given, tmp_path / "model.safetensors")
    model = load_weights(build(hybrid_config()), load_file(tmp_path / "model.safetensors"), CPU, dtype)
    loaded = model.state_dict()
    assert loaded.keys() == given.keys()
    exact = {"A_log", "D", "dt_bias", "conv1d.weight", "conv1d.bias", "norm.weight"}
    for name, tensor in loaded.items():
        mamba = int(name.split(".")[2]) % 4 != 0 if name.startswith("backbone.layers") else False
        kept = mamba and name.split("mixer.")[-1] in exact
        assert tensor.dtype == (torch.float32 if kept else dtype), name
        assert torch.equal(tensor, given[name].to(tensor.dtype)), name
    assert model.dtype == dtype


def test_bf16_model_decodes_beside_its_fp32_self(hybrid: Hybrid) -> None:
    """Loose: bf16 rounds every activation, but must not drift away over a hundred frames."""
    rounded = load_weights(build(hybrid_config()), hybrid.model.state_dict(), CPU, torch.bfloat16)
    frames = torch.randint(0, 1024, (9, 100), generator=torch.Generator().manual_seed(1))
    last = []
    for model in (hybrid.model, rounded):
        runner = Runner(model, slots=1)
        prefixes = tuple(prefix.to(model.dtype) for prefix in hybrid.prefixes(2))
        runner.admit([RowPlan(prefixes, hybrid.audio_prefix(2), 120, 0, OFF)])
        *_, logits = forced(runner, frames)
        last.append(logits)
    exact, ours = last
    assert (ours - exact).norm() / exact.norm() < 0.1


def test_missing_recurrence_parameters_are_named() -> None:
    given = dict(random_tensors(hybrid_config()))
    del given["backbone.layers.1.mixer.A_log"]
    with pytest.raises(CheckpointError, match=r"backbone\.layers\.1\.mixer\.A_log is missing"):
        load_weights(build(hybrid_config()), given, CPU, torch.float32)


def test_every_layer_kind_is_there() -> None:
    kinds = [type(layer.mixer) is Mamba2 for layer in build(hybrid_config()).backbone.layers]
    assert kinds == [False, True, True, True, False, True]
    assert hybrid_config().backbone.ssm_cfg == SSM
