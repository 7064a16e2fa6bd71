"""Faults of the machine, at a moment of a test's choice."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from zonos import runner


def run_out_of_memory(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Decode step number ``at`` (from 0) finds no memory; the others go on as usual."""
    original, steps = runner.decode_step, iter(range(10**9))

    def failing(*arguments: Any) -> None:
        if next(steps) == at:
            raise torch.OutOfMemoryError("CUDA out of memory")
        original(*arguments)

    monkeypatch.setattr(runner, "decode_step", failing)
