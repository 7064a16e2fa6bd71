"""What the teacher's network says of the vocal tract, parted from the pitch that it was said at.

The network's harmonic filter is right where it was trained to be heard: at the harmonics of its own pitch.
Between them its excitation is near nothing, and its gain is anything (a thousand times too loud is common).
At another pitch those gains would be heard as bursts. So the filter is read at the harmonics alone and drawn
smoothly between them, as an envelope; what the harmonics do not explain is kept as the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hibari import dsp

BINS = dsp.N_FFT // 2 + 1
_HERTZ = (np.arange(BINS) * dsp.SR / dsp.N_FFT).astype(np.float32)
VOICED_HZ = 40.0
_HIGHEST = 11_000.0  # the excitation has no harmonics above
_LOUDEST = 7.0  # natural log; the teacher's vocoder clips its gains there
_UNHEARD = -12.0  # natural log of a gain that nobody hears
_EXCITED = 1e-3  # power of a band's excitation, of a full harmonic's, from which its gain can be told


@dataclass(frozen=True)
class Source:
    """A recording as envelopes, every spectrum [bins, frames] of natural logarithms or radians.

    Attributes:
        pitch: [frames] in Hz, 0 where unvoiced: the teacher's own.
        harmonic: gain of the pulse train's harmonics, at every frequency.
        harmonic_phase: its phase as the vocoder takes it (before tanh).
        noise: gain of the noise.
        rest: magnitude of what neither explains; in unvoiced frames this is the sound itself.
        rest_phase: of it.
        near_voice: bool [frames], whether a pulse lies within the frame's window.
    """

    pitch: np.ndarray
    harmonic: np.ndarray
    harmonic_phase: np.ndarray
    noise: np.ndarray
    rest: np.ndarray
    rest_phase: np.ndarray
    near_voice: np.ndarray


def part_from_pitch(spectra: list[np.ndarray], pitch: np.ndarray) -> Source:
    """Read the envelopes off the network's five spectra.

    Args:
        spectra: log harmonic gain, its phase before tanh, log noise gain, log free magnitude, its phase,
            each float32 [bins, frames].
        pitch: [frames] in Hz that they were made for.
    """
    harmonic, theta, noise, free, phi = spectra
    excitation = dsp.stft(dsp.pulses(pitch), harmonic.shape[1])
    power = np.abs(excitation) ** 2
    filtered = np.exp(np.minimum(harmonic, _LOUDEST) + 1j * np.pi * np.tanh(theta))
    sound = excitation * filtered + np.exp(np.minimum(free, _LOUDEST) + 1j * phi)
    near = power.max(0) > _EXCITED
    spacing = _spacing(pitch)
    envelope = np.full(harmonic.shape, _UNHEARD, np.float32)
    angle = np.zeros(harmonic.shape, np.float32)
    rest = sound.copy()
    smooth = np.log(np.abs(sound) + 1e-6).astype(np.float32)
    for i in np.flatnonzero(near):
        number = np.maximum(np.rint(_HERTZ / spacing[i]), 1).astype(int)
        total = np.bincount(number, power[:, i])
        cross = np.conj(excitation[:, i]) * sound[:, i]
        gain = np.bincount(number, cross.real) + 1j * np.bincount(number, cross.imag)
        places = np.arange(len(total)) * spacing[i]
        told = (total > _EXCITED) & (places <= _HIGHEST) & (places > 0)
        if not told.any():
            continue
        gain[told] /= total[told]
        logs = np.log(np.abs(gain[told]) + 1e-6)
        envelope[:, i] = np.interp(_HERTZ, places[told], logs)
        closest = np.rint(np.interp(number, np.flatnonzero(told), np.arange(told.sum()))).astype(int)
        here = gain[told][closest]
        angle[:, i] = np.angle(here)
        rest[:, i] -= here * excitation[:, i]
        bins = np.bincount(number)
        size = np.bincount(number, np.abs(rest[:, i]) ** 2)[bins > 0] / bins[bins > 0]
        smooth[:, i] = np.interp(_HERTZ, places[bins > 0], 0.5 * np.log(size + 1e-9))
    return Source(
        pitch=pitch,
        harmonic=envelope,
        harmonic_phase=np.arctanh((angle / np.pi).clip(-0.9999, 0.9999)),
        noise=noise,
        rest=np.where(near[None], smooth, np.log(np.abs(rest) + 1e-6)).astype(np.float32),
        rest_phase=np.angle(rest).astype(np.float32),
        near_voice=near,
    )


def _spacing(pitch: np.ndarray) -> np.ndarray:
    """Pitch of each frame, of the nearest voiced one where it has none."""
    voiced = np.flatnonzero(pitch > VOICED_HZ)
    if not len(voiced):
        return np.full(len(pitch), 100.0)
    frames = np.arange(len(pitch))
    nearest = voiced[np.abs(voiced[None] - frames[:, None]).argmin(1)]
    return pitch[nearest]
