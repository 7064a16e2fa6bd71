"""KV reserved against used on the mixed script; predicted against measured peak."""

from __future__ import annotations

import resource

import torch

from benchmarks.report import arguments, show
from benchmarks.work import (
    Item,
    add_model_arguments,
    decode_refilled,
    load_model,
    new_runner,
    plans,
    short_and_long,
)
from zonos.blocks import BLOCK
from zonos.model import Zonos
from zonos.plan import block_bytes, lane_bytes, workspace_bytes
from zonos.runner import Runner


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("memory", __doc__ or "")
    add_model_arguments(parser)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--unit", type=int, default=40, help="frames of the shortest line")
    options = parser.parse_args(argv)
    model = load_model(options)
    item = model.dtype.itemsize
    script = short_and_long(unit=options.unit)
    before = _in_use(model)
    runner = new_runner(model, options.slots)
    watch = _Watch()
    decode_refilled(runner, plans(model, script), watch)
    measured = _peak(model) - before
    predicted = _predicted(model, script, options.slots)
    used = watch.tokens * block_bytes(model.config.backbone, item) // BLOCK
    reserved = watch.blocks * block_bytes(model.config.backbone, item)
    rows = [
        {
            "slots": options.slots,
            "KV used MB": used / watch.steps / 1e6,
            "KV reserved MB": reserved / watch.steps / 1e6,
            "reserved/used": watch.blocks * BLOCK / watch.tokens,
            "peak predicted MB": predicted / 1e6,
            "peak measured MB": measured / 1e6,
            "predicted/measured": predicted / measured,
        }
    ]
    where = (
        "allocator" if model.device.type == "cuda" else "resident set, which counts pages of libraries too"
    )
    show(
        f"memory of {options.weights} beside its weights",
        rows,
        options.json,
        [f"peak measured by the {where}"],
    )
    return 0


class _Watch:
    """Sums of blocks and tokens over all steps."""

    def __init__(self) -> None:
        self.steps = self.blocks = self.tokens = 0

    def __call__(self, runner: Runner) -> None:
        self.steps += 1
        self.blocks += runner.state.blocks.live
        self.tokens += sum(plan.position * plan.lanes for plan in runner.plans)


def _predicted(model: Zonos, script: list[Item], slots: int) -> int:
    """What the planner says of the rows at once: the dearest ones, each at its end."""
    item = model.dtype.itemsize
    config = model.config
    rows = sorted(
        (2 * lane_bytes(config.backbone, i.prefix + i.frames + config.n_codebooks, item) for i in script),
        reverse=True,
    )[:slots]
    return sum(rows) + workspace_bytes(config, slots, item)


def _in_use(model: Zonos) -> int:
    if model.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated()
    return _peak(model)


def _peak(model: Zonos) -> int:
    if model.device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
