"""Hard inputs, "Clips and files": siblings of the public reports; each test names its row.

The rows themselves are in ``test_audio_read.py``, ``test_speaker.py`` and ``test_audio_write.py``.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from engines import OPENING, VOICES, engine, finals, mini, with_opening

from zonos.audio import read_clip
from zonos.errors import LineError
from zonos.events import Done, Event, Failed
from zonos.line import Line
from zonos.voices import VoiceFolder


def wav(samples: Any, rate: int = 24_000, subtype: str = "FLOAT") -> bytes:
    sink = io.BytesIO()
    soundfile.write(sink, samples, rate, format="WAV", subtype=subtype)
    return sink.getvalue()


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    """Three seconds of a sample voice, float32 [n]."""
    samples, rate = soundfile.read(VOICES.clips("Heart")[0], dtype="float32")
    assert rate == 24_000
    return np.asarray(samples[: 3 * rate])


def likeness(clip: bytes, folder: Path, speech: np.ndarray) -> float:
    """Cosine between the voice of a clip and that of the untouched speech."""
    (folder / "clip.wav").write_bytes(clip)
    (folder / "plain.wav").write_bytes(wav(speech))
    one, other = (mini().voice_vector([folder / name]) for name in ("clip.wav", "plain.wav"))
    assert one.isfinite().all()
    return float(torch.cosine_similarity(one, other, dim=0))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.stack([x, -x], 1),
        lambda x: np.stack([-x, 0.97 * x], 1),
        lambda x: np.stack([x, 0 * x], 1),
        lambda x: np.stack([0 * x] * 5 + [x], 1),
        lambda x: 0.3 * x + 0.6,
        lambda x: 2.5 * x,
        lambda x: 32_768 * x,
        lambda x: np.where(np.arange(len(x)) % 5000 == 7, np.nan, x),
        lambda x: 0.01 * x,
    ],
    ids=[
        "one channel turned over",
        "nearly turned over",
        "one channel silent",
        "one of six",
        "offset",
        "over 1",
        "floats that count to 32768",
        "not numbers",
        "very quiet",
    ],
)
def test_the_voice_is_the_same(change: Any, tmp_path: Path, speech: np.ndarray) -> None:
    """Rows '8-bit unsigned wav; float64 with samples over 1.0' and 'very quiet': right level and pitch."""
    assert likeness(wav(change(speech)), tmp_path, speech) > 0.85


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "DOUBLE", "ULAW"])
def test_every_sample_format_has_the_same_voice(subtype: str, tmp_path: Path, speech: np.ndarray) -> None:
    assert likeness(wav(speech, subtype=subtype), tmp_path, speech) > 0.8


@pytest.mark.parametrize(
    ("samples", "code"),
    [
        (np.full(72_000, 0.5), "silent_clip"),
        (np.zeros(72_000), "silent_clip"),
        (np.full(72_000, np.nan), "silent_clip"),
        (np.eye(1, 72_000, 100)[0], "short_clip"),
        (0.3 * np.sin(np.arange(1200) / 9), "short_clip"),
    ],
    ids=["constant", "zeros", "not numbers", "one click", "0.05 s"],
)
def test_what_holds_no_voice_is_refused(samples: np.ndarray, code: str, tmp_path: Path) -> None:
    """Row 'clip of 0.05 s; pure silence': refused with a reason, no NaN voice."""
    (tmp_path / "clip.wav").write_bytes(wav(samples))
    with pytest.raises(LineError) as caught:
        mini().voice_vector([tmp_path / "clip.wav"])
    assert caught.value.code == code
    assert "clip.wav" in caught.value.reason


def speak(*lines: Line, voices: VoiceFolder = VOICES) -> list[Event]:
    with engine(slots=4) as running:
        found = finals(running.submit(lines, voices=voices))
    return [found[(str(i), 0)] for i in range(len(lines))]


def brief(**settings: Any) -> Line:
    return Line(**{"text": "Hi.", "seed": 3, "max_seconds": 0.3, **settings})


def test_a_clip_replaced_in_place(tmp_path: Path) -> None:
    """Row 'clip replaced by another file of the same name': same size and time too; then removed."""
    clip = tmp_path / "me.wav"
    content = [VOICES.clips(name)[0].read_bytes()[:150_000] for name in ("Heart", "Marcus")]
    shelf = VoiceFolder([tmp_path])
    heard = []
    for one in (*content, content[0]):
        clip.write_bytes(one)
        os.utime(clip, (1_000_000_000, 1_000_000_000))
        heard.append(speak(brief(voice="me"), voices=shelf)[0])
    assert all(isinstance(event, Done) for event in heard)
    sounds = [event.speech.samples.tobytes() for event in heard if isinstance(event, Done)]
    assert sounds[0] == sounds[2] != sounds[1]
    clip.unlink()
    gone = speak(brief(voice="me"), voices=shelf)[0]
    assert isinstance(gone, Failed)
    assert gone.code == "unknown_voice"


def test_prefix_audio_fails_alone(tmp_path: Path) -> None:
    """Row 'prefix audio on one line only': a missing, long, empty or mute prefix is said on its line."""
    (tmp_path / "long.wav").write_bytes(wav(np.zeros(24_000 * 21)))
    (tmp_path / "empty.wav").write_bytes(b"")
    shelf = with_opening(tmp_path)
    lines = [
        brief(voice="Heart"),
        brief(voice="Heart", prefix_audio="nowhere.wav"),
        brief(voice="Heart", prefix_audio="long"),
        brief(voice="Heart", prefix_audio="empty"),
        brief(text=f"{OPENING} the ferry brings visitors.", voice="Heart", prefix_audio="Opening"),
    ]
    found = speak(*lines, voices=shelf)
    codes = [event.code for event in found if isinstance(event, Failed)]
    assert codes == ["unknown_voice", "long_prefix", "unreadable_clip"]
    alone = speak(lines[0])[0]
    assert isinstance(alone, Done)
    assert isinstance(found[0], Done)
    assert found[0].speech.samples.tobytes() == alone.speech.samples.tobytes()
    mute = found[4]
    assert isinstance(mute, Done)
    assert any("transcript" in warning for warning in mute.speech.warnings)


@pytest.mark.parametrize("name", ["voice.wav", "voice", "ＶＯＩＣＥ.wav", "sound file (1).WAV", "語.flac"])
def test_a_clip_is_known_by_what_it_holds(name: str, tmp_path: Path, speech: np.ndarray) -> None:
    (tmp_path / name).write_bytes(wav(speech))
    assert read_clip(tmp_path / name).seconds == pytest.approx(3)
