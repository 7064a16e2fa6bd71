"""Paged attention against fp64, alone and among others; the ways that the benchmark compares it with agree."""

from __future__ import annotations

import pytest
import torch

from benchmarks.attention import Tokens, buckets, padded, paged
from zonos.blocks import BLOCK
from zonos.cache import BlockIndex, sum_by_lane, sum_by_table

CPU = torch.device("cpu")
LENGTHS = [1, BLOCK - 1, BLOCK, BLOCK + 1, 700, 40, 3, 90]


@pytest.fixture
def tokens() -> Tokens:
    torch.manual_seed(1)
    return Tokens.random(LENGTHS, CPU, torch.float32)


def test_every_way_attends_to_what_a_lane_has(tokens: Tokens) -> None:
    exact = tokens.exact()
    for step in (
        paged(tokens),
        padded(tokens, [list(range(len(LENGTHS)))]),
        padded(tokens, buckets(LENGTHS)),
        padded(tokens, [[lane] for lane in range(len(LENGTHS))]),
    ):
        torch.testing.assert_close(step().double(), exact, atol=2e-6, rtol=0)
        torch.testing.assert_close(step().double(), exact, atol=2e-6, rtol=0)  # appending again is the same


def test_a_lane_has_the_same_bits_alone_and_among_others(tokens: Tokens) -> None:
    together = paged(tokens)()
    for lane in range(len(LENGTHS)):
        alone = Tokens(tokens.q[lane, None], tokens.k[lane : lane + 1], tokens.v[lane : lane + 1])
        torch.testing.assert_close(paged(alone)()[0], together[lane], atol=0, rtol=0)


@pytest.mark.parametrize("extra", [0, 5])
def test_sums_read_the_lanes_own_blocks_in_their_order(extra: int) -> None:
    """Lane 1 has none, as padding has; rooms may be larger than what is in them."""
    table = torch.tensor([[3, 1, 0, 0], [0, 0, 0, 0], [2, 5, 4, 0]])
    order = torch.tensor([3, 1, 2, 5, 4] + [0] * extra)
    first = torch.tensor([0, 2, 2, 5, 5, len(order)])
    index = BlockIndex(table, order, first, torch.zeros(6), torch.zeros(6))
    parts = torch.randn(6, 2, 3)
    parts[0] = 0.0
    found = sum_by_lane(parts, index)
    assert torch.equal(found[0], parts[3] + parts[1])
    assert torch.equal(found[1], torch.zeros(2, 3))
    assert torch.equal(found[2], parts[2] + parts[5] + parts[4])
    assert torch.equal(found, sum_by_lane(parts.flatten(1), index).unflatten(1, (2, 3)))


def test_the_plain_sum_is_the_same(monkeypatch: pytest.MonkeyPatch, tokens: Tokens) -> None:
    """Of devices that lack the operator."""
    found = paged(tokens)()
    monkeypatch.setattr("zonos.cache.sum_by_lane", sum_by_table)
    torch.testing.assert_close(paged(tokens)(), found, atol=1e-6, rtol=0)
