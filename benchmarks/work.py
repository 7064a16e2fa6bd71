"""Rows to decode, and ways to decode them: what the decoder benchmarks share."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

from benchmarks.random_model import random_config, random_model, rare_eos
from zonos.config import ZonosConfig
from zonos.devices import pick_device, pick_dtype
from zonos.invariance import lane_quantum
from zonos.model import Zonos
from zonos.packed import pack
from zonos.rows import RowPlan
from zonos.runner import Runner
from zonos.sampler_settings import SamplerSettings

SIZES = {
    "random-1.6b": ("transformer", 2048, 26),
    "random-300m": ("transformer", 1024, 18),
    "random-hybrid-1.6b": ("hybrid", 2048, 46),
    "random-hybrid-300m": ("hybrid", 1024, 32),
}
PLAIN = SamplerSettings(
    cfg_scale=2.0,
    temperature=1.0,
    top_p=0.0,
    top_k=0,
    min_p=0.1,
    linear=0.0,
    conf=0.0,
    quad=0.0,
    repetition_penalty=1.0,
    repetition_window=2,
)


def add_model_arguments(parser: argparse.ArgumentParser, default: str = "mini") -> None:
    """Which model to decode with."""
    parser.add_argument("--weights", choices=["mini", *SIZES], default=default)
    parser.add_argument("--device", default=None)
    parser.add_argument("--dtype", default=None)


def load_model(options: argparse.Namespace) -> Zonos:
    """The embedded checkpoint, or random weights of a real shape made here."""
    device = pick_device(options.device)
    if options.weights == "mini":
        from zonos.pipeline import load_pipeline

        model = load_pipeline("mini", device=options.device, dtype=options.dtype).model
        return without_eos(model)
    kind, d_model, layers = SIZES[options.weights]
    config: ZonosConfig = random_config(kind, d_model=d_model, n_layer=layers)
    return pack(random_model(config, device=device, dtype=pick_dtype(options.dtype, device, config)))


def without_eos(model: Zonos) -> Zonos:
    """Let no row end before its limit: what is timed must not hang on what a model happens to say."""
    for head in model.heads:
        rare_eos(head.get_parameter("weight"), model.config.eos_token_id)
    return pack(model)


@dataclass(frozen=True)
class Item:
    """A row to be: how long its prefix and its speech are."""

    prefix: int  # tokens
    frames: int
    cfg_scale: float = 2.0
    speaker: int = 0


def mixed_items(count: int, frames: tuple[int, int], seed: int = 1) -> list[Item]:
    """Rows of mixed length, eight speakers."""
    draw = random.Random(seed)
    return [
        Item(prefix=frames_ // 3 + 30, frames=frames_, speaker=i % 8)
        for i in range(count)
        for frames_ in [draw.randint(*frames)]
    ]


def short_and_long(short: int = 60, long: int = 4, unit: int = 40, order: int = 0) -> list[Item]:
    """Short rows of 1 to 2 units and long ones of 10, the long ones anywhere, as a game script has them.

    Which of them share a static batch decides what static batches cost: compare over several ``order``s.
    """
    draw = random.Random(order)
    items = [
        Item(30 + n // 3, n, speaker=i % 8) for i in range(short) for n in [draw.randint(unit, 2 * unit)]
    ]
    items += [Item(30 + 10 * unit // 3, 10 * unit, speaker=i % 8) for i in range(long)]
    draw.shuffle(items)
    return items


def plans(model: Zonos, items: Sequence[Item], sampling: SamplerSettings = PLAIN) -> list[RowPlan]:
    """Rows with random prefixes, which speak until their limit (see ``without_eos``)."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for seed, item in enumerate(items):
        prefixes = tuple(
            torch.randn(item.prefix, model.config.backbone.d_model, generator=generator).to(
                model.device, model.dtype
            )
            for _ in range(1 if item.cfg_scale == 1 else 2)
        )
        none = torch.zeros(model.config.n_codebooks, 0, dtype=torch.int64, device=model.device)
        settings = replace(sampling, cfg_scale=item.cfg_scale)
        made.append(RowPlan(prefixes, none, item.frames, seed, settings))
    return made


@dataclass
class Timing:
    """What decoding some rows took."""

    seconds: float = 0.0
    frames: int = 0
    steps: int = 0
    row_steps: int = 0
    slots: int = 0

    @property
    def frames_per_second(self) -> float:
        """Frames of output, over all rows."""
        return self.frames / self.seconds

    @property
    def occupancy(self) -> float:
        """Useful row-steps of all row-steps."""
        return self.row_steps / (self.steps * self.slots)


def best_occupancy(model: Zonos, items: Sequence[Item], slots: int) -> float:
    """What no order of the rows can surpass: the run lasts as long as its longest row, and as all rows together."""
    steps = [item.frames + model.config.n_codebooks for item in items]
    return sum(steps) / (slots * max(max(steps), -(-sum(steps) // slots)))


_lane_quantum = cache(lane_quantum)  # found by trying, which takes longer than some benchmarks


def new_runner(model: Zonos, slots: int) -> Runner:
    """As the engine makes it."""
    return Runner(model, slots=slots, lane_quantum=_lane_quantum(model))


def synchronise(model: Zonos) -> None:
    """Wait for the device, so that a clock means something."""
    if model.device.type == "cuda":
        torch.cuda.synchronize()


def decode_refilled(
    runner: Runner, rows: Sequence[RowPlan], watch: Callable[[Runner], None] | None = None
) -> Timing:
    """Slots refill at every frame boundary, the longest rows first, as the scheduler does it."""
    waiting = sorted(rows, key=lambda plan: plan.limit)
    timing = Timing(slots=runner.slots)
    start = time.perf_counter()
    while waiting or runner.plans:
        if waiting and runner.free_rows:
            runner.admit([waiting.pop() for _ in range(min(runner.free_rows, len(waiting)))])
        _step(runner, timing)
        if watch is not None:
            watch(runner)
        for row, flag in reversed(list(enumerate(runner.read()))):
            if flag.ended:
                timing.frames += flag.frames
                runner.release(row)
    synchronise(runner.model)
    timing.seconds = time.perf_counter() - start
    return timing


def decode_static(runner: Runner, rows: Sequence[RowPlan]) -> Timing:
    """Batches in script order, each as long as its longest row: what tools without refill do."""
    timing = Timing(slots=runner.slots)
    start = time.perf_counter()
    for first in range(0, len(rows), runner.slots):
        runner.admit(rows[first : first + runner.slots])
        while not all(flag.ended for flag in runner.read()):
            _step(runner, timing)
            ended = sum(flag.ended for flag in runner.read())
            timing.row_steps -= ended  # those only wait for the others
        timing.frames += sum(flag.frames for flag in runner.read())
        for row in reversed(range(len(runner.plans))):
            runner.release(row)
    synchronise(runner.model)
    timing.seconds = time.perf_counter() - start
    return timing


def _step(runner: Runner, timing: Timing) -> None:
    runner.step()
    timing.steps += 1
    timing.row_steps += len(runner.plans)


def sample_voices() -> Path:
    """The clips that come with the project."""
    return Path(__file__).parents[1] / "examples" / "voices"
