"""Codes <-> waveform: the codec that a checkpoint asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from zonos.codec_base import Codec, CodecStream, chunk_grid
from zonos.errors import CheckpointError

__all__ = ["Codec", "CodecStream", "chunk_grid", "load_codec"]


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
        from zonos.codec_dac import DacCodec

        return DacCodec.from_tensors(config, tensors, device, dtype)
    if config.get("type") == "dsp_rvq":
        from zonos.codec_mini import load_mini_codec

        return load_mini_codec(config, tensors, device)
    kind = config.get("type") or config.get("model_type")
    raise CheckpointError(
        f"The codec's config names the kind {kind!r}; known are 'dsp_rvq' (type) and 'dac' (model_type)."
    )
