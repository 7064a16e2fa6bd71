"""Case "clip reader": truncated and mangled files of each kind neither crash, hang nor eat memory.

The decoders are C libraries, so the fuzz runs in a process of its own with its memory limited: a
crash there is a failed test here, not the end of the suite.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from audio_kinds import KINDS, kind

from zonos.audio.read import MAX_CHANNELS, MAX_SAMPLES, Clip, read_clip
from zonos.errors import LineError

FUZZED = [
    *("wav 8 bit unsigned", "wav 16 bit", "wav float64", "wave format extensible float", "wav ms adpcm"),
    *("rf64", "w64", "aiff", "caf", "au", "flac", "flac 24 bit 96 kHz"),
    *("ogg vorbis", "ogg opus", "mp3", "m4a aac", "m4a alac", "aac adts", "webm opus", "wma"),
    *("ac3", "mka pcm", "m4a index first"),
    *("mp4 with video", "mkv with video", "avi with video", "mov with video"),
]
ADDRESS_SPACE = 3 * 2**29
SECONDS_EACH = 5.0


def mangled(content: bytes, seed: int) -> bytes:
    """One damage of many: cut, bits flipped near the header or anywhere, pieces lost, doubled, overwritten."""
    random = np.random.default_rng(seed)
    data = bytearray(content)
    start, stop = sorted(random.integers(0, len(data), 2))
    match seed % 7:
        case 0:
            return bytes(data[:stop])
        case 1:
            for place in random.integers(0, min(200, len(data)), 8):
                data[place] = random.integers(256)
        case 2:
            for place in random.integers(0, len(data), 40):
                data[place] ^= 1 << int(random.integers(8))
        case 3:
            del data[start:stop]
        case 4:
            data[start:start] = data[start:stop]
        case 5:
            size = min(64, len(data) - start)
            data[start : start + size] = random.bytes(size)
        case 6:
            # Sizes and counts at their limits, in both byte orders.
            for place in random.integers(0, min(2000, len(data) - 4), 3):
                data[place : place + 4] = b"\xff\xff\xff\x7f" if seed % 2 else b"\x7f\xff\xff\xff"
    return bytes(data)


def check(content: bytes) -> float:
    """Read it and return the seconds that took; anything but a clip or a reason is an error."""
    began = time.monotonic()
    outcome = read_or_reason(content)
    took = time.monotonic() - began
    if isinstance(outcome, LineError):
        assert outcome.code == "unreadable_clip", outcome.code
        assert outcome.reason.endswith("."), outcome.reason
    else:
        assert outcome.samples.dtype == np.float32
        assert np.isfinite(outcome.samples).all()
        assert outcome.samples.shape[0] <= MAX_CHANNELS
        assert 0 < outcome.samples.size <= MAX_SAMPLES
    return took


def read_or_reason(content: bytes) -> Clip | LineError:
    try:
        return read_clip(content, "mangled")
    except LineError as problem:
        return problem


def fuzz(name: str, rounds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    content = kind(name)
    for seed in range(rounds):
        try:
            took = check(mangled(content, seed))
        except BaseException:
            print(f"{name}, seed {seed}", file=sys.stderr)
            raise
        assert took < SECONDS_EACH, f"seed {seed} took {took:.1f} s"


@pytest.mark.parametrize("names", [FUZZED[i::4] for i in range(4)], ids=lambda names: ", ".join(names))
def test_mangled_files(names: list[str]) -> None:
    rounds = "56"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", __file__, rounds, *names],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=240,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split("\n")[:-1] == names


def test_every_short_beginning_of_every_kind() -> None:
    """A download that broke off in the header."""
    for name in KINDS:
        for length in (1, 3, 4, 8, 12, 20, 36, 44, 45, 100, 300):
            assert check(kind(name)[:length]) < SECONDS_EACH


if __name__ == "__main__":
    for each in sys.argv[2:]:
        fuzz(each, int(sys.argv[1]))
        print(each, flush=True)
