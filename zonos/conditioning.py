"""A line's inputs to its prefix: embeddings that say what to speak, in whose voice and how.

Each conditioner turns its input into [n, d_model]; they are concatenated in the checkpoint's order,
projected and normalised. Formulas and tensor names: Zonos-v0.1 (Fourier features after Tancik et
al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from zonos.config import ConditionerConfig, PrefixConfig

N_SYMBOLS = 189  # rows of the phoneme embedding: 4 special tokens and the symbol table

Value = Tensor | Sequence[float] | float | int | None


class Conditioner(nn.Module):
    """Base: keeps the vector that stands for "left out"."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__()
        self.name = config.name
        self.uncond_vector: nn.Parameter | None
        if config.uncond_type == "learned":
            self.uncond_vector = nn.Parameter(torch.zeros(d_model))
        else:
            self.register_parameter("uncond_vector", None)
        self.project: nn.Module
        if config.projection == "linear":
            self.project = nn.Linear(config.cond_dim or d_model, d_model)
        elif config.projection == "mlp":
            width = config.cond_dim or d_model
            self.project = nn.Sequential(nn.Linear(width, d_model), nn.SiLU(), nn.Linear(d_model, d_model))
        else:
            self.project = nn.Identity()

    def embed(self, value: Tensor) -> Tensor:
        """Value as a tensor -> [n, d_model] before the projection."""
        raise NotImplementedError

    def to_tensor(self, value: Sequence[float] | float | int | Tensor) -> Tensor:
        """Put a value where the weights are."""
        device = next(self.parameters()).device
        return torch.as_tensor(value, device=device)

    def forward(self, value: Value) -> Tensor:
        """Embedding of a value, or of its absence (None), [n, d_model].

        Raises:
            ValueError: the conditioner cannot be left out.
        """
        if value is None:
            if self.uncond_vector is None:
                raise ValueError(f"the conditioner {self.name!r} needs a value")
            return self.uncond_vector[None]
        return self.project(self.embed(self.to_tensor(value)))


class EspeakPhonemeConditioner(Conditioner):
    """Token ids [n] -> their embeddings."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        self.phoneme_embedder = nn.Embedding(N_SYMBOLS, d_model)

    def embed(self, value: Tensor) -> Tensor:
        """See :class:`Conditioner`."""
        return self.phoneme_embedder(value.long())


class PassthroughConditioner(Conditioner):
    """A vector [cond_dim] as it is (the speaker)."""

    def embed(self, value: Tensor) -> Tensor:
        """See :class:`Conditioner`."""
        dtype = next(self.parameters()).dtype
        return value.reshape(1, -1).to(dtype)


class FourierConditioner(Conditioner):
    """Numbers [input_dim] -> ``[cos f, sin f]`` with f = 2 pi x W^T, x scaled by the range."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        self.register_buffer("weight", torch.zeros(d_model // 2, config.input_dim))
        self.weight: Tensor
        self.low = 0.0 if config.min_val is None else config.min_val
        self.high = 1.0 if config.max_val is None else config.max_val
        self.input_dim = config.input_dim

    def embed(self, value: Tensor) -> Tensor:
        """See :class:`Conditioner`. Not clamped: limits belong to the validation of a line."""
        x = value.float().reshape(1, self.input_dim)
        x = (x - self.low) / (self.high - self.low)
        features = 2 * math.pi * x.to(self.weight.dtype) @ self.weight.T
        return torch.cat([features.cos(), features.sin()], dim=-1)


class IntegerConditioner(Conditioner):
    """An integer -> its row of an embedding."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        assert config.min_val is not None
        assert config.max_val is not None
        self.low = int(config.min_val)
        self.int_embedder = nn.Embedding(int(config.max_val) - self.low + 1, d_model)

    def embed(self, value: Tensor) -> Tensor:
        """See :class:`Conditioner`."""
        return self.int_embedder((value.long() - self.low).reshape(1))


_TYPES: dict[str, type[Conditioner]] = {
    cls.__name__: cls
    for cls in (EspeakPhonemeConditioner, PassthroughConditioner, FourierConditioner, IntegerConditioner)
}


class PrefixConditioner(nn.Module):
    """All conditioners of a checkpoint, their joint projection and norm."""

    def __init__(self, config: PrefixConfig, d_model: int) -> None:
        super().__init__()
        self.conditioners = nn.ModuleList(_TYPES[c.type](c, d_model) for c in config.conditioners)
        self.names = tuple(c.name for c in config.conditioners)
        self.norm = nn.LayerNorm(d_model)
        self.project: nn.Module
        if config.projection == "linear":
            self.project = nn.Linear(d_model, d_model)
        elif config.projection == "mlp":
            self.project = nn.Sequential(nn.Linear(d_model, d_model), nn.SiLU(), nn.Linear(d_model, d_model))
        else:
            self.project = nn.Identity()

    def part(self, name: str, value: Value) -> Tensor:
        """One conditioner's tokens, projected and normalised, [n, d_model]; no token knows of the others."""
        module = self.conditioners[self.names.index(name)]
        return self.norm(self.project(module(value)))

    def forward(self, values: Mapping[str, Value]) -> Tensor:
        """Prefix of one line: values by conditioner name (absent or None = left out) -> [n, d_model]."""
        return torch.cat([self.part(name, values.get(name)) for name in self.names])


def scale_emotion(weights: Sequence[float] | None) -> list[float] | None:
    """Divide by the sum, on a copy; all zeros means left out, never NaN."""
    if weights is None:
        return None
    total = float(sum(weights))
    return [w / total for w in weights] if total > 0 else None
