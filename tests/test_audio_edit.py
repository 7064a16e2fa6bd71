"""Loudness, limiting, trimming, fades, joins, sample rates."""

import math

import numpy as np
import pytest
from audio_kinds import tone

from zonos.audio import fade, join, limit, loudness, normalise_loudness, resample, trim_silence, true_peak

RATE = 24_000


def speech(seconds: float = 2.0, level: float = 0.1, seed: int = 0) -> np.ndarray:
    """Noise with the slow ups and downs of speech."""
    random = np.random.default_rng(seed)
    n = round(seconds * RATE)
    swell = 0.55 + 0.45 * np.sin(2 * np.pi * 3 * np.arange(n) / RATE)
    return (level * swell * random.standard_normal(n)).astype(np.float32)


# Loudness.


def test_loudness_of_the_reference_tone() -> None:
    """BS.1770: a full-scale 997 Hz sine in one channel is -3.01 LUFS."""
    t = np.arange(5 * 48_000) / 48_000
    assert loudness(np.sin(2 * np.pi * 997 * t).astype(np.float32), 48_000) == pytest.approx(-3.01, abs=0.05)


@pytest.mark.parametrize("samples", [np.zeros(0), np.zeros(100), np.zeros(RATE)])
def test_silence_has_no_loudness(samples: np.ndarray) -> None:
    silent = samples.astype(np.float32)
    assert loudness(silent, RATE) == -math.inf
    assert np.array_equal(normalise_loudness(silent, RATE), silent)


@pytest.mark.parametrize("target", [-30.0, -23.0, -16.0])
@pytest.mark.parametrize("level", [0.003, 0.1])
def test_loudness_reaches_its_target(target: float, level: float) -> None:
    louder = normalise_loudness(speech(level=level), RATE, target)
    assert loudness(louder, RATE) == pytest.approx(target, abs=0.5)


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.3, 0.41])
def test_short_sounds_are_normalised_too(seconds: float) -> None:
    short = tone(RATE, seconds, level=0.05)
    louder = normalise_loudness(short, RATE, -20.0)
    assert len(louder) == len(short)
    assert loudness(louder, RATE) == pytest.approx(-20.0, abs=1.0)


@pytest.mark.parametrize("ceiling", [-1.0, -3.0])
def test_the_ceiling_holds_between_samples_too(ceiling: float) -> None:
    loud = normalise_loudness(speech(), RATE, -6.0, ceiling)
    assert true_peak(loud) <= 10 ** (ceiling / 20) * 1.02
    assert np.abs(loud).max() <= 10 ** (ceiling / 20)


def test_true_peak_sees_between_samples() -> None:
    # A quarter of the sample rate, sampled 45 degrees off its peaks.
    samples = np.sin(np.pi / 2 * np.arange(4000) + np.pi / 4).astype(np.float32)
    assert np.abs(samples).max() == pytest.approx(math.sqrt(0.5), abs=1e-6)
    assert true_peak(samples[:]) == pytest.approx(1.0, abs=0.05)


# Case "float samples over 1 written as int16": limited, never wrapped.


def test_the_limiter_leaves_quiet_sound_alone() -> None:
    quiet = speech(level=0.05)
    assert np.array_equal(limit(quiet, RATE), quiet)


@pytest.mark.parametrize("level", [1.1, 2.5, 100.0])
def test_the_limiter_holds_and_keeps_the_shape(level: float) -> None:
    loud = tone(RATE, 1.0, level=level)
    held = limit(loud, RATE)
    assert np.abs(held).max() <= 1.0
    assert np.corrcoef(held, loud)[0, 1] > 0.99
    assert np.abs(np.diff(held)).max() <= np.abs(np.diff(tone(RATE, 1.0, level=1.0))).max() * 1.2


def test_one_peak_ducks_only_its_surroundings() -> None:
    samples = tone(RATE, 1.0, level=0.3)
    samples[12_000] = 4.0
    held = limit(samples, RATE)
    assert abs(held[12_000]) <= 1.0
    far = np.r_[0:11_000, 13_000:24_000]
    assert np.array_equal(held[far], samples[far])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_limiter_silences_what_is_no_number(bad: float) -> None:
    samples = tone(RATE, 0.1)
    samples[500] = bad
    held = limit(samples, RATE)
    assert np.isfinite(held).all()
    assert held[500] == 0


def test_the_limiter_takes_nothing() -> None:
    assert limit(np.zeros(0, np.float32), RATE).shape == (0,)


# Ends.


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.8), (0.0, 1.0), (0.3, 0.0)])
def test_silence_at_the_ends_goes_but_for_a_margin(before: float, after: float) -> None:
    sound = speech(1.0)
    samples = np.concatenate(
        [np.zeros(round(before * RATE), np.float32), sound, np.zeros(round(after * RATE), np.float32)]
    )
    trimmed = trim_silence(samples, RATE, margin=0.05)
    kept = len(trimmed) / RATE
    assert 1.0 + min(before, 0.05) + min(after, 0.05) == pytest.approx(kept, abs=0.045)
    assert np.abs(trimmed).sum() == pytest.approx(np.abs(sound).sum())


def test_only_the_end_may_be_trimmed() -> None:
    quiet = np.zeros(RATE, np.float32)
    samples = np.concatenate([quiet, speech(1.0), quiet])
    assert len(trim_silence(samples, RATE, start=False)) == pytest.approx(2.05 * RATE, abs=0.03 * RATE)
    assert len(trim_silence(samples, RATE, end=False)) == pytest.approx(2.05 * RATE, abs=0.03 * RATE)


def test_soft_noise_at_the_end_is_silence_but_a_soft_word_is_not() -> None:
    word = speech(0.5, level=0.005, seed=1)
    hiss = speech(1.0, level=0.0003, seed=2)
    trimmed = trim_silence(np.concatenate([speech(1.0), word, hiss]), RATE)
    assert len(trimmed) / RATE == pytest.approx(1.55, abs=0.1)


@pytest.mark.parametrize("length", [0, 1, 5000])
def test_all_silence_stays(length: int) -> None:
    assert len(trim_silence(np.zeros(length, np.float32), RATE)) == length


@pytest.mark.parametrize("length", [0, 1, 2, 3, 100, 5000])
def test_fades_end_at_nothing_and_keep_the_input(length: int) -> None:
    samples = np.ones(length, np.float32)
    faded = fade(samples, RATE, 0.008)
    assert (samples == 1).all()
    assert faded.shape == samples.shape
    if length > 400:
        assert abs(faded[0]) < 1e-3
        assert abs(faded[-1]) < 1e-3
        assert (faded[200:-200] == 1).all()


def test_a_fade_may_leave_the_start() -> None:
    faded = fade(np.ones(1000, np.float32), RATE, start=False)
    assert faded[0] == 1
    assert faded[-1] < 1e-3


# Joining the pieces of one line: no level steps, no clicks.


def test_gaps_and_lengths_add_up() -> None:
    pieces = [(speech(1.0), 0.25), (speech(0.5, seed=1), 0.0), (speech(0.7, seed=2), 0.1)]
    assert len(join(pieces, RATE)) == round((1.0 + 0.25 + 0.5 + 0.7 + 0.1) * RATE)
    gap = join(pieces, RATE)[RATE : RATE + round(0.25 * RATE)]
    assert (gap == 0).all()


def test_pieces_come_out_equally_loud() -> None:
    pieces = [(speech(1.0, level), 0.0) for level in (0.1, 0.06, 0.15)]
    joined = join(pieces, RATE)
    levels = [loudness(joined[i * RATE : (i + 1) * RATE], RATE) for i in range(3)]
    assert max(levels) - min(levels) < 0.3
    apart = join(pieces, RATE, match=False)
    levels = [loudness(apart[i * RATE : (i + 1) * RATE], RATE) for i in range(3)]
    assert max(levels) - min(levels) > 5


def test_matching_lifts_no_whisper_to_a_shout() -> None:
    pieces = [(speech(4.0, 0.2), 0.0), (speech(0.5, 0.001), 0.0)]
    joined = join(pieces, RATE)
    lifted = joined[4 * RATE :].std() / pieces[1][0].std()
    assert lifted <= 10 ** (6 / 20) * 1.01


def test_silent_and_empty_pieces_join() -> None:
    silence = np.zeros(1000, np.float32)
    joined = join([(silence, 0.0), (speech(1.0), 0.0), (silence[:0], 0.1)], RATE)
    assert len(joined) == 1000 + RATE + round(0.1 * RATE)
    assert np.isfinite(joined).all()
    assert join([], RATE).shape == (0,)


def test_a_join_never_clips() -> None:
    assert np.abs(join([(speech(1.0, 0.9), 0.0), (speech(1.0, 0.9, 1), 0.0)], RATE)).max() <= 1.0


# Sample rates.


@pytest.mark.parametrize(("source", "target"), [(24_000, 48_000), (44_100, 48_000), (48_000, 22_050)])
def test_resampling_keeps_level_and_pitch(source: int, target: int) -> None:
    wanted = tone(target, 1.0)
    got = resample(tone(source, 1.0), source, target)
    assert got.dtype == np.float32
    assert len(got) == len(wanted)
    inner = slice(target // 10, -target // 10)
    assert np.abs(got[inner] - wanted[inner]).max() < 2e-3


@pytest.mark.parametrize("source", [44_099, 47_999, 12_345, 99_991])
def test_odd_rates_cost_no_gigabytes(source: int) -> None:
    got = resample(tone(source, 0.2), source, 48_000)
    assert len(got) == pytest.approx(9600, abs=2)


def test_the_same_rate_is_untouched() -> None:
    samples = speech(0.1)
    assert resample(samples, RATE, RATE) is samples
    assert resample(samples[:0], RATE, 48_000).shape == (0,)
