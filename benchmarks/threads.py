"""The whole engine on the CPU (loop, codec, files) with one thread each, with all cores, and in bf16."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.report import arguments, ratio, show

ROOT = Path(__file__).parents[1]
_TEXTS = (
    "The harbour lay quiet under a thin blue mist.",
    "Please leave your muddy boots outside the door.",
    "Half of the audience was asleep before the end.",
    "If you hurry, we can still catch the last train.",
)


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("threads", __doc__ or "")
    parser.add_argument("--lines", type=int, default=32)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 8])
    parser.add_argument(
        "--worker", action="store_true", help="one setting, in this process: the others call it"
    )
    parser.add_argument("--dtype", default=None, help="of the worker")
    options = parser.parse_args(argv)
    if options.worker:
        print(
            json.dumps(
                {
                    str(slots): speech_per_second(slots, options.lines, options.dtype)
                    for slots in options.slots
                }
            )
        )
        return 0
    cores = str(os.cpu_count() or 1)
    ways = {
        "one thread each": ("1", "float32"),
        f"{cores} threads": (cores, "float32"),
        "one thread each, bf16": ("1", "bfloat16"),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (threads, dtype) in ways.items():
            command = [sys.executable, "-m", "benchmarks", "threads", "--worker", "--dtype", dtype]
            command += ["--lines", str(options.lines), "--slots", *map(str, options.slots)]
            ran = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": threads},
                check=True,
                capture_output=True,
            )
            found[name].append(json.loads(ran.stdout.splitlines()[-1]))
    first = found["one thread each"]
    rows = [
        {
            "slots": slots,
            "way": name,
            "speech s per s": statistics.median(r[str(slots)] for r in rounds),
            "one thread each is faster by": ratio(
                [r[str(slots)] for r in first], [r[str(slots)] for r in rounds]
            ),
        }
        for slots in options.slots
        for name, rounds in found.items()
    ]
    show("threads, embedded voice", rows, options.json)
    return 0


def speech_per_second(slots: int, lines: int, dtype: str | None) -> float:
    """Seconds of finished speech per second of work; ``slots`` 1 is a quarter of the lines, one after another."""
    import zonos
    from zonos.events import Done
    from zonos.line import Line

    if slots == 1:
        lines = max(1, lines // 4)
    with zonos.load("mini", device="cpu", dtype=dtype, slots=slots) as engine:
        for _ in engine.submit([Line(text=_TEXTS[0], seed=1)]):
            pass
        script = [Line(text=_TEXTS[i % len(_TEXTS)], seed=i + 1) for i in range(lines)]
        start = time.perf_counter()
        seconds = sum(e.speech.seconds for e in engine.submit(script) if isinstance(e, Done))
        return seconds / (time.perf_counter() - start)
