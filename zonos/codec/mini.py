"""The embedded codec: a small residual-VQ codec whose decoder is a harmonic + noise synthesiser.

Decoder output is not a waveform but what a source-filter model of speech needs (pitch, voicing,
the spectral envelope of harmonics and of noise), so it trains with spectral losses alone. The
network lives here, the signal processing in :mod:`zonos.codec.dsp`. ``training/`` trains these
very modules: every stage is a batched, differentiable method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from pydantic import ValidationError
from torch import Tensor, nn
from torch.nn import functional as F

from zonos.codec.base import Codec, CodecStream
from zonos.codec.dsp import Bands, CodecFeatures, Synthesiser
from zonos.codec.mini_config import MiniCodecConfig
from zonos.errors import CheckpointError


class ConvNeXtBlock(nn.Module):
    """Depthwise convolution over time, then an MLP, added to its input.

    Args:
        width: channels.
        kernel: odd kernel of the convolution.
        expansion: hidden width over width.
    """

    def __init__(self, width: int, kernel: int, expansion: int) -> None:
        super().__init__()
        self.dw = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.pw1 = nn.Linear(width, expansion * width)
        self.pw2 = nn.Linear(expansion * width, width)
        self.gamma = nn.Parameter(torch.full((width,), 0.5))

    def forward(self, x: Tensor) -> Tensor:
        """``[B, time, width]`` -> the same shape."""
        y: Tensor = self.norm(self.dw(x.mT).mT)
        y = self.pw2(F.silu(self.pw1(y)))
        return x + self.gamma * y


class Excitation(NamedTuple):
    """What the synthesiser draws from besides the bands; training passes its own.

    Attributes:
        f0: pitch in Hz ``[B, n]``, 0 where unvoiced.
        noise: complex standard normal ``[B, n, n_fft // 2 + 1]`` (each part has variance 1).
    """

    f0: Tensor
    noise: Tensor


class MiniCodec(nn.Module, Codec):
    """Embedded codec; see the module's docstring.

    Sizes below: B rows, N samples, T frames, n = T * stride sub-frames, K codebooks.

    Args:
        config: its shape.
    """

    codebooks: Tensor

    def __init__(self, config: MiniCodecConfig) -> None:
        super().__init__()
        c = self.config = config
        self.sample_rate = c.sample_rate
        self.hop = c.hop * c.stride
        self.n_codebooks, self.codebook_size = c.n_codebooks, c.codebook_size
        self.context = c.context

        def stack(width: int, depth: int) -> nn.ModuleList:
            return nn.ModuleList(
                ConvNeXtBlock(width, c.convnext_kernel, c.convnext_mult) for _ in range(depth)
            )

        self.features = CodecFeatures(c)
        self.enc_in = nn.Conv1d(self.features.channels, c.d1, 3, padding=1)
        self.enc1 = stack(c.d1, c.enc_blocks[0])
        self.down = nn.Linear(c.stride * c.d1, c.d2)
        self.enc2 = stack(c.d2, c.enc_blocks[1])
        self.enc_norm = nn.LayerNorm(c.d2)
        self.enc_out = nn.Linear(c.d2, c.latent)
        # Set by k-means after the autoencoder is trained, so not a parameter.
        self.register_buffer("codebooks", torch.zeros(c.real, c.codebook_size, c.latent))
        self.dec_in = nn.Conv1d(c.latent, c.d2, 3, padding=1)
        self.dec1 = stack(c.d2, c.dec_blocks[0])
        self.up = nn.Linear(c.d2, c.stride * c.d1)
        self.dec2 = stack(c.d1, c.dec_blocks[1])
        self.dec_norm = nn.LayerNorm(c.d1)
        self.head = nn.Linear(c.d1, 2 + c.harm_bands + c.noise_bands)
        self.synthesiser = Synthesiser(c)

    # Stages, batched and differentiable.

    def encode_latent(self, features: Tensor) -> Tensor:
        """Features ``[B, n, channels]`` -> latent ``[B, T, latent]``, normalised per frame."""
        x = self.enc_in(features.mT).mT
        for block in self.enc1:
            x = block(x)
        x = self.down(x.unflatten(1, (-1, self.config.stride)).flatten(2))  # [B, T, d2]
        for block in self.enc2:
            x = block(x)
        x = self.enc_out(self.enc_norm(x))
        return F.layer_norm(x, x.shape[-1:])

    def quantise(self, latent: Tensor) -> Tensor:
        """Latent ``[B, T, latent]`` -> codes int64 ``[B, K, T]``, plain residual quantisation."""
        residual, codes = latent, []
        for book in self.codebooks:
            distance = book.square().sum(-1) - 2 * residual @ book.T  # [B, T, size], up to |residual|²
            codes.append(distance.argmin(-1))
            residual = residual - book[codes[-1]]
        constant = torch.full_like(codes[0], self.config.constant_code)
        return torch.stack(codes + [constant] * (self.n_codebooks - len(codes)), dim=1)

    def dequantise(self, codes: Tensor) -> Tensor:
        """Codes ``[B, K, T]`` -> latent ``[B, T, latent]``; deep codebooks without sound are ignored."""
        latent = self.codebooks.new_zeros(codes.shape[0], codes.shape[2], self.config.latent)
        for book, row in zip(self.codebooks, codes.unbind(1), strict=False):
            latent = latent + book[row]
        return latent

    def decode_bands(self, latent: Tensor) -> Bands:
        """Latent ``[B, T, latent]`` -> what the synthesiser needs, n sub-frames."""
        c = self.config
        x = self.dec_in(latent.mT).mT
        for block in self.dec1:
            x = block(x)
        x = self.up(x).unflatten(2, (c.stride, c.d1)).flatten(1, 2)  # [B, n, d1]
        for block in self.dec2:
            x = block(x)
        log_f0, voicing, harmonic, noise = self.head(self.dec_norm(x)).split(
            [1, 1, c.harm_bands, c.noise_bands], dim=-1
        )
        return Bands(log_f0[..., 0] * 0.5 + 5.0, voicing[..., 0], harmonic - 1.0, noise - 3.0)

    def synthesise(self, bands: Bands, excitation: Excitation) -> Tensor:
        """Bands and excitation -> waveform ``[B, n * config.hop]``; gradients reach the bands."""
        phase = self.synthesiser.phase(excitation.f0)
        wav: Tensor = self.synthesiser(bands, excitation.f0, phase, excitation.noise)
        return wav

    # The product's interface, one row.

    def encode(self, wav: Tensor) -> Tensor:
        """See :meth:`Codec.encode`."""
        if wav.ndim != 2 or wav.shape[0] != 1:
            raise ValueError(f"the waveform must be [1, samples], got {list(wav.shape)}")
        frames = -(-wav.shape[1] // self.hop)
        if frames == 0:
            return torch.empty(self.n_codebooks, 0, dtype=torch.long)
        # The longer STFT mirrors half a window at the ends, so a very short clip is padded further.
        shortest = -(-(self.config.enc_lin_nfft // 2 + 1) // self.hop)
        padded = F.pad(wav, (0, max(frames, shortest) * self.hop - wav.shape[1]))
        with torch.no_grad():
            latent = self.encode_latent(self.features(padded.to(self.codebooks)))
            return self.quantise(latent)[0, :, :frames].cpu()

    def decode(self, codes: Tensor, seed: int = 0) -> Tensor:
        """See :meth:`Codec.decode`: the same bytes as a stream of the same codes and seed."""
        return self.stream(seed).push(codes, final=True)

    def stream(self, seed: int = 0) -> CodecStream:
        """See :meth:`Codec.stream`."""
        return _MiniStream(self, seed)


class _MiniStream(CodecStream):
    """Carries the phase of the pulse train from chunk to chunk."""

    _codec: MiniCodec

    def __init__(self, codec: MiniCodec, seed: int) -> None:
        super().__init__(codec)
        self._seed = seed
        self._anchor = 0  # frame whose first sample has the phase below
        self._phase: Tensor | None = None  # None: the line's first sample, phase 0

    def _chunk(self, codes: Tensor, start: int, stop: int, first: int) -> Tensor:
        codec, c = self._codec, self._codec.config
        with torch.inference_mode():
            bands = codec.decode_bands(codec.dequantise(codes[None].to(codec.codebooks.device)))
            f0 = bands.f0()
            phase = codec.synthesiser.phase(f0, self._phase, (self._anchor - first) * codec.hop)
            self._carry(phase, stop, first)
            noise = codec.synthesiser.noise(self._seed, first * c.stride, f0.shape[1])
            samples: Tensor = codec.synthesiser(bands, f0, phase, noise)[0]
        return samples[(start - first) * codec.hop : (stop - first) * codec.hop].cpu()

    def _carry(self, phase: Tensor, stop: int, first: int) -> None:
        # The next chunk's first sample needs pulses from a window earlier, so the anchor lies there.
        c = self._codec.config
        self._anchor = max(0, stop - -(-(c.n_fft - c.hop) // self._codec.hop))
        at = (self._anchor - first) * self._codec.hop
        self._phase = phase[:, at - 1 : at] if at > 0 else self._phase


def load_mini_codec(
    config: Mapping[str, Any], tensors: Mapping[str, Tensor], device: torch.device | str = "cpu"
) -> MiniCodec:
    """The embedded codec from codec.json and codec.safetensors, in float32 and evaluation mode.

    Raises:
        CheckpointError: the config is not one, or the tensors do not fit it.
    """
    try:
        codec = MiniCodec(MiniCodecConfig.model_validate(dict(config)))
        # MPS lacks some of the complex arithmetic; this codec is quick enough on the CPU beside it.
        device = "cpu" if torch.device(device).type == "mps" else device
        codec.load_state_dict({name: value.float() for name, value in tensors.items()})
    except (ValidationError, RuntimeError) as error:
        raise CheckpointError(f"The codec's weights do not fit its config: {error}") from error
    return codec.to(device).eval().requires_grad_(False)
