"""Seeded against unseeded noise, the cost of each sampler setting, and the host's work per step."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from benchmarks import work
from benchmarks.report import arguments, ratio, show
from zonos import runner as runner_module
from zonos import sampling
from zonos.blocks import BLOCK
from zonos.model import Zonos
from zonos.runner import Runner
from zonos.sampler_settings import SamplerSettings

_HOST_STEPS = 300
SETTINGS = {
    "plain": replace(work.PLAIN, min_p=0.0),
    "min_p": work.PLAIN,
    "unified": replace(work.PLAIN, min_p=0.0, linear=0.5, conf=0.4),
    "penalty over 2": replace(work.PLAIN, min_p=0.0, repetition_penalty=3.0),
    "top_k": replace(work.PLAIN, min_p=0.0, top_k=50),
    "top_p": replace(work.PLAIN, min_p=0.0, top_p=0.9),
    "greedy": replace(work.PLAIN, temperature=0.0),
}


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("sampling", __doc__ or "")
    work.add_model_arguments(parser)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args(argv)
    model = work.load_model(options)
    items = [work.Item(60, 10_000) for _ in range(options.rows)]

    def step_times(settings: SamplerSettings) -> float:
        runner = work.new_runner(model, options.rows)
        runner.admit(work.plans(model, items, settings))
        return _median_step(runner, options.steps)

    seeded: list[float] = []
    unseeded: list[float] = []
    step_times(SETTINGS["plain"])
    for _ in range(options.rounds):
        seeded.append(step_times(SETTINGS["plain"]))
        with _noise(_torch_noise):
            unseeded.append(step_times(SETTINGS["plain"]))
    rows = [
        {"noise": "counter hash of (seed, step, codebook, token)", "ms/step": 1000 * min(seeded)},
        {"noise": "torch's generator, no seeds", "ms/step": 1000 * min(unseeded)},
    ]
    note = f"seeded / unseeded steps a second: {ratio(unseeded, seeded):.3f}"
    show(f"{options.rows} rows of {options.weights}", rows, options.json, [note])
    costs: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for _ in range(options.rounds):
        for name, settings in SETTINGS.items():
            costs[name].append(step_times(settings))
    plain = costs["plain"]
    show(
        "sampler settings",
        [
            {"setting": name, "ms/step": 1000 * min(times), "against plain": ratio(times, plain)}
            for name, times in costs.items()
        ],
        options.json,
    )
    host_work(model, options.json)
    return 0


def host_work(model: Zonos, as_json: bool) -> None:
    """Everything that a step does on the host, with a decode step that does nothing."""
    rows = []
    for n in (8, 64):
        runner = work.new_runner(model, n)
        items = [work.Item(60 + i, 10_000) for i in range(n)]
        runner.admit(work.plans(model, items))
        # On the CPU a pool that grows is copied by the host, on a GPU by the device.
        blocks = 1 + sum(2 * -(-(item.prefix + _HOST_STEPS) // BLOCK) for item in items)
        runner.state.make_room(blocks, 1)
        original = runner_module.decode_step
        runner_module.decode_step = lambda *_: None
        try:
            times = []
            for _ in range(_HOST_STEPS):
                start = time.perf_counter()
                runner.step()
                times.append(time.perf_counter() - start)
        finally:
            runner_module.decode_step = original
        rows.append(
            {
                "rows": n,
                "median ms": 1000 * statistics.median(times),
                "mean ms": 1000 * statistics.fmean(times),
                "worst ms": 1000 * max(times),
            }
        )
    show("host's work per step, model doing nothing", rows, as_json)


def _median_step(runner: Runner, steps: int) -> float:
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        runner.step()
        work.synchronise(runner.model)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class _noise:
    """Swap the sampler's noise for a while."""

    def __init__(self, noise: Callable[[Tensor, Tensor, int, int], Tensor]) -> None:
        self.noise, self.original = noise, sampling.exponential_noise

    def __enter__(self) -> None:
        setattr(sampling, "exponential_noise", self.noise)  # noqa: B010

    def __exit__(self, *_: object) -> None:
        setattr(sampling, "exponential_noise", self.original)  # noqa: B010


def _torch_noise(seed: Tensor, step: Tensor, codebooks: int, vocabulary: int) -> Tensor:
    return torch.empty(len(seed), codebooks, vocabulary, device=seed.device).exponential_()
