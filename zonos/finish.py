"""From a take's codes to its samples: decoded, cut, faded and joined in order.

The same samples come out whether they are asked for while frames arrive or at the end. Pieces after
the first are matched to the first one's loudness as far as their own first seconds tell it: of twenty
pieces in the embedded checkpoint's four voices, 3 s were within 0.8 dB (root mean square) of the whole
piece; 2 s within 1.2 dB, by which the pieces differ where nothing is matched.
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
LEAD_SECONDS = 3.0  # of a later piece, by which its loudness is judged
# Highest peak that a lead is raised to: what follows it was up to 1.6 times as high in those twenty.
LEAD_PEAK = 0.6


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
        self._clip = 0 if prefix is None else prefix.shape[1] * codec.hop  # samples
        self._fade = round(FADE_SECONDS * self.rate)
        self._lead = round(LEAD_SECONDS * self.rate)
        self._growing: dict[int, _Growing] = {}  # pieces that are heard before they are whole
        self._gains: dict[int, np.float32] = {}

    def add(self, index: int, codes: np.ndarray, seed: int) -> None:
        """A piece is whole: codes int [codebooks, frames]."""
        if index in self._growing:
            self._whole[index] = self._growing[index].finish(codes)
            return
        samples = self._decode(index, torch.from_numpy(codes.astype(np.int64)), seed)
        self._whole[index] = fade(samples, self.rate)

    def is_silent(self, index: int) -> bool:
        """Whether a piece that is whole holds nothing to hear."""
        return _is_silent(self._whole[index][self._clip if self._keeps_clip(index) else 0 :])

    def is_next(self, index: int, frames: int) -> bool:
        """Whether a piece with so many frames has something for :meth:`hear`: all before it was handed
        over, and its loudness can be judged."""
        needed = 0 if index == 0 else self._lead / self.codec.hop + self.codec.context
        return index == self._joined and frames > needed

    def was_heard(self, index: int) -> bool:
        """Whether some of a piece was handed over before it was whole."""
        return index in self._growing and self._growing[index].given > 0

    def forget(self, index: int) -> None:
        """A piece is made again."""
        self._whole.pop(index, None)
        self._growing.pop(index, None)
        self._gains.pop(index, None)

    def hear(self, index: int, codes: np.ndarray, seed: int) -> np.ndarray:
        """A piece while it grows: all its codes so far -> the samples that are new and final."""
        nothing = np.zeros(0, np.float32)
        if index != self._joined:
            return nothing
        growing = self._growing.setdefault(index, _Growing(self, index, seed))
        final = growing.grow(codes)
        # A later piece that begins silent may have to be made again.
        if index > 0 and (final.size < self._lead or _is_silent(final[: self._lead])):
            return nothing
        start = nothing if growing.given else self._lead_in(index)
        samples = np.concatenate([start, final[growing.given :] * self._gain(index, final)])
        if final.size <= growing.given or self._is_cut(samples):
            return nothing
        growing.given = final.size
        return self._count(samples)

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
        louder = samples * self._gain(index, samples)
        if index == 0:
            self._reference = loudness(samples, self.rate)
        after = self._silence(piece.gap_after)
        if self.was_heard(index):
            return [louder[self._growing[index].given :], after]
        return [self._lead_in(index), louder, after]

    def _lead_in(self, index: int) -> np.ndarray:
        """The pause before a piece; behind a kept prefix it is in the piece's samples (:meth:`opened`)."""
        return self._silence(0.0 if self._keeps_clip(index) else self.pieces[index].gap_before)

    def _keeps_clip(self, index: int) -> bool:
        return index == 0 and self.keep_prefix and self._clip > 0

    def opened(self, samples: np.ndarray) -> np.ndarray:
        """The first piece's samples, clip included, as they are heard: without the clip, or with the
        line's first pause behind it."""
        clip, said = samples[: self._clip], samples[self._clip :]
        if not self._keeps_clip(0):
            return said
        pause = self._silence(self.pieces[0].gap_before)
        return np.concatenate([clip, pause, said]) if said.size else clip

    def _gain(self, index: int, samples: np.ndarray) -> np.float32:
        """Factor that brings a later piece to the first one's loudness, by its lead."""
        if index not in self._gains:
            self._gains[index] = np.float32(1) if index == 0 else self._match(samples[: self._lead])
        return self._gains[index]

    def _match(self, lead: np.ndarray) -> np.float32:
        own = loudness(lead, self.rate)
        if self._reference is None or not np.isfinite([own, self._reference]).all():
            return np.float32(1)
        decibels = np.clip(self._reference - own, -MOST_GAIN_DB, MOST_GAIN_DB)
        peak = max(float(np.abs(lead).max(initial=0.0)), 1e-9)
        return np.float32(min(10 ** (decibels / 20), max(LEAD_PEAK / peak, min(1.0, 1 / peak))))

    def _is_cut(self, samples: np.ndarray) -> bool:
        """Whether the producer's limit comes so near that its fade must be laid over the whole end."""
        return self.limit is not None and self._length + samples.size > self.limit - 2 * self._fade

    def _decode(self, index: int, codes: Tensor, seed: int) -> np.ndarray:
        if index == 0 and self.prefix is not None:
            return self.opened(self.codec.decode(torch.cat([self.prefix.cpu(), codes], dim=1), seed).numpy())
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


class _Growing:
    """A piece of a streamed take: samples leave while its frames still come."""

    def __init__(self, take: TakeAudio, index: int, seed: int) -> None:
        self.stream = take.codec.stream(seed)
        self.fade_length, self.rate = take._fade, take.rate
        self.given = 0  # samples handed over
        self._frames = 0  # frames pushed
        self._samples: list[np.ndarray] = []
        self._opened = take.opened if index == 0 else lambda samples: samples
        if index == 0 and take.prefix is not None:
            self._collect(self.stream.push(take.prefix.cpu()).numpy())

    def grow(self, codes: np.ndarray) -> np.ndarray:
        """Push what is new of ``codes``; all samples so far that no fade can change any more."""
        self._push(codes, final=False)
        known = self._known()
        # The last samples may turn out to be the end, which fades out.
        certain = known.size - self.fade_length
        return fade(known, self.rate, end=False)[:certain] if certain >= self.fade_length else known[:0]

    def finish(self, codes: np.ndarray) -> np.ndarray:
        """The whole piece, ends faded."""
        self._push(codes, final=True)
        return fade(self._known(), self.rate)

    def _push(self, codes: np.ndarray, *, final: bool) -> None:
        new = torch.from_numpy(codes[:, self._frames :].astype(np.int64))
        self._frames = codes.shape[1]
        self._collect(self.stream.push(new, final=final).numpy())

    def _collect(self, samples: np.ndarray) -> None:
        if samples.size:
            self._samples.append(samples)

    def _known(self) -> np.ndarray:
        return self._opened(np.concatenate(self._samples) if self._samples else np.zeros(0, np.float32))


def _is_silent(samples: np.ndarray) -> bool:
    return samples.size == 0 or float(np.sqrt(np.mean(np.square(samples)))) < SILENT
