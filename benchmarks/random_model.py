"""Checkpoints with random weights, of any size and of both kinds: for timing and for tests.

The weights are drawn so that the network behaves as a trained one does in the ways that matter to a
decoder: activations stay near 1 at any depth, attention and states look back, logits are spread
enough that sampling is neither uniform nor greedy, and EOS is rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from zonos.config import (
    AttentionConfig,
    BackboneConfig,
    ConditionerConfig,
    PrefixConfig,
    SsmConfig,
    ZonosConfig,
)
from zonos.model import Zonos, build, load_weights

LOGIT_SPREAD = 3.0  # standard deviation of the logits of a random model
ATTENTION_EVERY = 4  # layers, in the published hybrid
_HEAD_DIM = 128
_POOL = 3_000_017  # prime, so that no two rows of a matrix begin alike


def random_config(
    kind: str,
    *,
    d_model: int,
    n_layer: int,
    heads: int | None = None,
    kv_heads: int | None = None,
    mlp: int | None = None,
    ssm: SsmConfig | None = None,
    n_codebooks: int = 9,
) -> ZonosConfig:
    """A config like the published one of its kind, in another size.

    Args:
        kind: ``transformer`` or ``hybrid``; the latter has all the hybrid's conditioners.
        d_model: width.
        n_layer: layers, of which the hybrid has every fourth with attention.
        heads: attention heads; None = heads of 128, as published.
        kv_heads: key and value heads; None = a quarter.
        mlp: width of the MLP; None = four times ``d_model``, as published.
        ssm: Mamba2 layer of the hybrid; None = as published.
        n_codebooks: of the codec.
    """
    if kind not in ("transformer", "hybrid"):
        raise ValueError(f"kind is {kind!r}; it must be transformer or hybrid")
    hybrid = kind == "hybrid"
    heads = heads or d_model // _HEAD_DIM
    attention = AttentionConfig(
        num_heads=heads,
        num_heads_kv=kv_heads or max(1, heads // 4),
        rotary_emb_dim=d_model // heads,
        rotary_emb_interleaved=not hybrid,
    )
    return ZonosConfig(
        backbone=BackboneConfig(
            d_model=d_model,
            n_layer=n_layer,
            attn_mlp_d_intermediate=mlp or 4 * d_model,
            attn_layer_idx=tuple(range(0, n_layer, ATTENTION_EVERY if hybrid else 1)),
            attn_cfg=attention,
            ssm_cfg=ssm or SsmConfig(),
        ),
        prefix_conditioner=PrefixConfig(
            conditioners=tuple(ConditionerConfig.model_validate(c) for c in _conditioners(hybrid))
        ),
        n_codebooks=n_codebooks,
    )


def _conditioners(hybrid: bool) -> list[dict[str, Any]]:
    """The published conditioners in their order; ranges are those of the published configs."""
    fourier: dict[str, Any] = {"type": "FourierConditioner", "uncond_type": "learned"}
    integer: dict[str, Any] = {"type": "IntegerConditioner", "uncond_type": "learned"}
    shared: list[dict[str, Any]] = [
        {"type": "EspeakPhonemeConditioner", "name": "espeak"},
        {
            "type": "PassthroughConditioner",
            "name": "speaker",
            "cond_dim": 128,
            "uncond_type": "learned",
            "projection": "linear",
        },
        {**fourier, "name": "emotion", "input_dim": 8},
        {**fourier, "name": "fmax", "min_val": 0, "max_val": 24_000},
        {**fourier, "name": "pitch_std", "min_val": 0, "max_val": 400},
        {**fourier, "name": "speaking_rate", "min_val": 0, "max_val": 40},
        {**integer, "name": "language_id", "min_val": -1, "max_val": 126},
    ]
    extra: list[dict[str, Any]] = [
        {**fourier, "name": "vqscore_8", "input_dim": 8, "min_val": 0.5, "max_val": 0.8},
        {**fourier, "name": "ctc_loss", "min_val": -1.0, "max_val": 1000},
        {**fourier, "name": "dnsmos_ovrl", "min_val": 1, "max_val": 5},
        {**integer, "name": "speaker_noised", "min_val": 0, "max_val": 1},
    ]
    return shared + extra if hybrid else shared


def random_tensors(config: ZonosConfig, seed: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Weights of a checkpoint, one fp32 tensor at a time, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    pool = torch.empty(_POOL).normal_(generator=generator)
    # Each of the residual stream's writers adds its share, so that the sum stays near 1.
    depth = 1 / math.sqrt(2 * config.backbone.n_layer)
    for name, tensor in build(config).state_dict().items():
        noise = _noise(tensor.shape, pool, generator)
        yield name, _weight(name, noise, generator, depth, config.eos_token_id)


def _noise(shape: torch.Size, pool: Tensor, generator: torch.Generator) -> Tensor:
    """Standard normal numbers; a large tensor repeats the pool from anywhere, as drawing 1.6 billion takes minutes."""
    count = shape.numel()
    if count <= len(pool):
        return torch.empty(shape).normal_(generator=generator)
    turned = pool.roll(int(torch.randint(len(pool), (1,), generator=generator)))
    return turned.repeat(-(-count // len(pool)))[:count].view(shape)


def _weight(name: str, noise: Tensor, generator: torch.Generator, depth: float, eos_id: int) -> Tensor:
    """One tensor: standard normal ``noise`` turned into what its place in the network needs."""
    field = name.rsplit(".", 1)[-1]
    if field == "A_log":  # decay rates from 1 to 16, as Mamba2 starts out
        return torch.log(1 + 15 * torch.empty(noise.shape).uniform_(generator=generator))
    if field == "dt_bias":  # the inverse of softplus, for steps log-uniform from 0.001 to 0.1
        uniform = torch.empty(noise.shape).uniform_(generator=generator)
        step = torch.exp(math.log(1e-3) + uniform * math.log(100))
        return step + torch.log(-torch.expm1(-step))
    if field == "D" or ("norm" in name and field == "weight"):
        return 1 + 0.1 * noise
    if field in ("bias", "uncond_vector"):
        return 0.1 * noise
    if "embed" in name:
        return noise / 3 if name.startswith("embeddings") else noise  # a frame's embedding is a sum of 9
    fan_in = noise[0].numel()
    if name.startswith("heads"):
        heads = noise * LOGIT_SPREAD / math.sqrt(fan_in)
        return rare_eos(heads, eos_id)
    if "conditioners" in name and field == "weight" and "project" not in name:
        return noise  # Fourier frequencies
    writes_residual = name.endswith(("out_proj.weight", "fc2.weight"))
    return noise / math.sqrt(fan_in) * (depth if writes_residual else 1.0)


def rare_eos(heads: Tensor, eos_id: int) -> Tensor:
    """There is no bias in a head: EOS gets weights so small that its logit is near 0, below the best.

    Changes [codes and EOS, d_model] in place.
    """
    heads[eos_id] *= 0.01
    return heads


def random_model(
    config: ZonosConfig,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
) -> Zonos:
    """A model ready to run; never twice in memory."""
    return load_weights(build(config), random_tensors(config, seed), torch.device(device), dtype)


def parameter_count(config: ZonosConfig) -> int:
    """Parameters of a config, Fourier buffers left out, as the published counts are given."""
    return sum(parameter.numel() for parameter in build(config).parameters())
