"""Shared by the long steps: checkpoints written whole, a log line with an estimate, a schedule."""

from __future__ import annotations

import math
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import torch


def save(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)


def restore(path: Path) -> dict[str, Any] | None:
    """A checkpoint written by :func:`save`, or None where there is none."""
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def device() -> torch.device:
    """CUDA when there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def autocast(where: torch.device) -> torch.autocast:
    """bfloat16 for matrix products: twice as fast as float32, also on CPUs with AVX512-BF16."""
    return torch.autocast(where.type, dtype=torch.bfloat16)


def cosine(done: float, warm: float = 0.02, floor: float = 0.02) -> float:
    """Learning-rate factor at a share ``done`` (0 to 1) of the run: a short rise, then half a cosine."""
    if done < warm:
        return max(done / warm, 0.05)
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, (done - warm) / (1 - warm))))


class Clock:
    """Says when to save and when to speak, and how long is left."""

    def __init__(self, name: str, save_minutes: float = 4.0, log_seconds: float = 20.0) -> None:
        self._name = name
        self._save, self._log = save_minutes * 60, log_seconds
        self._started = self._saved = self._logged = time.monotonic()
        self._sums: dict[str, list[float]] = {}
        self._count = 0

    def note(self, **values: float) -> None:
        """Add to the running means of the next log line."""
        self._count += 1
        for key, value in values.items():
            self._sums.setdefault(key, []).append(value)

    def log(self, step: int, done: float) -> None:
        """Print the means at most every ``log_seconds``; ``done`` is the share of this process's work."""
        now = time.monotonic()
        if now - self._logged < self._log or not self._count:
            return
        means = " ".join(f"{k} {fmean(v):.3f}" for k, v in self._sums.items())
        left = (now - self._started) * (1 - done) / max(done, 1e-6) / 60
        pace = (now - self._logged) / self._count
        print(
            f"{self._name} {time.strftime('%H:%M:%S')} step {step}: {means} | {pace:.2f} s a step, {left:.0f} min left",
            flush=True,
        )
        self._sums, self._count, self._logged = {}, 0, now

    def time_to_save(self) -> bool:
        """True every ``save_minutes``."""
        now = time.monotonic()
        if now - self._saved < self._save:
            return False
        self._saved = now
        return True
