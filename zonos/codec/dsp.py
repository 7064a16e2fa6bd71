"""Signal processing of the embedded codec: features in, harmonic + noise synthesis out.

No weights here. Spectra are taken at ``hop``; B rows, n sub-frames, N = n * hop samples.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zonos.codec.mini_config import MiniCodecConfig

HIGHEST_HARMONIC = 11_000.0  # Hz
UNVOICED_F0 = 150.0  # Hz at which the pulse train idles while it is gated off
LOG_RANGE = (-12.0, 7.0)
LOG_F0_RANGE = (4.0, 6.4)
# Phase is counted in 2^-40 cycles: integer sums do not depend on how they are grouped.
PHASE_BITS = 40
FEATURE_SCALE = 0.4


class Bands(NamedTuple):
    """Decoder output.

    Attributes:
        log_f0: natural log of the pitch in Hz ``[B, n]``.
        voicing_logit: voiced where above 0 ``[B, n]``.
        harmonic: log magnitudes on the mel axis ``[B, n, harm_bands]``.
        noise: the same for the noise part ``[B, n, noise_bands]``.
    """

    log_f0: Tensor
    voicing_logit: Tensor
    harmonic: Tensor
    noise: Tensor

    def f0(self) -> Tensor:
        """Pitch in Hz ``[B, n]``, 0 where unvoiced."""
        return torch.where(self.voicing_logit > 0, self.log_f0.clamp(*LOG_F0_RANGE).exp(), 0.0)


def hz_to_mel(frequency: Tensor) -> Tensor:
    """HTK mel of a frequency in Hz."""
    return 2595.0 * torch.log10(1.0 + frequency / 700.0)


def mel_to_hz(mel: Tensor) -> Tensor:
    """Frequency in Hz of an HTK mel."""
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)


def mel_filterbank(sample_rate: int, n_fft: int, n_mels: int) -> Tensor:
    """Triangles ``[n_mels, n_fft // 2 + 1]``, each at least a bin wide to both sides, each summing to 1."""
    top = hz_to_mel(torch.tensor(sample_rate / 2, dtype=torch.float64))
    edges = mel_to_hz(torch.linspace(0.0, float(top), n_mels + 2, dtype=torch.float64))
    bins = torch.arange(n_fft // 2 + 1, dtype=torch.float64) * sample_rate / n_fft
    width = sample_rate / n_fft
    centre = edges[1:-1, None]
    left = torch.minimum(edges[:-2, None], centre - width)
    right = torch.maximum(edges[2:, None], centre + width)
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    triangles = torch.minimum(rising, falling).clamp_min(0.0)
    return (triangles / triangles.sum(-1, keepdim=True)).float()


class CodecFeatures(nn.Module):
    """Log mels for the timbre and low linear bins of a longer window for the pitch."""

    window_mel: Tensor
    window_lin: Tensor
    filterbank: Tensor

    def __init__(self, config: MiniCodecConfig) -> None:
        super().__init__()
        c = self.config = config
        self.channels = c.enc_mels + c.enc_lin_bins[1] - c.enc_lin_bins[0]
        self.register_buffer("window_mel", torch.hann_window(c.enc_mel_nfft), persistent=False)
        self.register_buffer("window_lin", torch.hann_window(c.enc_lin_nfft), persistent=False)
        bank = mel_filterbank(c.sample_rate, c.enc_mel_nfft, c.enc_mels)
        self.register_buffer("filterbank", bank, persistent=False)

    def forward(self, wav: Tensor) -> Tensor:
        """Waveform ``[B, N]``, N a multiple of hop and over half the longer window -> ``[B, n, channels]``."""
        mel = (self._magnitudes(wav, self.window_mel) @ self.filterbank.T + 1e-3).log()
        first, last = self.config.enc_lin_bins
        lin = (self._magnitudes(wav, self.window_lin)[..., first:last] + 1e-2).log()
        return torch.cat([mel, lin], dim=-1) * FEATURE_SCALE

    def _magnitudes(self, wav: Tensor, window: Tensor) -> Tensor:
        hop = self.config.hop
        spectrum = torch.stft(wav, len(window), hop, window=window, return_complex=True)
        return spectrum[..., : wav.shape[-1] // hop].abs().mT  # [B, n, bins]


class Synthesiser(nn.Module):
    """Pulses through a minimum-phase filter, plus shaped noise, by inverse STFT."""

    window: Tensor
    harmonic_axis: Tensor
    noise_axis: Tensor
    fold: Tensor

    def __init__(self, config: MiniCodecConfig) -> None:
        super().__init__()
        c = self.config = config
        self.bins = c.n_fft // 2 + 1
        self.register_buffer("window", torch.hann_window(c.n_fft), persistent=False)
        for name, bands in (("harmonic_axis", c.harm_bands), ("noise_axis", c.noise_bands)):
            self.register_buffer(name, self._axis(bands), persistent=False)
        fold = torch.zeros(c.n_fft)
        fold[[0, c.n_fft // 2]] = 1.0
        fold[1 : c.n_fft // 2] = 2.0
        self.register_buffer("fold", fold, persistent=False)

    def forward(self, bands: Bands, f0: Tensor, phase: Tensor, noise: Tensor) -> Tensor:
        """Waveform ``[B, N]``.

        Args:
            bands: n sub-frames of decoder output.
            f0: pitch in Hz ``[B, n]``, 0 where unvoiced.
            phase: of :meth:`phase`, ``[B, N]``.
            noise: complex standard normal ``[B, n, bins]``.
        """
        c, n = self.config, f0.shape[1]
        excitation = self._pulses(f0, phase)
        pulses = torch.stft(excitation, c.n_fft, c.hop, window=self.window, return_complex=True)
        harmonic = self._spread(bands.harmonic, self.harmonic_axis)
        noise_level = self._spread(bands.noise, self.noise_axis).exp()
        spectrum = self._minimum_phase(harmonic) * pulses[..., :n].mT + noise_level * noise
        # The inverse wants the frame behind the last sample too; nothing sounds in it.
        spectrum = F.pad(spectrum, (0, 0, 0, 1))
        return torch.istft(spectrum.mT, c.n_fft, c.hop, window=self.window, length=n * c.hop)

    def phase(self, f0: Tensor, carried: Tensor | None = None, at: int = 0) -> Tensor:
        """Running phase of the pulse train at each sample, in 2^-PHASE_BITS cycles, int64 ``[B, N]``.

        Args:
            f0: pitch in Hz ``[B, n]``, 0 where unvoiced.
            carried: ``[B, 1]``, the phase just before sample ``at``; None counts from the first sample.
            at: see ``carried``.
        """
        idle = torch.where(f0 > 0, f0, UNVOICED_F0)
        step = self._per_sample(idle.detach()) / self.config.sample_rate  # cycles
        phase: Tensor = (step * 2.0**PHASE_BITS).round().long().cumsum(-1)
        if carried is not None:
            before = phase[:, at - 1 : at] if at > 0 else torch.zeros_like(carried)
            phase = phase - before + carried
        return torch.bitwise_and(phase, 2**PHASE_BITS - 1)

    def noise(self, seed: int, first: int, n: int) -> Tensor:
        """Complex standard normal ``[1, n, bins]`` of sub-frames ``first ..``, fixed by seed, place and bin."""
        device = self.window.device
        place = torch.arange(first, first + n, device=device)[:, None]
        bins = torch.arange(self.bins, device=device)
        key = _mix(_mix(torch.tensor([seed & _MASK, (seed >> 32) & _MASK], device=device)))
        key = _mix(key[0] ^ _mix(key[1] + place))  # [n, 1]
        radius = _uniform(_mix(key ^ _mix(2 * bins))).log().mul(-2.0).sqrt()
        angle = _uniform(_mix(key ^ _mix(2 * bins + 1))) * (2 * math.pi)
        return torch.polar(radius, angle)[None]

    def _pulses(self, f0: Tensor, phase: Tensor) -> Tensor:
        """Band-limited pulse train ``[B, N]``: the sum of all cosines up to the highest harmonic.

        Closed form of the Dirichlet kernel, ``sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2``.
        """
        half = 2 ** (PHASE_BITS - 1)
        cycles = ((phase + half) & (2 * half - 1)) - half  # centred, so that small angles stay exact
        t = cycles.float() * (2 * math.pi / 2**PHASE_BITS)
        harmonics = (HIGHEST_HARMONIC / self._per_sample(torch.where(f0 > 0, f0, UNVOICED_F0))).floor()
        sine = (t / 2).sin()
        at_peak = sine.abs() <= 1e-3
        kernel = ((harmonics + 0.5) * t).sin() / torch.where(at_peak, 1.0, 2 * sine)
        train = torch.where(at_peak, harmonics + 0.5, kernel) - 0.5
        gate = (f0 > 0).to(f0).repeat_interleave(self.config.hop, dim=-1)
        return train * gate * (0.25 * (harmonics + 0.5).rsqrt())

    def _per_sample(self, x: Tensor) -> Tensor:
        """Linear interpolation between sub-frame centres, ``[B, n]`` -> ``[B, N]``.

        Written out because each sub-frame then uses the same weights wherever its chunk begins.
        """
        hop = self.config.hop
        place = (torch.arange(hop, device=x.device) + 0.5) / hop - 0.5  # [-1/2, 1/2)
        x = F.pad(x[:, None], (1, 1), mode="replicate")[:, 0]
        before, here, after = x[:, :-2, None], x[:, 1:-1, None], x[:, 2:, None]
        neighbour = torch.where(place < 0, before, after)
        return (here + (neighbour - here) * place.abs()).flatten(1)

    def _axis(self, bands: int) -> Tensor:
        """Where each STFT bin lies between the bands, in bands; the bands are even on the mel axis."""
        bins = torch.linspace(0.0, self.config.sample_rate / 2, self.bins, dtype=torch.float64)
        mels = hz_to_mel(bins)
        return (mels / mels[-1] * (bands - 1)).float()

    def _spread(self, bands: Tensor, axis: Tensor) -> Tensor:
        """Log magnitudes ``[B, n, bands]`` -> ``[B, n, bins]``."""
        below = axis.long().clamp_max(bands.shape[-1] - 2)
        share = axis - below
        return (bands[..., below] * (1 - share) + bands[..., below + 1] * share).clamp(*LOG_RANGE)

    def _minimum_phase(self, log_magnitude: Tensor) -> Tensor:
        """Complex spectrum ``[B, n, bins]`` of the minimum-phase filter, by folding the real cepstrum."""
        cepstrum = torch.fft.irfft(log_magnitude, n=self.config.n_fft)
        folded: Tensor = torch.fft.rfft(cepstrum * self.fold)
        return folded.exp()


_MASK = 0xFFFFFFFF


def _mix(x: Tensor) -> Tensor:
    """Bijective 32-bit hash held in int64 (the "lowbias32" constants of C. Wellons' hash prospector)."""
    x = x & _MASK
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & _MASK
    return x ^ (x >> 16)


def _uniform(x: Tensor) -> Tensor:
    """32-bit hash -> float32 in (0, 1), never 0 or 1."""
    return ((x >> 9).float() + 0.5) * 2.0**-23
