"""Prefixes: what is shared is the same to the bit, and no value is taken for another."""

from __future__ import annotations

import pytest
import torch
from engines import mini

from zonos import prefixes as module
from zonos.prefixes import Prefixes

VALUES = {
    "espeak": [2, 30, 40, 50, 3],
    "speaker": torch.arange(128.0) / 128,
    "emotion": (0.5, 0.1, 0.1, 0.1, 0.1, 0.05, 0.03, 0.02),
    "fmax": 22_050.0,
    "pitch_std": 35.0,
    "speaking_rate": 12.0,
    "language_id": 24,
}


def fresh() -> Prefixes:
    return Prefixes(mini().model.prefix_conditioner)


def test_known_parts_give_the_same_bits_as_new_ones() -> None:
    used = fresh()
    for rate in (10.0, 12.0, 14.0):
        used.make({**VALUES, "speaking_rate": rate}, twin=True)
    again = used.make(VALUES, twin=True)
    assert all(map(torch.equal, again, fresh().make(VALUES, twin=True)))
    assert torch.equal(again[0], mini().model.prefix_conditioner(VALUES))


@pytest.mark.parametrize("name", [name for name in VALUES if name != "espeak"])
def test_another_value_is_another_prefix(name: str) -> None:
    made = fresh()
    first = made.make(VALUES, twin=False)[0]
    value = VALUES[name]
    other = tuple(reversed(value)) if isinstance(value, tuple) else value + 1  # type: ignore[operator]
    assert not torch.equal(made.make({**VALUES, name: other}, twin=False)[0], first)
    assert not torch.equal(made.make({**VALUES, name: None}, twin=False)[0], first)
    assert torch.equal(made.make(VALUES, twin=False)[0], first)


def test_equal_parts_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = fresh()
    asked: list[str] = []
    conditioner = mini().model.prefix_conditioner
    original = conditioner.part
    monkeypatch.setattr(conditioner, "part", lambda name, value: asked.append(name) or original(name, value))
    for text in ([2, 30, 3], [2, 31, 3], [2, 30, 3]):
        made.make({**VALUES, "espeak": text}, twin=True)
    assert asked.count("espeak") == 2
    assert asked.count("speaker") == 2  # its vector, and its absence in the twin
    assert len(asked) == 2 + 2 * (len(VALUES) - 1)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CAPACITY_BYTES", 20_000)
    made = fresh()
    for number in range(200):
        made.make({**VALUES, "fmax": float(number)}, twin=False)
    held = sum(part.nbytes for part in made._known.values())
    assert 0 < held <= 20_000
    assert held == made._bytes
