"""This device's roofline, and each figure of the decode step as a share of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from benchmarks.report import arguments, show
from benchmarks.work import Item, add_model_arguments, load_model, new_runner, plans, synchronise
from zonos.model import Zonos
from zonos.plan import token_bytes


def main(argv: list[str]) -> int:
    """See ``--help``. Runs on a CPU too, with the CPU's own roofline."""
    parser = arguments("gpu", __doc__ or "")
    add_model_arguments(parser, default="random-1.6b")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--context", type=int, default=600, help="tokens in each lane")
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args(argv)
    model = load_model(options)
    bandwidth, rate = copy_bandwidth(model), matrix_rate(model)
    notes = [f"copy {bandwidth / 1e9:.0f} GB/s, matrix {rate / 1e12:.2f} TFLOP/s in {str(model.dtype)[6:]}"]
    if model.device.type == "cuda":
        notes.append("steps run eagerly, kernel by kernel")
    rows = []
    for n in options.rows:
        measured = step_seconds(model, n, options.context, options.steps)
        limit = roofline_seconds(model, n, options.context, bandwidth, rate)
        rows.append(
            {
                "rows": n,
                "ms/step": 1000 * measured,
                "frames/s": n / measured,
                "limit frames/s": n / limit,
                "share of the limit": limit / measured,
            }
        )
    show(f"decode step of {options.weights} on {model.device.type}, guidance 2", rows, options.json, notes)
    return 0


def _rate(work: Callable[[], object], amount: float, model: Zonos) -> float:
    """Amount per second, best of several."""
    best = float("inf")
    for _ in range(8):
        synchronise(model)
        start = time.perf_counter()
        work()
        synchronise(model)
        best = min(best, time.perf_counter() - start)
    return amount / best


def copy_bandwidth(model: Zonos) -> float:
    """Bytes read and written per second by a large copy."""
    size = 2**28 if model.device.type == "cuda" else 2**26
    source = torch.ones(size, dtype=torch.float32, device=model.device)
    target = torch.empty_like(source)
    return _rate(lambda: target.copy_(source), 2 * 4 * size, model)


def matrix_rate(model: Zonos) -> float:
    """Floating-point operations per second of a large matrix product in the model's number type."""
    n = 8192 if model.device.type == "cuda" else 2048
    a = torch.randn(n, n, device=model.device).to(model.dtype)
    b = torch.randn(n, n, device=model.device).to(model.dtype)
    return _rate(lambda: a @ b, 2 * n**3, model)


def roofline_seconds(model: Zonos, rows: int, context: int, bandwidth: float, rate: float) -> float:
    """Least time of a step: the larger of reading weights and KV, and of multiplying."""
    backbone = model.config.backbone
    parameters = sum(p.numel() for p in [*model.backbone.parameters(), *model.heads.parameters()])
    lanes = 2 * rows
    item = model.dtype.itemsize
    read = parameters * item + lanes * context * token_bytes(backbone, item)
    attention = 4 * backbone.n_layer * context * backbone.d_model
    return max(read / bandwidth, lanes * (2 * parameters + attention) / rate)


def step_seconds(model: Zonos, rows: int, context: int, steps: int) -> float:
    """Median time of a step with ``context`` tokens in every lane."""
    runner = new_runner(model, rows)
    runner.admit(plans(model, [Item(context, 10_000) for _ in range(rows)]))
    times = []
    for _ in range(steps + 3):
        start = time.perf_counter()
        runner.step()
        synchronise(model)
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:])
