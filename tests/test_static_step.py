"""The decode step is one static program: traced whole, never retraced, replayable on fixed buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from golden_tiny import run_to_end
from test_invariance import Subject, eight

from zonos import runner as runner_module
from zonos.graphs import StepGraphs
from zonos.rows import RowPlan
from zonos.runner import Runner
from zonos.runner_inputs import StepInputs
from zonos.shapes import Bucketed, Exact, geometric


@pytest.fixture(scope="module", params=["transformer", "packed", "hybrid"])
def subject(request: pytest.FixtureRequest) -> Subject:
    subject: Subject = getattr(Subject, request.param)()
    return subject


def short(subject: Subject) -> list[RowPlan]:
    """Rows of few frames, so that membership changes often."""
    return [replace(plan, limit=12 + 5 * i) for i, plan in enumerate(eight(subject))]


@pytest.fixture(scope="module")
def alone(subject: Subject) -> list[torch.Tensor]:
    return [run_to_end(Runner(subject.model, slots=1), [plan])[0] for plan in short(subject)]


def fake_capture(log: list[str]) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Like a device's: what is captured does not run, and replays read the captured buffers."""

    def capture(work: Callable[[], None]) -> Callable[[], None]:
        log.append("captured")
        return work

    return capture


def test_whole_step_is_traced_once(subject: Subject, alone: list[torch.Tensor]) -> None:
    """fullgraph: no host sync and no branch on a value; one trace for a run of changing membership."""
    torch.compiler.reset()
    traces: list[int] = []

    def backend(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., object]:
        traces.append(len(inputs))
        return module.forward

    runner = Runner(subject.model, slots=4, reproducible=True)
    runner.state.make_room(64, 8)
    runner.rows._fit_codes(60)
    room = runner.room

    def same_room(live: object) -> object:
        return replace(room(live), blocks=64, use=replace(room(live).use, window=64, top_p=True, top_k=True))

    runner.room = same_room  # type: ignore[assignment]
    compiled = torch.compile(runner_module.decode_step, fullgraph=True, backend=backend, dynamic=False)
    original = runner_module.decode_step
    runner_module.decode_step = compiled
    try:
        with torch.inference_mode():
            found = run_to_end(runner, short(subject))
    finally:
        runner_module.decode_step = original
    assert len(traces) == 1
    assert sorted(found) == list(range(8))
    # Traced code fuses nothing here, so even the codes agree.
    assert [torch.equal(found[i], alone[i]) for i in range(8)] == [True] * 8


def test_graphs_replay_with_the_inputs_of_now(subject: Subject, alone: list[torch.Tensor]) -> None:
    log: list[str] = []
    runner = Runner(subject.model, slots=4, lane_quantum=4)
    runner.room = Bucketed(4, whole=True)
    runner._graphs = StepGraphs(runner._decode, fake_capture(log))
    found = run_to_end(runner, short(subject))
    assert [torch.equal(found[i], alone[i]) for i in range(8)] == [True] * 8
    assert 0 < runner._graphs.captures == len(log) < 20
    assert runner._graphs.replays > 3 * runner._graphs.captures


def test_failed_capture_goes_on_eagerly(
    subject: Subject, alone: list[torch.Tensor], caplog: pytest.LogCaptureFixture
) -> None:
    def capture(work: Callable[[], None]) -> Callable[[], None]:
        raise RuntimeError("operation not permitted when stream is capturing")

    runner = Runner(subject.model, slots=4)
    runner.room = Bucketed(4, whole=True)
    runner._graphs = StepGraphs(runner._decode, capture)
    found = run_to_end(runner, short(subject))
    assert [torch.equal(found[i], alone[i]) for i in range(8)] == [True] * 8
    assert "eagerly" in caplog.text


def test_moved_buffers_are_captured_anew() -> None:
    log: list[str] = []
    ran: list[StepInputs] = []
    graphs = StepGraphs(ran.append, fake_capture(log))
    index = torch.zeros(2, dtype=torch.int64)
    inputs = StepInputs(1, index, index, index, index[None], *[index] * 4, Exact().__class__)  # type: ignore[arg-type]
    for address in (7, 7, 7, 8, 8, 7):
        graphs.run(inputs, (address,))
    assert len(ran) == 6
    assert log == ["captured"] * 2  # the last 7 is a new buffer at an old address


def test_reproducible_mode_gives_the_same_codes_alone_and_together(subject: Subject) -> None:
    plans = short(subject)
    together = run_to_end(Runner(subject.model, slots=4, reproducible=True), plans)
    alone = [
        run_to_end(Runner(subject.model, slots=4, reproducible=True), [replace(p)])[0] for p in short(subject)
    ]
    assert [torch.equal(together[i], alone[i]) for i in range(8)] == [True] * 8


@pytest.mark.parametrize("number", [1, 15, 16, 17, 100, 1000, 12345])
def test_buckets_waste_at_most_a_quarter(number: int) -> None:
    room = geometric(number, 16)
    assert number <= room <= max(16, number * 1.26 + 16)
