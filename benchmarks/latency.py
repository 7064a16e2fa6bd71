"""Time to the first sound and to the end of one line, alone and beside others."""

from __future__ import annotations

import statistics
import time

from benchmarks.report import arguments, show
from benchmarks.work import sample_voices
from zonos import Line, VoiceFolder, load
from zonos.engine import Engine
from zonos.events import AudioChunk, Done

TEXT = "We left the old harbour at first light, and nobody saw us go."


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("latency", __doc__ or "")
    parser.add_argument("--model", default="mini")
    parser.add_argument(
        "--beside", type=int, nargs="+", default=[0, 1, 3, 7], help="other lines in the batch"
    )
    options = parser.parse_args(argv)
    with load(options.model, voices=VoiceFolder([sample_voices()])) as engine:
        _listen(engine, 0, 0)
        found: dict[int, list[tuple[float, float, float]]] = {n: [] for n in options.beside}
        for seed in range(options.rounds):
            for n in options.beside:
                found[n].append(_listen(engine, n, seed))
    rows = []
    for n, timings in found.items():
        first, end, seconds = (statistics.median(column) for column in zip(*timings, strict=True))
        rows.append(
            {
                "others": n,
                "first sound s": first,
                "end s": end,
                "speech s": seconds,
                "times real time": seconds / end,
            }
        )
    show(f"latency of one streamed line, {options.model}", rows, options.json)
    return 0


def _listen(engine: Engine, others: int, seed: int) -> tuple[float, float, float]:
    """Seconds to the first chunk and to the end, and seconds of speech."""
    background = engine.submit(
        [Line(text=TEXT + " " + TEXT, voice="Vera", seed=i) for i in range(others)], owner="others"
    )
    start = time.perf_counter()
    first = end = speech = 0.0
    for event in engine.submit([Line(text=TEXT, voice="Heart", seed=seed)], stream=True, owner="listener"):
        if isinstance(event, AudioChunk) and not first:
            first = time.perf_counter() - start
        if isinstance(event, Done):
            end, speech = time.perf_counter() - start, event.speech.seconds
    background.cancel()
    for _ in background:
        pass
    return first, end, speech
