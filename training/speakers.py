"""Who speaks and how: variants of the one synthetic voice, and what the eight emotions do to it.

Everything here is a change of the teacher's vocoder parameters before synthesis, so it costs nothing
and leaves no trace of a pitch shifter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from zonos.line import DEFAULT_MIX, EMOTIONS

EQ_POINTS = 6  # gains of a voice's fixed spectral colour, evenly spaced on a mel axis


@dataclass(frozen=True)
class Speaker:
    """One voice: a fixed change of the teacher's voice.

    Args:
        semitones: shift of the mean pitch.
        low_formants, high_formants: factor on frequencies below 1.2 kHz and above 3 kHz (between
            them it slides); a longer vocal tract has factors under 1.
        tilt: decibels an octave over 500 Hz.
        breath: decibels added to the noise part.
        colour: decibels at EQ_POINTS places of the spectrum.
        liveliness: factor on the logarithmic pitch range.
        tempo: factor on the tempo.
    """

    name: str
    semitones: float = 0.0
    low_formants: float = 1.0
    high_formants: float = 1.0
    tilt: float = 0.0
    breath: float = 0.0
    colour: tuple[float, ...] = field(default=(0.0,) * EQ_POINTS)
    liveliness: float = 1.0
    tempo: float = 1.0


@dataclass(frozen=True)
class Manner:
    """How one utterance is spoken, on top of the speaker: the units of Speaker; tremor is in Hz of depth
    relative to pitch, gain in decibels, log_range and log_tempo natural logarithms of factors."""

    semitones: float = 0.0
    log_range: float = 0.0
    log_tempo: float = 0.0
    gain: float = 0.0
    tilt: float = 0.0
    tremor: float = 0.0

    def __add__(self, other: Manner) -> Manner:
        return Manner(*(a + b for a, b in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[float, ...]:
        """The six numbers in the order of the fields."""
        return (self.semitones, self.log_range, self.log_tempo, self.gain, self.tilt, self.tremor)


# About twice the interim checkpoint's spread; neutral is the origin and "other" barely moves.
_EFFECTS = {
    "happiness": Manner(4.0, 0.60, 0.12, 1.5, 0.6, 0.0),
    "sadness": Manner(-3.5, -0.80, -0.28, -5.0, -1.8, 0.0),
    "disgust": Manner(-4.0, 0.15, -0.16, 1.5, -0.8, 0.0),
    "fear": Manner(5.0, -0.25, 0.20, -2.0, 0.4, 0.035),
    "surprise": Manner(6.5, 0.75, 0.02, 2.0, 0.4, 0.0),
    "anger": Manner(0.5, 0.40, 0.16, 6.0, 2.0, 0.0),
    "other": Manner(),
    "neutral": Manner(),
}


def manner_of(emotion: tuple[float, ...]) -> Manner:
    """The linear effect of eight weights that sum to 1, in the model's order."""
    total = Manner()
    for name, weight in zip(EMOTIONS, emotion, strict=True):
        total = total + Manner(*(weight * value for value in _EFFECTS[name].values()))
    return total


def draw_emotion(rng: np.random.Generator) -> tuple[float, ...]:
    """Eight weights: the default mix, neutral, one dominant emotion, or any mixture."""
    kind = rng.random()
    if kind < 0.30:
        mix = DEFAULT_MIX.vector()
        assert mix is not None
        return mix
    weights = np.zeros(len(EMOTIONS))
    if kind < 0.45:
        weights[EMOTIONS.index("neutral")] = 1.0
    elif kind < 0.88:
        weights[int(rng.integers(6))] = rng.uniform(0.5, 1.0)
        weights[EMOTIONS.index("neutral")] += 1.0 - weights.sum()
    else:
        weights = rng.dirichlet(np.full(len(EMOTIONS), 0.6))
    return tuple(float(w) for w in weights / weights.sum())


def draw_jitter(rng: np.random.Generator) -> Manner:
    """What pitch_std and speaking_rate are to explain: range and tempo, and a little of the rest."""
    return Manner(
        semitones=float(rng.normal(0, 0.3)),
        log_range=float(rng.uniform(-0.7, 1.05)),  # heart at 1.05: a standard deviation of about 80 Hz
        log_tempo=float(np.clip(rng.normal(0, 0.2), -0.42, 0.42)),
        gain=float(rng.normal(0, 0.5)),
    )


# The shipped voices, the last two men: from 70 drawn ones, those that resemblyzer holds farthest apart
# among those that whisper understands (nearest pair 0.76, a voice with itself 0.95).
NAMED = (
    Speaker("heart"),
    Speaker("june", 3.9, 1.10, 1.07, -0.3, 5.5, (2.3, 2.3, 0.5, -1.2, -0.5, 2.8), 1.19, 0.98),
    Speaker("vera", -3.7, 0.90, 0.97, -0.7, 0.3, (-1.5, 0.0, 3.0, -2.5, 1.7, 2.0), 0.92, 0.99),
    Speaker("rowan", -7.3, 0.94, 0.91, -0.8, 0.1, (-0.5, -0.1, -6.2, -6.8, 0.8, 0.8), 1.18, 1.04),
    Speaker("marcus", -13.3, 0.90, 0.88, 3.5, -1.3, (-1.4, 0.1, 1.2, 2.6, 1.0, -2.2), 1.06, 1.01),
    Speaker("otto", -15.1, 0.85, 0.84, -1.0, -1.4, (-5.2, -2.0, 4.0, -0.2, -2.1, -1.4), 0.99, 0.99),
)


def draw_speaker(rng: np.random.Generator, name: str) -> Speaker:
    """An unnamed voice anywhere in the space that the teacher bears."""
    male = rng.random() < 0.5
    semitones = rng.uniform(-16, -5) if male else rng.uniform(-7, 6)
    # Vocal tract length goes with pitch, loosely.
    tract = 1.0 + 0.0135 * (semitones + 1.0) + rng.normal(0, 0.035)
    low = float(np.clip(tract + rng.normal(0, 0.02), 0.76, 1.18))
    high = float(np.clip(tract + rng.normal(0, 0.035), 0.74, 1.20))
    return Speaker(
        name=name,
        semitones=float(semitones),
        low_formants=low,
        high_formants=high,
        tilt=float(rng.normal(0, 1.3)),
        breath=float(rng.uniform(-3, 6)),
        colour=tuple(float(g) for g in rng.normal(0, 2.5, EQ_POINTS)),
        liveliness=float(np.exp(rng.normal(0, 0.12))),
        tempo=float(np.exp(rng.normal(0, 0.05))),
    )
