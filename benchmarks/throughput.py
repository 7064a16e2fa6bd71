"""The same lines at 1, 2, 4, ... slots; refill against static batches; mixed against grouped."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import fmean

from benchmarks.bare import BareLoop
from benchmarks.report import arguments, ratio, show
from benchmarks.work import (
    Item,
    Timing,
    add_model_arguments,
    decode_refilled,
    decode_static,
    load_model,
    mixed_items,
    new_runner,
    plans,
    short_and_long,
)
from zonos.model import Zonos


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("throughput", __doc__ or "")
    add_model_arguments(parser)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--lines", type=int, default=16)
    parser.add_argument("--frames", type=int, nargs=2, default=[30, 90], help="shortest and longest line")
    parser.add_argument("--skip-comparisons", action="store_true", help="only the slots table")
    options = parser.parse_args(argv)
    model = load_model(options)
    items = mixed_items(options.lines, tuple(options.frames))
    scaling(model, items, options.slots, options.rounds, options.json, options.weights)
    if not model.config.backbone.is_hybrid:
        against_bare_loop(model, options.rounds, options.json)
    if not options.skip_comparisons:
        comparisons(model, max(options.slots), options.rounds, options.json, options.frames[0])
    return 0


def scaling(
    model: Zonos, items: list[Item], slots: list[int], rounds: int, as_json: bool, weights: str
) -> None:
    """Frames per second against slots."""
    measured: dict[int, list[Timing]] = {n: [] for n in slots}
    for n in slots:
        decode_refilled(new_runner(model, n), plans(model, items[:n]))  # warm-up
    for _ in range(rounds):
        for n in slots:
            measured[n].append(decode_refilled(new_runner(model, n), plans(model, items)))
    one = [timing.frames_per_second for timing in measured[slots[0]]]
    rows = []
    for n in slots:
        speeds = [timing.frames_per_second for timing in measured[n]]
        rows.append(
            {
                "slots": n,
                "frames/s": sorted(speeds)[len(speeds) // 2],
                f"against {slots[0]}": ratio(speeds, one),
                "ms/step": 1000 * min(timing.seconds / timing.steps for timing in measured[n]),
                "occupancy": measured[n][0].occupancy,
            }
        )
    title = f"throughput of {weights}, {str(model.dtype)[6:]}, guidance 2, {len(items)} mixed lines"
    show(title, rows, as_json)


def against_bare_loop(model: Zonos, rounds: int, as_json: bool, tokens: int = 60, frames: int = 24) -> None:
    """One line alone against the plainest loop of the same layers."""
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(rounds + 1):
        ours.append(_steps_alone(model, tokens, frames))
        bare.append(BareLoop(model, tokens, frames).step_seconds())
    rows = [
        {"way": "engine's step, one line", "ms/step": 1000 * min(ours[1:])},
        {"way": "bare loop of the same layers, greedy", "ms/step": 1000 * min(bare[1:])},
    ]
    note = f"engine / bare: {ratio(ours[1:], bare[1:]):.3f} (sampling and reading flags included)"
    show("one line alone", rows, as_json, [note])


def _steps_alone(model: Zonos, tokens: int, frames: int) -> float:
    """Seconds a step of one row, its prefix being in the cache already."""
    runner = new_runner(model, 1)
    runner.admit(plans(model, [Item(tokens, frames + 1)]))
    start = time.perf_counter()
    for _ in range(frames):
        runner.step()
        runner.read()
    return (time.perf_counter() - start) / frames


def comparisons(model: Zonos, slots: int, rounds: int, as_json: bool, unit: int) -> None:
    """What refill and mixing are worth."""

    def refilled(script: list[Item]) -> Timing:
        return decode_refilled(new_runner(model, slots), plans(model, script))

    def static(script: list[Item]) -> Timing:
        return decode_static(new_runner(model, slots), plans(model, script))

    def grouped(script: list[Item]) -> Timing:
        total = Timing(slots=slots)
        for speaker in sorted({item.speaker for item in script}):
            part = refilled([item for item in script if item.speaker == speaker])
            for name in ("seconds", "frames", "steps", "row_steps"):
                setattr(total, name, getattr(total, name) + getattr(part, name))
        return total

    ways: dict[str, Callable[[list[Item]], Timing]] = {
        "refilled, all speakers mixed": refilled,
        "static batches": static,
        "grouped by 8 speakers": grouped,
    }
    measured: dict[str, list[Timing]] = {name: [] for name in ways}
    for order in range(rounds):
        script = short_and_long(unit=unit, order=order)
        for name, way in ways.items():
            measured[name].append(way(script))
    best = [timing.seconds for timing in measured["refilled, all speakers mixed"]]
    rows = [
        {
            "way": name,
            "seconds": sorted(t.seconds for t in timings)[len(timings) // 2],
            "refilled is faster by": ratio([t.seconds for t in timings], best),
            "steps": fmean(t.steps for t in timings),
            "occupancy": fmean(t.occupancy for t in timings),
        }
        for name, timings in measured.items()
    ]
    show(f"60 short and 4 long lines at {slots} slots, {rounds} orders of the script", rows, as_json)
