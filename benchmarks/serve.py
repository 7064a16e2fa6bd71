"""``python -m benchmarks serve``: the HTTP API under load.

A server of its own process, clients in this one. Every client sends its next request when the last
one ended. "First chunk" is from the sending of a request to the first byte of its audio; "times real
time" is the audio of all clients over the time from the first request to the last byte.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import arguments, show
from benchmarks.server_process import server_process
from benchmarks.work import sample_voices

BYTES_PER_SECOND = 2 * 24_000  # of response_format pcm
WARM_UP = 3
SENTENCES = (
    "The kettle is on and the bread is warm.",
    "We left the old harbour at first light.",
    "Nobody told the captain that the storm was coming.",
    "There is a letter for you on the table.",
    "The train to the coast leaves at half past nine.",
    "She looked at the map and then at the sky.",
    "All of the windows on this side face the river.",
    "He said that the road was closed until spring.",
)
NAMES = ("Heart", "Marcus", "June", "Vera")


@dataclass
class Level:
    """What one number of clients gave."""

    clients: int
    first_chunks: list[float] = field(default_factory=list)  # seconds
    audio: float = 0.0  # seconds
    wall: float = 0.0  # seconds
    failed: int = 0

    @property
    def times_real_time(self) -> float:
        """Audio of all clients over the time it took."""
        return self.audio / self.wall

    @property
    def median(self) -> float:
        """Of the first chunk, seconds."""
        return statistics.median(self.first_chunks)

    @property
    def p95(self) -> float:
        """Of the first chunk, seconds."""
        ranked = sorted(self.first_chunks)
        return ranked[min(len(ranked) - 1, round(0.95 * (len(ranked) - 1)))]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``serve``."""
    parser.add_argument("--model", default="mini")
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--device")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=[1, 4, 8, 16, 32], help="numbers of clients to try"
    )
    parser.add_argument("--requests", type=int, default=8, help="of a level, at least two of each client")
    parser.add_argument("--url", help="of a server that runs already")
    parser.add_argument("--soak", type=int, default=0, help="instead: so many short requests, and memory")


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("serve", __doc__ or "")
    add_arguments(parser)
    options = parser.parse_args(argv)
    with _server(options) as (url, process):
        if options.soak:
            rows, notes = asyncio.run(soak(url, process, options.soak))
        else:
            rows = asyncio.run(_levels(url, options))
            notes = []
    if not options.soak and not options.url:
        notes.append(f"streamed against one-shot decode: at most {exactness(options.model):.1e} apart")
    show(f"HTTP API, {options.model}, {options.slots} slots", rows, options.json, notes)
    return 0


def exactness(model: str) -> float:
    """Largest difference between the samples of a stream and the decode of its codes at once."""
    import numpy as np
    import torch

    import zonos
    from zonos.audio import fade
    from zonos.events import AudioChunk, Done

    worst = 0.0
    with zonos.load(model, voices=zonos.VoiceFolder([sample_voices()]), inline=True) as engine:
        codec = engine.pipeline.codec
        for seed, text in enumerate(SENTENCES[:3]):
            events = list(engine.submit([zonos.Line(text=text, voice="Heart", seed=seed)], stream=True))
            done = events[-1]
            if not isinstance(done, Done):
                raise SystemExit(f"{text!r} was not spoken: {done}")
            heard = np.concatenate([event.samples for event in events if isinstance(event, AudioChunk)])
            codes = torch.from_numpy(done.speech.codes[0].astype(np.int64))
            piece_seed = done.speech.recipe["pieces"][0]["seed"]
            whole = np.clip(fade(codec.decode(codes, piece_seed).numpy(), codec.sample_rate), -1, 1)
            worst = max(worst, float(np.abs(whole - heard).max()))
    return worst


async def soak(
    url: str, process: subprocess.Popen[str] | None, count: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Many short requests of sixteen clients, some of which hang up or ask for what is not there.

    Returns:
        The server's resident memory after every tenth of them, and what became of them.
    """
    left = iter(range(count))
    outcomes: Counter[str] = Counter()
    step = max(1, count // 10)
    rows = [{"requests": 0, "resident MB": _resident(process)}]

    async def client(session: httpx.AsyncClient) -> None:
        for number in left:
            outcomes[await _short(session, number)] += 1
            done = sum(outcomes.values())
            if done % step == 0:
                rows.append({"requests": done, "resident MB": _resident(process)})

    async with _session(url) as session:
        began = time.monotonic()
        await asyncio.gather(*(client(session) for _ in range(16)))
    took = time.monotonic() - began
    return rows, [f"in {took:.0f} s; statuses: {dict(sorted(outcomes.items()))}"]


async def _short(session: httpx.AsyncClient, number: int) -> str:
    """One request of the soak: mostly audio of a few frames; some fail, some are left early."""
    body = {"input": f"Number {number}.", "voice": NAMES[number % 4], "max_seconds": 0.1}
    if number % 10 == 7:
        body["voice"] = f"nobody {number}"
    if number % 10 == 3:
        body |= {"input": f"{SENTENCES[number % 8]} {number}.", "max_seconds": 8.0}
        async with session.stream("POST", "/v1/audio/speech", json=body):
            return "left early"
    body["response_format"] = ("mp3", "opus", "flac", "wav", "aac", "pcm")[number % 6]
    answer = await session.post("/v1/audio/speech", json=body)
    return str(answer.status_code)


async def _levels(url: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    levels = [Level(clients) for clients in options.clients]
    async with _session(url) as session:
        for number in range(WARM_UP):
            await _ask(session, number, Level(1))
        for _ in range(options.rounds):
            for level in levels:
                await _run(session, level, max(options.requests, 2 * level.clients))
    return [_row(level, levels[0]) for level in levels]


async def _run(session: httpx.AsyncClient, level: Level, requests: int) -> None:
    left = iter(range(requests))

    async def client() -> None:
        for number in left:
            await _ask(session, number, level)

    began = time.monotonic()
    await asyncio.gather(*(client() for _ in range(level.clients)))
    level.wall += time.monotonic() - began


async def _ask(session: httpx.AsyncClient, number: int, level: Level) -> None:
    body = {
        "input": SENTENCES[number % len(SENTENCES)],
        "voice": NAMES[number % len(NAMES)],
        "seed": number,
        "response_format": "pcm",
    }
    began = time.monotonic()
    size = 0
    async with session.stream("POST", "/v1/audio/speech", json=body) as answer:
        async for piece in answer.aiter_raw():
            if not size:
                level.first_chunks.append(time.monotonic() - began)
            size += len(piece)
    if answer.status_code == 200:
        level.audio += size / BYTES_PER_SECOND
    else:
        level.failed += 1


def _row(level: Level, base: Level) -> dict[str, Any]:
    return {
        "clients": level.clients,
        "first chunk s": level.median,
        "p95 s": level.p95,
        "first chunk, ratio": level.median / base.median,
        "times real time": level.times_real_time,
        "speed, ratio": level.times_real_time / base.times_real_time,
        "failed": level.failed,
    }


def _session(url: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    return httpx.AsyncClient(base_url=url, timeout=600, limits=limits)


@contextmanager
def _server(args: argparse.Namespace) -> Iterator[tuple[str, subprocess.Popen[str] | None]]:
    """The address of a server, and its process where it is ours."""
    if args.url:
        yield args.url, None
        return
    with tempfile.TemporaryDirectory() as data:
        options = ["--model", args.model, "--slots", str(args.slots), "--data", data]
        options += ["--voices", str(sample_voices()), "--max-client-requests", "64"]
        options += ["--device", args.device] if args.device else []
        with server_process(*options) as started:
            yield started


def _resident(process: subprocess.Popen[str] | None) -> int | None:
    """Memory of the server in MB, where the system tells."""
    status = Path(f"/proc/{process.pid}/status") if process else Path()
    if not status.is_file():
        return None
    line = next(row for row in status.read_text().splitlines() if row.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024)
