"""A clip's voice as one vector: log-mel, ResNet with SimAM, attentive statistics pooling, LDA.

Names of modules are those of the published ``ResNet293_SimAM_ASP_base.pt``; sizes come from a
config or, for the published files, which have none, from the tensors themselves.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor, nn
from torch.nn import functional as F

from zonos.audio.level import active_frames, frame_levels
from zonos.audio.read import Clip, read_bytes, read_clip
from zonos.audio.resample import resampler
from zonos.errors import CheckpointError, LineError

MAX_SECONDS = 60.0  # more of a voice changes its vector no further, and costs memory
MIN_SOUND_SECONDS = 0.4
# A clip whose sounding parts are quieter than this on the mean is made as loud as most are.
QUIET_DBFS = -40.0
USUAL_DBFS = -26.0
STAGES = 4


class SpeakerConfig(BaseModel):
    """Shape of a speaker encoder; speaker.json of an embedded one.

    Attributes:
        in_planes: channels of the first stage; the others have 2, 4 and 8 times as many.
        num_blocks: blocks of each stage.
        embd_dim: width of the bottleneck.
        lda_dim: width of the voice vector.
        attention_dim: hidden width of the pooling's attention.
        centre: what is taken off the log-mel: the mean of each band over time (as published; a microphone's
            colour goes, and with it a voice's), or one mean over bands and time (only the level goes).
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    in_planes: int = 64
    num_blocks: tuple[int, int, int, int] = (10, 20, 64, 3)
    embd_dim: int = 256
    lda_dim: int = 128
    attention_dim: int = 128
    sample_rate: int = 16000
    n_fft: int = 512
    win_length: int = 400
    hop_length: int = 160
    n_mels: int = 80
    centre: Literal["bands", "level"] = "bands"

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> SpeakerConfig:
        """Sizes as the tensors tell them, the features being the published ones.

        Raises:
            KeyError: a tensor that tells a size is not there.
        """
        blocks = [
            len({name.split(".")[2] for name in tensors if name.startswith(f"front.layer{stage}.")})
            for stage in range(1, STAGES + 1)
        ]
        return cls(
            in_planes=tensors["front.conv1.weight"].shape[0],
            num_blocks=(blocks[0], blocks[1], blocks[2], blocks[3]),
            embd_dim=tensors["bottleneck.weight"].shape[0],
            lda_dim=tensors["lda.weight"].shape[0],
            attention_dim=tensors["pooling.attention.0.weight"].shape[0],
        )


def simam(x: Tensor) -> Tensor:
    """Parameter-free attention over ``[B, C, F, T]`` (Yang et al., ICML 2021, lambda 1e-4)."""
    squared = (x - x.mean(dim=(2, 3), keepdim=True)).square()
    variance = squared.sum(dim=(2, 3), keepdim=True) / (x.shape[2] * x.shape[3] - 1)
    return x * torch.sigmoid(squared / (4 * (variance + 1e-4)) + 0.5)


class SimAMBlock(nn.Module):
    """Residual block of two 3x3 convolutions with SimAM before the sum.

    Args:
        inputs: channels in.
        outputs: channels out.
        stride: of the first convolution, in frequency and time.
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
            if stride != 1 or inputs != outputs
            else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        """``[B, inputs, F, T]`` -> ``[B, outputs, F / stride, T / stride]``."""
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(simam(self.bn2(self.conv2(y))) + self.downsample(x))


class ResNet(nn.Module):
    """Four stages of blocks over a spectrogram taken as an image."""

    def __init__(self, config: SpeakerConfig) -> None:
        super().__init__()
        width = config.in_planes
        self.conv1 = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = _stage(width, width, config.num_blocks[0], stride=1)
        self.layer2 = _stage(width, 2 * width, config.num_blocks[1], stride=2)
        self.layer3 = _stage(2 * width, 4 * width, config.num_blocks[2], stride=2)
        self.layer4 = _stage(4 * width, 8 * width, config.num_blocks[3], stride=2)

    def forward(self, features: Tensor) -> Tensor:
        """``[B, mels, T]`` -> ``[B, 8 * in_planes, mels / 8, T / 8]``."""
        x: Tensor = F.relu(self.bn1(self.conv1(features[:, None])))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x


class StatisticsPooling(nn.Module):
    """Mean and deviation over time, weighted by attention per feature."""

    def __init__(self, features: int, attention_dim: int) -> None:
        super().__init__()
        self.attention = nn.Sequential(
            nn.Conv1d(features, attention_dim, 1),
            nn.ReLU(),
            nn.BatchNorm1d(attention_dim),
            nn.Conv1d(attention_dim, features, 1),
            nn.Softmax(dim=2),
        )

    def forward(self, x: Tensor) -> Tensor:
        """``[B, C, F, T]`` -> ``[B, 2 * C * F]``."""
        x = x.flatten(1, 2)
        weight = self.attention(x)
        mean = (weight * x).sum(-1)
        deviation = ((weight * x.square()).sum(-1) - mean.square()).clamp_min(1e-5).sqrt()
        return torch.cat([mean, deviation], dim=-1)


class SpeakerEncoder(nn.Module):
    """Waveform to voice vector; trainable.

    Args:
        config: its shape.
    """

    def __init__(self, config: SpeakerConfig) -> None:
        super().__init__()
        self.config = config
        bands = -(-config.n_mels // 2 ** (STAGES - 1))
        features = 8 * config.in_planes * bands
        self.front = ResNet(config)
        self.pooling = StatisticsPooling(features, config.attention_dim)
        self.bottleneck = nn.Linear(2 * features, config.embd_dim)
        self.lda = nn.Linear(config.embd_dim, config.lda_dim)
        self._mel = _Mel(config)

    def prepare(self, samples: Tensor | np.ndarray, sample_rate: int) -> Tensor:
        """One clip as the network hears it, at most ``MAX_SECONDS`` of it.

        Args:
            samples: float ``[n]`` or ``[channels, n]``.
            sample_rate: of the samples.

        Returns:
            float32 ``[1, m]``, mono, at ``config.sample_rate``.
        """
        wav = torch.as_tensor(samples, dtype=torch.float32, device="cpu")
        wav = wav[: int(MAX_SECONDS * sample_rate)] if wav.ndim == 1 else _cut_mean(wav, sample_rate)
        if sample_rate == self.config.sample_rate:
            return wav.reshape(1, -1)
        resampled: Tensor = resampler(sample_rate, self.config.sample_rate)(wav.reshape(1, -1))
        return resampled

    def features(self, wav: Tensor) -> Tensor:
        """Waveforms ``[B, n]`` -> log-mel ``[B, mels, T]`` without the mean that ``config.centre`` names."""
        log_mel = (self._mel(wav) + 1e-6).log()
        over = (-1,) if self.config.centre == "bands" else (-2, -1)
        return log_mel - log_mel.mean(dim=over, keepdim=True)

    def forward(self, features: Tensor) -> Tensor:
        """Log-mel ``[B, mels, T]`` -> embedding ``[B, embd_dim]``; ``lda`` makes the voice vector of it."""
        embedding: Tensor = self.bottleneck(self.pooling(self.front(features)))
        return embedding

    @torch.no_grad()
    def embed(self, samples: Tensor | np.ndarray, sample_rate: int) -> Tensor:
        """Voice vector of one clip.

        Args:
            samples: float32 ``[n]`` or ``[channels, n]``; only the first ``MAX_SECONDS`` are heard.
            sample_rate: of the samples.

        Returns:
            float32 ``[lda_dim]`` on the CPU.

        Raises:
            ValueError: too short for one analysis window (32 ms in published encoders).
        """
        wav = self.prepare(samples, sample_rate)
        if wav.shape[1] <= self.config.n_fft // 2:
            raise ValueError(f"{wav.shape[1] / self.config.sample_rate:.3f} s are too short for a voice")
        vector: Tensor = self.lda(self(self.features(wav.to(self.lda.weight.device))))[0]
        return vector.float().cpu()


def load_speaker(
    tensors: Mapping[str, Tensor],
    config: Mapping[str, Any] | None = None,
    device: torch.device | str = "cpu",
) -> SpeakerEncoder:
    """A speaker encoder ready to embed, in float32.

    Args:
        tensors: of one file with ``lda.*``, or of the two published files together, where the LDA
            layer's are plain ``weight`` and ``bias`` in float64.
        config: content of speaker.json; None reads the sizes off the tensors.
        device: where it computes.

    Raises:
        CheckpointError: tensors are missing or do not fit.
    """
    named = {
        f"lda.{name}" if name in ("weight", "bias") else name: value.float()
        if value.is_floating_point()
        else value
        for name, value in tensors.items()
    }
    try:
        shape = SpeakerConfig.model_validate(dict(config)) if config else SpeakerConfig.from_tensors(named)
        with torch.device("meta"):
            encoder = SpeakerEncoder(shape)
        encoder.load_state_dict(named, strict=True, assign=True)
    except KeyError as error:
        raise CheckpointError(f"The speaker encoder lacks the tensor {error}.") from error
    except (ValidationError, RuntimeError) as error:
        raise CheckpointError(f"The speaker encoder's weights do not fit its config: {error}") from error
    return encoder.to(device).eval().requires_grad_(False)


class _Mel:
    """torchaudio's mel spectrogram, built at first use: importing torchaudio takes a while.

    Not a submodule, because the published files hold no such tensors.
    """

    def __init__(self, config: SpeakerConfig) -> None:
        self._config = config
        self._at: dict[torch.device, nn.Module] = {}

    def __call__(self, wav: Tensor) -> Tensor:
        if wav.device not in self._at:
            from torchaudio.transforms import MelSpectrogram

            c = self._config
            mel = MelSpectrogram(
                c.sample_rate, c.n_fft, c.win_length, hop_length=c.hop_length, n_mels=c.n_mels
            )
            self._at[wav.device] = mel.to(wav.device)
        spectrum: Tensor = self._at[wav.device](wav)
        return spectrum


def _stage(inputs: int, outputs: int, depth: int, stride: int) -> nn.Sequential:
    first = SimAMBlock(inputs, outputs, stride)
    return nn.Sequential(first, *(SimAMBlock(outputs, outputs, 1) for _ in range(depth - 1)))


def _cut_mean(wav: Tensor, sample_rate: int) -> Tensor:
    return wav[:, : int(MAX_SECONDS * sample_rate)].mean(dim=0)


class VoiceVectors:
    """Voice vectors by the content of clips: a replaced file is a new voice, whatever its name.

    Safe to use from several threads. One clip is embedded at a time; known ones do not wait for it.

    Args:
        encoder: makes the vectors.
        capacity: how many clips are remembered, the last used ones.
    """

    def __init__(self, encoder: SpeakerEncoder, capacity: int = 512) -> None:
        self._encoder = encoder
        self._capacity = capacity
        self._known: OrderedDict[str, Tensor] = OrderedDict()
        self._lock = threading.Lock()  # guards what is known
        self._embedding = threading.Lock()

    def vector(self, clips: Sequence[Path | bytes]) -> Tensor:
        """The mean of the clips' vectors.

        Args:
            clips: one or more files, or their contents.

        Returns:
            float32 ``[lda_dim]`` on the CPU.

        Raises:
            LineError: ``unreadable_clip``, ``short_clip`` or ``silent_clip``, with what to do.
        """
        if not clips:
            raise LineError("unreadable_clip", "The voice has no clip; add one.")
        return torch.stack([self._one(clip) for clip in clips]).mean(dim=0)

    def _one(self, clip: Path | bytes) -> Tensor:
        content = clip if isinstance(clip, bytes) else read_bytes(clip)
        key = hashlib.sha256(content).hexdigest()
        if (known := self._recall(key)) is not None:
            return known
        with self._embedding:
            # Another thread may have made it while this one waited.
            if (known := self._recall(key)) is not None:
                return known
            vector = self._embed(read_clip(content, None if isinstance(clip, bytes) else clip.name))
            self._remember(key, vector)
            return vector

    def _recall(self, key: str) -> Tensor | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _remember(self, key: str, vector: Tensor) -> None:
        with self._lock:
            self._known[key] = vector
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)

    def _embed(self, clip: Clip) -> Tensor:
        mono = clip.mono[: int(MAX_SECONDS * clip.sample_rate)]
        vector = self._encoder.embed(mono * _lift(mono, clip), clip.sample_rate)
        if not vector.isfinite().all():
            raise LineError("unreadable_clip", f"No voice could be made of {clip.name!r}; use another clip.")
        return vector


def _lift(mono: np.ndarray, clip: Clip) -> np.float32:
    """Gain for a quiet clip or one beyond full scale, 1 for others; refuses what holds no voice.

    The encoder's log-mel has a fixed floor, below which a quiet voice would vanish; a float file
    that counts to 32768 would lift the noise of its pauses far above it.
    """
    levels = frame_levels(mono, clip.sample_rate)
    active = active_frames(levels)
    if not active.any():
        raise LineError("silent_clip", f"{clip.name!r} is silent; choose a clip in which the voice is heard.")
    sound = active.sum() / len(active) * len(mono) / clip.sample_rate
    if sound < MIN_SOUND_SECONDS:
        raise LineError(
            "short_clip",
            f"{clip.name!r} holds only {sound:.2f} s of sound; a voice needs at least "
            f"{MIN_SOUND_SECONDS} s, better 10 to 30 s.",
        )
    peak = np.abs(mono).max()
    if peak > 1:
        return np.float32(1 / peak)
    level = float(levels[active].mean())
    return np.float32(10 ** ((USUAL_DBFS - level) / 20) if level < QUIET_DBFS else 1.0)
