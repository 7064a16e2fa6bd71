"""The sampler against numbers of the original, and its noise against what noise must be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from zonos import sampling
from zonos.sampler_settings import SamplerUse
from zonos.sampling import RowSampling

FOLDER = Path(__file__).parent / "data" / "sampling"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "cases.json").read_text())["cases"]
LEAK = "080"  # the original lets forbidden tokens back in; ours does not


@pytest.fixture(scope="module")
def tensors() -> dict[str, Tensor]:
    return load_file(FOLDER / "tensors.safetensors")


def rows(value: float, n: int) -> Tensor:
    return torch.full((n,), float(value))


def settings(params: dict[str, Any], n: int) -> RowSampling:
    whole = {"top_k", "repetition_window"}
    values = {
        "temperature": 1.0,
        "repetition_penalty": 3.0,
        "repetition_window": 2,
        **{k.replace("penalty_window", "window"): v for k, v in params.items() if k != "generated_tokens"},
    }
    names = RowSampling.__dataclass_fields__
    return RowSampling(
        **{
            name: rows(values.get(name, 0), n).long() if name in whole else rows(values.get(name, 0), n)
            for name in names
        }
    )


def penalised(logits: Tensor, params: dict[str, Any], tensors: dict[str, Tensor]) -> Tensor:
    """Repetition penalty, where the case has generated tokens."""
    if not params.get("generated_tokens"):
        return logits
    recent = tensors[params["generated_tokens"]].long()
    s = settings(params, len(logits))
    return sampling.penalise_repetition(logits, recent, s.repetition_window, s.repetition_penalty)


def ours(case: dict[str, Any], tensors: dict[str, Tensor]) -> Tensor:
    logits, params = tensors[f"logits/{case['input']}"].float(), case["params"]
    s = settings(params, len(logits))
    probs = logits.softmax(-1)
    if case["fn"] == "repetition_penalty":
        return penalised(logits, params, tensors)
    if case["fn"] == "top_p":
        return sampling.keep_top_p(probs, s.top_p)
    if case["fn"] == "top_k":
        return sampling.keep_top_k(probs, s.top_k)
    if case["fn"] == "min_p":
        return sampling.keep_min_p(probs, s.min_p)
    if case["fn"] == "unified":
        return sampling.unified(probs, s.linear, s.conf, s.quad)
    if case["fn"] == "temperature_softmax":
        off = SamplerUse(unified=False, top_p=False, top_k=False, min_p=False)
        return sampling.probabilities(logits, s, off)
    if case["fn"] == "sample_from_logits_probs":
        return sampling.probabilities(penalised(logits, params, tensors), s, SamplerUse())
    assert case["fn"] == "greedy_token"
    return penalised(logits, params, tensors).argmax(-1, keepdim=True)


@pytest.mark.parametrize("case", CASES, ids=[f"{c['id']}-{c['fn']}" for c in CASES])
def test_golden(case: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    found, expected = ours(case, tensors), tensors[case["output"]]
    if case["fn"] == "greedy_token":
        assert torch.equal(found.flatten(), expected.long().flatten())
        return
    if case["id"] == LEAK:
        forbidden = tensors[f"logits/{case['input']}"].isneginf()
        assert (found[forbidden] == 0).all()
        assert (expected[forbidden] > 0).any()
        return
    torch.testing.assert_close(found, expected.float(), atol=1e-6, rtol=1e-5)


def test_greedy_is_in_the_golden_cases() -> None:
    assert len(CASES) == 173
    assert {case["fn"] for case in CASES} >= {"greedy_token", "unified", "sample_from_logits_probs"}


def test_noise_is_exponential() -> None:
    noise = sampling.exponential_noise(torch.arange(64), torch.arange(64) * 7, 9, 1026).flatten()
    assert noise.min() > 0
    assert torch.isfinite(noise).all()
    assert noise.mean() == pytest.approx(1, abs=0.005)
    assert noise.var() == pytest.approx(1, abs=0.02)
    for quantile in (0.01, 0.5, 0.99):
        expected = -torch.log1p(torch.tensor(-quantile))
        assert noise[:500_000].quantile(quantile) == pytest.approx(float(expected), rel=0.02)


def test_noise_differs_in_every_coordinate() -> None:
    """No two of seed, step, codebook, token share noise, nor are neighbours correlated."""
    seeds, steps = torch.tensor([5, 5, 6, 2**62]), torch.tensor([1, 2, 1, 1])
    noise = sampling.exponential_noise(seeds, steps, 9, 1026)
    flat = noise.flatten(0, 1)  # [36, 1026]
    correlation = torch.corrcoef(flat) - torch.eye(len(flat))
    assert correlation.abs().max() < 0.17  # 36 x 36 pairs of 1026 draws: five standard deviations
    tokens = noise.flatten(0, 1)
    shifted = torch.corrcoef(torch.stack([tokens[:, :-1].flatten(), tokens[:, 1:].flatten()]))[0, 1]
    assert abs(shifted) < 0.03


def test_noise_does_not_depend_on_the_batch() -> None:
    seeds, steps = torch.tensor([11, 12, 13]), torch.tensor([4, 900, 0])
    together = sampling.exponential_noise(seeds, steps, 9, 1026)
    for row in range(3):
        one = sampling.exponential_noise(seeds[row : row + 1], steps[row : row + 1], 9, 1026)
        assert torch.equal(one[0], together[row])


def test_draws_follow_the_distribution() -> None:
    probs = torch.tensor([0.5, 0.25, 0.15, 0.07, 0.03])
    n = 40_000
    logits = probs.log().expand(n, 1, 5)
    found = sampling.sample(
        logits,
        torch.zeros(n, 1, 2, dtype=torch.int64),
        torch.arange(n),
        torch.zeros(n, dtype=torch.int64),
        settings({}, n),
        SamplerUse(top_p=False, top_k=False, min_p=False, unified=False, greedy=False),
    )
    share = torch.bincount(found.flatten(), minlength=5) / n
    torch.testing.assert_close(share, probs, atol=0.012, rtol=0)


def test_a_rows_bits_do_not_depend_on_its_neighbours_settings() -> None:
    """Row A with top_k 0, row B with top_k 5 (ZONOS2 took the batch's minimum)."""
    logits = torch.randn(2, 9, 1026, generator=torch.Generator().manual_seed(1))
    alone = settings({}, 1)
    mixed = settings({"top_k": 5, "top_p": 0.5, "min_p": 0.2, "linear": 0.4}, 2)
    for name in RowSampling.__dataclass_fields__:
        getattr(mixed, name)[0] = getattr(alone, name)[0]
    off = SamplerUse(unified=False, top_p=False, top_k=False, min_p=False)
    assert torch.equal(
        sampling.probabilities(logits, mixed, SamplerUse())[0],
        sampling.probabilities(logits[:1], alone, off)[0],
    )
