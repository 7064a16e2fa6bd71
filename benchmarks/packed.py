"""One layer of the 1.6 B model, bf16 on the CPU: torch's product against weights laid out once."""

from __future__ import annotations

import time

import torch
from torch import nn

from benchmarks.report import arguments, ratio, show
from zonos.packed import PackedLinear, works

_SHAPE = (2048, 16_384)  # fc1 of the published transformer


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("packed", __doc__ or "")
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 8, 16, 32, 64, 256])
    options = parser.parse_args(argv)
    if not works():
        print("This build of torch has no packed bf16 product.")
        return 0
    plain = nn.Linear(*_SHAPE, bias=False).bfloat16()
    ways = {"plain": plain, "packed": PackedLinear(plain)}
    rows = []
    for count in options.rows:
        x = torch.randn(count, _SHAPE[0]).bfloat16()
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(4 * options.rounds + 1):
            for name, layer in ways.items():
                times[name].append(_seconds(layer, x))
        best = {name: min(found[1:]) for name, found in times.items()}
        flops = 2 * count * _SHAPE[0] * _SHAPE[1]
        rows.append(
            {
                "rows": count,
                "plain ms": 1000 * best["plain"],
                "packed ms": 1000 * best["packed"],
                "packed is faster by": ratio(times["plain"][1:], times["packed"][1:]),
                "packed GFLOP/s": flops / best["packed"] / 1e9,
            }
        )
    show("linear 2048 to 16384, bf16", rows, options.json)
    return 0


@torch.inference_mode()
def _seconds(layer: nn.Module, x: torch.Tensor) -> float:
    start = time.perf_counter()
    layer(x)
    return time.perf_counter() - start
