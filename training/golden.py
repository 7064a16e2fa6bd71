"""Numbers that the tests hold an exported checkpoint to, made by full-sequence passes without a cache."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from training.forward import Rows, forward, prefix
from training.phonemes import LANGUAGE
from zonos.audio.read import read_bytes, read_clip
from zonos.codebooks import undelay
from zonos.hub import iter_tensors
from zonos.model import Zonos, build, load_weights
from zonos.pipeline import Pipeline, load_pipeline
from zonos.text import phonemise, tokenise
from zonos.text.languages import language_id

_CASES = (
    ("The kettle is on and the bread is warm.", 0, 1.0),
    ("Can you hear me?", 1, 2.0),
    ("We left the old harbour at first light.", 2, 2.0),
    ("No, wait for me.", 3, 3.0),
)
_LONGEST = 200
_CODEC_FRAMES = 80
_CONDITIONS = ("emotion", "fmax", "pitch_std", "speaking_rate")


def write(folder: Path, voices: Path) -> None:
    """golden.json, golden.safetensors (greedy codes, prefixes, voice vectors), golden_codec.safetensors."""
    pipeline = load_pipeline(str(folder), device="cpu", dtype="float32")
    # Plain products: the packed ones are what these numbers are to judge.
    weights = iter_tensors(pipeline.checkpoint.weights)
    plain = load_weights(build(pipeline.config), weights, pipeline.model.device, torch.float32)
    pipeline = replace(pipeline, model=plain)
    clips = sorted(voices.glob("*.wav"))
    tensors = {f"speaker/{path.stem}": pipeline.voice_vector([path]) for path in clips}
    cases = [_case(pipeline, *case, [path.stem for path in clips]) for case in _CASES]
    for number, case in enumerate(cases):
        tensors |= {
            f"greedy{number}/{name}": value for name, value in _greedy(pipeline, case, tensors).items()
        }
        case["frames"] = tensors[f"greedy{number}/codes"].shape[1]
    (folder / "golden.json").write_text(
        json.dumps(cases, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    save_file({name: value.contiguous() for name, value in tensors.items()}, folder / "golden.safetensors")
    save_file(codec_stages(pipeline, clips[0]), folder / "golden_codec.safetensors")


def _case(pipeline: Pipeline, text: str, voice: int, cfg_scale: float, names: list[str]) -> dict[str, Any]:
    defaults = pipeline.defaults.model_dump()
    emotion = pipeline.defaults.emotion
    phonemes = phonemise(text, LANGUAGE)
    return {
        "text": text,
        "voice": names[voice % len(names)],
        "cfg_scale": cfg_scale,
        "emotion": None if isinstance(emotion, str) else emotion.vector(),
        **{name: defaults[name] for name in _CONDITIONS[1:]},
        "language": LANGUAGE,
        "phonemes": phonemes,
        "ids": list(tokenise(phonemes)),
    }


def _greedy(pipeline: Pipeline, case: dict[str, Any], voices: dict[str, Tensor]) -> dict[str, Tensor]:
    """Prefixes [1, n, d_model] and arg-max codes [codebooks, frames] of one case."""
    values = {name: torch.from_numpy(np.float32(np.ravel(case[name])))[None] for name in _CONDITIONS}
    values |= {
        "speaker": voices[f"speaker/{case['voice']}"][None],
        "language_id": torch.tensor([[float(language_id(LANGUAGE))]]),
    }
    tokens = torch.tensor(case["ids"])

    def rows(keep: bool, frames: Tensor) -> Rows:
        return Rows([tokens], values, {name: torch.tensor([keep]) for name in values}, [frames])

    model, scale = pipeline.model, case["cfg_scale"]
    n, mask, eos = model.config.n_codebooks, model.config.masked_token_id, model.config.eos_token_id
    frames = torch.full((n, 1), mask)
    with torch.no_grad():
        while frames.shape[1] <= _LONGEST:
            step = frames.shape[1] - 1
            logits = _last(model, rows(True, frames))
            if scale != 1:
                other = _last(model, rows(False, frames))
                logits = other + (logits - other) * scale
            logits[1:, eos] = float("-inf")
            frame = logits.argmax(-1)
            if frame[0] == eos:
                break
            frame[step + 1 :] = mask  # deeper codebooks have not begun
            frames = torch.cat([frames, frame[:, None]], dim=1)
        count = frames.shape[1] - 1
        frames = _tail(model, rows, frames, count, scale)
        return {
            "prefix": prefix(model, rows(True, frames))[0][None],
            "prefix_uncond": prefix(model, rows(False, frames))[0][None],
            "codes": undelay(frames).int(),
        }


def _tail(model: Zonos, rows: Any, frames: Tensor, count: int, scale: float) -> Tensor:
    """The deeper codebooks' last codes: EOS moves down one codebook a step, MASK above it."""
    n, mask, eos = model.config.n_codebooks, model.config.masked_token_id, model.config.eos_token_id
    for behind in range(n - 1):
        logits = _last(model, rows(True, frames))
        if scale != 1:
            other = _last(model, rows(False, frames))
            logits = other + (logits - other) * scale
        logits[:, eos] = float("-inf")
        frame = logits.argmax(-1)
        frame[min(n, count + behind + 1) :] = mask
        frame[:behind] = mask
        frame[behind] = eos
        frames = torch.cat([frames, frame[:, None]], dim=1)
    return frames


def _last(model: Zonos, rows: Rows) -> Tensor:
    """Logits [codebooks, 1025] after the last frame."""
    passed = forward(model, rows)
    return torch.stack([head(passed.hidden[0, -1]) for head in model.heads]).float()


@torch.inference_mode()
def codec_stages(pipeline: Pipeline, clip: Path) -> dict[str, Tensor]:
    """What each stage of the embedded codec makes of the first frames of a clip."""
    from zonos.codec.mini import Excitation, MiniCodec

    codec = pipeline.codec
    assert isinstance(codec, MiniCodec)
    wav = torch.from_numpy(read_clip(read_bytes(clip), clip.name).mono)[None, : _CODEC_FRAMES * codec.hop]
    latent = codec.encode_latent(codec.features(wav))
    codes = codec.quantise(latent)
    bands = codec.decode_bands(codec.dequantise(codes))
    silent = bands._replace(noise=torch.full_like(bands.noise, -12.0))
    bins = codec.config.n_fft // 2 + 1
    nothing = torch.zeros(1, bands.log_f0.shape[1], bins, dtype=torch.complex64)
    return {
        "wav": wav.clone(),
        "latent": latent.clone(),
        "codes": codes.int(),
        "log_f0": bands.log_f0.clone(),
        "voicing_logit": bands.voicing_logit.clone(),
        "harmonic_bands": bands.harmonic.clone(),
        "noise_bands": bands.noise.clone(),
        "f0": bands.f0(),
        "harmonic_only": codec.synthesise(silent, Excitation(bands.f0(), nothing)).clone(),
    }
