"""More rows are given up only where they are a clear loss."""

from __future__ import annotations

import random

import pytest

from zonos.pace import FEWER_SECONDS, STEP_GROWTH, STEPS, Pace, RowLimit


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


class Clock:
    """Stands for the module's clocks; steps take what a test says."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    monotonic = perf_counter


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("zonos.pace.time", found)
    return found


def decode(limit: RowLimit, clock: Clock, rows: int, seconds: float) -> None:
    limit.pause()
    for _ in range(STEPS + 1):
        limit.stepped(4, rows, alike=True)
        clock.now += 4 * seconds


def test_fewer_rows_until_what_slowed_them_may_be_gone(clock: Clock) -> None:
    limit = RowLimit(16, judged=True)
    decode(limit, clock, 8, 0.05)
    assert limit.most == 16
    decode(limit, clock, 16, 0.4)
    assert limit.most == 8
    clock.now += FEWER_SECONDS + 1
    assert limit.most == 16


def test_only_times_are_kept_where_nothing_is_judged(clock: Clock) -> None:
    limit = RowLimit(16, judged=False)
    decode(limit, clock, 8, 0.05)
    decode(limit, clock, 16, 0.4)
    assert limit.most == 16
    assert limit.pace.frames_per_second_alone() is not None


def test_a_pause_is_no_step(clock: Clock) -> None:
    limit = RowLimit(16, judged=True)
    for _ in range(3 * STEPS):
        limit.stepped(1, 8, alike=True)
        clock.now += 5.0
        limit.pause()
    assert limit.pace.frames_per_second_alone() is None
