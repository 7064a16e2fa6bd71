"""`python -m training codec`: the embedded codec (`zonos.codec.mini`), in two phases.

Autoencoder: encoder and decoder learn together, the excitation driven by the teacher's true pitch; a
fresh codec with noise in the place of quantisation, a warm start through its residual quantiser
(straight-through, with a commitment loss). Then the codebooks are fitted by Lloyd's iterations, encoder
and codebooks are final, and the decoder alone learns on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from training import progress
from training.config import CodecConfig, Config
from training.data import Shard
from zonos.codec.dsp import Bands
from zonos.codec.mini import Excitation, MiniCodec
from zonos.codec.mini_config import MiniCodecConfig

TEACHER_HOP = 300
_NOISE = 0.22
_ENCODER = ("enc_in", "enc1", "down", "enc2", "enc_norm", "enc_out")


class Batch(NamedTuple):
    """Segments: ``wav`` [B, N] and true ``f0`` [B, n] in Hz, 0 where unvoiced."""

    wav: Tensor
    f0: Tensor


def run(config: Config) -> None:
    """Train, or go on with training, and write codec.json and codec.safetensors to runs/codec."""
    torch.set_num_threads(config.codec.threads)
    folder = config.runs / "codec"
    codec = start(config)
    state = progress.restore(folder / "state.pt") or {"phase": 0, "step": 0}
    if "codec" in state:
        codec.load_state_dict(state["codec"])
    shards = open_shards(config.runs / "data", config.codec.shards)
    for phase in range(state["phase"], 2):
        if phase == 1 and state["phase"] == 0:
            # Without a first phase the warm start's codes stay as they are, and so fit its model.
            if config.codec.steps[0]:
                refit(codec, latents(codec, shards, 120_000))
            state = {"phase": 1, "step": 0}
            write(codec, folder)  # from here on codes are final: the model's data can be encoded
        _train(codec, shards, config, phase, state, folder)
        state = {"phase": phase, "step": 0} if phase == 0 else state
    write(codec, folder)


def start(config: Config) -> MiniCodec:
    """A codec to begin with: the warm start's weights where there is one, else fresh."""
    warm = config.codec.warm_start
    shape = json.loads((warm / "codec.json").read_text()) if warm else {}
    codec = MiniCodec(
        MiniCodecConfig.model_validate({**shape, "real_codebooks": config.codec.real_codebooks})
    )
    if warm:
        tensors = load_file(warm / "codec.safetensors")
        tensors["codebooks"] = tensors["codebooks"][: config.codec.real_codebooks]
        codec.load_state_dict({name: value.float() for name, value in tensors.items()})
    return codec.to(progress.device())


def open_shards(folder: Path, count: int) -> list[Shard]:
    """The first shards that are there, at most ``count``.

    Raises:
        FileNotFoundError: there is none.
    """
    paths = sorted(folder.glob("shard-*.npz"))[:count]
    if not paths:
        raise FileNotFoundError(f"no data in {folder}; run `python -m training data` first")
    return [Shard(path) for path in paths]


def write(codec: MiniCodec, folder: Path) -> None:
    """Write what `zonos` loads: codec.json and codec.safetensors (fp16)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "codec.json").write_text(codec.config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    tensors = {name: value.detach().half().cpu().contiguous() for name, value in codec.state_dict().items()}
    save_file(tensors, folder / "codec.safetensors")


def sub_frame_pitch(pitch: np.ndarray, hop: int, count: int, first: int = 0) -> np.ndarray:
    """The teacher's pitch at the middles of ``count`` sub-frames of ``hop`` samples from sample ``first``.

    Voiced where the nearest value is voiced; between voiced neighbours it is interpolated.
    """
    places = (first + (np.arange(count) + 0.5) * hop) / TEACHER_HOP - 0.5
    voiced = pitch > 0
    if not voiced.any():
        return np.zeros(count, np.float32)
    known = np.flatnonzero(voiced)
    smooth = np.interp(places, known, pitch[known])
    nearest = np.rint(places).astype(int)
    inside = (nearest >= 0) & (nearest < len(pitch))
    on = inside & voiced[nearest.clip(0, len(pitch) - 1)]
    return np.where(on, smooth, 0.0).astype(np.float32)


def batches(shards: list[Shard], codec: CodecConfig, hop: int, stride: int, seed: Any) -> Iterator[Batch]:
    """Endless random segments of ``codec.frames`` frames, short utterances padded with silence."""
    rng = np.random.default_rng(seed)
    samples = codec.frames * hop * stride
    while True:
        wavs, pitches = [], []
        for _ in range(codec.batch):
            shard = shards[int(rng.integers(len(shards)))]
            index = int(rng.integers(len(shard)))
            wav = shard.wav(index)
            first = int(rng.integers(max(1, len(wav) - samples + 1)))
            cut = wav[first : first + samples] * np.float32(10 ** rng.uniform(-0.3, 0.1))
            wavs.append(np.pad(cut, (0, samples - len(cut))))
            pitches.append(sub_frame_pitch(shard.pitch(index), hop, codec.frames * stride, first))
        yield Batch(torch.from_numpy(np.stack(wavs)), torch.from_numpy(np.stack(pitches)))


class SpectralLoss(nn.Module):
    """L1 between log spectra at several resolutions, and between log mels."""

    _SIZES = (512, 1024, 2048)

    def __init__(self, codec: MiniCodec) -> None:
        super().__init__()
        self._mel = codec.features
        for size in self._SIZES:
            self.register_buffer(f"window{size}", torch.hann_window(size), persistent=False)

    def forward(self, made: Tensor, real: Tensor) -> Tensor:
        """Both [B, N] -> a scalar."""
        loss: Tensor = (self._mel(made)[..., :80] - self._mel(real)[..., :80]).abs().mean() / 0.4
        for size in self._SIZES:
            loss = (
                loss + 0.5 / len(self._SIZES) * (self._log(made, size) - self._log(real, size)).abs().mean()
            )
        return loss

    def _log(self, wav: Tensor, size: int) -> Tensor:
        window = self.get_buffer(f"window{size}")
        spectrum = torch.stft(wav, size, size // 4, window=window, return_complex=True)
        return (spectrum.real.square() + spectrum.imag.square() + 1e-4).log() * 0.5


def _train(
    codec: MiniCodec, shards: list[Shard], config: Config, phase: int, state: dict[str, Any], folder: Path
) -> None:
    """One phase from ``state['step']`` to its end."""
    settings, where = config.codec, progress.device()
    steps = settings.steps[phase]
    for name, parameter in codec.named_parameters():
        parameter.requires_grad_(phase == 0 or name.split(".")[0] not in _ENCODER)
    optimiser = torch.optim.AdamW(
        [p for p in codec.parameters() if p.requires_grad], lr=settings.lr[phase], betas=(0.8, 0.99)
    )
    if "optimiser" in state:
        optimiser.load_state_dict(state["optimiser"])
    loss_of = SpectralLoss(codec).to(where)
    clock = progress.Clock(f"codec phase {phase}")
    source = batches(
        shards, settings, codec.config.hop, codec.config.stride, (config.seed, phase, state["step"])
    )
    first = state["step"]
    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.lr[phase] * progress.cosine(step / steps)
        batch = Batch(*(t.to(where) for t in next(source)))
        losses = _losses(codec, loss_of, batch, train_encoder=phase == 0)
        total = torch.stack(list(losses.values())).sum()
        optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(codec.parameters(), 1.0)
        optimiser.step()
        clock.note(**{name: float(value.detach()) for name, value in losses.items()})
        clock.log(step, (step + 1 - first) / (steps - first))
        if clock.time_to_save() or step + 1 == steps:
            kept = {
                "codec": codec.state_dict(),
                "optimiser": optimiser.state_dict(),
                "phase": phase,
                "step": step + 1,
            }
            progress.save(folder / "state.pt", kept)


def _losses(codec: MiniCodec, loss_of: SpectralLoss, batch: Batch, train_encoder: bool) -> dict[str, Tensor]:
    """Weighted losses of one batch."""
    with torch.no_grad():
        features = codec.features(batch.wav)
    with progress.autocast(batch.wav.device), torch.set_grad_enabled(train_encoder):
        latent = codec.encode_latent(features).float()
    passed, commitment = _through_quantiser(codec, latent)
    with progress.autocast(batch.wav.device):
        bands = Bands(*(b.float() for b in codec.decode_bands(passed)))
    bins = codec.config.n_fft // 2 + 1
    noise = torch.randn(*batch.f0.shape, bins, 2, device=batch.f0.device)
    made = codec.synthesise(bands, Excitation(batch.f0, torch.view_as_complex(noise)))
    voiced = batch.f0 > 0
    true = batch.f0.clamp_min(55.0).log()
    pitch = ((bands.log_f0 - true).abs() * voiced).sum() / voiced.sum().clamp_min(1)
    return {
        "spectrum": loss_of(made, batch.wav),
        "pitch": 1.5 * pitch,
        "voicing": 0.15 * F.binary_cross_entropy_with_logits(bands.voicing_logit, voiced.float()),
        "commitment": 0.25 * commitment,
    }


def _through_quantiser(codec: MiniCodec, latent: Tensor) -> tuple[Tensor, Tensor]:
    """What the decoder gets for a latent [B, T, latent], and the commitment loss.

    Straight through the codebooks; while there are none yet, noise of the size of their error.
    """
    if not codec.codebooks.any():
        size = _NOISE * torch.rand(len(latent), 1, 1, device=latent.device)
        return latent + size * torch.randn_like(latent), latent.new_zeros(())
    with torch.no_grad():
        quantised = codec.dequantise(codec.quantise(latent))
    return latent + (quantised - latent).detach(), (latent - quantised).square().mean()


@torch.inference_mode()
def latents(codec: MiniCodec, shards: list[Shard], count: int) -> Tensor:
    """About ``count`` latent frames [frames, latent] of whole utterances."""
    found: list[Tensor] = []
    total = 0
    for index in range(max(map(len, shards))):
        for shard in shards:
            if index < len(shard):
                wav = torch.from_numpy(shard.wav(index))[None]
                wav = F.pad(wav, (0, -wav.shape[1] % codec.hop)).to(progress.device())
                found.append(codec.encode_latent(codec.features(wav))[0])
                total += len(found[-1])
        if total >= count:
            break
    return torch.cat(found)


@torch.inference_mode()
def refit(codec: MiniCodec, frames: Tensor, iterations: int = 6) -> list[float]:
    """Lloyd's iterations of each codebook in turn on the residuals of ``frames``; unused codes are reseeded.

    Returns:
        The share of energy left after each codebook.
    """
    residual, left = frames.clone(), []
    energy = frames.square().mean()
    generator = torch.Generator(device=frames.device).manual_seed(0)
    for book in codec.codebooks:
        if not book.any():  # a fresh codec
            book.copy_(
                residual[
                    torch.randperm(len(residual), generator=generator, device=residual.device)[: len(book)]
                ]
            )
        for _ in range(iterations):
            nearest = _nearest(residual, book)
            counts = torch.bincount(nearest, minlength=len(book)).to(residual)
            sums = torch.zeros_like(book).index_add_(0, nearest, residual)
            book.copy_(sums / counts.clamp_min(1)[:, None])
            unused = (counts == 0).nonzero()[:, 0]
            picks = torch.randint(len(residual), (len(unused),), generator=generator, device=residual.device)
            book[unused] = residual[picks]
        residual = residual - book[_nearest(residual, book)]
        left.append(float(residual.square().mean() / energy))
    print("codec: energy left after each codebook " + " ".join(f"{x:.4f}" for x in left), flush=True)
    return left


def _nearest(vectors: Tensor, book: Tensor) -> Tensor:
    """Index of the nearest row of ``book`` for each vector, in chunks to bound memory."""
    parts = [(book.square().sum(-1) - 2 * chunk @ book.T).argmin(-1) for chunk in vectors.split(16_384)]
    return torch.cat(parts)
