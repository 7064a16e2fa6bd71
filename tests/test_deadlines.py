"""Who listens comes first: in the codec's thread, in the queue, and over rows that nobody waits for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import monotonic

import pytest
from engines import engine, finals

from zonos.deadlines import DeadlineExecutor
from zonos.events import Done, Started
from zonos.line import Line
from zonos.scheduler import DRY_SECONDS, Scheduler


@dataclass
class Waits:
    """A piece that waits."""

    owner: str
    run: str
    stream: bool = True
    order: int = 0
    expected_frames: int = 10
    due: float = 0.0
    playing: bool = False


def test_work_is_done_in_the_order_of_its_deadlines() -> None:
    begun, go = threading.Event(), threading.Event()
    order: list[str] = []
    executor = DeadlineExecutor("test")

    def hold() -> None:
        begun.set()
        go.wait(10)

    executor.submit(hold)
    begun.wait(10)
    executor.submit(order.append, "nobody waits")
    executor.submit_by(9.0, order.append, "later")
    executor.submit_by(2.0, order.append, "first")
    executor.submit_by(2.0, order.append, "second")
    go.set()
    executor.shutdown(wait=True)
    assert order == ["first", "second", "later", "nobody waits"]
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(hold)


def test_a_fault_is_handed_over_and_the_thread_goes_on() -> None:
    executor = DeadlineExecutor("test")
    broken = executor.submit(int, "no number")
    assert executor.submit(int, "7").result(10) == 7
    assert isinstance(broken.exception(10), ValueError)
    executor.shutdown(wait=True)


def test_a_listener_about_to_run_dry_comes_before_all_others() -> None:
    now = monotonic()
    scheduler: Scheduler[Waits] = Scheduler()
    pieces = [
        Waits("a", "job", stream=False, expected_frames=99),
        Waits("b", "lead", order=1, playing=True, due=now + DRY_SECONDS + 60),
        Waits("c", "new"),
        Waits("d", "dry soon", order=1, playing=True, due=now + 2),
        Waits("e", "dry", order=2, playing=True, due=now - 1),
    ]
    for piece in pieces:
        scheduler.add(piece)
    assert scheduler.urgent() == 3
    taken = [scheduler.next() for _ in pieces]
    assert [piece.run for piece in taken if piece][:2] == ["dry", "dry soon"]
    assert taken[-1] is pieces[0]


def test_a_background_row_makes_way_and_says_the_same_in_the_end() -> None:
    """Case: a single stream must not wait for the end of a script; the script loses nothing."""
    line = Line(text="The kettle is on.", voice="Heart", seed=1)
    with engine(slots=1) as alone:
        expected = finals(alone.submit([line]))["0", 0]
    with engine(slots=1) as running:
        script = running.submit([line], owner="script")
        while not any(isinstance(event, Started) for event in iter(script.next_event, None)):
            running.pump()
        for _ in range(5):
            running.pump()
        heard = finals(running.submit([Line(text="Hi.", seed=2, max_seconds=0.3)], stream=True))
        assert isinstance(heard["0", 0], Done)
        assert running.loop.stats["made_way"] == 1
        assert not script.is_done
        found = finals(script)["0", 0]
    assert isinstance(found, Done)
    assert isinstance(expected, Done)
    assert found.speech.samples.tobytes() == expected.speech.samples.tobytes()
