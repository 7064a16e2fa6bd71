"""`python -m training model`: the language model over codes (`zonos.model.Zonos`).

Cross-entropy of the delayed frames, an attention head of three layers guided along the teacher's own
times, Muon for the backbone's matrices and AdamW for the rest, an average of the weights for export.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from training import dataset, progress
from training.config import Config, ModelConfig
from training.forward import forward
from training.muon import Muon
from training.openings import Openings
from training.speaker import TURN
from zonos.codec.mini import MiniCodec, load_mini_codec
from zonos.config import ZonosConfig
from zonos.model import Zonos, build
from zonos.speaker import load_speaker

HISTORY = "training.json"
GUIDED = (2, 3, 4)
# What the model cannot do without is to follow the text, so at first that is most of what it is taught.
_GUIDE_WEIGHTS = (1.0, 0.15)
_GUIDE_FADES = 0.25  # share of the run after which the second holds
_GUIDE_SECONDS = 0.045
_CODEBOOK_WEIGHTS = (2.0, 1.4, 1.0, 0.8)  # of the real codebooks; more of them get the last one's
_HELD_OUT = 64
_AVERAGE = 0.99
_SILENT_EVERY = 4
_WARM_STEPS = 40  # orthogonal steps are of full size from the first noisy gradient on


def run(config: Config) -> None:
    """Train, or go on with training; the checkpoint is runs/model/state.pt."""
    settings, where = config.model, progress.device()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(config.seed)
    folder = config.runs / "model"
    codec = open_codec(config.runs / "codec")
    items = load_items(config, codec)
    held, items = items[:_HELD_OUT], items[_HELD_OUT:]
    trainer = Trainer(start(config).to(where), settings, codec)
    if state := progress.restore(folder / "state.pt"):
        trainer.load_state_dict(state)
    if not (folder / HISTORY).exists():
        (folder / HISTORY).write_text(json.dumps(history(config.model.warm_start)), encoding="utf-8")
    print(f"model: {len(items)} utterances, step {trainer.step} of {settings.steps}", flush=True)
    shape = trainer.model.config
    clock = progress.Clock("model")
    source = dataset.batches(
        items,
        settings.tokens,
        shape,
        codec.config.real,
        (config.seed, trainer.step),
        Openings(items, codec.frame_rate).draw,
    )
    began = trainer.done
    while (done := trainer.done) < 1.0:
        clock.note(**trainer.update(_to(next(source), where)))
        clock.log(trainer.step, (done - began) / (1 - began))
        if clock.time_to_save():
            progress.save(folder / "state.pt", trainer.state_dict())
            report(trainer, held, codec)
    progress.save(folder / "state.pt", trainer.state_dict())
    report(trainer, held, codec)


def history(warm: Path | None) -> dict[str, Any]:
    """What is known of the weights that a run begins with: where they began, and the runs since."""
    if warm is None:
        return {"begun": "random numbers", "runs": []}
    if not (warm / HISTORY).exists():
        return {"begun": f"{warm}, of which nothing is told here", "runs": []}
    found: dict[str, Any] = json.loads((warm / HISTORY).read_text(encoding="utf-8"))
    return found


def open_codec(folder: Path) -> MiniCodec:
    """The codec of runs/codec; its encoder is final from the end of its first phase on."""
    shape = json.loads((folder / "codec.json").read_text(encoding="utf-8"))
    return load_mini_codec(shape, load_file(folder / "codec.safetensors"))


def load_items(config: Config, codec: MiniCodec) -> list[dataset.Item]:
    """All utterances, in the order of the shards: more shards leave the held-out ones as they are."""
    folder = config.runs / "speaker"
    shape = json.loads((folder / "speaker.json").read_text(encoding="utf-8"))
    encoder = load_speaker(load_file(folder / "speaker.safetensors"), shape)
    return dataset.load(
        config.runs / "data", config.runs / "model" / "items", codec, encoder, config.model.shards
    )


def start(config: Config) -> Zonos:
    """A model to begin with: the warm start's weights where there is one, else fresh."""
    warm = config.model.warm_start
    if warm is None:
        return fresh(ZonosConfig.from_file(config.model.shape), config.codec.real_codebooks)
    model = build(ZonosConfig.from_file(warm / "config.json"), "cpu")
    tensors: dict[str, Tensor] = {}
    for path in sorted(warm.glob("model*.safetensors")):
        tensors |= load_file(path)
    model.load_state_dict({name: value.float() for name, value in tensors.items()})
    if config.model.reset_deep:
        silence_deep(model, config.codec.real_codebooks)
    if config.speaker.warm_start == warm:
        turn_voices(model, load_file(config.runs / "speaker" / TURN))
    return model.float()


def fresh(shape: ZonosConfig, real: int) -> Zonos:
    """A model with initial weights; codebooks from ``real`` on carry no sound."""
    model = build(shape, "cpu")
    for name, parameter in model.named_parameters():
        if "embed" in name:
            nn.init.normal_(parameter, std=0.3)
    for name, buffer in model.named_buffers():
        nn.init.normal_(buffer, std=1.0 if "conditioners" in name else 0.0)
    silence_deep(model, real)
    return model


@torch.no_grad()
def silence_deep(model: Zonos, real: int) -> None:
    """Make codebooks from ``real`` on say nothing: each code embeds alike, and code 0 is the likely one."""
    direction = model.backbone.norm_f.bias
    for k in range(real, len(model.heads)):
        table: Tensor = model.embeddings[k].weight  # type: ignore[assignment]
        table[:1024] = table[:1024].mean(0)
        head: Tensor = model.heads[k].weight  # type: ignore[assignment]
        head.zero_()
        head[0] = 8.0 * direction / direction.square().sum().clamp_min(1e-3)


@torch.no_grad()
def turn_voices(model: Zonos, mapping: dict[str, Tensor]) -> None:
    """Let the speaker's projection take new vectors: old ones were about ``weight @ new + bias``."""
    names = model.prefix_conditioner.names
    projection: Any = model.prefix_conditioner.conditioners[names.index("speaker")].project
    projection.bias.add_(projection.weight @ mapping["bias"])
    projection.weight.copy_(projection.weight @ mapping["weight"])


class Trainer:
    """The model, its optimisers, the average of its weights, and how far it is.

    Args:
        model: trainable, on its device.
        settings: batch size, learning rates and limits.
        codec: says how many codebooks are real and how long a frame is.
    """

    def __init__(self, model: Zonos, settings: ModelConfig, codec: MiniCodec) -> None:
        self.model = model.train()
        self.settings = settings
        self.real, self.frame_rate = codec.config.real, codec.frame_rate
        self.step, self.seconds = 0, 0.0
        matrices = [p for n, p in model.backbone.named_parameters() if p.ndim == 2]
        chosen = {id(p) for p in matrices}
        others = [p for p in model.parameters() if id(p) not in chosen]
        self.optimisers: list[torch.optim.Optimizer] = [
            Muon(matrices, lr=settings.muon_lr),
            torch.optim.AdamW(others, lr=settings.adam_lr, betas=(0.9, 0.97), weight_decay=0.0),
        ]
        self.average = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @property
    def done(self) -> float:
        """Share of the run, by steps or by time, whichever is further."""
        return max(self.step / self.settings.steps, self.seconds / (self.settings.hours * 3600))

    def update(self, batch: dataset.Batch) -> dict[str, float]:
        """One step; returns the unweighted losses."""
        began = time.monotonic()
        factor = progress.cosine(self.done, warm=0.0) * min(1.0, (self.step + 1) / _WARM_STEPS)
        for optimiser, lr in zip(
            self.optimisers, (self.settings.muon_lr, self.settings.adam_lr), strict=True
        ):
            for group in optimiser.param_groups:
                group["lr"] = lr * factor
        # A model that begins with another's weights can follow the text already.
        guided = guide_weight(self.done if self.settings.warm_start is None else 1.0)
        total, losses = loss(self.model, batch, self.real, self.frame_rate, self._silent(), guided)
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self._follow()
        self.step += 1
        self.seconds += time.monotonic() - began
        return losses

    def _silent(self) -> int | None:
        """A codebook without sound to train as well: its one code is learned in few steps."""
        round_, odd = divmod(self.step, _SILENT_EVERY)
        return None if odd else self.real + round_ % max(1, len(self.model.heads) - self.real)

    @torch.no_grad()
    def _follow(self) -> None:
        weight = 1 - min(_AVERAGE, (1 + self.step) / (10 + self.step))
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, weight)

    def state_dict(self) -> dict[str, Any]:
        """Everything that going on needs."""
        return {
            "model": self.model.state_dict(),
            "average": self.average,
            "optimisers": [o.state_dict() for o in self.optimisers],
            "step": self.step,
            "seconds": self.seconds,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a run where it stopped."""
        self.model.load_state_dict(state["model"])
        self.average = {n: v.to(self.average[n].device) for n, v in state["average"].items()}
        for optimiser, kept in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(kept)
        self.step, self.seconds = state["step"], state["seconds"]


def guide_weight(done: float) -> float:
    """Weight of the guided attention at a share ``done`` (0 to 1) of the run."""
    first, last = _GUIDE_WEIGHTS
    return last + (first - last) * max(0.0, 1 - done / _GUIDE_FADES)


def loss(
    model: Zonos,
    batch: dataset.Batch,
    real: int,
    frame_rate: float,
    deep: int | None = None,
    guided: float = _GUIDE_WEIGHTS[1],
) -> tuple[Tensor, dict[str, float]]:
    """Weighted loss to go down, and the losses by name.

    Args:
        model, batch: what to run.
        real: codebooks with sound.
        frame_rate: frames per second.
        deep: one silent codebook to train as well.
        guided: weight of the guided attention.
    """
    with progress.autocast(model.device):
        passed = forward(model, batch.rows, GUIDED)
        lengths = [f.shape[1] for f in batch.rows.frames]
        heard = torch.cat(
            [passed.hidden[i, p : p + n] for i, (p, n) in enumerate(zip(passed.prefix, lengths, strict=True))]
        )
        total = heard.new_zeros((), dtype=torch.float32)
        found: dict[str, float] = {}
        codebooks = [*range(real), *([deep] if deep is not None and deep < len(model.heads) else [])]
        for k in codebooks:
            wanted = batch.targets[:, k]
            asked = wanted >= 0
            ce = F.cross_entropy(model.heads[k](heard[asked]).float(), wanted[asked])
            weight = _CODEBOOK_WEIGHTS[min(k, len(_CODEBOOK_WEIGHTS) - 1)] if k < real else 0.2
            total = total + weight * ce
            found[f"cb{k}" if k < real else "deep"] = ce.item()
    guide = guidance(passed.attention, passed.prefix, lengths, batch.times, batch.openings, frame_rate)
    found["guide"] = guide.item()
    return total + guided * guide, found


def guidance(
    attention: Iterable[Tensor],
    prefix: list[int],
    lengths: list[int],
    times: list[Tensor],
    openings: list[int],
    frame_rate: float,
) -> Tensor:
    """Mean of -log of the attention's mass near the phoneme being said.

    Args:
        attention: of each guided layer [B, L, L].
        prefix: length of each row's prefix; its tokens stand first.
        lengths: audio positions of each row; position p samples codebook 0's frame p.
        times: of each row's tokens in seconds.
        openings: given frames of each row; nothing is asked of them.
        frame_rate: frames per second.
    """
    layers = torch.stack(list(attention))  # [layers, B, L, L]
    parts = []
    for row, (start, length, at, given) in enumerate(zip(prefix, lengths, times, openings, strict=True)):
        middles = (torch.arange(given, length, device=layers.device) + 0.5) / frame_rate
        distance = (at[None].to(layers.device) - middles[:, None]) / _GUIDE_SECONDS
        near = torch.exp(-0.5 * (distance.square() - distance.square().amin(1, keepdim=True)).clamp(max=50.0))
        mass = (layers[:, row, start + given : start + length, : len(at)] * near).sum(-1)
        parts.append(-(mass + 1e-4).log())
    return torch.cat([p.flatten() for p in parts]).mean()


@torch.no_grad()
def report(trainer: Trainer, held: list[dataset.Item], codec: MiniCodec) -> dict[str, float]:
    """Losses of the held-out utterances under the averaged weights, printed."""
    kept = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    trainer.model.load_state_dict(trainer.average)
    where, shape = trainer.model.device, trainer.model.config
    rng = np.random.default_rng(0)
    rows = sorted(held, key=lambda item: item.length)
    found: list[dict[str, float]] = []
    for i in range(0, len(rows), 16):
        batch = _to(dataset.collate(rows[i : i + 16], shape, codec.config.real, rng, noisy=False), where)
        found.append(loss(trainer.model, batch, codec.config.real, codec.frame_rate)[1])
    trainer.model.load_state_dict(kept)
    means = {name: float(np.mean([f[name] for f in found])) for name in found[0]}
    print("model held-out " + " ".join(f"{n} {v:.3f}" for n, v in means.items()), flush=True)
    return means


def _to(batch: dataset.Batch, where: torch.device) -> dataset.Batch:
    """The batch on a device."""
    rows = batch.rows
    moved = type(rows)(
        [t.to(where) for t in rows.tokens],
        {n: v.to(where) for n, v in rows.values.items()},
        {n: k.to(where) for n, k in rows.keep.items()},
        [f.to(where) for f in rows.frames],
    )
    return dataset.Batch(moved, batch.targets.to(where), batch.times, batch.openings)
