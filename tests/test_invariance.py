"""A row's codes do not depend on its neighbours: sampled, long, guidance and settings mixed."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import pytest
import torch
from golden_tiny import NAMES, OFF, Golden, run_to_end
from hybrid_tiny import Hybrid
from torch import Tensor

from zonos.invariance import lane_quantum
from zonos.model import Zonos
from zonos.packed import pack
from zonos.rows import RowPlan
from zonos.runner import Runner
from zonos.sampler_settings import SamplerSettings

FRAMES = 130
SETTINGS = [
    replace(OFF, temperature=1.0, min_p=0.1, repetition_penalty=3.0),
    replace(OFF, temperature=0.8, top_k=40),
    replace(OFF, temperature=1.2, linear=0.5, conf=0.4, repetition_penalty=3.0, repetition_window=7),
    replace(OFF, temperature=1.0, top_p=0.9),
    replace(OFF, temperature=0.0, repetition_penalty=1.3),
    replace(OFF, temperature=1.0),
    replace(OFF, temperature=0.6, top_k=5, top_p=0.7, min_p=0.02),
    replace(OFF, temperature=1.0, linear=0.3, quad=0.1, repetition_penalty=1.5, repetition_window=20),
]
SCALES = [2.0, 1.0, 4.0, 1.5, 2.0, 1.0, 3.0, 1.0]
CASES = [
    "en_speaker",
    "de_speaker",
    "en_long_cfg0",
    "cmn_prefix5",
    "en_plain",
    "ja_speaker",
    "en_prefix1_cfg15",
]


@dataclass
class Subject:
    """A model and the prefixes of eight rows that differ in everything."""

    model: Zonos
    prefixes: list[tuple[Tensor, Tensor]]  # conditioned and unconditioned
    audio_prefixes: list[Tensor]

    @classmethod
    def transformer(cls) -> Subject:
        golden, names = Golden.load(), [*CASES, NAMES[-1]]
        return cls(
            golden.model,
            [golden.prefixes(name) for name in names],
            [golden.audio_prefix(name) for name in names],
        )

    @classmethod
    def packed(cls) -> Subject:
        """As the product runs it on a processor: see ``zonos.packed``."""
        plain = cls.transformer()
        return replace(plain, model=pack(copy.deepcopy(plain.model).fuse()))

    @classmethod
    def hybrid(cls) -> Subject:
        hybrid = Hybrid.load()
        return cls(
            hybrid.model,
            [hybrid.prefixes(row) for row in range(8)],
            [hybrid.audio_prefix(row) for row in range(8)],
        )


@pytest.fixture(scope="module", params=["transformer", "packed", "hybrid"])
def subject(request: pytest.FixtureRequest) -> Subject:
    return getattr(Subject, request.param)()


def eight(subject: Subject) -> list[RowPlan]:
    """Lengths, settings and guidance differ too, so that slots refill at odd moments."""
    plans = []
    for i, (sampling, scale) in enumerate(zip(SETTINGS, SCALES, strict=True)):
        prefixes = subject.prefixes[i]
        settings: SamplerSettings = replace(sampling, cfg_scale=scale)
        plans.append(
            RowPlan(
                prefixes if scale != 1 else prefixes[:1],
                subject.audio_prefixes[i],
                FRAMES - 7 * i if i % 3 else FRAMES,
                1000 + 17 * i,
                settings,
            )
        )
    return plans


@pytest.fixture(scope="module")
def alone(subject: Subject) -> list[torch.Tensor]:
    return [run_to_end(Runner(subject.model, slots=1), [plan])[0] for plan in eight(subject)]


def test_rows_are_long_and_random(alone: list[torch.Tensor]) -> None:
    assert max(codes.shape[1] for codes in alone) > 100
    assert len({codes.numpy().tobytes() for codes in alone}) == 8


@pytest.mark.parametrize("slots", [1, 3, 8, 11])
def test_together(subject: Subject, alone: list[torch.Tensor], slots: int) -> None:
    found = run_to_end(Runner(subject.model, slots=slots), eight(subject))
    assert [torch.equal(found[i], alone[i]) for i in range(8)] == [True] * 8


def test_together_with_two_threads(subject: Subject) -> None:
    """Threads share out rows in their own way: alone and together must agree for any number of them."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        plans = [replace(plan, limit=40) for plan in eight(subject)]
        quantum = lane_quantum(subject.model)
        together = run_to_end(Runner(subject.model, slots=8, lane_quantum=quantum), plans)
        for i in (0, 1, 6):
            alone = Runner(subject.model, slots=1, lane_quantum=quantum)
            assert torch.equal(run_to_end(alone, [replace(plans[i])])[0], together[i])
    finally:
        torch.set_num_threads(before)


def test_any_order(subject: Subject, alone: list[torch.Tensor]) -> None:
    order = [5, 2, 7, 0, 3, 6, 1, 4]
    plans = eight(subject)
    found = run_to_end(Runner(subject.model, slots=5), [plans[i] for i in order])
    assert [torch.equal(found[at], alone[i]) for at, i in enumerate(order)] == [True] * 8


def test_joined_late(subject: Subject, alone: list[torch.Tensor]) -> None:
    plans = eight(subject)
    runner = Runner(subject.model, slots=8)
    runner.admit([plans[0]])
    for plan in plans[1:]:
        for _ in range(9):
            runner.step()
        runner.admit([plan])
    while not all(flag.ended for flag in runner.read()):
        runner.step()
    for row, plan in enumerate(runner.plans):
        frames = runner.read()[row].frames
        codes = torch.from_numpy(runner.codes(row, 0, frames))
        assert torch.equal(codes, alone[plans.index(plan)])


def test_beside_a_failing_row(subject: Subject, alone: list[torch.Tensor]) -> None:
    """NaN in one row's prefix: that row is flagged, the others keep their codes."""
    plans = eight(subject)
    bad = replace(plans[2], prefixes=tuple(prefix * float("nan") for prefix in plans[2].prefixes))
    runner = Runner(subject.model, slots=8)
    runner.admit([bad])
    runner.admit([p for i, p in enumerate(plans) if i != 2])
    while not all(flag.ended for flag in runner.read()):
        runner.step()
    flags = runner.read()
    assert [flag.broken for flag in flags] == [True] + [False] * 7
    others = [i for i in range(8) if i != 2]
    # Its blocks and its row go to a newcomer at once.
    runner.release(0)
    runner.admit([replace(plans[2])])
    while not all(flag.ended for flag in runner.read()):
        runner.step()
    flags = runner.read()
    newcomer = torch.from_numpy(runner.codes(7, 0, flags[7].frames))
    assert torch.equal(newcomer, alone[2])
    # The last row took the number of the one that left.
    for row, i in enumerate([others[-1], *others[:-1]]):
        codes = torch.from_numpy(runner.codes(row, 0, flags[row].frames))
        assert torch.equal(codes, alone[i])


@pytest.mark.parametrize("bad", [(4, 3), (0, 4)], ids=["in place", "moved"])
def test_broken_rows_leave_nothing_in_idle_lanes(
    subject: Subject, alone: list[torch.Tensor], bad: tuple[int, int]
) -> None:
    """Two rows break and leave, nobody takes their lanes: padding lanes decode on beside the others.

    What a padding lane computes lands in the block that stands for "none", next to everybody's keys.
    """
    plans = eight(subject)[:5]
    for i in bad:
        plans[i] = replace(plans[i], prefixes=tuple(p * float("nan") for p in plans[i].prefixes))
    runner = Runner(subject.model, slots=5)
    runner.admit(plans)
    for _ in range(3):
        runner.step()
    for row in bad:
        runner.release(runner.plans.index(plans[row]))
    while not all(flag.ended for flag in runner.read()):
        runner.step()
    flags = runner.read()
    assert not any(flag.broken for flag in flags)
    for row, plan in enumerate(runner.plans):
        codes = torch.from_numpy(runner.codes(row, 0, flags[row].frames))
        assert torch.equal(codes, alone[plans.index(plan)])


def test_neighbours_top_k_changes_nothing(subject: Subject) -> None:
    """ZONOS2 took the batch's minimum top_k; case 'row A top_k 0, row B top_k 5'."""
    a = replace(eight(subject)[5])
    b = replace(eight(subject)[6], seed=a.seed)
    with_b = run_to_end(Runner(subject.model, slots=2), [a, b])[0]
    without = run_to_end(Runner(subject.model, slots=2), [replace(a)])[0]
    assert torch.equal(with_b, without)


def test_rows_that_leave_and_return_leave_no_trace(subject: Subject, alone: list[torch.Tensor]) -> None:
    """A row released halfway (a cancel) frees its lanes and blocks and disturbs nobody."""
    plans = eight(subject)
    runner = Runner(subject.model, slots=8)
    runner.admit(plans)
    for _ in range(40):
        runner.step()
    gone = {1, 4, 6}
    for row in sorted(gone, reverse=True):
        runner.release(row)
    assert runner.state.blocks.live - 1 == runner.state.blocks.used.sum()
    while not all(flag.ended for flag in runner.read()):
        runner.step()
    for row, plan in enumerate(runner.plans):
        codes = torch.from_numpy(runner.codes(row, 0, runner.read()[row].frames))
        assert torch.equal(codes, alone[plans.index(plan)])


def test_model_is_fused(subject: Subject) -> None:
    model: Zonos = subject.model
    assert model.heads[3].weight.data_ptr() != model.heads[4].weight.data_ptr()
    hidden = torch.ones(1, model.config.backbone.d_model)
    # Another width of the product may sum in another order.
    torch.testing.assert_close(model.logits(hidden)[0, 3, :1025], model.heads[3](hidden)[0])
