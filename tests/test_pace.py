"""More rows are given up only where they are a clear loss."""

from __future__ import annotations

import random

from zonos.pace import STEP_GROWTH, STEPS, Pace


def run(pace: Pace, rows: int, seconds: float, noise: float = 0.0) -> int | None:
    draw = random.Random(rows)
    found = None
    for _ in range(2 * STEPS):
        found = found or pace.record(rows, seconds * (1 + noise * draw.random()))
    return found


def test_step_time_that_climbs_backs_off() -> None:
    """Zonos PR #192: 12 rows in 81 s, 15 rows in 146 s."""
    pace = Pace()
    assert run(pace, 6, 0.07) is None
    assert run(pace, 12, 0.081) is None
    assert run(pace, 15, 0.146 * 1.5) == 12


def test_ordinary_growth_is_no_reason() -> None:
    pace = Pace()
    for rows, seconds in ((1, 0.030), (2, 0.031), (4, 0.036), (8, 0.050), (16, 0.085), (32, 0.165)):
        assert run(pace, rows, seconds, noise=0.2) is None


def test_one_slow_step_is_no_reason() -> None:
    pace = Pace()
    assert run(pace, 4, 0.03) is None
    assert run(pace, 8, 0.04) is None
    assert pace.record(8, 9.0) is None


def test_speed_of_one_row_is_told_by_the_steps_of_all_sizes() -> None:
    pace = Pace()
    assert pace.frames_per_second_alone() is None
    for rows in (2, 4, 8):
        run(pace, rows, 0.02 * rows**STEP_GROWTH, noise=0.1)
    pace.record(8, 30.0)  # the machine slept
    speed = pace.frames_per_second_alone()
    assert speed is not None
    assert 44 < speed <= 50
