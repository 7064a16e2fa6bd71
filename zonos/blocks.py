"""Bookkeeping of KV blocks on the host: which lane owns which block, in which order.

Live blocks always stand at the front of the pool: a block that is given back is replaced by the
last one. Block 0 belongs to nobody; unused table entries point at it.
"""

from __future__ import annotations

import numpy as np

BLOCK = 32  # tokens a block: half of one is what a lane wastes on the mean
# Table widths are multiples of this: a sum over fewer columns could pair its terms differently.
WIDTH_STEP = 4
NOWHERE = 2**40  # first position of block 0: past every lane's end, so that its keys never count


def first_capacity(lanes: int) -> int:
    """Blocks that a pool for so many lanes begins with, block 0 left out."""
    return 2 * lanes


def grown(capacity: int, needed: int, most: int | None) -> int:
    """Blocks of a pool that had ``capacity`` and must hold ``needed``: a quarter more, at most ``most``.

    Growing copies the pool, so it must be seldom; what is too much is memory that another could use.
    """
    size = capacity * 5 // 4
    return max(needed, size if most is None else min(size, most))


class OutOfBlocks(Exception):
    """The pool has no free block left; a row must wait or make room."""


class BlockTables:
    """Block tables of all lanes.

    Args:
        lanes: most lanes.
        max_blocks: most blocks, block 0 included; None = no limit.

    Attributes:
        table: int64 [lanes, width], block ids in each lane's order, 0 where there is none.
        used: int64 [lanes], blocks of each lane.
        lane, start: int64 [at least ``live``], owner of each block and the position of its first token.
        live: blocks at the front of the pool, block 0 included.
    """

    def __init__(self, lanes: int, max_blocks: int | None) -> None:
        self.max_blocks = max_blocks
        self.table = np.zeros((lanes, WIDTH_STEP), dtype=np.int64)
        self.used = np.zeros(lanes, dtype=np.int64)
        self.lane = np.zeros(16, dtype=np.int64)
        self.start = np.full(16, NOWHERE, dtype=np.int64)
        self.live = 1

    def most_used(self, lanes: int) -> int:
        """Blocks of the longest of the first ``lanes`` lanes."""
        return int(self.used[:lanes].max(initial=1))

    def order(self, lanes: int, room: int) -> tuple[np.ndarray, np.ndarray]:
        """Blocks of the first ``lanes`` lanes, one lane after another, then zeros.

        The zeros are dealt out to ``lanes`` more beginnings: a device sums from one beginning to the next
        in one go, and would wait for the one that had them all.

        Returns:
            order: int64 [room].
            first: int64 [2 * lanes], where each lane's blocks begin, and where each share of zeros does.
        """
        used, table = self.used[:lanes], self.table[:lanes]
        found = table[np.arange(table.shape[1]) < used[:, None]]
        order = np.zeros(room, dtype=np.int64)
        order[: len(found)] = found
        zeros = len(found) + np.arange(lanes) * (room - len(found)) // lanes
        return order, np.concatenate([np.cumsum(used) - used, zeros])

    def missing(self, lane: int, tokens: int) -> int:
        """Blocks that the lane still needs to hold ``tokens`` tokens."""
        return max(0, -(-tokens // BLOCK) - int(self.used[lane]))

    def reserve(self, lane: int, tokens: int) -> bool:
        """Give a lane blocks for ``tokens`` tokens in all; True when it got new ones.

        Raises:
            OutOfBlocks: the pool is full; the lane keeps what it had.
        """
        missing = self.missing(lane, tokens)
        if not missing:
            return False
        if self.max_blocks is not None and self.live + missing > self.max_blocks:
            raise OutOfBlocks
        first = int(self.used[lane])
        self.fit(first + missing, self.live + missing)
        blocks = np.arange(self.live, self.live + missing)
        self.table[lane, first : first + missing] = blocks
        self.lane[blocks] = lane
        self.start[blocks] = np.arange(first, first + missing) * BLOCK
        self.used[lane] += missing
        self.live += missing
        return True

    def release(self, lane: int) -> list[tuple[int, int]]:
        """Take a lane's blocks back.

        Returns:
            Copies (from, to) that close the holes, to be made in this order.
        """
        copies = []
        for block in sorted(self.blocks(lane), reverse=True):
            self.live -= 1
            last = self.live
            if block != last:
                copies.append((last, block))
                owner, start = int(self.lane[last]), int(self.start[last])
                self.lane[block], self.start[block] = owner, start
                self.table[owner, start // BLOCK] = block
            self.lane[last], self.start[last] = 0, NOWHERE
        self.table[lane] = 0
        self.used[lane] = 0
        return copies

    def move(self, source: int, target: int) -> None:
        """Renumber a lane; ``target`` must be empty."""
        for array in (self.table, self.used):
            array[target] = array[source]
            array[source] = 0
        self.lane[self.blocks(target)] = target

    def blocks(self, lane: int) -> list[int]:
        """Blocks of a lane, in order."""
        return [int(block) for block in self.table[lane, : int(self.used[lane])]]

    def fit(self, width: int, blocks: int) -> None:
        """Make the arrays large enough for tables of ``width`` columns and ``blocks`` blocks."""
        if width > self.table.shape[1]:
            wider = np.zeros((self.table.shape[0], -(-2 * width // WIDTH_STEP) * WIDTH_STEP), dtype=np.int64)
            wider[:, : self.table.shape[1]] = self.table
            self.table = wider
        if blocks > len(self.lane):
            more = max(blocks, 2 * len(self.lane)) - len(self.lane)
            self.lane = np.concatenate([self.lane, np.zeros(more, dtype=np.int64)])
            self.start = np.concatenate([self.start, np.full(more, NOWHERE, dtype=np.int64)])
