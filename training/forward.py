"""The model's full-sequence pass for training: `zonos.model.Zonos`'s own modules on padded batches.

A row is its prefix and then its delayed frames, from position 0 on, padded at the end; attention is
causal, so no real position ever sees padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from zonos.conditioning import (
    Conditioner,
    EspeakPhonemeConditioner,
    FourierConditioner,
    IntegerConditioner,
)
from zonos.model import Zonos
from zonos.transformer import AttentionBlock, rotary_table


class Rows(NamedTuple):
    """A batch of B rows.

    Attributes:
        tokens: phoneme ids of each row, [characters + 2].
        values: for every other conditioner by name, float [B, width].
        keep: for the same names, bool [B]: False leaves the conditioner out.
        frames: delayed input frames of each row, int64 [codebooks, steps].
    """

    tokens: list[Tensor]
    values: dict[str, Tensor]
    keep: dict[str, Tensor]
    frames: list[Tensor]


class Passed(NamedTuple):
    """What a pass gives.

    Attributes:
        hidden: [B, L, d_model] after the final norm.
        prefix: length of each row's prefix.
        attention: for each guided layer the weights of head 0, [B, L, L].
    """

    hidden: Tensor
    prefix: list[int]
    attention: list[Tensor]


def forward(model: Zonos, rows: Rows, guided: Sequence[int] = ()) -> Passed:
    """Run whole rows; ``guided`` are the layers whose attention is wanted."""
    prefixes = prefix(model, rows)
    whole = [torch.cat([p, embed(model, f)]) for p, f in zip(prefixes, rows.frames, strict=True)]
    x = pad_sequence(whole, batch_first=True)  # [B, L, d]
    length = x.shape[1]
    rotary = rotary_table(torch.arange(length, device=x.device), model.config.backbone.head_dim)
    hidden_future = torch.full((length, length), float("-inf"), device=x.device).triu(1)
    seen: list[Tensor] = []
    for number, layer in enumerate(model.backbone.layers):
        block = cast(AttentionBlock, layer)
        y, weights = _attend(block, block.norm(x), rotary, hidden_future)
        if number in guided:
            seen.append(weights[:, 0])
        x = x + y
        x = x + _mlp(block, block.norm2(x))
    return Passed(model.backbone.norm_f(x), [len(p) for p in prefixes], seen)


def prefix(model: Zonos, rows: Rows) -> list[Tensor]:
    """Prefix embeddings of each row, [n, d_model]."""
    conditioner = model.prefix_conditioner
    modules = dict(
        zip(conditioner.names, cast("list[Conditioner]", list(conditioner.conditioners)), strict=True)
    )
    text = cast(EspeakPhonemeConditioner, modules["espeak"]).phoneme_embedder
    others = torch.stack(
        [_embed(m, rows.values[n], rows.keep[n]) for n, m in modules.items() if n != "espeak"], dim=1
    )
    lengths = [len(t) + others.shape[1] for t in rows.tokens]
    packed = torch.cat(
        [torch.cat([text(t), o.to(text.weight.dtype)]) for t, o in zip(rows.tokens, others, strict=True)]
    )
    return list(conditioner.norm(conditioner.project(packed)).split(lengths))


def _embed(module: Conditioner, values: Tensor, keep: Tensor) -> Tensor:
    """One conditioner over the batch, [B, d_model]; where ``keep`` is False its learned vector."""
    if isinstance(module, FourierConditioner):
        scaled = (values - module.low) / (module.high - module.low)
        features = 2 * torch.pi * scaled @ module.weight.T
        embedded = torch.cat([features.cos(), features.sin()], dim=-1)
    elif isinstance(module, IntegerConditioner):
        embedded = module.int_embedder(values[:, 0].long() - module.low)
    else:
        embedded = values
    assert module.uncond_vector is not None
    return torch.where(keep[:, None], module.project(embedded).float(), module.uncond_vector)


def embed(model: Zonos, frames: Tensor) -> Tensor:
    """Delayed frames [codebooks, n] -> [n, d_model]."""
    return torch.stack([table(f) for table, f in zip(model.embeddings, frames, strict=True)]).sum(0)


def _attend(block: AttentionBlock, x: Tensor, rotary: Tensor, future: Tensor) -> tuple[Tensor, Tensor]:
    """x [B, L, d] -> the mixer's output [B, L, d] and its weights [B, heads, L, L].

    Written out: on the CPU in bfloat16 it is faster than the fused kernel, and the weights are needed.
    """
    mixer, (batch, length, _) = block.mixer, x.shape
    q, k, v = mixer.project(x.flatten(0, 1), rotary.repeat(batch, 1, 1))
    group = mixer.heads // mixer.kv_heads
    q, k, v = (t.unflatten(0, (batch, length)).transpose(1, 2) for t in (q, k, v))  # [B, heads, L, d]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    weights = ((q @ k.mT).float() * mixer.head_dim**-0.5 + future).softmax(-1)
    mixed = (weights.to(v.dtype) @ v).transpose(1, 2).flatten(2)
    return mixer.out_proj(mixed), weights


def _mlp(block: AttentionBlock, x: Tensor) -> Tensor:
    # The model's own MLP may use kernels without gradients; the formula is its docstring's.
    y, gate = block.mlp.fc1(x).chunk(2, dim=-1)
    out: Tensor = block.mlp.fc2(y * F.silu(gate))
    return out
