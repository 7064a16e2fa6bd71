"""The plainest decode loop of the same layers: one line, contiguous KV, no slots, no sampler.

What the engine's step must not be slower than.
"""

from __future__ import annotations

import time
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.work import synchronise
from zonos.elementwise import silu
from zonos.model import Zonos
from zonos.transformer import AttentionBlock, rotary_table, rotate


class BareLoop:
    """One line with guidance: two lanes.

    Args:
        model: a transformer.
        tokens: in the prefix.
        frames: to decode.
    """

    def __init__(self, model: Zonos, tokens: int, frames: int) -> None:
        self.model, self.tokens, self.frames = model, tokens, frames
        backbone = model.config.backbone
        shape = (2, backbone.attn_cfg.num_heads_kv, tokens + frames, backbone.head_dim)
        self.caches = [
            (
                torch.zeros(shape, device=model.device, dtype=model.dtype),
                torch.zeros(shape, device=model.device, dtype=model.dtype),
            )
            for _ in range(backbone.n_layer)
        ]

    @torch.inference_mode()
    def step_seconds(self) -> float:
        """Median seconds of a decode step."""
        times = []
        frame = torch.full((2, self.model.config.n_codebooks), 1025, device=self.model.device)
        for position in range(self.tokens, self.tokens + self.frames):
            start = time.perf_counter()
            logits = self._logits(frame, position)
            guided = logits[1] + (logits[0] - logits[1]) * 2
            frame = guided[:, :1024].argmax(-1).expand(2, -1)
            synchronise(self.model)
            times.append(time.perf_counter() - start)
        return sorted(times)[len(times) // 2]

    def _logits(self, frame: Tensor, position: int) -> Tensor:
        model = self.model
        x = model.embed_frames(frame)
        rotary = rotary_table(torch.full((2,), position, device=model.device), model.config.backbone.head_dim)
        for layer, (keys, values) in zip(model.backbone.layers, self.caches, strict=True):
            x = self._block(cast(AttentionBlock, layer), x, rotary, keys, values, position)
        return model.logits(model.backbone.norm_f(x))

    def _block(
        self, block: AttentionBlock, x: Tensor, rotary: Tensor, keys: Tensor, values: Tensor, position: int
    ) -> Tensor:
        mixer = block.mixer
        qkv = mixer.in_proj(block.norm(x)).unflatten(-1, (-1, mixer.head_dim))
        q, k, v = qkv.split([mixer.heads, mixer.kv_heads, mixer.kv_heads], dim=1)
        q = rotate(q, rotary, mixer.interleaved)
        keys[:, :, position] = rotate(k, rotary, mixer.interleaved)
        values[:, :, position] = v
        group = mixer.heads // mixer.kv_heads
        mixed = F.scaled_dot_product_attention(
            q.unflatten(1, (mixer.kv_heads, group)), keys[:, :, : position + 1], values[:, :, : position + 1]
        )
        x = x + mixer.out_proj(mixed.flatten(1))
        y, gate = block.mlp.fc1(block.norm2(x)).chunk(2, dim=-1)
        return x + block.mlp.fc2(y * silu(gate))
