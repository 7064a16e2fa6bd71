"""Memory and time before a run: the plan against what the runner really does."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from engines import mini

from benchmarks.work import Item, Timing, decode_refilled, plans, without_eos
from zonos.blocks import BLOCK, first_capacity, grown
from zonos.packed import PackedLinear
from zonos.pipeline import load_pipeline
from zonos.plan import RowCost, foresee, pool_bytes, weight_bytes
from zonos.runner import Runner

ITEMS = [Item(prefix=40 + i, frames=20 + 13 * (i % 7)) for i in range(20)]
SLOTS = 4


def costs(codebooks: int) -> list[RowCost]:
    return [RowCost(item.prefix, item.frames + codebooks, 2) for item in ITEMS]


def test_foreseen_steps_and_blocks_are_those_of_the_runner() -> None:
    model = without_eos(load_pipeline("mini", device="cpu").model)
    runner = Runner(model, slots=SLOTS)
    most = 0

    def watch(runner: Runner) -> None:
        nonlocal most
        most = max(most, runner.state.blocks.live - 1)

    timing: Timing = decode_refilled(runner, plans(model, ITEMS), watch)
    ahead = foresee(costs(model.config.n_codebooks), SLOTS)
    assert sum(steps for steps, _ in ahead.spans) == pytest.approx(timing.steps, rel=0.05)
    assert sum(steps * rows for steps, rows in ahead.spans) == pytest.approx(timing.row_steps, rel=0.05)
    assert ahead.blocks == pytest.approx(most, rel=0.1)
    backbone = model.config.backbone
    held = sum(pool.numel() * pool.element_size() for pool in runner.state.pools())
    assert pool_bytes(backbone, SLOTS, ahead.blocks, model.dtype.itemsize) == pytest.approx(held, rel=0.1)


def test_spans_never_hold_more_rows_than_slots_and_end_with_the_last_row() -> None:
    rows = [RowCost(10, steps, 1) for steps in (50, 3, 3, 3, 3, 40)]
    spans = foresee(rows, 3).spans
    assert max(count for _, count in spans) == 3
    assert sum(steps for steps, _ in spans) == 50
    assert foresee([], 3).spans == []


def test_one_slot_holds_the_blocks_of_the_longest_row() -> None:
    rows = [RowCost(BLOCK, BLOCK, 2), RowCost(1, 5, 2)]
    assert foresee(rows, 1).blocks == 4


def test_a_pool_grows_seldom_and_never_over_its_limit() -> None:
    sizes = [first_capacity(8)]
    while sizes[-1] < 1000:
        sizes.append(grown(sizes[-1], sizes[-1] + 1, 1000))
    assert sizes[-1] == 1000
    assert all(b >= 1.2 * a for a, b in pairwise(sizes[:-1]))


def test_weights_are_counted_as_they_lie_in_memory() -> None:
    model = mini().model
    held = sum(t.numel() * t.element_size() for t in model.state_dict().values())
    # What is packed is in no state dict.
    layers = [m for m in model.modules() if isinstance(m, PackedLinear)]
    held += sum(m.in_features * m.out_features * torch.float32.itemsize for m in layers)
    assert weight_bytes(model.config, torch.float32, "cpu") == held
