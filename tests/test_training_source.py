"""The vocal tract parted from the pitch: what is heard at another pitch than the teacher's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("hibari", reason="needs requirements-training.txt")

import librosa
from hibari import dsp

from training.source import part_from_pitch
from training.speakers import NAMED, Manner, manner_of
from training.teacher import SAMPLE_RATE, Teacher, Utterance
from zonos.line import PRESETS

# A pause in the middle: the voice begins again behind it, where the filter's gains between the
# harmonics are wildest.
PHONEMES = "ɪf juː hˈɜːɹi, wiː kˈæn stˈɪl kˈætʃ ðə lˈæst tɹˈeɪn hˈoʊm."
MANNERS = ("neutral", "happy", "sad", "afraid", "surprised")


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher()


def say(teacher: Teacher, name: str, emotion: str) -> Utterance:
    vector = PRESETS[emotion].vector()
    assert vector is not None
    speaker = next(s for s in NAMED if s.name == name)
    return teacher.speak(PHONEMES, speaker, manner_of(vector), Manner(), np.random.default_rng(0))


@pytest.mark.parametrize("name", [speaker.name for speaker in NAMED])
def test_the_pitch_heard_is_the_pitch_asked_for(teacher: Teacher, name: str) -> None:
    """A burst or the teacher's own harmonics in the sound would be heard in the place of the voice."""
    for emotion in MANNERS:
        said = say(teacher, name, emotion)
        heard = librosa.yin(said.wav, fmin=50, fmax=540, sr=SAMPLE_RATE, frame_length=2048, hop_length=300)
        asked = said.pitch
        around = np.lib.stride_tricks.sliding_window_view(np.pad(asked, 2), 5)
        steady = (around.min(1) > 50) & (around.max(1) < 1.12 * around.min(1).clip(1))
        right = np.abs(heard[: len(asked)][steady] / asked[steady] - 1) < 0.08
        assert right.mean() > 0.8, emotion


@pytest.mark.parametrize("name", ["heart", "june", "rowan", "otto"])
def test_no_bursts(teacher: Teacher, name: str) -> None:
    for emotion in MANNERS:
        wav = say(teacher, name, emotion).wav
        frames = np.sqrt((wav[: len(wav) // 300 * 300].reshape(-1, 300) ** 2).mean(1))
        loud = frames[frames > 0.1 * frames.max()]
        assert frames.max() < 5 * np.median(loud), emotion


def test_the_envelope_is_the_filter_at_the_harmonics_and_smooth_between_them() -> None:
    pitch = np.full(40, 200.0, np.float32)
    bins = np.arange(dsp.N_FFT // 2 + 1)
    slope = (-3.0 * bins / len(bins)).astype(np.float32)
    # Ten bins of 20 Hz from harmonic to harmonic; half way between two the gain is anything.
    wild = np.where(bins % 10 == 5, 4.0, slope).astype(np.float32)
    still = np.full((len(bins), len(pitch)), -12.0, np.float32)
    gains = np.repeat(wild[:, None], len(pitch), 1)
    source = part_from_pitch([gains, np.zeros_like(gains), still, still, np.zeros_like(gains)], pitch)
    heard = bins[(bins > 10) & (bins < 500)]  # the last harmonics have no neighbour above
    middle = source.harmonic[heard, 20]
    assert np.abs(middle - slope[heard]).max() < 0.1
    assert source.near_voice.all()


def test_a_frame_without_voice_keeps_its_sound() -> None:
    rng = np.random.default_rng(0)
    shape = (dsp.N_FFT // 2 + 1, 20)
    free, phase = rng.normal(0, 1, shape).astype(np.float32), rng.uniform(-3, 3, shape).astype(np.float32)
    nothing = np.full(shape, -12.0, np.float32)
    source = part_from_pitch([nothing, nothing, nothing, free, phase], np.zeros(shape[1], np.float32))
    assert not source.near_voice.any()
    assert np.abs(source.rest - free).max() < 1e-3
    assert np.abs(np.exp(1j * source.rest_phase) - np.exp(1j * phase)).max() < 1e-3
