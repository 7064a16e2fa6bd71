"""Files out: every format comes back as it went in, streams too, and no half-written file is left."""

import errno
import io
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from audio_kinds import tone

from zonos.audio import (
    FORMATS,
    STREAM_FORMATS,
    NotWrittenError,
    StreamEncoder,
    atomic_file,
    encode_audio,
    format_named,
    read_clip,
    write_audio,
)

SOUND = [name for name in FORMATS if name != "pcm"]
# Encoder delay and the last packet's filling that a format cannot tell its reader.
SLACK = {"aac": 0.2, "mp3": 0.2, "opus": 0.02}


def level(samples: np.ndarray) -> float:
    middle = samples[len(samples) // 4 : 3 * len(samples) // 4]
    return float(np.sqrt(2 * np.square(middle, dtype=np.float64).mean()))


@pytest.mark.parametrize("rate", [8000, 22_050, 24_000, 44_100, 31_250])
@pytest.mark.parametrize("name", SOUND)
def test_whole_files_keep_length_level_and_rate(name: str, rate: int) -> None:
    clip = read_clip(encode_audio(tone(rate, 1.0), rate, name))
    assert clip.warnings == ()
    assert clip.sample_rate == FORMATS[name].rate_for(rate)
    assert clip.seconds == pytest.approx(1.0, abs=SLACK["aac"] if name == "aac" else 0.01)
    assert level(clip.mono) == pytest.approx(level(tone(rate, 1.0)), rel=0.05)


@pytest.mark.parametrize(
    ("name", "subtype", "error"),
    [
        ("wav", "PCM_16", 2**-15),
        ("wav24", "PCM_24", 2**-23),
        ("wav32f", "FLOAT", 0),
        ("flac", "PCM_24", 2**-23),
    ],
)
def test_lossless_formats_are_exact(name: str, subtype: str, error: float) -> None:
    samples = tone(24_000, 0.5)
    content = encode_audio(samples, 24_000, name)
    assert soundfile.info(io.BytesIO(content)).subtype == subtype
    assert np.abs(read_clip(content).mono - samples).max() <= error


def test_raw_pcm_is_little_endian_16_bit() -> None:
    assert (
        encode_audio(np.array([0.0, 1.0, -1.0, 0.5], np.float32), 8000, "pcm")
        == np.array([0, 32767, -32767, 16384], "<i2").tobytes()
    )


@pytest.mark.parametrize("peak", [1.0001, 1.5, 40.0])
@pytest.mark.parametrize("name", [*FORMATS])
def test_samples_over_one_never_wrap(name: str, peak: float) -> None:
    """Case: "wraps to a crack"."""
    loud = tone(24_000, 0.5, level=peak)
    content = encode_audio(loud, 24_000, name)
    back = np.frombuffer(content, "<i2") / 32767 if name == "pcm" else read_clip(content).mono
    assert np.abs(back).max() < 1.2
    rise = np.abs(np.diff(tone(24_000, 0.5, level=1.0))).max()
    assert np.abs(np.diff(back[100:11_000])).max() < 1.7 * rise


@pytest.mark.parametrize("name", [*FORMATS])
@pytest.mark.parametrize("length", [0, 1, 7, 500])
def test_tiny_files_can_be_written(name: str, length: int) -> None:
    assert isinstance(encode_audio(tone(24_000, 1.0)[:length], 24_000, name), bytes)


def test_not_a_number_becomes_silence() -> None:
    samples = tone(24_000, 0.1)
    samples[7] = np.nan
    assert read_clip(encode_audio(samples, 24_000, "wav32f")).mono[7] == 0


def test_long_vorbis_does_not_overflow_the_encoder() -> None:
    """libvorbis recurses over what one call brings; minutes in one call crash."""
    noise = np.random.default_rng(0).normal(0, 0.01, 90 * 24_000).astype(np.float32)
    assert read_clip(encode_audio(noise, 24_000, "ogg")).seconds == pytest.approx(90, abs=0.1)


def test_unknown_formats_are_named() -> None:
    with pytest.raises(ValueError, match="wav, wav24"):
        encode_audio(tone(), 48_000, "mp4")
    with pytest.raises(ValueError, match="one channel"):
        encode_audio(np.zeros((2, 100), np.float32), 48_000)
    assert format_named("MP3").suffix == ".mp3"


def test_every_format_has_suffix_mime_and_title() -> None:
    for name, entry in FORMATS.items():
        assert entry.name == name
        assert entry.suffix.startswith(".")
        assert entry.mime.startswith("audio/")
        assert entry.title


# Streams.


def streamed(name: str, samples: np.ndarray, rate: int, size: int, total: int | None = None) -> list[bytes]:
    encoder = StreamEncoder(name, rate, total)
    pieces = [encoder.push(samples[start : start + size]) for start in range(0, len(samples), size)]
    return [*pieces, encoder.finish()]


@pytest.mark.parametrize("rate", [24_000, 44_100])
@pytest.mark.parametrize("name", STREAM_FORMATS)
@pytest.mark.parametrize("size", [100, 6144, 10**6])
def test_streams_hold_all_of_it(name: str, rate: int, size: int) -> None:
    samples = tone(rate, 1.0)
    content = b"".join(streamed(name, samples, rate, size))
    if name == "pcm":
        assert content == encode_audio(samples, rate, "pcm")
        return
    clip = read_clip(content)
    assert clip.warnings == ()
    assert clip.sample_rate == FORMATS[name].rate_for(rate)
    assert clip.seconds == pytest.approx(1.0, abs=SLACK.get(name, 0.001))
    assert level(clip.mono) == pytest.approx(level(samples), rel=0.07)


@pytest.mark.parametrize("name", STREAM_FORMATS)
def test_bytes_leave_while_it_runs(name: str) -> None:
    """A listener hears the first second before the last is made."""
    pieces = streamed(name, tone(24_000, 4.0), 24_000, 2400)
    early = sum(len(piece) for piece in pieces[:10])
    assert early > 0.1 * sum(len(piece) for piece in pieces)


@pytest.mark.parametrize("name", STREAM_FORMATS)
def test_a_stream_of_nothing_is_closed_cleanly(name: str) -> None:
    assert isinstance(b"".join(streamed(name, np.zeros(0, np.float32), 24_000, 10)), bytes)


def test_a_wav_stream_of_known_length_equals_the_file() -> None:
    samples = tone(24_000, 0.3)
    content = b"".join(streamed("wav", samples, 24_000, 1000, total=len(samples)))
    info = soundfile.info(io.BytesIO(content))
    assert info.frames == len(samples)
    assert int.from_bytes(content[4:8], "little") == len(content) - 8
    assert np.abs(read_clip(content).mono - samples).max() < 2**-14


def test_streams_over_one_never_wrap() -> None:
    content = b"".join(streamed("pcm", tone(24_000, 0.2, level=3.0), 24_000, 700))
    back = np.frombuffer(content, "<i2").astype(int)
    assert np.abs(np.diff(back)).max() < 20_000


def test_vorbis_cannot_be_streamed() -> None:
    with pytest.raises(ValueError, match="cannot be streamed"):
        StreamEncoder("ogg", 24_000)


# Files: whole or not there.


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole_with_usual_rights(tmp_path: Path) -> None:
    path = tmp_path / "takes" / "01 Grüße.wav"
    write_audio(path, tone(24_000, 0.2), 24_000)
    assert read_clip(path).seconds == pytest.approx(0.2)
    assert left_over(path.parent) == [path.name]
    usual = tmp_path / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode


def test_an_older_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    for seconds in (0.5, 0.1):
        write_audio(path, tone(24_000, seconds), 24_000)
    assert read_clip(path).seconds == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "disk is full"),
        (errno.EROFS, "may not be written to"),
        (errno.EIO, "was not written"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_disk_full_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str, call: str
) -> None:
    path = tmp_path / "take.wav"
    path.write_bytes(b"the take before")

    def fail(*args: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(NotWrittenError, match=said) as problem:
        write_audio(path, tone(24_000, 0.2), 24_000)
    assert "take.wav" in str(problem.value)
    assert problem.value.errno == code
    assert path.read_bytes() == b"the take before"
    assert left_over(tmp_path) == ["take.wav"]


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_file(tmp_path / "x.bin") as file:
            file.write(b"half")
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write()
    assert left_over(tmp_path) == []


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "takes").write_bytes(b"")
    with pytest.raises(NotWrittenError, match="was not written"):
        write_audio(tmp_path / "takes" / "a.wav", tone(), 48_000)
