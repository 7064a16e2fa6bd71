"""Codes <-> waveform: the codec that a checkpoint asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from zonos.codec.base import Codec, CodecStream, chunk_grid
from zonos.errors import CheckpointError

__all__ = ["Codec", "CodecStream", "chunk_grid", "frame_rate_of", "load_codec"]


# What transformers' DacConfig has where a config.json leaves it out.
DAC_RATIOS, DAC_SAMPLE_RATE = (2, 4, 8, 8), 16_000


def load_codec(
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Codec:
    """The codec that ``config`` describes.

    Args:
        config: content of codec.json (``"type": "dsp_rvq"``) or of a transformers DacModel's
            config.json (``"model_type": "dac"``).
        tensors: the weights, under the names of that format.
        device: where it computes; codes and samples are handed over on the CPU.
        dtype: of the weights and the arithmetic. float32 keeps chunked and whole decoding equal
            to the last bits; the embedded codec is small and always computes in float32.

    Raises:
        CheckpointError: unknown kind, missing, extra or misshapen tensors.
    """
    # The DAC package takes half a second to import; only its users wait.
    if config.get("model_type") == "dac":
        from zonos.codec.dac import DacCodec

        return DacCodec.from_tensors(config, tensors, device, dtype)
    if config.get("type") == "dsp_rvq":
        from zonos.codec.mini import load_mini_codec

        return load_mini_codec(config, tensors, device)
    raise _unknown(config)


def frame_rate_of(config: Mapping[str, Any]) -> float:
    """Frames per second of the codec that ``config`` describes, without its weights.

    Raises:
        CheckpointError: unknown kind.
    """
    if config.get("model_type") == "dac":
        ratios: Sequence[int] = config.get("downsampling_ratios", DAC_RATIOS)
        return float(config.get("sampling_rate", DAC_SAMPLE_RATE)) / math.prod(ratios)
    if config.get("type") == "dsp_rvq":
        from zonos.codec.mini_config import MiniCodecConfig

        mini = MiniCodecConfig.model_validate(config)
        return float(mini.sample_rate / (mini.hop * mini.stride))
    raise _unknown(config)


def _unknown(config: Mapping[str, Any]) -> CheckpointError:
    kind = config.get("type") or config.get("model_type")
    return CheckpointError(
        f"The codec's config names the kind {kind!r}; known are 'dsp_rvq' (type) and 'dac' (model_type)."
    )
