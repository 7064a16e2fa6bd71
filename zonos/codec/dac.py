"""The published codec: dac.DAC of descript-audio-codec with weights in the transformers layout."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import remove_weight_norm

from zonos.codec.base import Codec, CodecStream
from zonos.errors import CheckpointError

with warnings.catch_warnings():
    # The package scripts one function with torch.jit, which newer torch calls deprecated.
    warnings.simplefilter("ignore")
    from dac.model.dac import DAC

# Whole decodes go in blocks: 512 frames of the published model hold about 0.6 GB of activations.
BLOCK = 512

_RESIDUAL = {"snake1": 0, "conv1": 1, "snake2": 2, "conv2": 3}
_ENCODER_BLOCK = {"res_unit1": 0, "res_unit2": 1, "res_unit3": 2, "snake1": 3, "conv1": 4}
_DECODER_BLOCK = {"snake1": 0, "conv_t1": 1, "res_unit1": 2, "res_unit2": 3, "res_unit3": 4}


def dac_key(key: str, n_blocks: int) -> str:
    """The name in dac.DAC of a tensor of transformers' DacModel.

    Args:
        key: for example ``decoder.block.0.conv_t1.weight``.
        n_blocks: number of up- or down-sampling blocks of that half.

    Raises:
        KeyError: the key does not belong to a DacModel.
    """
    half, _, rest = key.partition(".")
    if half == "quantizer":
        return key
    stack = {"encoder": "encoder.block", "decoder": "decoder.model"}[half]
    if inside := re.fullmatch(r"block\.(\d+)\.(\w+)\.(.+)", rest):
        number, part, tail = inside.groups()
        places = _ENCODER_BLOCK if half == "encoder" else _DECODER_BLOCK
        if part.startswith("res_unit"):
            unit, _, leaf = tail.partition(".")
            tail = f"block.{_RESIDUAL[unit]}.{leaf}"
        return f"{stack}.{int(number) + 1}.block.{places[part]}.{tail}"
    part, _, leaf = rest.partition(".")
    place = {"conv1": 0, "snake1": n_blocks + 1, "conv2": n_blocks + 2}[part]
    return f"{stack}.{place}.{leaf}"


def decoder_context(rates: list[int]) -> int:
    """Frames that reach into one frame of sound from each side, for decoder strides ``rates``.

    Walks back from the waveform: a last convolution of 7; per block three residual units of
    kernel 7 and dilations 1, 3, 9, then a transposed convolution of kernel 2s, stride s and
    padding ceil(s / 2); a first convolution of 7.
    """
    left = right = 3
    for stride in reversed(rates):
        padding = -(-stride // 2)
        left = (left + 39 + 2 * stride - 1 - padding) // stride
        # The last output of a row of frames sits at stride * frames - 1.
        right = (right + 39 + padding - 1) // stride + 1
    return max(left, right) + 3


class DacCodec(Codec):
    """A DAC in evaluation mode, weight norm folded. It carries no state from frame to frame.

    Args:
        model: with weights in place, on its device.
        sample_rate: of the waveform.
    """

    def __init__(self, model: DAC, sample_rate: int) -> None:
        self.model = model
        self.sample_rate = sample_rate
        self.hop = int(model.hop_length)
        self.n_codebooks = model.n_codebooks
        self.codebook_size = model.codebook_size
        self.context = decoder_context(list(model.decoder_rates))
        self._weight = next(model.parameters())

    @classmethod
    def from_tensors(
        cls,
        config: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        device: torch.device | str,
        dtype: torch.dtype,
    ) -> DacCodec:
        """Build from a transformers DacModel's config and tensors; see :func:`zonos.codec.load_codec`."""
        model = _empty_model(config)
        blocks = {"encoder": len(model.encoder_rates), "decoder": len(model.decoder_rates), "quantizer": 0}
        try:
            named = {dac_key(key, blocks[key.partition(".")[0]]): value for key, value in tensors.items()}
            model.load_state_dict(named, strict=True, assign=True)
        except (KeyError, RuntimeError) as error:
            raise CheckpointError(f"The codec's weights do not fit its config: {error}") from error
        model = model.to(device=device, dtype=dtype).eval().requires_grad_(False)
        return cls(model, int(config.get("sampling_rate", 16000)))

    def encode(self, wav: Tensor) -> Tensor:
        """See :meth:`Codec.encode`."""
        if wav.ndim != 2 or wav.shape[0] != 1:
            raise ValueError(f"the waveform must be [1, samples], got {list(wav.shape)}")
        if wav.shape[1] == 0:
            return torch.empty(self.n_codebooks, 0, dtype=torch.long)
        padded = nn.functional.pad(wav, (0, -wav.shape[1] % self.hop))
        with torch.no_grad(), _exact_convolutions():
            codes: Tensor = self.model.encode(padded.to(self._weight)[None])[1]  # [1, K, T]
        return codes[0].cpu()

    def decode(self, codes: Tensor, seed: int = 0) -> Tensor:
        """See :meth:`Codec.decode`; the seed changes nothing here."""
        codes = self.check(codes)
        frames = codes.shape[1]
        blocks = [
            self.decode_range(codes, start, min(start + BLOCK, frames)) for start in range(0, frames, BLOCK)
        ]
        return torch.cat(blocks) if blocks else torch.empty(0)

    def stream(self, seed: int = 0) -> CodecStream:
        """See :meth:`Codec.stream`."""
        return _DacStream(self)

    def decode_range(self, codes: Tensor, start: int, stop: int) -> Tensor:
        """Samples ``[(stop - start) * hop]`` of some frames of ``codes``, with the context they need."""
        first = max(0, start - self.context)
        window = codes[:, first : stop + self.context]
        with torch.inference_mode(), _exact_convolutions():
            latent = self.model.quantizer.from_codes(window[None].to(self._weight.device))[0]
            samples: Tensor = self.model.decode(latent)[0, 0]  # [window frames * hop]
        skip = (start - first) * self.hop
        return samples[skip : skip + (stop - start) * self.hop].float().cpu()


class _DacStream(CodecStream):
    _codec: DacCodec

    def _chunk(self, codes: Tensor, start: int, stop: int, first: int) -> Tensor:
        return self._codec.decode_range(codes, start - first, stop - first)


def _exact_convolutions() -> Any:
    # Same codes, same samples: cuDNN may neither time its algorithms nor round to TF32.
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)


def _empty_model(config: Mapping[str, Any]) -> DAC:
    """A DAC without memory behind its tensors, weight norm folded away."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DAC(
            encoder_dim=config.get("encoder_hidden_size", 64),
            encoder_rates=list(config.get("downsampling_ratios", (2, 4, 8, 8))),
            latent_dim=config.get("hidden_size"),
            decoder_dim=config.get("decoder_hidden_size", 1536),
            decoder_rates=list(config.get("upsampling_ratios", (8, 8, 4, 2))),
            n_codebooks=config.get("n_codebooks", 9),
            codebook_size=config.get("codebook_size", 1024),
            codebook_dim=config.get("codebook_dim", 8),
            sample_rate=config.get("sampling_rate", 16000),
        )
    for module in model.modules():
        if isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
            remove_weight_norm(module)
    return model
