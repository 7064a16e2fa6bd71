"""The tiny golden checkpoint and its cases, as the tests want them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from zonos.conditioning import scale_emotion
from zonos.config import ZonosConfig
from zonos.model import Zonos, build, load_weights
from zonos.prefixes import Prefixes
from zonos.rows import RowPlan
from zonos.runner import Runner
from zonos.sampler_settings import SamplerSettings

FOLDER = Path(__file__).parent / "data" / "tiny"
CASES: dict[str, Any] = json.loads((FOLDER / "cases.json").read_text())
NAMES = [case["name"] for case in CASES["cases"]]
EOS_NAMES = [case["name"] for case in CASES["eos_override_cases"]]
OFF = SamplerSettings(
    cfg_scale=2.0,
    temperature=0.0,
    top_p=0.0,
    top_k=0,
    min_p=0.0,
    linear=0.0,
    conf=0.0,
    quad=0.0,
    repetition_penalty=1.0,
    repetition_window=2,
)


def case(name: str) -> dict[str, Any]:
    return next(c for c in [*CASES["cases"], *CASES["eos_override_cases"]] if c["name"] == name)


@dataclass
class Golden:
    model: Zonos
    tensors: dict[str, Tensor]

    @classmethod
    def load(cls) -> Golden:
        config = ZonosConfig.from_file(FOLDER / "config.json")
        weights = load_file(FOLDER / "model.safetensors")
        model = load_weights(build(config), weights, torch.device("cpu"), torch.float32)
        return cls(model, load_file(FOLDER / "cases.safetensors"))

    def values(self, name: str) -> dict[str, Any]:
        c = case(name)
        speaker = c["speaker_index"]
        values = {
            "espeak": self.tensors[f"{name}/phoneme_ids"],
            "speaker": None if speaker is None else self.tensors["speakers"][speaker],
            "emotion": scale_emotion(c["emotion"]),
            **{key: c[key] for key in ("fmax", "pitch_std", "speaking_rate", "language_id")},
        }
        return {k: None if k in c["unconditional_keys"] else v for k, v in values.items()}

    def prefixes(self, name: str) -> tuple[Tensor, Tensor]:
        values = self.values(name)
        keep: dict[str, Any] = {}
        if "speaker" in case(name)["uncond_dict_keys"]:
            # The golden's kept conditioners, as the facts page gives them.
            keep = {"speaker": self.tensors["speakers"][3], "language_id": 24}
        conditioner = self.model.prefix_conditioner
        return Prefixes(conditioner).make(values, twin=True, keep=keep)

    def audio_prefix(self, name: str) -> Tensor:
        n = self.model.config.n_codebooks
        return self.tensors.get(f"{name}/audio_prefix_codes", torch.zeros(n, 0)).long()

    def plan(self, name: str, sampling: SamplerSettings = OFF, limit: int = 60, seed: int = 0) -> RowPlan:
        from dataclasses import replace

        cfg = case(name)["cfg_scale"]
        prefixes = self.prefixes(name)
        return RowPlan(
            prefixes if cfg != 1 else prefixes[:1],
            self.audio_prefix(name),
            limit,
            seed,
            replace(sampling, cfg_scale=cfg),
        )


def run_to_end(runner: Runner, plans: list[RowPlan]) -> dict[int, Tensor]:
    """Decode all plans, refilling as rows end; codes [codebooks, frames] by the plan's index."""
    waiting = list(enumerate(plans))
    where: dict[int, int] = {}  # id of a live plan -> its index
    results: dict[int, Tensor] = {}
    while waiting or runner.plans:
        while waiting and runner.free_rows:
            index, plan = waiting.pop(0)
            where[id(plan)] = index
            runner.admit([plan])
        runner.step()
        ended = [row for row, flag in enumerate(runner.read()) if flag.ended]
        for row in sorted(ended, reverse=True):
            flag = runner.read()[row]
            results[where[id(runner.plans[row])]] = torch.from_numpy(runner.codes(row, 0, flag.frames))
            runner.release(row)
    return results
