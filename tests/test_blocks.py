"""Block tables keep their invariants whatever lanes do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonos.blocks import BLOCK, NOWHERE, BlockTables, OutOfBlocks

LANES = 5


def check(tables: BlockTables, content: dict[int, list[str]], pool: dict[int, str]) -> None:
    """Every lane reads its own content, in order, and live blocks stand at the front."""
    for lane in range(LANES):
        assert [pool[block] for block in tables.blocks(lane)] == content.get(lane, [])
    owned = sorted(block for lane in range(LANES) for block in tables.blocks(lane))
    assert owned == list(range(1, tables.live))
    for lane in range(LANES):
        for place, block in enumerate(tables.blocks(lane)):
            assert (tables.lane[block], tables.start[block]) == (lane, place * BLOCK)
        assert not tables.table[lane, tables.used[lane] :].any()
    assert (tables.start[tables.live :] == NOWHERE).all()
    assert tables.start[0] == NOWHERE
    order, first = tables.order(LANES, tables.live + 6)
    listed = [block for lane in range(LANES) for block in tables.blocks(lane)]
    assert order.tolist() == listed + [0] * 7
    assert first[:LANES].tolist() == [sum(tables.used[:lane]) for lane in range(LANES)]
    shares = np.diff([*first[LANES:], len(order)])  # nobody has all the zeros
    assert first[LANES] == len(listed)
    assert set(shares) <= {1, 2}


@given(
    st.lists(st.tuples(st.sampled_from(["grow", "release", "move"]), st.integers(0, 4), st.integers(1, 900)))
)
def test_any_history(history: list[tuple[str, int, int]]) -> None:
    tables = BlockTables(LANES, max_blocks=60)
    content: dict[int, list[str]] = {}
    pool: dict[int, str] = {}
    for at, (verb, lane, number) in enumerate(history):
        if verb == "grow":
            before = tables.blocks(lane)
            try:
                tables.reserve(lane, number)
            except OutOfBlocks:
                assert tables.blocks(lane) == before
                continue
            for block in tables.blocks(lane)[len(before) :]:
                pool[block] = f"{at}:{block}"
                content.setdefault(lane, []).append(pool[block])
        elif verb == "release":
            for source, target in tables.release(lane):
                pool[target] = pool[source]
            content.pop(lane, None)
        else:
            target = number % LANES
            if target != lane and not tables.used[target]:
                tables.move(lane, target)
                if lane in content:
                    content[target] = content.pop(lane)
        check(tables, content, pool)


def test_limit_counts_the_block_of_nobody() -> None:
    tables = BlockTables(1, max_blocks=3)
    assert tables.reserve(0, 2 * BLOCK)
    with pytest.raises(OutOfBlocks):
        tables.reserve(0, 2 * BLOCK + 1)


def test_longest_lane() -> None:
    tables = BlockTables(2, None)
    tables.reserve(1, 5 * BLOCK)
    assert (tables.most_used(1), tables.most_used(2)) == (1, 5)
    assert tables.table.dtype == np.int64
