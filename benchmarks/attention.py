"""One attention layer of a decode step over rows of mixed length, in every way that is at hand.

The cache of every way is its own and filled with the same keys and values; appending the new token is
counted, preparing index tensors is not: the engine makes those when the batch changes, not at each step.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from benchmarks.report import arguments, ratio, show
from zonos.blocks import BLOCK, WIDTH_STEP, BlockTables
from zonos.cache import BlockIndex, StepView, paged_attention
from zonos.devices import DTYPES, pick_device
from zonos.shapes import round_up

_HEADS, _KV_HEADS, _DIM = 16, 4, 128  # of the published transformer
_SCALE = _DIM**-0.5
SCRIPTS = {
    "one line": lambda draw: [draw.randint(150, 250)],
    "16 alike": lambda draw: [draw.randint(180, 220) for _ in range(16)],
    "15 short, one long": lambda draw: [*(draw.randint(60, 120) for _ in range(15)), 1500],
    "16 mixed": lambda draw: [draw.choice([80, 160, 320, 640, 1200]) for _ in range(16)],
}
Step = Callable[[], Tensor]


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("attention", __doc__ or "")
    parser.add_argument("--device", default=None)
    parser.add_argument("--dtype", choices=list(DTYPES), default="bfloat16")
    parser.add_argument("--steps", type=int, default=20, help="per round")
    parser.add_argument(
        "--without-flex", action="store_true", help="FlexAttention is compiled, which takes a while"
    )
    options = parser.parse_args(argv)
    device, dtype = pick_device(options.device), DTYPES[options.dtype]
    for name, lengths_of in SCRIPTS.items():
        lengths = [n for n in lengths_of(random.Random(0)) for _ in range(2)]  # guidance: two lanes a row
        torch.manual_seed(0)
        tokens = Tokens.random(lengths, device, dtype)
        ways: dict[str, Step] = {
            "paged, all live blocks": paged(tokens),
            "SDPA, padded to the longest": padded(tokens, [list(range(len(lengths)))]),
            "SDPA, buckets of like length": padded(tokens, buckets(lengths)),
            "SDPA, lane by lane": padded(tokens, [[lane] for lane in range(len(lengths))]),
        }
        if not options.without_flex:
            ways["FlexAttention, compiled"] = flex(tokens)
        show(f"{name}: {sum(lengths)} tokens in {len(lengths)} lanes", *_measure(ways, tokens, options))
    return 0


@dataclass(frozen=True)
class Tokens:
    """What every lane remembers, the new token last: ``k``, ``v`` [n, kv_heads, dim] each; ``q`` [lanes, heads, dim]."""

    q: Tensor
    k: list[Tensor]
    v: list[Tensor]

    @classmethod
    def random(cls, lengths: list[int], device: torch.device, dtype: torch.dtype) -> Tokens:
        """Standard normal numbers."""

        def draw(n: int, heads: int) -> Tensor:
            return torch.randn(n, heads, _DIM, device=device).to(dtype)

        return cls(
            draw(len(lengths), _HEADS),
            [draw(n, _KV_HEADS) for n in lengths],
            [draw(n, _KV_HEADS) for n in lengths],
        )

    @property
    def lengths(self) -> list[int]:
        """Of the lanes, the new token included."""
        return [len(k) for k in self.k]

    def new(self) -> tuple[Tensor, Tensor]:
        """Key and value of the new token, [lanes, kv_heads, dim]."""
        return torch.stack([k[-1] for k in self.k]), torch.stack([v[-1] for v in self.v])

    def exact(self) -> Tensor:
        """What attention should give, in fp64."""
        out = []
        for q, k, v in zip(self.q.double(), self.k, self.v, strict=True):
            grouped = q.unflatten(0, (_KV_HEADS, -1))
            weights = torch.einsum("hgd,nhd->hgn", grouped * _SCALE, k.double()).softmax(-1)
            out.append(torch.einsum("hgn,nhd->hgd", weights, v.double()).flatten(0, 1))
        return torch.stack(out)


def _measure(ways: dict[str, Step], tokens: Tokens, options: Any) -> tuple[list[dict[str, Any]], bool]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    exact = tokens.exact()
    off = {name: float((step().double() - exact).abs().max()) for name, step in ways.items()}
    for _ in range(options.rounds):
        for name, step in ways.items():
            start = time.perf_counter()
            for _ in range(options.steps):
                step()
            if tokens.q.is_cuda:
                torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start) / options.steps)
    ours = times["paged, all live blocks"]
    rows = [
        {
            "way": name,
            "ms": 1000 * min(found),
            "slower than paged by": ratio(found, ours),
            "largest error": off[name],
        }
        for name, found in times.items()
    ]
    return rows, options.json


def paged(tokens: Tokens) -> Step:
    """The engine's own."""
    device, (k, v) = tokens.q.device, tokens.new()
    lanes = len(tokens.lengths)
    blocks = BlockTables(lanes, None)
    for lane, length in enumerate(tokens.lengths):
        blocks.reserve(lane, length)
    keys, values = (
        torch.zeros(blocks.live, _KV_HEADS, BLOCK, _DIM, device=device, dtype=tokens.q.dtype)
        for _ in range(2)
    )
    for block in range(1, blocks.live):
        lane, start = int(blocks.lane[block]), int(blocks.start[block])
        for pool, own in ((keys, tokens.k[lane]), (values, tokens.v[lane])):
            part = own[start : start + BLOCK]
            pool[block, :, : len(part)] = part.transpose(0, 1)
    width = round_up(blocks.most_used(lanes), WIDTH_STEP)
    arrays = (
        blocks.table[:, :width],
        *blocks.order(lanes, blocks.live - 1),
        blocks.lane[: blocks.live],
        blocks.start[: blocks.live],
    )
    index = BlockIndex(*(torch.tensor(array, device=device) for array in arrays))
    view = StepView(index, torch.tensor(tokens.lengths, device=device) - 1, _KV_HEADS)
    return torch.inference_mode()(lambda: paged_attention(tokens.q, k, v, keys, values, view, _SCALE))


def buckets(lengths: list[int]) -> list[list[int]]:
    """Lanes whose lengths round up to the same power of two."""
    found: dict[int, list[int]] = {}
    for lane, length in enumerate(lengths):
        found.setdefault((length - 1).bit_length(), []).append(lane)
    return list(found.values())


@dataclass(frozen=True)
class _Group:
    lanes: Tensor
    ends: Tensor  # where the new token goes
    keys: Tensor  # [lanes, kv_heads, longest, dim]
    values: Tensor
    mask: Tensor | None  # [lanes, 1, 1, longest]


def _group(tokens: Tokens, lanes: list[int], room: int = 1) -> _Group:
    """Lanes padded to the longest of them, to a multiple of ``room``."""
    device, lengths = tokens.q.device, torch.tensor([tokens.lengths[lane] for lane in lanes])
    longest = round_up(int(lengths.max()), room)
    keys, values = (
        torch.zeros(len(lanes), _KV_HEADS, longest, _DIM, device=device, dtype=tokens.q.dtype)
        for _ in range(2)
    )
    for at, lane in enumerate(lanes):
        keys[at, :, : tokens.lengths[lane]] = tokens.k[lane].transpose(0, 1)
        values[at, :, : tokens.lengths[lane]] = tokens.v[lane].transpose(0, 1)
    mask = (torch.arange(longest) < lengths[:, None])[:, None, None].to(device)
    alike = bool((lengths == longest).all())
    return _Group(
        torch.tensor(lanes, device=device), (lengths - 1).to(device), keys, values, None if alike else mask
    )


def _append(group: _Group, k: Tensor, v: Tensor) -> None:
    at = torch.arange(len(group.lanes), device=k.device)
    group.keys[at, :, group.ends] = k[group.lanes]
    group.values[at, :, group.ends] = v[group.lanes]


def padded(tokens: Tokens, groups: list[list[int]]) -> Step:
    """Each group of lanes padded to its longest."""
    k, v = tokens.new()
    made = [_group(tokens, lanes) for lanes in groups]

    @torch.inference_mode()
    def step() -> Tensor:
        out = torch.empty_like(tokens.q)
        for group in made:
            _append(group, k, v)
            # The heads that share keys stand as one head's queries, so that nothing is repeated.
            q = tokens.q[group.lanes].unflatten(1, (_KV_HEADS, -1))
            mixed = F.scaled_dot_product_attention(q, group.keys, group.values, attn_mask=group.mask)
            out[group.lanes] = mixed.flatten(1, 2)
        return out

    return step


def flex(tokens: Tokens) -> Step:
    """Compiled, with a mask that lets it skip the blocks behind a lane's end."""
    k, v = tokens.new()
    group = _group(tokens, list(range(len(tokens.k))), room=128)
    ends = group.ends

    def seen(b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
        return kv <= ends[b]

    size = group.keys.shape[2]
    mask = create_block_mask(seen, len(ends), None, 1, size, device=str(tokens.q.device))
    compiled = torch.compile(flex_attention, dynamic=False)

    @torch.inference_mode()
    def step() -> Tensor:
        _append(group, k, v)
        out = compiled(
            tokens.q[:, :, None], group.keys, group.values, block_mask=mask, scale=_SCALE, enable_gqa=True
        )
        assert isinstance(out, Tensor)
        return out[:, :, 0]

    return step
