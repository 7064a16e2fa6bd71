"""A small random hybrid with all the hybrid's conditioners, and rows for it that differ in everything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from benchmarks.random_model import random_config, random_model
from zonos.config import SsmConfig, ZonosConfig
from zonos.line import DEFAULT_MIX
from zonos.model import Zonos
from zonos.prefixes import Prefixes

# Chunks shorter than most prefixes, so that prefill carries state from chunk to chunk.
SSM = SsmConfig(d_state=16, headdim=16, chunk_size=32)
PHONEMES = [21, 60, 103, 34, 5, 47, 16, 70]
PREFIX_FRAMES = [0, 0, 12, 5, 0, 40, 1, 0]


@cache
def hybrid_config() -> ZonosConfig:
    """Six layers, two of them with attention."""
    return random_config("hybrid", d_model=64, n_layer=6, heads=4, kv_heads=2, mlp=96, ssm=SSM)


@dataclass
class Hybrid:
    """The model and the inputs of rows 0 to 7."""

    model: Zonos

    @classmethod
    def load(cls) -> Hybrid:
        return cls(random_model(hybrid_config(), seed=3))

    def values(self, row: int) -> dict[str, Any]:
        """Conditioning values; even rows leave some to the model, as lines do."""
        draw = torch.Generator().manual_seed(500 + row)
        values: dict[str, Any] = {
            "espeak": torch.randint(4, 180, (PHONEMES[row],), generator=draw),
            "speaker": torch.randn(128, generator=draw),
            "emotion": DEFAULT_MIX.vector(),
            "fmax": 22_050.0 - 500 * row,
            "pitch_std": 20.0 + 10 * row,
            "speaking_rate": 12.0 + row,
            "language_id": 24 + row,
            "vqscore_8": (0.7 + 0.01 * row,) * 8,
            "ctc_loss": float(row),
            "dnsmos_ovrl": 4.0 - 0.1 * row,
            "speaker_noised": row % 2,
        }
        left_out = {0: ("speaker", "vqscore_8"), 4: ("emotion", "dnsmos_ovrl", "speaker_noised")}
        return {name: value for name, value in values.items() if name not in left_out.get(row, ())}

    def prefixes(self, row: int) -> tuple[Tensor, Tensor]:
        values, conditioner = self.values(row), self.model.prefix_conditioner
        with torch.inference_mode():
            return Prefixes(conditioner).make(values, twin=True)

    def audio_prefix(self, row: int) -> Tensor:
        shape = (self.model.config.n_codebooks, PREFIX_FRAMES[row])
        return torch.randint(0, 1024, shape, generator=torch.Generator().manual_seed(900 + row))
