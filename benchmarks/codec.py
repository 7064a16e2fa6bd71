"""Chunked against whole decode: largest difference and cost, both codecs."""

from __future__ import annotations

import time

import torch

from benchmarks.report import arguments, ratio, show
from zonos.codec import Codec


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("codec", __doc__ or "")
    parser.add_argument("--frames", type=int, nargs="+", default=[50, 150, 300])
    parser.add_argument("--dac", action="store_true", help="DAC of the published size, random weights, too")
    options = parser.parse_args(argv)
    codecs = {"embedded": _embedded()}
    if options.dac:
        codecs["DAC 44.1 kHz, random weights"] = _random_dac()
    rows = [
        {"codec": name, **_measure(codec, frames, options.rounds)}
        for name, codec in codecs.items()
        for frames in options.frames
    ]
    show("streamed (pushed 4 frames at a time) against whole decode", rows, options.json)
    return 0


def _embedded() -> Codec:
    from zonos.pipeline import load_pipeline

    return load_pipeline("mini").codec


def _random_dac() -> Codec:
    """The published DAC's shape, filled by its own initialisation."""
    import dac

    from zonos.codec.dac import DacCodec

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return DacCodec(dac.DAC(sample_rate=44_100, n_codebooks=9).eval(), 44_100)


def _measure(codec: Codec, frames: int, rounds: int) -> dict[str, float]:
    generator = torch.Generator().manual_seed(frames)
    codes = torch.randint(codec.codebook_size, (codec.n_codebooks, frames), generator=generator)
    whole_times, stream_times, difference = [], [], 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        whole = codec.decode(codes, seed=3)
        whole_times.append(time.perf_counter() - start)
        start = time.perf_counter()
        streamed = _stream(codec, codes)
        stream_times.append(time.perf_counter() - start)
        difference = max(difference, float((whole - streamed).abs().max()))
    seconds = frames / codec.frame_rate
    return {
        "frames": frames,
        "seconds": seconds,
        "largest difference": difference,
        "whole: times real time": seconds / min(whole_times),
        "stream costs": ratio(stream_times, whole_times),
    }


def _stream(codec: Codec, codes: torch.Tensor) -> torch.Tensor:
    stream = codec.stream(seed=3)
    parts = [stream.push(codes[:, at : at + 4]) for at in range(0, codes.shape[1], 4)]
    parts.append(stream.push(codes[:, :0], final=True))
    return torch.cat(parts)
