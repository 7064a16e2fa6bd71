"""Encoders: one thread at a time, whole files like streams, raw samples at the rate that clients expect."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from zonos.api.encoding import PCM_RATE, OneAtATime, encode_whole, open_encoder


class Slow:
    """An encoder that is still busy when its owner leaves."""

    def __init__(self) -> None:
        self.inside, self.go, self.calls = threading.Event(), threading.Event(), []
        self.busy = threading.Lock()

    def push(self, samples: np.ndarray) -> bytes:
        assert self.busy.acquire(blocking=False), "two threads in one encoder"
        self.inside.set()
        self.go.wait(10)
        self.busy.release()
        self.calls.append("push")
        return b"x"

    def finish(self) -> bytes:
        assert self.busy.acquire(blocking=False), "two threads in one encoder"
        self.calls.append("finish")
        return b"end"


def test_a_client_that_leaves_while_its_audio_is_encoded() -> None:
    """LAME aborts the whole process when a stream is ended while another thread encodes."""
    slow = Slow()
    encoder = OneAtATime(slow)
    pushing = threading.Thread(target=encoder.push, args=(np.zeros(1, np.float32),))
    ending = threading.Thread(target=encoder.finish)
    pushing.start()
    assert slow.inside.wait(10)
    ending.start()
    slow.go.set()
    pushing.join(10)
    ending.join(10)
    assert slow.calls == ["push", "finish"]
    assert encoder.push(np.zeros(1, np.float32)) == encoder.finish() == b""


def test_raw_samples_have_the_rate_that_clients_expect() -> None:
    """A codec at 44.1 kHz: OpenAI's clients play pcm at 24 kHz, whatever the model's rate."""
    tone = np.sin(np.arange(44_100) * 2 * np.pi * 440 / 44_100).astype(np.float32) / 2
    whole = np.frombuffer(encode_whole("pcm", tone, 44_100), "<i2")
    encoder = open_encoder("pcm", 44_100)
    pieces = [encoder.push(tone[start : start + 1000]) for start in range(0, len(tone), 1000)]
    assert b"".join([*pieces, encoder.finish()]) == whole.tobytes()
    assert len(whole) == pytest.approx(PCM_RATE, abs=40)
    spectrum = np.abs(np.fft.rfft(whole[: PCM_RATE - 100]))
    assert spectrum.argmax() * PCM_RATE / (PCM_RATE - 100) == pytest.approx(440, abs=1.5)
