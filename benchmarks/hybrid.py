"""The hybrid against a transformer of like size: batch scaling, memory per row, where a step's time goes."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import torch

from benchmarks.random_model import parameter_count, random_config, random_model
from benchmarks.report import arguments, show
from benchmarks.work import Item, plans, synchronise
from zonos.config import ZonosConfig
from zonos.devices import DTYPES, pick_device
from zonos.invariance import lane_quantum
from zonos.mamba2 import Mamba2, state_bytes_per_row
from zonos.model import Zonos
from zonos.packed import pack
from zonos.plan import lane_bytes
from zonos.runner import Runner

KINDS = ("transformer", "hybrid")
LAYERS = {"transformer": 12, "hybrid": 20}  # 117 and 114 million parameters at a width of 768
PUBLISHED = {"transformer": 26, "hybrid": 46}  # 1.62 and 1.65 billion at a width of 2048
PUBLISHED_FRAME_RATE = 44_100 / 512
GUIDED = 2  # lanes a row
WARM_UP = 3  # steps


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("hybrid", __doc__ or "")
    parser.add_argument("--device", default=None)
    parser.add_argument("--dtypes", nargs="+", choices=sorted(DTYPES), default=["float32", "bfloat16"])
    parser.add_argument("--d-model", type=int, default=768)
    parser.add_argument("--layers", type=int, nargs=2, default=[LAYERS[kind] for kind in KINDS])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--prefix", type=int, default=80, help="tokens before the first frame")
    parser.add_argument("--steps", type=int, default=20, help="timed in each round")
    options = parser.parse_args(argv)
    configs = {
        kind: random_config(kind, d_model=options.d_model, n_layer=layers)
        for kind, layers in zip(KINDS, options.layers, strict=True)
    }
    for name in options.dtypes:
        device = pick_device(options.device)
        models = {
            kind: pack(random_model(config, device=device, dtype=DTYPES[name]))
            for kind, config in configs.items()
        }
        scaling(models, options, name)
    memory(options.json)
    return 0


def scaling(models: dict[str, Zonos], options: argparse.Namespace, dtype: str) -> None:
    """Milliseconds a step against rows, both models in turn."""
    times: dict[tuple[str, int], list[float]] = {(kind, n): [] for n in options.rows for kind in KINDS}
    quanta = {kind: lane_quantum(model) for kind, model in models.items()}
    for _ in range(options.rounds):
        for kind, n in times:
            runner = Runner(models[kind], slots=n, lane_quantum=quanta[kind])
            runner.admit(plans(models[kind], [Item(options.prefix, options.steps + WARM_UP)] * n))
            times[kind, n].append(_step_seconds(runner, options.steps))
    rows = max(options.rows)
    shares = {kind: _shares(models[kind], rows, options, quanta[kind]) for kind in KINDS}
    table = [
        {
            "rows": n,
            **{f"{kind} ms/step": 1000 * min(times[kind, n]) for kind in KINDS},
            **{f"{kind} frames/s": n / min(times[kind, n]) for kind in KINDS},
            **{f"{kind} scaling": _scaling(times, kind, n, options.rows[0]) for kind in KINDS},
            "hybrid/transformer": statistics.median(
                b / a for a, b in zip(times["transformer", n], times["hybrid", n], strict=True)
            ),
        }
        for n in options.rows
    ]
    sizes = ", ".join(f"{kind} {parameter_count(models[kind].config) / 1e6:.0f} M" for kind in KINDS)
    notes = [f"{kind}, {rows} rows: {shares[kind]}" for kind in KINDS]
    show(f"hybrid against transformer, {dtype}, guidance 2 ({sizes})", table, options.json, notes)


def _scaling(times: dict[tuple[str, int], list[float]], kind: str, n: int, first: int) -> float:
    """Frames per second against those of the fewest rows."""
    return (n / min(times[kind, n])) / (first / min(times[kind, first]))


def _step_seconds(runner: Runner, steps: int) -> float:
    """Median of single steps: a busy machine disturbs some of them."""
    for _ in range(WARM_UP):
        runner.step()
    found = []
    for _ in range(steps):
        synchronise(runner.model)
        start = time.perf_counter()
        runner.step()
        synchronise(runner.model)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def _shares(model: Zonos, rows: int, options: argparse.Namespace, quantum: int) -> str:
    """What a step's time goes to: attention blocks, Mamba2 blocks, all the rest."""
    runner = Runner(model, slots=rows, lane_quantum=quantum)
    runner.admit(plans(model, [Item(options.prefix, options.steps + WARM_UP)] * rows))
    clock = _LayerClock(model)
    for _ in range(WARM_UP):
        runner.step()
    clock.reset()
    start = time.perf_counter()
    for _ in range(options.steps):
        runner.step()
    synchronise(model)
    total = time.perf_counter() - start
    clock.stop()
    parts = {**clock.seconds, "embedding, heads, sampler": total - sum(clock.seconds.values())}
    return ", ".join(f"{name} {100 * seconds / total:.0f} %" for name, seconds in parts.items() if seconds)


class _LayerClock:
    """Times every layer's decode, by kind, while it is installed."""

    def __init__(self, model: Zonos) -> None:
        self.model = model
        self.seconds: dict[str, float] = {}
        self.reset()
        for layer in model.backbone.layers:
            name = "Mamba2 layers" if isinstance(layer.mixer, Mamba2) else "attention layers"
            layer.decode = self._timed(layer.decode, name)

    def reset(self) -> None:
        """Count from 0."""
        self.seconds = {"attention layers": 0.0, "Mamba2 layers": 0.0}

    def stop(self) -> None:
        """Give the layers back as they were."""
        for layer in self.model.backbone.layers:
            del layer.decode

    def _timed(self, decode, name: str):  # type: ignore[no-untyped-def]
        def timed(*arguments: object) -> torch.Tensor:
            start = time.perf_counter()
            out: torch.Tensor = decode(*arguments)
            synchronise(self.model)
            self.seconds[name] += time.perf_counter() - start
            return out

        return timed


def memory(as_json: bool, seconds: Sequence[int] = (3, 9, 30), prefix: int = 120) -> None:
    """Bytes of a guided row of the published models, in bf16, by length of its speech."""
    configs = {kind: random_config(kind, d_model=2048, n_layer=PUBLISHED[kind]) for kind in KINDS}
    table = []
    for length in seconds:
        tokens = prefix + round(length * PUBLISHED_FRAME_RATE)
        sizes = {kind: GUIDED * lane_bytes(configs[kind].backbone, tokens, 2) for kind in KINDS}
        table.append(
            {
                "seconds of speech": length,
                **{f"{kind} MB/row": size / 1e6 for kind, size in sizes.items()},
                "of which constant": _constant(configs["hybrid"]) / 1e6,
                "hybrid/transformer": sizes["hybrid"] / sizes["transformer"],
            }
        )
    show("memory of a guided row, published sizes, bfloat16 (states fp32)", table, as_json)


def _constant(config: ZonosConfig) -> int:
    return GUIDED * state_bytes_per_row(config.backbone)
