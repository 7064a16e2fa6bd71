"""Cases "Clips and files": every usual kind is read right, everything else is refused in words."""

import io
import struct
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from audio_kinds import KINDS, LEVEL, SECONDS, TONE, by_av, kind, tone

from zonos.audio import encode_audio, read_clip
from zonos.audio import read as audio_read
from zonos.audio.write import wav_header
from zonos.errors import LineError


def middle(samples: np.ndarray) -> np.ndarray:
    return samples[len(samples) // 4 : 3 * len(samples) // 4]


def pitch(samples: np.ndarray, rate: int) -> float:
    part = middle(samples)
    spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part)), 8 * len(part)))
    return float(spectrum.argmax() * rate / (8 * len(part)))


def level(samples: np.ndarray) -> float:
    return float(np.sqrt(2 * np.square(middle(samples), dtype=np.float64).mean()))


def wav(samples: np.ndarray, rate: int = 16000, subtype: str = "FLOAT") -> bytes:
    sink = io.BytesIO()
    soundfile.write(sink, samples.T, rate, format="WAV", subtype=subtype)
    return sink.getvalue()


def refused(content: bytes, name: str = "voice.wav") -> str:
    with pytest.raises(LineError) as problem:
        read_clip(content, name)
    assert problem.value.code == "unreadable_clip"
    assert repr(name) in problem.value.reason
    return problem.value.reason


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_loads_at_its_level_and_pitch(name: str) -> None:
    clip = read_clip(kind(name))
    assert clip.samples.dtype == np.float32
    assert clip.samples.ndim == 2
    assert clip.warnings == ()
    assert clip.seconds == pytest.approx(SECONDS, abs=0.06)
    for channel in clip.samples:
        assert pitch(channel, clip.sample_rate) == pytest.approx(TONE, rel=0.01)
        assert level(channel) == pytest.approx(LEVEL, rel=0.06)
    assert len(clip.mono) == clip.samples.shape[1]


@pytest.mark.parametrize("suffix", ["wav", "txt", "mp3", ""])
def test_the_content_decides_not_the_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"clip.{suffix}"
    path.write_bytes(kind("m4a aac"))
    assert read_clip(path).kind == "mov aac"
    assert read_clip(str(path)).name == path.name


def test_float64_over_one_keeps_its_level() -> None:
    loud = np.array([[0.0, 2.5, -3.0, 1.0]])
    np.testing.assert_allclose(read_clip(wav(loud, subtype="DOUBLE")).samples, loud, atol=1e-6)


def test_stereo_is_mixed_by_the_mean() -> None:
    wave = np.tile([1.0, -1.0], 50)
    both = np.stack([0.5 * wave, -0.1 * wave])
    np.testing.assert_allclose(read_clip(wav(both)).mono, 0.2 * wave, atol=1e-6)


def test_a_stream_without_sizes_is_whole_not_cut() -> None:
    body = (tone(16000) * 32767).astype("<i2").tobytes()
    clip = read_clip(wav_header(16000, None) + body)
    assert clip.samples.shape[1] == len(body) // 2
    assert clip.warnings == ()


def test_a_variable_bit_rate_mp3_without_contents_is_read_to_its_end() -> None:
    """libsndfile guesses the length from the first frame and stops there."""
    sink = io.BytesIO()
    with av.open(sink, "w", format="mp3", options={"write_xing": "0"}) as output:
        best = {"flags": "+qscale", "global_quality": "0"}
        stream = output.add_stream("libmp3lame", rate=24000, layout="mono", options=best)
        frame = av.AudioFrame.from_ndarray(tone(24000, 3.0)[None], format="fltp", layout="mono")
        frame.sample_rate = 24000
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    content = sink.getvalue()
    assert soundfile.info(io.BytesIO(content)).duration < 2
    assert read_clip(content).seconds == pytest.approx(3.0, abs=0.1)


# Refused, with the reason.


def test_an_empty_file() -> None:
    assert "0 bytes" in refused(b"")


@pytest.mark.parametrize(
    "content",
    [
        b"Hello, this is a script.\nSecond line.\n",
        b"<!doctype html><title>404</title>",
        b'{"error": "not found"}',
        "Grüße, 今日はいい天気です\n".encode(),
        "Grüße an alle Leute\n".encode("utf-16"),
        "\ufeffGrüße an alle\n".encode(),
        b"RIFF is how a wav file starts, but this is text." * 100,
    ],
    ids=["text", "html", "json", "utf-8", "utf-16", "utf-8 with BOM", "RIFF in words"],
)
def test_text_named_wav(content: bytes) -> None:
    assert "holds text" in refused(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(2000), "cannot be read"),
        (b"PK\x03\x04" + bytes(range(256)) * 20, "cannot be read"),
        (np.random.default_rng(0).bytes(5000), "cannot be read"),
        (bytes(5000), "cannot be read"),
        (b"\x00", "cannot be read"),
    ],
    ids=["png", "zip", "noise", "zeros", "one byte"],
)
def test_what_is_no_sound(content: bytes, said: str) -> None:
    assert said in refused(content)


@pytest.mark.parametrize("container", ["mp4", "mov", "matroska"])
def test_a_video_without_sound(container: str) -> None:
    assert "no sound in it" in refused(by_av(container, "aac", video=True, sound=False), "film.mp4")


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{path}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{path}'\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>{path}</BaseURL></MPD>',
    ],
    ids=["hls", "concat", "sdp", "dash"],
)
def test_a_playlist_opens_no_other_file(tmp_path: Path, playlist: str) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(kind("wav 16 bit"))
    assert "holds text" in refused(playlist.format(path=secret).encode(), "list.wav")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(LineError, match="not there any more"):
        read_clip(tmp_path / "gone.wav")
    with pytest.raises(LineError, match="is a folder"):
        read_clip(tmp_path)


def test_a_file_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.wav"
    path.write_bytes(b"x")

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LineError, match="Permission denied"):
        read_clip(path)


def wav_with(channels: int = 1, rate: int = 16000, data: int = 2000, stated: int | None = None) -> bytes:
    header = bytearray(wav_header(16000, data // 2))
    struct.pack_into("<HI", header, 22, channels, rate)
    struct.pack_into("<H", header, 32, (2 * channels) & 0xFFFF)
    if stated is not None:
        struct.pack_into("<I", header, 40, stated)
    return bytes(header) + bytes(data)


@pytest.mark.parametrize(
    "content",
    [
        wav_with(channels=0),
        wav_with(channels=1000),
        wav_with(rate=0),
        wav_with(rate=1),
        wav_with(rate=2**32 - 1),
        wav_with(data=0),
    ],
    ids=["no channels", "1000 channels", "0 Hz", "1 Hz", "4 GHz", "no samples"],
)
def test_wav_headers_that_cannot_be(content: bytes) -> None:
    refused(content)


def test_a_header_that_promises_gigabytes_costs_nothing() -> None:
    clip = read_clip(wav_with(stated=0xF0000000))
    assert clip.samples.shape == (1, 1000)


def test_broken_samples_are_silenced_and_said() -> None:
    samples = tone(16000)[None].copy()
    samples[0, 100:180] = np.nan
    samples[0, 200] = np.inf
    clip = read_clip(wav(samples), "odd.wav")
    assert np.isfinite(clip.samples).all()
    assert "not numbers" in clip.warnings[0]


# Cut files give what is there, and say so.


@pytest.mark.parametrize(
    "name",
    [
        *("wav 16 bit", "wav 24 bit", "flac", "mp3", "aac adts", "webm opus"),
        *("mkv with video", "m4a index first"),
    ],
)
def test_a_cut_file_gives_what_is_there(name: str) -> None:
    content = kind(name)
    clip = read_clip(content[: int(0.6 * len(content))], name)
    assert 0.1 < clip.seconds < 0.45
    assert level(clip.mono) == pytest.approx(LEVEL, rel=0.1)


@pytest.mark.parametrize("name", ["ogg", "opus"])
def test_a_cut_ogg_gives_its_whole_pages(name: str) -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 5 * 24000).astype(np.float32)
    content = encode_audio(noise, 24000, name)
    clip = read_clip(content[: int(0.8 * len(content))], name)
    assert 3 < clip.seconds < 4.5
    assert clip.mono.std() == pytest.approx(0.1, rel=0.15)


@pytest.mark.parametrize(
    "name", ["wav 16 bit", "wav 24 bit", "wave format extensible 24", "flac", "m4a index first"]
)
def test_a_cut_is_told(name: str) -> None:
    content = kind(name)
    clip = read_clip(content[: int(0.6 * len(content))], name)
    assert "cut off" in clip.warnings[0]
    assert name in clip.warnings[0]


@pytest.mark.parametrize("name", ["m4a aac", "mp4 with video", "m4a alac"])
def test_an_mp4_cut_before_its_index_is_refused(name: str) -> None:
    content = kind(name)
    assert "cannot be read" in refused(content[: len(content) // 2], "cut.m4a")


def test_damage_in_the_middle_does_not_hide_the_rest() -> None:
    content = bytearray(kind("mp3"))
    content[1200:1260] = bytes(60)
    assert read_clip(bytes(content)).seconds > 0.4


# Limits.


def test_too_large_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(audio_read, "MAX_BYTES", 2**20)
    path = tmp_path / "long.wav"
    path.write_bytes(bytes(3 * 2**20))
    with pytest.raises(LineError, match="larger than 1 MB"):
        read_clip(path)
    assert len(audio_read.read_bytes(path)) == 2**20 + 1


@pytest.mark.parametrize("name", ["wav 16 bit", "flac", "mp3", "m4a aac", "webm opus"])
def test_a_long_file_is_cut_at_the_limit_and_said(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(audio_read, "MAX_SECONDS", 0.25)
    clip = read_clip(kind(name), "long")
    assert clip.seconds == pytest.approx(0.25, abs=1e-3)
    assert "rest of it is left out" in clip.warnings[0]


def test_hours_of_silence_in_a_small_file_are_bounded() -> None:
    sink = io.BytesIO()
    with soundfile.SoundFile(sink, "w", 8000, 1, format="FLAC", subtype="PCM_16") as file:
        for _ in range(70):
            file.write(np.zeros(80_000, dtype=np.int16))
    clip = read_clip(sink.getvalue(), "silence.flac")
    assert clip.seconds == audio_read.MAX_SECONDS


def test_many_channels_share_the_sample_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio_read, "MAX_SAMPLES", 6000)
    assert read_clip(kind("wav six channels")).samples.shape == (6, 1000)


@pytest.mark.parametrize("name", ["wav 16 bit", "mp3"])
def test_decoding_stops_when_time_is_up(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(audio_read, "MAX_WORK_SECONDS", -1.0)
    clip = read_clip(kind(name))
    assert clip.seconds < SECONDS
    assert "could be read" in clip.warnings[0]
