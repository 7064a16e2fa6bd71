"""`python -m training speaker`: the speaker encoder (`zonos.speaker`) as a classifier of the data's voices.

AM-softmax over the named and many unnamed voices, and a linear read-out of what made each voice
(pitch, formants, tilt, breath, colour), so that the vector of an unseen voice says where it lies between them.
Then the last layer is fitted by linear discriminant analysis; with ``steps`` 0 that is all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from training import progress
from training.codec import open_shards
from training.config import Config, SpeakerConfig
from training.data import Shard
from training.speakers import EQ_POINTS, NAMED
from training.teacher import SAMPLE_RATE
from zonos import speaker as zonos_speaker
from zonos.audio.resample import resampler

_TRAITS = ("semitones", "low_formants", "high_formants", "tilt", "breath")
_TRAIT_CENTRE = (-5.0, 1.0, 1.0, 0.0, 1.5, *[0.0] * EQ_POINTS)
_TRAIT_SCALE = (6.0, 0.1, 0.1, 1.3, 3.0, *[2.5] * EQ_POINTS)
_TRAIT_WEIGHT = 2.0
TURN = "turn.safetensors"  # see turn()
# Colour and tilt are half of what tells these voices apart, so they must stay in the features.
_SHAPE = {"in_planes": 16, "num_blocks": (1, 1, 1, 1), "centre": "level"}
_SCALE, _MARGIN = 25.0, 0.15


class Voices(NamedTuple):
    """Where the utterances of each class are, [(shard, index)], and its traits [classes, 11]."""

    places: list[list[tuple[int, int]]]
    traits: Tensor


def run(config: Config) -> None:
    """Train, or go on with training, and write speaker.json and speaker.safetensors to runs/speaker."""
    settings, where = config.speaker, progress.device()
    torch.set_num_threads(settings.threads)
    folder = config.runs / "speaker"
    shards = open_shards(config.runs / "data", settings.shards)
    voices = find_voices(shards, settings.classes)
    encoder = start(settings.warm_start).to(where)
    classes = nn.Parameter(torch.randn(len(voices.places), encoder.config.lda_dim, device=where) * 0.1)
    traits = nn.Linear(encoder.config.lda_dim, len(_TRAIT_SCALE)).to(where)
    optimiser = torch.optim.AdamW(
        [*encoder.parameters(), *traits.parameters(), classes], lr=settings.lr, weight_decay=0.02
    )
    modules: dict[str, Any] = {"encoder": encoder, "traits": traits, "optimiser": optimiser}
    first = 0
    if state := progress.restore(folder / "state.pt"):
        for name, module in modules.items():
            module.load_state_dict(state[name])
        classes.data.copy_(state["classes"])
        first = state["step"]
    clock = progress.Clock("speaker")
    source = batches(shards, voices, settings, (config.seed, first))
    for step in range(first, settings.steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.lr * progress.cosine(step / settings.steps)
        wavs, labels = (t.to(where) for t in next(source))
        encoder.train()
        features = encoder.features(wavs)
        with progress.autocast(where):
            embedding = encoder(features)
        vectors = encoder.lda(embedding.float())
        identity, right = am_softmax(vectors, classes, labels)
        trait = F.mse_loss(traits(vectors / encoder.config.lda_dim**0.5), voices.traits.to(where)[labels])
        optimiser.zero_grad()
        (identity + _TRAIT_WEIGHT * trait).backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 5.0)
        optimiser.step()
        clock.note(identity=identity.item(), trait=trait.item(), right=right)
        clock.log(step, (step + 1 - first) / (settings.steps - first))
        if clock.time_to_save() or step + 1 == settings.steps:
            progress.save(
                folder / "state.pt",
                {name: m.state_dict() for name, m in modules.items()}
                | {"classes": classes.data, "step": step + 1},
            )
    vectors, labels = embeddings(encoder, shards, voices)
    old = encoder.lda(vectors).detach()
    fit_lda(encoder, vectors, labels)
    write(encoder, folder)
    save_file(turn(encoder.lda(vectors).detach(), old), folder / TURN)


def start(warm: Path | None) -> zonos_speaker.SpeakerEncoder:
    """An encoder to begin with, trainable."""
    if warm is None:
        return zonos_speaker.SpeakerEncoder(zonos_speaker.SpeakerConfig.model_validate(_SHAPE))
    shape = json.loads((warm / "speaker.json").read_text(encoding="utf-8"))
    return zonos_speaker.load_speaker(load_file(warm / "speaker.safetensors"), shape).requires_grad_(True)


def find_voices(shards: list[Shard], classes: int) -> Voices:
    """The named voices and the unnamed ones with most utterances."""
    places: dict[str, list[tuple[int, int]]] = {}
    made = {s.name: asdict(s) for s in NAMED}
    for number, shard in enumerate(shards):
        for index, item in enumerate(shard.meta):
            places.setdefault(item["speaker"], []).append((number, index))
            if item["voice"]:
                made[item["speaker"]] = item["voice"]
    names = sorted(places, key=lambda name: -len(places[name]))[:classes]
    traits = torch.tensor([[*(made[name][t] for t in _TRAITS), *made[name]["colour"]] for name in names])
    scaled = (traits - torch.tensor(_TRAIT_CENTRE)) / torch.tensor(_TRAIT_SCALE)
    return Voices([places[name] for name in names], scaled)


def batches(
    shards: list[Shard], voices: Voices, settings: SpeakerConfig, seed: object
) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless (wavs [B, n] at 16 kHz, classes [B]): crops of one length, random gain, sometimes noise."""
    rng = np.random.default_rng(seed)  # type: ignore[arg-type]
    down = resampler(SAMPLE_RATE, 16_000)
    while True:
        labels = rng.integers(len(voices.places), size=settings.batch)
        length = int(rng.uniform(1.2, 2.4) * SAMPLE_RATE)
        wavs = np.stack([_crop(shards, voices.places[label], length, rng) for label in labels])
        wavs *= 10 ** rng.uniform(-0.7, 0.3, (len(wavs), 1))
        noise = np.where(rng.random((len(wavs), 1)) < 0.3, 10 ** rng.uniform(-4, -2.3, (len(wavs), 1)), 0.0)
        wavs += noise * rng.standard_normal(wavs.shape)
        yield down(torch.from_numpy(wavs.astype(np.float32))), torch.from_numpy(labels)


def _crop(
    shards: list[Shard], places: list[tuple[int, int]], length: int, rng: np.random.Generator
) -> np.ndarray:
    """``length`` samples of one voice, utterances joined where one is too short."""
    parts: list[np.ndarray] = []
    while sum(map(len, parts)) < length:
        shard, index = places[int(rng.integers(len(places)))]
        parts.append(shards[shard].wav(index))
    joined = np.concatenate(parts)
    first = int(rng.integers(len(joined) - length + 1))
    return joined[first : first + length].astype(np.float64)


def am_softmax(vectors: Tensor, classes: Tensor, labels: Tensor) -> tuple[Tensor, float]:
    """Additive-margin softmax (Wang et al. 2018): vectors [B, d], classes [C, d] -> loss, share right."""
    cosine = F.normalize(vectors) @ F.normalize(classes).T  # [B, C]
    margin = _MARGIN * F.one_hot(labels, len(classes))
    right = (cosine.argmax(1) == labels).float().mean().item()
    return F.cross_entropy(_SCALE * (cosine - margin), labels), right


@torch.no_grad()
def embeddings(
    encoder: zonos_speaker.SpeakerEncoder, shards: list[Shard], voices: Voices, clips: int = 6
) -> tuple[Tensor, Tensor]:
    """Bottleneck embeddings [n, embd_dim] of clips of two utterances, and their classes [n]."""
    encoder.eval()
    found, labels = [], []
    for label, places in enumerate(voices.places):
        for first in range(0, min(len(places), 2 * clips) - 1, 2):
            wav = np.concatenate([shards[shard].wav(index) for shard, index in places[first : first + 2]])
            found.append(
                encoder(encoder.features(encoder.prepare(wav, SAMPLE_RATE).to(encoder.lda.weight.device)))[0]
            )
            labels.append(label)
    return torch.stack(found), torch.tensor(labels)


@torch.no_grad()
def turn(new: Tensor, old: Tensor) -> dict[str, Tensor]:
    """Least squares from new voice vectors [n, d] to what the encoder gave before, as weight and bias.

    A model that begins with a warm start takes it into its speaker projection.
    """
    centre = new.mean(0), old.mean(0)
    ridge = 1e-3 * len(new) * torch.eye(new.shape[1], device=new.device)
    x, y = new - centre[0], old - centre[1]
    weight = torch.linalg.solve(x.T @ x + ridge, x.T @ y).T
    return {"weight": weight.cpu().contiguous(), "bias": (centre[1] - weight @ centre[0]).cpu()}


@torch.no_grad()
def fit_lda(
    encoder: zonos_speaker.SpeakerEncoder, vectors: Tensor, labels: Tensor, shrink: float = 0.1
) -> None:
    """Set the last layer by linear discriminant analysis: what varies within a voice fades.

    Each direction has unit variance within voices, times the share of its variance that is between
    them; in all, zero mean and unit mean square.

    Args:
        encoder: changed in place.
        vectors: bottleneck embeddings [n, embd_dim].
        labels: voice of each, [n], 0 to the number of voices - 1.
        shrink: share of a sphere in the covariance within voices.
    """
    x, labels = vectors.double().cpu(), labels.cpu()
    mean = x.mean(0)
    x = x - mean
    count = torch.bincount(labels).clamp_min(1)[:, None]
    centres = torch.zeros(len(count), x.shape[1], dtype=x.dtype).index_add_(0, labels, x) / count
    rest = x - centres[labels]
    within = rest.T @ rest / len(x)
    within = (1 - shrink) * within + shrink * within.trace() / len(within) * torch.eye(
        len(within), dtype=x.dtype
    )
    between = (centres * count).T @ centres / len(x)
    whiten = torch.linalg.inv(torch.linalg.cholesky(within))
    strength, directions = torch.linalg.eigh(whiten @ between @ whiten.T)
    strength = strength.flip(0)[: encoder.config.lda_dim].clamp_min(1e-6)
    directions = directions.flip(1)[:, : encoder.config.lda_dim]
    weight = (strength / (1 + strength)).sqrt()[:, None] * (whiten.T @ directions).T
    scale = (x @ weight.T).std()
    encoder.lda.weight.copy_(weight / scale)
    encoder.lda.bias.copy_(-(weight @ mean) / scale)


def write(encoder: zonos_speaker.SpeakerEncoder, folder: Path) -> None:
    """speaker.json and speaker.safetensors: matrices fp16, vectors (batch norms too) fp32."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "speaker.json").write_text(encoder.config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    tensors = {
        name: (value.half() if value.ndim > 1 else value).cpu().contiguous()
        for name, value in encoder.state_dict().items()
    }
    save_file(tensors, folder / "speaker.safetensors")
