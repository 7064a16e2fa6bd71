"""KV reserved against used on the mixed script; predicted against measured peak."""

from __future__ import annotations

import resource
from pathlib import Path

import torch

from benchmarks.report import arguments, show
from benchmarks.work import (
    add_model_arguments,
    decode_refilled,
    load_model,
    new_runner,
    plans,
    short_and_long,
)
from zonos.blocks import BLOCK
from zonos.model import Zonos
from zonos.plan import (
    RowCost,
    foresee,
    pool_bytes,
    prefill_tokens,
    token_bytes,
    weight_bytes,
    workspace_bytes,
)
from zonos.runner import Runner

_STATM = Path("/proc/self/statm")


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("memory", __doc__ or "")
    add_model_arguments(parser)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--unit", type=int, default=40, help="frames of the shortest line")
    options = parser.parse_args(argv)
    model = load_model(options)
    script = short_and_long(unit=options.unit)
    decode_refilled(new_runner(model, 2), plans(model, script[:2]))  # libraries take what they keep
    waiting = plans(model, script)
    before = _in_use(model)
    runner = new_runner(model, options.slots)
    watch = _Watch(model)
    decode_refilled(runner, waiting, watch)
    measured = watch.most - before
    pool = sum(tensor.nbytes for tensor in runner.state.pools())
    config, item = model.config, model.dtype.itemsize
    costs = [RowCost(i.prefix, i.frames + config.n_codebooks, 2) for i in script]
    ahead = foresee(costs, options.slots)
    tokens = prefill_tokens(costs, options.slots, model.device.type)
    predicted_pool = pool_bytes(config.backbone, options.slots, ahead.blocks, item)
    predicted = predicted_pool + workspace_bytes(config, options.slots, ahead.blocks, tokens, item)
    weights = weight_bytes(config, model.dtype, model.device.type)
    rows = [
        {
            "slots": options.slots,
            "KV used MB": watch.tokens / watch.steps * token_bytes(config.backbone, item) / 1e6,
            "KV reserved/used": watch.blocks * BLOCK / watch.tokens,
            "pool MB": pool / 1e6,
            "pool predicted/real": predicted_pool / pool,
            "beside weights MB": measured / 1e6,
            "predicted/measured": predicted / measured,
            "with weights": (weights + predicted) / (weights + measured),
        }
    ]
    where = (
        "allocator" if model.device.type == "cuda" else "resident set, which counts pages of libraries too"
    )
    show(f"memory of {options.weights}", rows, options.json, [f"peak measured by the {where}"])
    return 0


class _Watch:
    """Sums of blocks and tokens over all steps, and the most memory seen."""

    def __init__(self, model: Zonos) -> None:
        self._model = model
        self.steps = self.blocks = self.tokens = self.most = 0

    def __call__(self, runner: Runner) -> None:
        self.steps += 1
        self.most = max(self.most, _in_use(self._model))
        self.blocks += runner.state.blocks.live
        self.tokens += sum(plan.position * plan.lanes for plan in runner.plans)


def _in_use(model: Zonos) -> int:
    """Bytes: of tensors on CUDA, the most since the last look; else of the process, resident now."""
    if model.device.type == "cuda":
        most = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        return most
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
