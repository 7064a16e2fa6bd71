"""`python -m training export`: the run's parts as the folder that `zonos` loads, in runs/export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from training import golden, progress
from training.config import Config
from training.dataset import read
from training.evaluate import CLIP_TEXTS
from training.model import HISTORY, history, open_codec
from training.speakers import NAMED
from training.teacher import Teacher
from training.trial import record_clip
from zonos.line import DEFAULT_MIX

LARGEST_FILE = 9_000_000  # a plain push to a Space refuses files of 10 MB
_CODES = 1024
# The data's middle: the manner of speaking that most of the model has heard.
GENERATION: dict[str, Any] = {
    "temperature": 0.6,
    "top_p": 0.0,
    "top_k": 0,
    "min_p": 0.0,
    "linear": 0.0,
    "conf": 0.0,
    "quad": 0.0,
    "repetition_penalty": 1.0,
    "repetition_window": 2,
    "cfg_scale": 2.0,
    "pitch_std": 35.0,
    "speaking_rate": 12.0,
    "fmax": 22_050.0,
    "emotion": list(DEFAULT_MIX.vector() or ()),
    "max_seconds": 12.0,
    "languages": ["en-us"],
}


def run(config: Config) -> Path:
    """Write everything and return the folder."""
    folder = config.runs / "export"
    folder.mkdir(parents=True, exist_ok=True)
    state = progress.restore(config.runs / "model" / "state.pt")
    if state is None:
        raise FileNotFoundError("there is no model yet; run `python -m training model` first")
    shape = config.model.warm_start / "config.json" if config.model.warm_start else config.model.shape
    shutil.copyfile(shape, folder / "config.json")
    write_model(tie_deep(state["average"], config.codec.real_codebooks), folder)
    (folder / "generation.json").write_text(json.dumps(GENERATION, indent=1) + "\n", encoding="utf-8")
    for part in ("codec", "speaker"):
        for suffix in (".json", ".safetensors"):
            shutil.copyfile(config.runs / part / f"{part}{suffix}", folder / f"{part}{suffix}")
    voices = folder / "voices"
    voices.mkdir(exist_ok=True)
    teacher = Teacher()
    for speaker in NAMED:
        record_clip(voices, teacher, speaker, CLIP_TEXTS)
    golden.write(folder, voices)
    write_card(folder, config, write_history(folder, config, state))
    largest = max(path.stat().st_size for path in folder.iterdir() if path.is_file())
    print(f"export: {folder}, step {state['step']}, largest file {largest / 1e6:.1f} MB", flush=True)
    return folder


def write_history(folder: Path, config: Config, state: dict[str, Any]) -> dict[str, Any]:
    """HISTORY: where the weights began and the runs since, this one last; returns it."""
    begun = config.runs / "model" / HISTORY
    found = (
        json.loads(begun.read_text(encoding="utf-8")) if begun.exists() else history(config.model.warm_start)
    )
    shards = sorted((config.runs / "model" / "items").glob("shard-*.pt"))[: config.model.shards]
    lengths = [item.codes.shape[1] for shard in shards for item in read(shard)]
    seconds = sum(lengths) / open_codec(config.runs / "codec").frame_rate
    found["runs"].append(
        {
            "steps": state["step"],
            "positions a step": config.model.tokens,
            "minutes": round(state["seconds"] / 60),
            "threads": config.model.threads,
            "utterances": len(lengths),
            "hours of speech": round(seconds / 3600, 1),
        }
    )
    (folder / HISTORY).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return dict(found)


def write_card(folder: Path, config: Config, past: dict[str, Any]) -> None:
    """README.md from CARD.md; the table of measures is filled in by ``evaluate --card``."""
    runs = past["runs"]
    names = list(runs[0])
    rows = [names, ["---"] * len(names), *([str(run[name]) for name in names] for run in runs)]
    facts = {
        "megabytes": sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e6,
        "voices": ", ".join(speaker.name for speaker in NAMED),
        "real": config.codec.real_codebooks,
        "begun": past["begun"],
        "runs": "\n".join(f"| {' | '.join(row)} |" for row in rows),
    }
    card = (Path(__file__).with_name("CARD.md")).read_text(encoding="utf-8")
    (folder / "README.md").write_text(card.format(**facts), encoding="utf-8")


def tie_deep(tensors: dict[str, Tensor], real: int) -> dict[str, Tensor]:
    """Every code of a codebook without sound embeds as code 0, so that it matters not which is drawn."""
    tied = dict(tensors)
    for name, table in tensors.items():
        part, number = name.split(".")[:2]
        if part == "embeddings" and int(number) >= real:
            tied[name] = torch.cat([table[:1].expand(_CODES, -1), table[_CODES:]])
    return tied


def write_model(tensors: dict[str, Tensor], folder: Path) -> None:
    """bf16 safetensors in numbered files under ``LARGEST_FILE``, with their index."""
    groups: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, value in tensors.items():
        half = value.bfloat16().contiguous()
        if groups[-1] and size + half.nbytes > LARGEST_FILE:
            groups.append({})
            size = 0
        groups[-1][name] = half
        size += half.nbytes
    for stale in folder.glob("model*.safetensors"):
        stale.unlink()
    index: dict[str, str] = {}
    for number, group in enumerate(groups, 1):
        file = f"model-{number:05d}-of-{len(groups):05d}.safetensors"
        save_file(group, folder / file, metadata={"format": "pt"})
        index |= dict.fromkeys(group, file)
    total = sum(value.nbytes for group in groups for value in group.values())
    layout = {"metadata": {"total_size": total}, "weight_map": index}
    (folder / "model.safetensors.index.json").write_text(
        json.dumps(layout, indent=1) + "\n", encoding="utf-8"
    )


def read_model(folder: Path) -> dict[str, Tensor]:
    """All tensors of an exported model."""
    tensors: dict[str, Tensor] = {}
    for path in sorted(folder.glob("model*.safetensors")):
        tensors |= load_file(path)
    return tensors
