"""From a take's codes to its samples: decoded, cut, faded and joined in order.

The same samples come out whether they are asked for while frames arrive or at the end: pieces after
the first are matched to the first one's loudness, which is known once it is whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from zonos.audio.edit import FADE_SECONDS, fade
from zonos.audio.level import loudness
from zonos.codec import Codec
from zonos.request import PieceRequest

SILENT = 10 ** (-55 / 20)  # root mean square below which a piece counts as silent
MOST_GAIN_DB = 6.0  # pieces of one line differ by less; more would be a fault, not a match


class TakeAudio:
    """Collects a take's pieces; one thread at a time.

    Args:
        codec: of the checkpoint.
        pieces: of the line, in order.
        prefix: codes [codebooks, P] that the first piece continues, or None.
        keep_prefix: whether the prefix stays in the output.
        max_seconds: the producer's limit on the whole, or None.
    """

    def __init__(
        self,
        codec: Codec,
        pieces: Sequence[PieceRequest],
        prefix: Tensor | None,
        keep_prefix: bool,
        max_seconds: float | None,
    ) -> None:
        self.codec, self.pieces, self.prefix, self.keep_prefix = codec, pieces, prefix, keep_prefix
        self.rate = codec.sample_rate
        self.limit = None if max_seconds is None else max(1, round(max_seconds * self.rate))
        self.cut = False  # the limit took something away
        self._whole: dict[int, np.ndarray] = {}
        self._joined = 0  # pieces already handed over
        self._length = 0  # samples handed over
        self._reference: float | None = None
        self._fade = round(FADE_SECONDS * self.rate)
        self._head: _Head | None = None

    def add(self, index: int, codes: np.ndarray, seed: int) -> None:
        """A piece is whole: codes int [codebooks, frames]."""
        if index == 0 and self._head is not None:
            self._whole[0] = self._head.finish(codes)
            return
        samples = self._decode(index, torch.from_numpy(codes.astype(np.int64)), seed)
        self._whole[index] = fade(samples, self.rate)

    def is_silent(self, index: int) -> bool:
        """Whether a piece that is whole holds nothing to hear."""
        samples = self._whole[index]
        return samples.size == 0 or float(np.sqrt(np.mean(np.square(samples)))) < SILENT

    def hear(self, codes: np.ndarray, seed: int) -> np.ndarray:
        """First piece while it grows: all its codes so far -> the samples that are new and final."""
        if self._head is None:
            self._head = _Head(self, seed)
        ready = self._head.grow(codes)
        start = self._silence(self.pieces[0].gap_before) if self._length == 0 and ready.size else ready[:0]
        return self._count(np.concatenate([start, ready]))

    def take(self) -> np.ndarray:
        """Samples that follow what was handed over, as far as whole pieces go without a gap."""
        parts: list[np.ndarray] = []
        while self._joined in self._whole:
            parts += self._place(self._joined)
            self._joined += 1
        return self._count(np.concatenate(parts)) if parts else np.zeros(0, np.float32)

    @property
    def is_whole(self) -> bool:
        """Every piece was handed over."""
        return self._joined == len(self.pieces)

    def _place(self, index: int) -> list[np.ndarray]:
        samples, piece = self._whole[index], self.pieces[index]
        after = self._silence(piece.gap_after)
        if index == 0:
            self._reference = loudness(samples, self.rate)
            if self._head is not None:
                return [samples[self._head.given :], after]
        else:
            samples = samples * self._gain(samples)
        return [self._silence(piece.gap_before), samples, after]

    def _gain(self, samples: np.ndarray) -> np.float32:
        """Factor that brings a later piece to the first one's loudness, never into clipping."""
        own = loudness(samples, self.rate)
        if self._reference is None or not np.isfinite([own, self._reference]).all():
            return np.float32(1)
        decibels = np.clip(self._reference - own, -MOST_GAIN_DB, MOST_GAIN_DB)
        peak = float(np.abs(samples).max(initial=0.0))
        return np.float32(min(10 ** (decibels / 20), 1 / max(peak, 1e-9)))

    def _decode(self, index: int, codes: Tensor, seed: int) -> np.ndarray:
        if index == 0 and self.prefix is not None:
            samples = self.codec.decode(torch.cat([self.prefix.cpu(), codes], dim=1), seed).numpy()
            return samples if self.keep_prefix else samples[self.prefix.shape[1] * self.codec.hop :]
        return self.codec.decode(codes, seed).numpy()

    def _silence(self, seconds: float) -> np.ndarray:
        return np.zeros(round(seconds * self.rate), np.float32)

    def _count(self, samples: np.ndarray) -> np.ndarray:
        """Clip, and stop at the producer's limit with a fade."""
        samples = np.clip(samples, -1.0, 1.0)
        if self.limit is not None and self._length + samples.size > self.limit:
            self.cut = self.cut or bool(np.any(samples[max(0, self.limit - self._length) :]))
            samples = samples[: max(0, self.limit - self._length)]
            if samples.size:
                samples = fade(samples, self.rate, start=False)
        self._length += samples.size
        return samples


class _Head:
    """The first piece of a streamed take: samples leave while its frames still come."""

    def __init__(self, take: TakeAudio, seed: int) -> None:
        self.stream = take.codec.stream(seed)
        self.fade_length, self.rate = take._fade, take.rate
        self.given = 0  # samples handed over
        self._frames = 0  # frames pushed
        self._samples: list[np.ndarray] = []
        self._skip = 0
        if take.prefix is not None:
            self._collect(self.stream.push(take.prefix.cpu()).numpy())
            self._skip = 0 if take.keep_prefix else take.prefix.shape[1] * take.codec.hop

    def grow(self, codes: np.ndarray) -> np.ndarray:
        """Push what is new of ``codes`` and hand over what no fade can still change."""
        if not self._push(codes, final=False):
            return np.zeros(0, np.float32)
        known = self._known()
        if known.size < 2 * self.fade_length:
            return known[:0]
        # The last samples may turn out to be the end, which fades out.
        faded = fade(known, self.rate, end=False)
        ready = faded[self.given : max(self.given, known.size - self.fade_length)]
        self.given += ready.size
        return ready

    def finish(self, codes: np.ndarray) -> np.ndarray:
        """The whole piece, ends faded."""
        self._push(codes, final=True)
        return fade(self._known(), self.rate)

    def _push(self, codes: np.ndarray, *, final: bool) -> bool:
        new = torch.from_numpy(codes[:, self._frames :].astype(np.int64))
        self._frames = codes.shape[1]
        return self._collect(self.stream.push(new, final=final).numpy())

    def _collect(self, samples: np.ndarray) -> bool:
        if samples.size:
            self._samples.append(samples)
        return samples.size > 0

    def _known(self) -> np.ndarray:
        samples = np.concatenate(self._samples) if self._samples else np.zeros(0, np.float32)
        return samples[self._skip :]
