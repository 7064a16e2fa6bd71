"""The clip report: right numbers, and a plain sentence for each thing that is poor."""

from pathlib import Path

import numpy as np
import pytest

from zonos.audio import Clip, ClipReport, read_clip, report

VOICES = Path(__file__).parents[1] / "examples" / "voices"


@pytest.fixture(scope="module")
def heart() -> Clip:
    return read_clip(VOICES / "Heart.wav")


def of(samples: np.ndarray, rate: int = 24_000, warnings: tuple[str, ...] = ()) -> ClipReport:
    return report(Clip(np.atleast_2d(samples).astype(np.float32), rate, "clip.wav", "WAV PCM_16", warnings))


@pytest.mark.parametrize("path", sorted(VOICES.glob("*.wav")), ids=lambda path: path.stem)
def test_good_clips_get_no_advice(path: Path) -> None:
    numbers = report(read_clip(path))
    assert numbers.advice == ()
    assert numbers.clipped_share == 0
    assert 5 < numbers.sound_seconds <= numbers.seconds


def test_levels_of_a_square_wave() -> None:
    square = np.sign(np.sin(2 * np.pi * 100 * (np.arange(24_000) + 0.5) / 24_000)) * 0.1
    numbers = of(square)
    assert numbers.peak_dbfs == pytest.approx(-20, abs=0.01)
    assert numbers.level_dbfs == pytest.approx(-20, abs=0.01)
    assert numbers.sound_seconds == pytest.approx(1.0)


@pytest.mark.parametrize("noise_db", [-60, -45, -35])
def test_the_noise_floor_is_found(heart: Clip, noise_db: float) -> None:
    noise = np.random.default_rng(0).normal(0, 10 ** (noise_db / 20), heart.samples.shape[1])
    assert of(heart.mono + noise).noise_dbfs == pytest.approx(noise_db, abs=2)


def test_clipping_is_measured(heart: Clip) -> None:
    pushed = heart.mono * 8
    numbers = of(np.clip(pushed, -0.9, 0.9))
    assert numbers.clipped_share == pytest.approx((np.abs(pushed) > 0.9).mean(), rel=0.2)


def test_a_peak_of_one_sample_is_no_clipping(heart: Clip) -> None:
    samples = heart.mono.copy()
    samples[[5000, 9000, 20_000]] = 1.0
    assert of(samples).clipped_share == 0


def test_each_fault_has_its_sentence(heart: Clip) -> None:
    random = np.random.default_rng(0)
    mono = heart.mono
    faults = {
        "clipped": of(np.clip(mono * 8, -0.9, 0.9)),
        "very quiet": of(mono * 0.1),
        "is strong": of(mono + random.normal(0, 0.02, len(mono))),
        "Some noise": of(mono + random.normal(0, 0.004, len(mono))),
        "s of speech; 10 to 30 s make": of(mono[:24_000]),
        "will do": of(mono[: 6 * 24_000]),
        "first 60 s": of(np.tile(mono, 8)),
        "telephone": of(mono[::3], 8000),
        "silent": of(np.zeros(24_000)),
    }
    for said, numbers in faults.items():
        assert [said in advice for advice in numbers.advice].count(True) == 1, (said, numbers.advice)
        assert len(numbers.advice) == 1, numbers.advice


def test_warnings_of_the_reader_come_first(heart: Clip) -> None:
    numbers = of(heart.mono[:24_000], warnings=("The clip is cut off.",))
    assert numbers.advice[0] == "The clip is cut off."
    assert len(numbers.advice) == 2


@pytest.mark.parametrize("length", [1, 2, 10, 300])
@pytest.mark.parametrize("rate", [2000, 8000, 192_000])
def test_tiny_clips_have_a_report(length: int, rate: int) -> None:
    numbers = of(np.full(length, 0.3), rate)
    assert np.isfinite([numbers.level_dbfs, numbers.noise_dbfs, numbers.snr_db, numbers.peak_dbfs]).all()
    assert numbers.advice
