"""What every codec offers, and the fixed grid on which a stream of codes becomes sound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

# Small first chunks make the first sound come early; after them each chunk costs its context once.
FIRST_CHUNKS = (8, 16, 32)
CHUNK = 64


def chunk_grid() -> Iterator[tuple[int, int]]:
    """Frame ranges ``[start, stop)`` of a stream: 8, 16, 32, then 64 frames each, for ever.

    The grid counts from a line's first frame, so what is decoded together never depends on when
    the frames arrived.
    """
    start = 0
    for size in FIRST_CHUNKS:
        yield start, start + size
        start += size
    while True:
        yield start, start + CHUNK
        start += CHUNK


class Codec(ABC):
    """Codes <-> waveform. All sizes are the codec's own; nothing outside may assume them.

    Attributes:
        sample_rate: samples per second.
        hop: samples per frame.
        frame_rate: frames per second.
        n_codebooks: codes per frame, K.
        codebook_size: codes of one codebook are ``0 .. codebook_size - 1``.
        context: frames needed on each side of a chunk so that it equals the whole decode.
    """

    sample_rate: int
    hop: int
    n_codebooks: int
    codebook_size: int
    context: int

    @property
    def frame_rate(self) -> float:
        """Frames per second."""
        return self.sample_rate / self.hop

    @abstractmethod
    def encode(self, wav: Tensor) -> Tensor:
        """Codes of a waveform.

        Args:
            wav: float32 ``[1, n]`` at ``sample_rate``; padded with silence to whole frames.

        Returns:
            int64 ``[K, ceil(n / hop)]`` on the CPU.
        """

    @abstractmethod
    def decode(self, codes: Tensor, seed: int = 0) -> Tensor:
        """Waveform of one line, whatever its length, in bounded memory.

        Args:
            codes: integer ``[K, T]``.
            seed: for a codec with a random part; the same seed gives the same samples.

        Returns:
            float32 ``[T * hop]`` on the CPU.

        Raises:
            ValueError: wrong shape, or a code outside the codebook (EOS and MASK are not sound).
        """

    @abstractmethod
    def stream(self, seed: int = 0) -> CodecStream:
        """A new stream that decodes one line piece by piece; see :class:`CodecStream`."""

    def check(self, codes: Tensor) -> Tensor:
        """The codes as int64 ``[K, T]``, refused when they cannot be sound.

        Raises:
            ValueError: wrong shape, dtype or value.
        """
        if codes.ndim != 2 or codes.shape[0] != self.n_codebooks:
            raise ValueError(f"codes must be [{self.n_codebooks}, frames], got {list(codes.shape)}")
        if codes.is_floating_point() or codes.is_complex():
            raise ValueError(f"codes must be integers, got {codes.dtype}")
        codes = codes.long()
        if codes.numel() == 0:
            return codes
        lowest, highest = (int(bound) for bound in torch.aminmax(codes))
        if lowest < 0 or highest >= self.codebook_size:
            raise ValueError(f"codes must be 0 to {self.codebook_size - 1}, got {lowest} to {highest}")
        return codes


class CodecStream(ABC):
    """One line being decoded while its codes still arrive.

    Only whole chunks of :func:`chunk_grid` whose right context is there are decoded, so the
    samples are the same, byte for byte, whatever sizes the codes were pushed in.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._grid = chunk_grid()
        self._start, self._stop = next(self._grid)
        self._kept = torch.empty(codec.n_codebooks, 0, dtype=torch.long)
        self._kept_from = 0  # frame number of the first column kept
        self._finished = False

    def push(self, codes: Tensor, final: bool = False) -> Tensor:
        """Take more codes and return the samples that are ready.

        Args:
            codes: ``[K, t]``, t may be 0.
            final: these are the last ones; everything left is decoded.

        Returns:
            float32 ``[m]`` on the CPU, m a multiple of ``hop``, often 0.

        Raises:
            ValueError: as :meth:`Codec.decode`; or a push after the final one.
        """
        if self._finished:
            raise ValueError("this stream has already had its final codes")
        self._kept = torch.cat([self._kept, self._codec.check(codes).cpu()], dim=1)
        self._finished = final
        ready = []
        while self._ready(final):
            ready.append(self._decode_next())
        return torch.cat(ready) if ready else torch.empty(0)

    @abstractmethod
    def _chunk(self, codes: Tensor, start: int, stop: int, first: int) -> Tensor:
        """Samples of frames ``[start, stop)`` from codes ``[K, w]`` whose first column is frame ``first``."""

    def _ready(self, final: bool) -> bool:
        end = self._kept_from + self._kept.shape[1]
        return end >= self._stop + self._codec.context or (final and end > self._start)

    def _decode_next(self) -> Tensor:
        end = self._kept_from + self._kept.shape[1]
        stop = min(self._stop, end)
        window = self._kept[:, : min(stop + self._codec.context, end) - self._kept_from]
        samples = self._chunk(window, self._start, stop, self._kept_from)
        self._start, self._stop = next(self._grid)
        forget = max(0, self._start - self._codec.context - self._kept_from)
        self._kept = self._kept[:, forget:]
        self._kept_from += min(forget, end - self._kept_from)
        return samples
