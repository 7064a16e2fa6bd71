"""Any clip in: what the bytes are decides, never the file's name.

libsndfile reads what it can; PyAV, which carries its own FFmpeg, takes the rest (m4a, webm, the
sound of a video). Nothing from a file is trusted: size, length, channels and time are bounded, and
only sound containers are opened, since FFmpeg would follow the links of a playlist.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from zonos.errors import LineError

MAX_BYTES = 256 * 2**20
MAX_SECONDS = 600.0  # the rest of a longer file is left out, and said
MAX_SAMPLES = 64 * 2**20  # over all channels: 256 MB
MAX_CHANNELS = 32
RATES = (2_000, 768_000)
MAX_WORK_SECONDS = 60.0
CANCELLED = 0.05  # of what the channels hold; less is left where one is the other turned over
MOST_OFFSET = 0.25  # of the deviation; a microphone's own is far below, a broken input's far above
_BLOCK = 65_536
_BAD_PACKETS = 50  # in a row
_OPEN_LENGTH = 2**60  # frames, said of a file that does not know

_CONTAINERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,"
    "mp3,mpeg,mpegts,ogg,tta,w64,wav,wv"
)
# How an unfinished RIFF states its size: written while streaming, never filled in.
_OPEN_RIFF_SIZES = frozenset({0, 0x7FFFFFFF, 0xFFFFFFFF}) | frozenset(range(0xFFFFFF00, 0xFFFFFFFF))


@dataclass(frozen=True, slots=True)
class Clip:
    """Decoded sound.

    Attributes:
        samples: float32 ``[channels, n]``; a loud float file may pass 1.
        sample_rate: samples per second.
        name: the file's name, or what stood in for it.
        kind: container and coding in short, for example ``WAV PCM_16``.
        warnings: sentences on what is not whole: cut files, left-out ends, broken samples.
    """

    samples: np.ndarray
    sample_rate: int
    name: str
    kind: str
    warnings: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return float(self.samples.shape[1] / self.sample_rate)

    @property
    def mono(self) -> np.ndarray:
        """Mean of the channels, float32 ``[n]``, freed of what no ear hears.

        Where channels cancel each other (one is wired the wrong way round), the loudest stands for all.
        """
        mono: np.ndarray = self.samples.mean(axis=0, dtype=np.float32)
        if len(self.samples) > 1:
            sizes = np.array([np.abs(channel).mean(dtype=np.float64) for channel in self.samples])
            if np.abs(mono).mean(dtype=np.float64) < CANCELLED * sizes.mean():
                mono = self.samples[sizes.argmax()].copy()
        offset = mono.mean(dtype=np.float64)
        if abs(offset) > MOST_OFFSET * mono.std(dtype=np.float64):
            mono -= np.float32(offset)
        return mono


@dataclass(frozen=True, slots=True)
class _Decoded:
    """What one decoder made of a file, before limits and names are told about."""

    samples: np.ndarray  # float32 [channels, n]
    sample_rate: int
    kind: str
    broken: bool = False  # decoding stopped at damage
    longer: bool = False  # the file goes on after the limit


class _NotForMe(Exception):
    """This decoder does not know the file; the message says why, for the last one asked."""


def read_bytes(path: Path) -> bytes:
    """Content of a clip's file, bounded.

    Raises:
        LineError: ``unreadable_clip``: missing, not a file, empty, too large.
    """
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not there any more"
            raise LineError("unreadable_clip", f"The clip {path.name!r} {what}; choose a sound file.")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LineError(
            "unreadable_clip", f"The clip {path.name!r} cannot be opened: {error.strerror}."
        ) from error


def read_clip(source: Path | str | bytes, name: str | None = None) -> Clip:
    """Decode a clip of any usual kind.

    Args:
        source: path of a file, or its content.
        name: what to call it in messages; default: the file's name.

    Returns:
        At most ``MAX_SECONDS`` of it. A damaged file gives what could be read, with a warning.

    Raises:
        LineError: ``unreadable_clip``, with what is wrong and what to do.
    """
    if not isinstance(source, bytes):
        path = Path(source)
        return read_clip(read_bytes(path), name or path.name)
    name = name or "the clip"
    _refuse_size(source, name)
    decoded = _decode(source, name)
    samples, warnings = _repair(decoded.samples)
    if decoded.samples.shape[1] == 0:
        raise LineError("unreadable_clip", f"No sound could be read from {name!r}; export it again.")
    length = samples.shape[1] / decoded.sample_rate
    if decoded.broken or _is_cut_riff(source):
        warnings.append(f"{name!r} is damaged or cut off: only its first {length:.1f} s could be read.")
    if decoded.longer:
        warnings.append(f"{name!r} is longer than {length:.0f} s; the rest of it is left out.")
    return Clip(samples, decoded.sample_rate, name, decoded.kind, tuple(warnings))


def _refuse_size(content: bytes, name: str) -> None:
    if not content:
        raise LineError("unreadable_clip", f"{name!r} is empty (0 bytes); export or upload it again.")
    if len(content) > MAX_BYTES:
        limit = MAX_BYTES // 2**20
        raise LineError("unreadable_clip", f"{name!r} is larger than {limit} MB; cut out what is needed.")


def _decode(content: bytes, name: str) -> _Decoded:
    deadline = time.monotonic() + MAX_WORK_SECONDS
    try:
        first = _with_soundfile(content, deadline)
    except _NotForMe:
        first = None
    if first is not None and not first.broken and first.samples.shape[1]:
        return first
    try:
        second = _with_av(content, deadline)
    except _NotForMe as problem:
        if first is not None and first.samples.shape[1]:
            return first
        raise LineError("unreadable_clip", _why_not(content, name, str(problem))) from None
    if first is None:
        return second
    longest = max(second, first, key=lambda decoded: decoded.samples.shape[1])
    return replace(longest, broken=True)


def _why_not(content: bytes, name: str, problem: str) -> str:
    if _looks_like_text(content):
        return f"{name!r} holds text, not sound, whatever its name says; choose a sound file."
    return f"{name!r} cannot be read as sound ({problem}); export it as wav, flac, mp3 or m4a."


def _looks_like_text(content: bytes) -> bool:
    start = content[:4096]
    encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    # The cut may fall into a character.
    text = start.decode(encoding, errors="replace")[:-1].lstrip("\ufeff")
    printable = sum(char.isprintable() or char.isspace() for char in text)
    return len(text) > 3 and printable - text.count("\ufffd") >= 0.98 * len(text)


def _is_cut_riff(content: bytes) -> bool:
    """Whether a wav file states more bytes than there are."""
    if content[:4] != b"RIFF" or len(content) < 12:
        return False
    stated = int.from_bytes(content[4:8], "little")
    return stated not in _OPEN_RIFF_SIZES and stated + 8 > len(content) + 1


def _repair(samples: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Samples without NaN and infinities, and a sentence where there were some."""
    finite = np.isfinite(samples)
    if finite.all():
        return samples, []
    share = 1 - finite.mean()
    return np.where(finite, samples, np.float32(0)), [
        f"{share:.1%} of the samples are not numbers and were silenced."
    ]


def _check_format(sample_rate: int, channels: int) -> None:
    if not RATES[0] <= sample_rate <= RATES[1]:
        raise _NotForMe(f"a sample rate of {sample_rate} Hz")
    if not 1 <= channels <= MAX_CHANNELS:
        raise _NotForMe(f"{channels} channels")


def _sample_limit(sample_rate: int, channels: int) -> int:
    return min(int(MAX_SECONDS * sample_rate), MAX_SAMPLES // channels)


def _with_soundfile(content: bytes, deadline: float) -> _Decoded:
    try:
        with soundfile.SoundFile(_Memory(content)) as file:
            if file.format == "MP3" or file.frames > _OPEN_LENGTH:
                # The end of a streamed file is not for libsndfile: of an MP3 without a table of
                # contents it guesses the length and stops there, an open FLAC ends in an error.
                raise _NotForMe("open length")
            _check_format(file.samplerate, file.channels)
            limit = _sample_limit(file.samplerate, file.channels)
            blocks, broken = _soundfile_blocks(file, limit, deadline)
            samples = _join([block.T for block in blocks], file.channels)
            broken = broken or samples.shape[1] < min(file.frames, limit)
            longer = samples.shape[1] >= limit and file.frames > limit
            return _Decoded(samples, file.samplerate, f"{file.format} {file.subtype}", broken, longer)
    except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError) as error:
        raise _NotForMe(str(error)) from error


class _Memory(io.BytesIO):
    """Bytes that stay at their start where a mangled header leads before it.

    libsndfile calls from C, where an exception cannot pass and is printed instead.
    """

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except (ValueError, OverflowError):
            return super().seek(0)


def _soundfile_blocks(
    file: soundfile.SoundFile, limit: int, deadline: float
) -> tuple[list[np.ndarray], bool]:
    """Blocks ``[n, channels]`` up to ``limit`` samples, and whether damage or time ended them."""
    blocks: list[np.ndarray] = []
    done = 0
    try:
        while done < limit:
            if time.monotonic() > deadline:
                return blocks, True
            block = file.read(min(_BLOCK, limit - done), dtype="float32", always_2d=True)
            if len(block) == 0:
                break
            blocks.append(block)
            done += len(block)
    except (soundfile.SoundFileError, RuntimeError):
        return blocks, True
    return blocks, False


def _with_av(content: bytes, deadline: float) -> _Decoded:
    # Slow to import, and most clips never need it.
    import av

    options = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "", "probesize": "8000000"}
    try:
        with av.open(io.BytesIO(content), options=options, metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise _NotForMe("there is no sound in it")
            stream = container.streams.audio[0]
            if stream.codec_context is None:
                raise _NotForMe("its sound has an unknown coding")
            kind = f"{container.format.name.split(',')[0]} {stream.codec_context.name}"
            return _av_decoded(container, stream, kind, deadline)
    except (av.error.FFmpegError, ValueError, OverflowError, MemoryError) as error:
        raise _NotForMe(getattr(error, "strerror", None) or str(error)) from error


def _av_decoded(container: Any, stream: Any, kind: str, deadline: float) -> _Decoded:
    import av

    resampler: Any = None
    blocks: list[np.ndarray] = []
    rate = channels = done = limit = 0
    broken = longer = False
    try:
        for frame in _av_frames(container, stream):
            if resampler is None:
                rate, channels = frame.sample_rate, frame.layout.nb_channels
                _check_format(rate, channels)
                limit = _sample_limit(rate, channels)
                resampler = av.AudioResampler(format="fltp", layout=frame.layout, rate=rate)
            for ready in resampler.resample(frame):
                blocks.append(ready.to_ndarray())
                done += blocks[-1].shape[1]
            longer = done > limit
            broken = time.monotonic() > deadline
            if longer or broken:
                break
    except (av.error.FFmpegError, ValueError):
        # Damage, or a format that changes on the way: what came before is good.
        broken = True
    if not blocks:
        raise _NotForMe("no sound could be decoded")
    broken = broken or (not longer and done / rate < 0.9 * _stated_seconds(container, stream))
    return _Decoded(_join(blocks, channels)[:, :limit], rate, kind, broken, longer)


def _stated_seconds(container: Any, stream: Any) -> float:
    """Length that the file's index tells; 0 where it has none, since other lengths are guesses."""
    indexed = container.format.name.startswith(("mov", "matroska"))
    return float(stream.duration * stream.time_base) if indexed and stream.duration else 0.0


def _av_frames(container: Any, stream: Any) -> Iterator[Any]:
    """Decoded frames; single damaged packets are passed over as players do, many end the stream."""
    bad = 0
    for packet in container.demux(stream):
        frames = _packet_frames(packet, last_chance=bad >= _BAD_PACKETS)
        bad = bad + 1 if frames is None else 0
        yield from frames or ()


def _packet_frames(packet: Any, last_chance: bool) -> list[Any] | None:
    """Frames of a packet; None where it is damaged, unless that is not to be borne any longer."""
    import av

    try:
        return list(packet.decode())
    except av.error.InvalidDataError:
        if last_chance:
            raise
        return None


def _join(blocks: list[np.ndarray], channels: int) -> np.ndarray:
    if not blocks:
        return np.zeros((channels, 0), dtype=np.float32)
    return np.ascontiguousarray(np.concatenate(blocks, axis=1), dtype=np.float32)
