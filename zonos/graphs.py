"""The decode step as captured graphs, one for each shape it is used in.

A graph replays fixed kernels on fixed addresses, so the host's work per step shrinks to one launch.
Index tensors are copied into the addresses that the graph reads. A shape is run eagerly when it
comes for the first time (which also warms its kernels up), captured the second time, replayed from
then on. A capture that fails is logged, and that shape goes on eagerly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from zonos.runner_inputs import StepInputs

log = logging.getLogger(__name__)

MOST_GRAPHS = 128  # kept; the oldest goes first, and is captured anew when its shape comes back

Step = Callable[[StepInputs], None]
Capture = Callable[[Callable[[], None]], Callable[[], None]]


def cuda_capture(device: torch.device) -> Capture:
    """Captures on a device that share one memory pool."""
    pool = torch.cuda.graph_pool_handle()

    def capture(work: Callable[[], None]) -> Callable[[], None]:
        graph = torch.cuda.CUDAGraph()
        # Other threads (codec, speaker encoder) go on allocating meanwhile, which is none of its business.
        with torch.cuda.device(device), torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            work()

        def replay() -> None:
            with torch.cuda.device(device):
                graph.replay()

        return replay

    return capture


class StepGraphs:
    """Runs decode steps through graphs.

    Args:
        step: decodes one frame on given inputs, in place on buffers whose addresses stay.
        capture: records a step and returns its replay.
    """

    def __init__(self, step: Step, capture: Capture) -> None:
        self._step, self._capture = step, capture
        self._replays: dict[Any, tuple[StepInputs, Callable[[], None]] | None] = {}
        self._seen: set[Any] = set()
        self.captures = self.replays = 0

    def run(self, inputs: StepInputs, addresses: tuple[int, ...]) -> None:
        """One step.

        Args:
            inputs: of the step.
            addresses: of buffers that may have been moved since; a graph belongs to its addresses.
        """
        key = (*(_shape(getattr(inputs, f.name)) for f in fields(inputs)), addresses)
        if key not in self._seen:
            self._forget_other(addresses)
            self._seen.add(key)
            self._step(inputs)
            return
        if key not in self._replays:
            while len(self._replays) >= MOST_GRAPHS:
                self._replays.pop(next(iter(self._replays)))
            self._replays[key] = self._record(inputs)
        recorded = self._replays[key]
        if recorded is None:
            self._step(inputs)
            return
        static, replay = recorded
        for name, tensor in _tensors(inputs).items():
            getattr(static, name).copy_(tensor)
        replay()
        self.replays += 1

    def _record(self, inputs: StepInputs) -> tuple[StepInputs, Callable[[], None]] | None:
        copies: dict[str, Any] = {name: tensor.clone() for name, tensor in _tensors(inputs).items()}
        static = replace(inputs, **copies)
        try:
            replay = self._capture(lambda: self._step(static))
        except RuntimeError as error:
            log.warning("a decode step could not be captured and runs eagerly: %s", error)
            return None
        self.captures += 1
        return static, replay

    def _forget_other(self, addresses: tuple[int, ...]) -> None:
        """Graphs on buffers that were moved can never run again."""
        self._replays = {key: value for key, value in self._replays.items() if key[-1] == addresses}
        self._seen = {key for key in self._seen if key[-1] == addresses}


def _tensors(inputs: StepInputs) -> dict[str, Tensor]:
    values = {f.name: getattr(inputs, f.name) for f in fields(inputs)}
    return {name: value for name, value in values.items() if isinstance(value, Tensor)}


def _shape(value: Any) -> Any:
    return tuple(value.shape) if isinstance(value, Tensor) else value
