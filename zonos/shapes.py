"""How many rows, lanes, blocks and table columns a decode step is given room for.

Exact sizes are cheapest to compute; sizes rounded to few buckets let a captured or compiled step be
used again and again while membership changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from zonos.blocks import WIDTH_STEP
from zonos.sampler_settings import SamplerUse

ROW_BUCKETS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
PACKED_TOKENS = 4096  # most tokens of one prefill: bounds its workspace
WINDOW_BUCKETS = (0, 2, 8, 64)


@dataclass(frozen=True)
class Shape:
    """Sizes of a decode step: the live ones, or room for more."""

    rows: int
    lanes: int
    blocks: int
    width: int  # table columns
    use: SamplerUse


def round_up(number: int, step: int) -> int:
    """To a multiple of ``step``."""
    return -(-number // step) * step


def bucket(number: int, buckets: tuple[int, ...] = ROW_BUCKETS) -> int:
    """The smallest bucket that holds ``number``; past the largest, the number itself."""
    return next((b for b in buckets if b >= number), number)


def geometric(number: int, least: int) -> int:
    """Round up in steps of a quarter of the power of two below: at most a quarter is wasted."""
    if number <= least:
        return least
    return round_up(number, max(least, 2 ** ((number - 1).bit_length() - 3)))


@dataclass(frozen=True)
class Exact:
    """Live sizes; lanes to the quantum at which matrix products give a row the same bits."""

    lane_quantum: int = 1

    def __call__(self, live: Shape) -> Shape:
        """Room for the live shape."""
        return replace(
            live, lanes=round_up(live.lanes, self.lane_quantum), width=round_up(live.width, WIDTH_STEP)
        )


@dataclass(frozen=True)
class Bucketed:
    """Few shapes, for a step that is captured or compiled once for each.

    Args:
        whole: always room for all slots, so that most products have one shape whatever the batch (the
            reproducible mode); KV blocks stay as many as there are.
        slots: of the runner.
    """

    slots: int
    whole: bool = False

    def __call__(self, live: Shape) -> Shape:
        """Room for the live shape."""
        rows = self.slots if self.whole else min(bucket(live.rows), self.slots)
        lanes = 2 * self.slots if self.whole else min(bucket(live.lanes), 2 * self.slots)
        return Shape(
            rows=max(rows, live.rows),
            lanes=max(lanes, live.lanes),
            blocks=geometric(live.blocks, 16),
            width=geometric(live.width, 2 * WIDTH_STEP),
            use=widened(live.use),
        )


def widened(use: SamplerUse) -> SamplerUse:
    """The next of few samplers that does all that ``use`` does; rows keep their bits."""
    return SamplerUse(
        unified=True,
        min_p=True,
        greedy=True,
        drawn=True,
        top_p=use.top_p or use.top_k,
        top_k=use.top_p or use.top_k,
        window=bucket(use.window, WINDOW_BUCKETS),
    )
