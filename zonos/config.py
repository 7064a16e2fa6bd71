"""The published config.json of a Zonos checkpoint, typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Config(BaseModel):
    # Published files carry fields of their training library that inference does not need.
    model_config = ConfigDict(extra="ignore", frozen=True)


class AttentionConfig(_Config):
    """Heads and rotary embedding of an attention layer."""

    num_heads: int
    num_heads_kv: int
    rotary_emb_dim: int = 0
    # The transformer says true (pairs 2i, 2i+1); the hybrid has no such field (halves i, i + d/2).
    rotary_emb_interleaved: bool = False
    qkv_proj_bias: bool = False
    out_proj_bias: bool = False


class SsmConfig(_Config):
    """Mamba2 layer; the defaults are the library's, which the published hybrid uses."""

    d_state: int = 128
    d_conv: int = 4
    expand: int = 2
    headdim: int = 64
    ngroups: int = 1
    chunk_size: int = 256


class BackboneConfig(_Config):
    """Stack of layers: attention (with MLP) at ``attn_layer_idx``, Mamba2 elsewhere."""

    d_model: int
    n_layer: int
    attn_mlp_d_intermediate: int
    d_intermediate: int = 0
    attn_layer_idx: tuple[int, ...] = ()
    attn_cfg: AttentionConfig
    ssm_cfg: SsmConfig = Field(default_factory=SsmConfig)
    norm_epsilon: float = 1e-5

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.attn_cfg.num_heads

    @property
    def is_hybrid(self) -> bool:
        """Whether any layer is a Mamba2 layer."""
        return len(self.attn_layer_idx) < self.n_layer


class ConditionerConfig(_Config):
    """One conditioner; which fields matter depends on ``type``."""

    type: Literal[
        "EspeakPhonemeConditioner", "PassthroughConditioner", "FourierConditioner", "IntegerConditioner"
    ]
    name: str
    uncond_type: Literal["learned", "none"] | None = None
    projection: Literal["none", "linear", "mlp"] = "none"
    cond_dim: int | None = None
    input_dim: int = 1
    min_val: float | None = None
    max_val: float | None = None


class PrefixConfig(_Config):
    """The conditioners in the order in which their embeddings are concatenated."""

    conditioners: tuple[ConditionerConfig, ...]
    projection: Literal["none", "linear", "mlp"] = "linear"


class ZonosConfig(_Config):
    """A whole checkpoint's shape."""

    backbone: BackboneConfig
    prefix_conditioner: PrefixConfig
    eos_token_id: int = 1024
    masked_token_id: int = 1025
    n_codebooks: int = 9

    @classmethod
    def from_file(cls, path: Path) -> ZonosConfig:
        """Read a config.json."""
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return cls.model_validate(data)

    @property
    def conditioner_names(self) -> tuple[str, ...]:
        """Names in prefix order, ``espeak`` first."""
        return tuple(c.name for c in self.prefix_conditioner.conditioners)
