"""The embedded checkpoint against passes over whole sequences by the training code, without a cache.

Made for the checkpoint in ``zonos/checkpoints/mini``: another checkpoint needs new numbers, which
``python -m training export`` writes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from engines import VOICES, mini
from golden_tiny import OFF, run_to_end
from safetensors.torch import load_file
from torch import Tensor

from zonos.rows import RowPlan
from zonos.runner import Runner
from zonos.text import phonemise, tokenise

FOLDER = Path(__file__).parent / "data" / "mini"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "greedy.json").read_text())
NUMBERS = range(len(CASES))
VOICE_NAMES = ("heart", "june", "marcus", "otto", "rowan", "vera")


@pytest.fixture(scope="module")
def tensors() -> dict[str, Tensor]:
    return load_file(FOLDER / "greedy.safetensors")


def values(case: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
    names = ("emotion", "fmax", "pitch_std", "speaking_rate")
    return {
        "espeak": case["ids"],
        "speaker": tensors[f"speaker/{case['voice']}"],
        "language_id": 24,
        **{name: case[name] for name in names},
    }


@pytest.mark.parametrize("number", NUMBERS)
def test_phonemes_and_ids(number: int) -> None:
    case = CASES[number]
    phonemes = phonemise(case["text"], case["language"])
    assert phonemes == case["phonemes"]
    assert list(tokenise(phonemes)) == case["ids"]


@pytest.mark.parametrize("number", NUMBERS)
def test_prefixes(number: int, tensors: dict[str, Tensor]) -> None:
    cond, uncond = mini().prefixes.make(values(CASES[number], tensors), twin=True)
    torch.testing.assert_close(cond, tensors[f"greedy{number}/prefix"][0], atol=1e-4, rtol=0)
    torch.testing.assert_close(uncond, tensors[f"greedy{number}/prefix_uncond"][0], atol=1e-4, rtol=0)


def test_greedy_codes_in_one_batch(tensors: dict[str, Tensor]) -> None:
    """Four texts, four voices, guidance 1, 2 and 3 together."""
    none = torch.zeros(mini().config.n_codebooks, 0, dtype=torch.int64)
    plans = [
        RowPlan(
            mini().prefixes.make(values(case, tensors), twin=case["cfg_scale"] != 1),
            none,
            400,
            0,
            replace(OFF, cfg_scale=case["cfg_scale"]),
        )
        for case in CASES
    ]
    found = run_to_end(Runner(mini().model, slots=4), plans)
    for number in NUMBERS:
        assert torch.equal(found[number].long(), tensors[f"greedy{number}/codes"].long())


@pytest.mark.parametrize("name", VOICE_NAMES)
def test_speaker_vectors(name: str, tensors: dict[str, Tensor]) -> None:
    vector = mini().voice_vector(VOICES.clips(name.title()))
    torch.testing.assert_close(vector, tensors[f"speaker/{name}"], atol=1e-4, rtol=1e-4)
