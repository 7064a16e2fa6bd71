"""One linear layer on the CPU: torch's product against weights laid out once."""

from __future__ import annotations

import time

import torch
from torch import nn

from benchmarks.report import arguments, ratio, show
from zonos.packed import PackedLinear, works

_LAYERS = {
    "fc1 of the 1.6 B model": (2048, 16_384),
    "fc1 of the embedded model": (256, 1536),
    "heads of the embedded model": (256, 9234),
}


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("packed", __doc__ or "")
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 8, 16, 32, 64, 256])
    parser.add_argument(
        "--dtype", nargs="+", choices=["float32", "bfloat16"], default=["float32", "bfloat16"]
    )
    options = parser.parse_args(argv)
    for name in options.dtype:
        dtype: torch.dtype = getattr(torch, name)
        if not works(dtype):
            print(f"This build of torch has no packed {name} product.")
            continue
        for layer, shape in _LAYERS.items():
            compare(f"{layer}, {name}", shape, dtype, options.rows, options.rounds, options.json)
    return 0


def compare(
    title: str, shape: tuple[int, int], dtype: torch.dtype, counts: list[int], rounds: int, as_json: bool
) -> None:
    """One table: both products of one layer [inputs, outputs], by rows, in alternation."""
    plain = nn.Linear(*shape, bias=False).to(dtype)
    ways = {"plain": plain, "packed": PackedLinear(plain.weight)}
    rows = []
    for count in counts:
        x = torch.randn(count, shape[0]).to(dtype)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(4 * rounds + 1):
            for name, layer in ways.items():
                times[name].append(_seconds(layer, x))
        best = {name: min(found[1:]) for name, found in times.items()}
        flops = 2 * count * shape[0] * shape[1]
        rows.append(
            {
                "rows": count,
                "plain ms": 1000 * best["plain"],
                "packed ms": 1000 * best["packed"],
                "packed is faster by": ratio(times["plain"][1:], times["packed"][1:]),
                "packed GFLOP/s": flops / best["packed"] / 1e9,
            }
        )
    show(title, rows, as_json)


@torch.inference_mode()
def _seconds(layer: nn.Module, x: torch.Tensor) -> float:
    start = time.perf_counter()
    layer(x)
    return time.perf_counter() - start
