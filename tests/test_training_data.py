"""The teacher's recordings: speakers, manners, times and shards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hibari", reason="needs requirements-training.txt")
pytest.importorskip("wordfreq", reason="needs requirements-training.txt")

from training.config import load
from training.data import Shard, make_utterances, shard_path, write_shard
from training.speakers import NAMED, Manner, draw_emotion, draw_speaker, manner_of
from training.teacher import SAMPLE_RATE, Teacher, Utterance
from training.texts import Writer
from zonos.line import PRESETS

PHONEMES = "ðə kˈɛɾəl ɪz ˈɔn, ænd ðə bɹˈɛd ɪz wˈɔːɹm."


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher()


def say(teacher: Teacher, emotion: str = "neutral", jitter: Manner | None = None, **traits: Any) -> Utterance:
    vector = PRESETS[emotion].vector()
    assert vector is not None
    speaker = next(s for s in NAMED if s.name == traits.get("name", "heart"))
    return teacher.speak(PHONEMES, speaker, manner_of(vector), jitter or Manner(), np.random.default_rng(0))


def pitch(said: Utterance) -> float:
    return float(np.median(said.pitch[said.pitch > 0]))


def level(said: Utterance) -> float:
    return float(np.sqrt(np.mean(said.wav**2)))


def test_emotions_move_pitch_level_and_tempo(teacher: Teacher) -> None:
    plain, happy, sad, angry = (say(teacher, e) for e in ("neutral", "happy", "sad", "angry"))
    assert pitch(happy) > 1.15 * pitch(plain) > 1.15**2 * pitch(sad) * 0.95
    assert level(sad) < 0.8 * level(plain) < 0.8 * level(angry) / 1.3
    assert len(sad.wav) > 1.1 * len(plain.wav)
    assert len(angry.wav) < len(plain.wav)


def test_labels_leave_out_what_the_emotion_does(teacher: Teacher) -> None:
    plain, sad = say(teacher), say(teacher, "sad")
    assert sad.rate == pytest.approx(plain.rate, rel=0.12)
    assert sad.pitch_std == pytest.approx(plain.pitch_std, rel=0.3)
    fast = say(teacher, jitter=Manner(log_tempo=0.3))
    assert fast.rate > 1.2 * plain.rate
    lively = say(teacher, jitter=Manner(log_range=0.5))
    assert lively.pitch_std > 1.3 * plain.pitch_std


def test_times_follow_the_phonemes(teacher: Teacher) -> None:
    said = say(teacher)
    assert said.times.shape == (len(PHONEMES),)
    assert (np.diff(said.times) >= 0).all()
    assert said.times[-1] <= len(said.wav) / SAMPLE_RATE
    # The vowel of "bread" is loud where the times say it is.
    frame = int(said.times[PHONEMES.index("ɛd")] * SAMPLE_RATE)
    assert level(said) < np.abs(said.wav[frame - 300 : frame + 300]).max()


def test_men_are_lower(teacher: Teacher) -> None:
    assert pitch(say(teacher, name="otto")) < 0.6 * pitch(say(teacher, name="heart"))


def test_drawn_speakers_and_emotions_are_in_range() -> None:
    rng = np.random.default_rng(0)
    for i in range(200):
        speaker = draw_speaker(rng, str(i))
        assert 0.7 < speaker.low_formants < 1.25
        assert sum(draw_emotion(rng)) == pytest.approx(1.0)


def test_shard_comes_back_as_it_was(teacher: Teacher, tmp_path: Path) -> None:
    data = load().data.model_copy(update={"shard_size": 8})
    made = make_utterances(data, 0, np.random.default_rng(5), teacher, Writer())
    again = make_utterances(data, 0, np.random.default_rng(5), teacher, Writer())
    assert [m["text"] for m in made[0]] == [m["text"] for m in again[0]]
    write_shard(shard_path(tmp_path, 0), *made)
    shard = Shard(shard_path(tmp_path, 0))
    assert len(shard) == len(made[0]) >= 4
    for i in range(len(shard)):
        np.testing.assert_allclose(shard.wav(i), made[1][i], atol=2 / 32767)
        np.testing.assert_array_equal(shard.pitch(i), made[2][i])
        assert len(shard.times(i)) == len(shard.meta[i]["phonemes"])
    assert not list(tmp_path.glob("*.part"))
