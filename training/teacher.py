"""The synthesiser behind the data: hibari's acoustic model, steered between its network and its vocoder."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from hibari import dsp
from hibari.tts import ASSETS, Hibari

from training.pronounce import to_teacher
from training.source import BINS, VOICED_HZ, Source, part_from_pitch
from training.speakers import EQ_POINTS, Manner, Speaker

SAMPLE_RATE = dsp.SR
FRAME_SECONDS = dsp.HOP / dsp.SR
_DURATIONS = b"/Clip_output_0"  # length of each phoneme, an inner value of the graph
_LEVEL = 0.06  # root mean square of an utterance's loud frames before its manner's gain
_REST = -9.0  # decibels: what the harmonics do not explain, where it is no more than breath
_LN_PER_DB = np.log(10.0) / 20.0


@dataclass(frozen=True)
class Utterance:
    """Sound and what is known about it.

    Attributes:
        wav: float32 [samples] at 24 kHz.
        times: float32 [characters of the phoneme string]: the middle of each phoneme in seconds; a
            character without sound has the time of its place between its neighbours.
        pitch: float32 [hops of 300 samples] in Hz, 0 where unvoiced.
        pitch_std: standard deviation of pitch over voiced frames, Hz, without the emotion's part.
        rate: letters of the phoneme string (stress and length marks do not count) per second, without the
            emotion's part.
    """

    wav: np.ndarray
    times: np.ndarray
    pitch: np.ndarray
    pitch_std: float
    rate: float


class Teacher:
    """Speaks phonemes as any Speaker in any Manner."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph = _with_output((Path(ASSETS) / "hibari.onnx").read_bytes(), _DURATIONS)
        self._network = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._vocabulary: dict[str, int] = Hibari().vocab

    def speak(
        self,
        phonemes: str,
        speaker: Speaker,
        emotion: Manner,
        jitter: Manner,
        rng: np.random.Generator,
    ) -> Utterance:
        """Say eSpeak phonemes; ``emotion`` is known to the model, ``jitter`` is what its labels explain."""
        manner = emotion + jitter
        letters, origin = to_teacher(phonemes)
        known = [
            (self._vocabulary[c], i) for c, i in zip(letters, origin, strict=True) if c in self._vocabulary
        ]
        ids = np.array([[0, *(token for token, _ in known), 0]], np.int64)
        speed = np.array([speaker.tempo * np.exp(manner.log_tempo)], np.float32)
        *parts, f0, durations = self._network.run(None, {"ids": ids, "speed": speed})
        pitch = _pitch(f0[0], speaker, manner, rng)
        source = part_from_pitch([p[0] for p in parts], f0[0])
        wav = dsp.synth(*_colour(source, speaker, manner, pitch, rng), pitch, rng)
        wav = _level(wav, manner.gain)
        first, last = _sounding(wav)
        # The graph counts phonemes in double frames.
        seconds = durations * (len(f0[0]) / durations.sum() * FRAME_SECONDS)
        times = _middles(seconds, [i for _, i in known], len(phonemes)) - first / SAMPLE_RATE
        wav = wav[first:last]
        kept = pitch[first // dsp.HOP :][: -(-len(wav) // dsp.HOP)]
        voiced = pitch[pitch > VOICED_HZ]
        letters_said = sum(unicodedata.category(c) == "Ll" for c in phonemes)
        return Utterance(
            wav=wav,
            pitch=kept.astype(np.float32),
            times=times.clip(0, len(wav) / SAMPLE_RATE).astype(np.float32),
            pitch_std=float(voiced.std() / np.exp(emotion.log_range + emotion.semitones * np.log(2) / 12))
            if len(voiced) > 3
            else 0.0,
            rate=float(letters_said / max(len(wav) / SAMPLE_RATE - 0.15, 0.1) / np.exp(emotion.log_tempo)),
        )


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _field(tag: int, payload: bytes) -> bytes:
    return bytes([tag << 3 | 2]) + _varint(len(payload)) + payload


def _with_output(model: bytes, name: bytes) -> bytes:
    """An ONNX model with one more output.

    A second ``graph`` field (7) is merged into the first by the rules of protocol buffers, so an
    ``output`` (12) with a name (1) and a float tensor type (2, 1, 1) is simply appended.
    """
    value = _field(1, name) + _field(2, _field(1, b"\x08\x01"))
    return model + _field(7, _field(12, value))


def _pitch(f0: np.ndarray, speaker: Speaker, manner: Manner, rng: np.random.Generator) -> np.ndarray:
    """The pitch curve [frames] in Hz, 0 where unvoiced, shifted and stretched about its mean."""
    voiced = f0 > VOICED_HZ
    if not voiced.any():
        return f0
    log = np.log(f0.clip(VOICED_HZ))
    mean = log[voiced].mean()
    spread = speaker.liveliness * np.exp(manner.log_range)
    shift = (speaker.semitones + manner.semitones) * np.log(2) / 12
    log = mean + spread * (log - mean) + shift
    if manner.tremor:
        phase = rng.uniform(0, 2 * np.pi)
        log = log + manner.tremor * np.sin(2 * np.pi * 6.0 * FRAME_SECONDS * np.arange(len(f0)) + phase)
    return np.where(voiced, np.exp(log).clip(55, 520), 0.0).astype(np.float32)


def _warp(speaker: Speaker) -> np.ndarray:
    """For each output bin the (fractional) bin of the teacher's spectrum that it shows."""
    hertz = np.arange(BINS) * SAMPLE_RATE / dsp.N_FFT
    blend = ((hertz - 1200) / 1800).clip(0, 1)
    factor = speaker.low_formants * (1 - blend) + speaker.high_formants * blend
    places: np.ndarray = (np.arange(BINS) / factor).clip(0, BINS - 1)
    return places


def _gains(speaker: Speaker, manner: Manner) -> np.ndarray:
    """Natural-log gain of each bin: tilt and the speaker's colour."""
    hertz = np.arange(BINS) * SAMPLE_RATE / dsp.N_FFT
    octaves = np.log2((hertz / 500).clip(0.5)).clip(-1, 4)
    mel = np.log1p(hertz / 700)
    points = np.linspace(mel[5], mel[-1], EQ_POINTS)
    colour = np.interp(mel, points, speaker.colour)
    gains: np.ndarray = ((speaker.tilt + manner.tilt) * octaves + colour) * _LN_PER_DB
    return gains


def _colour(
    source: Source, speaker: Speaker, manner: Manner, pitch: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """The five spectra [bins, frames] (harmonic, its phase, noise, free part, its phase) of another speaker."""
    place = _warp(speaker)
    low = np.floor(place).astype(int).clip(0, BINS - 2)
    part = (place - low)[:, None].astype(np.float32)

    def moved(spectrum: np.ndarray) -> np.ndarray:
        return spectrum[low] * (1 - part) + spectrum[low + 1] * part

    nearest = np.rint(place).astype(int)
    gain = _gains(speaker, manner)[:, None].astype(np.float32)
    breath = np.float32(speaker.breath * _LN_PER_DB)
    # Away from the teacher's own pitch the rest has no phase to keep: it is the breath of a voiced frame.
    changed = source.near_voice & (np.abs(pitch / np.maximum(source.pitch, 1.0) - 1.0) > 0.005)
    phase = source.rest_phase[nearest]
    phase[:, changed] = rng.uniform(-np.pi, np.pi, (BINS, int(changed.sum()))).astype(np.float32)
    quiet = np.where(source.near_voice, breath, 0.0) + np.where(changed, _REST, 0.0) * _LN_PER_DB
    rest = moved(source.rest) + gain + quiet[None].astype(np.float32)
    # Harmonics farther apart are fewer: each must be stronger for the same power in a band.
    density = 0.5 * np.log(pitch.clip(VOICED_HZ) / source.pitch.clip(VOICED_HZ))
    return [
        moved(source.harmonic) + gain + _smoothed(density)[None].astype(np.float32),
        source.harmonic_phase[nearest],
        moved(source.noise) + gain + breath,
        rest,
        phase,
    ]


def _smoothed(curve: np.ndarray, width: int = 5) -> np.ndarray:
    """A running mean over frames."""
    return np.convolve(np.pad(curve, width // 2, mode="edge"), np.full(width, 1 / width), mode="valid")


def _level(wav: np.ndarray, gain: float) -> np.ndarray:
    """Scale to the common level plus ``gain`` decibels, never above 0.98 of full scale."""
    loud = _frames(wav)
    loud = loud[loud > loud.max() * 0.1]
    scaled = wav * (_LEVEL / max(float(np.sqrt((loud**2).mean())), 1e-6) * 10 ** (gain / 20))
    limited: np.ndarray = scaled * min(1.0, 0.98 / max(float(np.abs(scaled).max()), 1e-6))
    return limited.astype(np.float32)


def _frames(wav: np.ndarray, hop: int = dsp.HOP) -> np.ndarray:
    """Root mean square of each hop, [hops]."""
    whole = wav[: len(wav) // hop * hop].reshape(-1, hop)
    levels: np.ndarray = np.sqrt((whole**2).mean(1) + 1e-12)
    return levels


def _sounding(wav: np.ndarray, lead: float = 0.05, tail: float = 0.12) -> tuple[int, int]:
    """First and last sample kept: a fixed little silence around what sounds, so that the end is learnable."""
    frames = _frames(wav)
    heard = np.flatnonzero(frames > frames.max() * 0.012)
    first = max(0, int(heard[0]) - round(lead / FRAME_SECONDS)) * dsp.HOP
    return first, min(len(wav), int((heard[-1] + 1) * dsp.HOP + tail * SAMPLE_RATE))


def _middles(seconds: np.ndarray, origin: list[int], characters: int) -> np.ndarray:
    """Middle of each character of the phoneme string in seconds, by interpolation where none is known."""
    ends = np.cumsum(seconds)
    middles = (ends - seconds / 2)[1:-1]
    places, first = np.unique(origin, return_index=True)
    return np.interp(np.arange(characters), places, middles[first])
