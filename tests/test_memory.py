"""Running out of memory: what failed is let go of, what goes on fits, and a device past mending ends in words."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
from engines import engine, finals, mini
from failing import run_out_of_memory

from benchmarks.random_model import random_config
from ui.engines import Engines
from zonos.events import Done, Failed
from zonos.line import Line
from zonos.memory import fits, is_out_of_memory
from zonos.plan import FIRST_BLOCKS, block_bytes, pool_within, workspace_bytes
from zonos.runner import Runner
from zonos.shapes import PACKED_TOKENS

LINES = [Line(text="Can you hear me?", voice="Heart", seed=n) for n in range(3)]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
)
def test_every_allocator_is_understood(error: Exception) -> None:
    def fail() -> None:
        raise error

    assert is_out_of_memory(error)
    assert not fits(fail)


def test_other_faults_pass() -> None:
    def fail() -> None:
        raise RuntimeError("device-side assert triggered")

    with pytest.raises(RuntimeError, match="assert"):
        fits(fail)


def test_what_a_fault_held_is_let_go_of() -> None:
    seen: list[weakref.ref[torch.Tensor]] = []

    def fail() -> None:
        large = torch.zeros(10)
        seen.append(weakref.ref(large))
        raise torch.OutOfMemoryError

    assert not fits(fail)
    assert seen[0]() is None


def test_the_old_pool_is_gone_before_the_new_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    run_out_of_memory(monkeypatch, 5)
    made: list[tuple[weakref.ref[Runner], bool]] = []
    original = Runner.__init__

    def watched(self: Runner, *args: Any, **kwargs: Any) -> None:
        made.append((weakref.ref(self), any(other() is not None for other, _ in made)))
        original(self, *args, **kwargs)
        # As with captured graphs: the runner holds itself in a circle.
        self.circle = self._decode  # type: ignore[attr-defined]

    monkeypatch.setattr(Runner, "__init__", watched)
    with engine(slots=4) as running:
        assert all(isinstance(event, Done) for event in finals(running.submit(LINES)).values())
    assert [others for _, others in made] == [False, False]


def test_fewer_slots_still_where_the_new_pool_does_not_fit_either(monkeypatch: pytest.MonkeyPatch) -> None:
    run_out_of_memory(monkeypatch, 5)
    original = Runner.__init__

    def tight(self: Runner, *args: Any, slots: int, **kwargs: Any) -> None:
        if 1 < slots < 8:
            raise torch.OutOfMemoryError
        original(self, *args, slots=slots, **kwargs)

    monkeypatch.setattr(Runner, "__init__", tight)
    with engine(slots=8) as running:
        assert all(isinstance(event, Done) for event in finals(running.submit(LINES)).values())
        assert running.status().slots == 1


def test_a_device_past_mending_ends_in_words_and_nobody_waits_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    with engine(slots=2, inline=False) as running:
        monkeypatch.setattr("zonos.runner.decode_step", fail)
        monkeypatch.setattr(running.loop, "_make_runner", fail)
        found = finals(running.submit(LINES))
        assert {type(event) for event in found.values()} == {Failed}
        assert running._thread is not None
        running._thread.join(timeout=60)
        with pytest.raises(RuntimeError, match="closed"):
            running.submit(LINES)


def test_codes_are_tried_again_when_the_codec_had_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    codec, faults = mini().codec, iter([True])
    original = type(codec).decode

    def decode(self: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        if next(faults, False):
            raise torch.OutOfMemoryError
        return original(self, *args, **kwargs)

    monkeypatch.setattr(type(codec), "decode", decode)
    with engine(slots=4) as running:
        assert all(isinstance(event, Done) for event in finals(running.submit(LINES)).values())


def test_a_take_that_never_fits_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def decode(*_: Any, **__: Any) -> torch.Tensor:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(type(mini().codec), "decode", decode)
    with engine(slots=4) as running:
        found = finals(running.submit(LINES[:1]))[("0", 0)]
    assert isinstance(found, Failed)
    assert found.code == "out_of_memory"
    assert "fewer lines" in found.reason


@pytest.mark.parametrize("kind", ["transformer", "hybrid"])
@pytest.mark.parametrize("gigabytes", [1.0, 2.0, 6.0, 20.0])
def test_slots_are_as_many_as_have_room(kind: str, gigabytes: float) -> None:
    """The hybrid's states are 146 MB a guided row: 64 of them do not fit beside its weights on a small card."""
    config = random_config(kind, d_model=2048, n_layer=46 if kind == "hybrid" else 26)
    usable = int(gigabytes * 1e9)
    pool = pool_within(config, 2, usable, 64)
    assert pool.max_blocks is not None
    assert pool.max_blocks > 2 * FIRST_BLOCKS
    if pool.slots > 1:
        kv = pool.max_blocks * block_bytes(config.backbone, 2)
        assert kv + workspace_bytes(config, pool.slots, pool.max_blocks, PACKED_TOKENS, 2) <= usable * 1.02
    assert pool.slots == 64 or pool_within(config, 2, 2 * usable, 64).slots > pool.slots
    if (kind, gigabytes) == ("transformer", 20.0):
        assert pool.slots == 64


def test_the_page_takes_another_engine_when_one_has_ended() -> None:
    engines = Engines(lambda _: engine())
    with engines.use("mini") as first:
        first.close()
        taken = first
    with engines.use("mini") as second:
        assert second is not taken
        assert not second.closed
    engines.close()
