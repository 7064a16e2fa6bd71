"""The backbone: pre-norm blocks over a packed, slotted batch.

Two forms of forward share the weights. *Prefill* takes whole sequences packed one after another,
without padding. A *decode step* takes one frame for each lane (a row of the KV cache); its shapes
are static and it never looks at a tensor's value, so it can be traced and captured.
Formulas: Zonos-v0.1 backbone (LayerNorm, rotary attention with grouped KV heads, SwiGLU MLP).
"""

from __future__ import annotations

from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zonos.config import AttentionConfig, BackboneConfig
from zonos.elementwise import silu
from zonos.mamba2 import Mamba2

ROTARY_BASE = 10_000.0


class LayerState(Protocol):
    """Where one layer keeps what it remembers of every lane (see ``zonos.cache``)."""

    def prefill(self, layer: int, k: Tensor, v: Tensor) -> None:
        """Store keys and values [tokens, kv_heads, head_dim] of the packed sequences."""
        ...

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Append one key and value per lane, then attend: q [lanes, heads, head_dim] -> same."""
        ...

    def recurrent(self, layer: int) -> tuple[Tensor, Tensor]:
        """Views (conv_state, ssm_state) of the lanes in the batch, updated in place by a step."""
        ...

    def prefill_recurrent(self, layer: int, conv_state: Tensor, ssm_state: Tensor) -> None:
        """Store the recurrent states after prefill, one per sequence."""
        ...


def rotary_table(positions: Tensor, head_dim: int) -> Tensor:
    """Angles of the rotary embedding as ``[cos, sin]``: positions [n] -> [n, 2, head_dim / 2] fp32."""
    pairs = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32)
    inverse_frequency = 1.0 / ROTARY_BASE ** (pairs / head_dim)
    angles = positions.float()[:, None] * inverse_frequency
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def rotate(x: Tensor, rotary: Tensor, interleaved: bool) -> Tensor:
    """Rotate pairs of channels: x [n, heads, head_dim], rotary [n, 2, head_dim / 2].

    Interleaved pairs are (2i, 2i+1), otherwise (i, i + head_dim/2).
    """
    cos, sin = rotary[:, 0, None], rotary[:, 1, None]
    if interleaved:
        pairs = x.float().unflatten(-1, (-1, 2))
        a, b = pairs[..., 0], pairs[..., 1]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2).to(x.dtype)
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)


class Attention(nn.Module):
    """Causal self-attention with rotary embedding and grouped KV heads."""

    def __init__(self, d_model: int, config: AttentionConfig) -> None:
        super().__init__()
        self.heads, self.kv_heads = config.num_heads, config.num_heads_kv
        self.head_dim = d_model // config.num_heads
        self.interleaved = config.rotary_emb_interleaved
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        self.in_proj = nn.Linear(d_model, width, bias=config.qkv_proj_bias)
        self.out_proj = nn.Linear(self.heads * self.head_dim, d_model, bias=config.out_proj_bias)

    def project(self, x: Tensor, rotary: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [n, d_model] -> q [n, heads, d], k and v [n, kv_heads, d], q and k rotated."""
        qkv = self.in_proj(x).unflatten(-1, (-1, self.head_dim))
        q, k, v = qkv.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        # One rotation for q and k: they share positions and angles.
        turned = rotate(qkv[:, : self.heads + self.kv_heads], rotary, self.interleaved)
        q, k = turned.split([self.heads, self.kv_heads], dim=1)
        return q, k, v

    def prefill(self, x: Tensor, rotary: Tensor, lengths: list[int], layer: int, state: LayerState) -> Tensor:
        """Packed sequences x [tokens, d_model]; each attends to itself only."""
        q, k, v = self.project(x, rotary)
        state.prefill(layer, k, v)
        parts = [
            causal_attention(q_i, k_i, v_i)
            for q_i, k_i, v_i in zip(q.split(lengths), k.split(lengths), v.split(lengths), strict=True)
        ]
        return self.out_proj(torch.cat(parts).flatten(1))

    def decode(self, x: Tensor, rotary: Tensor, layer: int, state: LayerState) -> Tensor:
        """One frame a lane: x [lanes, d_model]."""
        q, k, v = self.project(x, rotary)
        return self.out_proj(state.attend(layer, q, k, v).flatten(1))


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One sequence: q [n, heads, d], k and v [n, kv_heads, d] -> [n, heads, d]."""
    group = q.shape[1] // k.shape[1]
    q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
    if group > 1:
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1)


class GatedMLP(nn.Module):
    """SwiGLU: ``fc2(y * silu(gate))`` with ``(y | gate) = fc1(x)``."""

    def __init__(self, d_model: int, d_intermediate: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(d_model, 2 * d_intermediate, bias=False)
        self.fc2 = nn.Linear(d_intermediate, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [n, d_model] -> [n, d_model]."""
        y, gate = self.fc1(x).chunk(2, dim=-1)
        return self.fc2(y * silu(gate))


class Block(nn.Module):
    """A mixer and, where the config gives it a width, an MLP; each with a residual around a norm."""

    def __init__(self, config: BackboneConfig, mixer: nn.Module, d_intermediate: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.mixer = mixer
        self.has_mlp = d_intermediate > 0
        if self.has_mlp:
            self.norm2 = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
            self.mlp = GatedMLP(config.d_model, d_intermediate)

    def prefill(self, x: Tensor, rotary: Tensor, lengths: list[int], layer: int, state: LayerState) -> Tensor:
        """Packed sequences: x [tokens, d_model] -> same."""
        raise NotImplementedError

    def decode(self, x: Tensor, rotary: Tensor, layer: int, state: LayerState) -> Tensor:
        """One frame a lane: x [lanes, d_model] -> same."""
        raise NotImplementedError

    def feed(self, x: Tensor) -> Tensor:
        """The block's second half: x [n, d_model] -> same."""
        return x + self.mlp(self.norm2(x)) if self.has_mlp else x


class AttentionBlock(Block):
    """Attention over keys and values; published with an MLP."""

    mixer: Attention

    def __init__(self, config: BackboneConfig) -> None:
        super().__init__(config, Attention(config.d_model, config.attn_cfg), config.attn_mlp_d_intermediate)

    def prefill(self, x: Tensor, rotary: Tensor, lengths: list[int], layer: int, state: LayerState) -> Tensor:
        """x [tokens, d_model] -> same."""
        return self.feed(x + self.mixer.prefill(self.norm(x), rotary, lengths, layer, state))

    def decode(self, x: Tensor, rotary: Tensor, layer: int, state: LayerState) -> Tensor:
        """x [lanes, d_model] -> same."""
        return self.feed(x + self.mixer.decode(self.norm(x), rotary, layer, state))


class Mamba2Block(Block):
    """A Mamba2 mixer over a recurrent state; published without an MLP."""

    mixer: Mamba2

    def __init__(self, config: BackboneConfig) -> None:
        super().__init__(config, Mamba2(config), config.d_intermediate)

    def prefill(self, x: Tensor, rotary: Tensor, lengths: list[int], layer: int, state: LayerState) -> Tensor:
        """x [tokens, d_model] -> same."""
        y, conv_state, ssm_state = self.mixer.prefill(self.norm(x), lengths)
        state.prefill_recurrent(layer, conv_state, ssm_state)
        return self.feed(x + y)

    def decode(self, x: Tensor, rotary: Tensor, layer: int, state: LayerState) -> Tensor:
        """x [lanes, d_model] -> same."""
        return self.feed(x + self.mixer.step(self.norm(x), *state.recurrent(layer)))


class Backbone(nn.Module):
    """All layers and the final norm."""

    def __init__(self, config: BackboneConfig) -> None:
        super().__init__()
        self.config = config
        attention = set(config.attn_layer_idx)
        self.layers = nn.ModuleList(
            AttentionBlock(config) if i in attention else Mamba2Block(config) for i in range(config.n_layer)
        )
        self.norm_f = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)

    def prefill(self, x: Tensor, lengths: list[int], state: LayerState) -> Tensor:
        """Run packed sequences from position 0 and leave their state behind.

        Args:
            x: [tokens, d_model], sequences of ``lengths`` one after another.
            lengths: tokens of each sequence; their sum is ``tokens``.
            state: takes keys, values and recurrent states.

        Returns:
            [tokens, d_model] after the final norm.
        """
        positions = torch.cat([torch.arange(n, device=x.device) for n in lengths])
        rotary = rotary_table(positions, self.config.head_dim)
        for i, layer in enumerate(self.layers):
            x = cast(Block, layer).prefill(x, rotary, lengths, i, state)
        return self.norm_f(x)

    def decode(self, x: Tensor, positions: Tensor, state: LayerState) -> Tensor:
        """One frame per lane: x [lanes, d_model], positions [lanes] -> [lanes, d_model]."""
        rotary = rotary_table(positions, self.config.head_dim)
        for i, layer in enumerate(self.layers):
            x = cast(Block, layer).decode(x, rotary, i, state)
        return self.norm_f(x)
