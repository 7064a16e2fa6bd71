"""Logits to tokens, every row with its own settings and its own seed.

Order, as in the original: repetition penalty, temperature, softmax, unified sampler, top-p, top-k,
min-p, draw. Functions are pure, take [rows, codebooks, vocabulary] and a settings tensor per row,
and contain no branch on a tensor's value. A row's numbers never depend on the other rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zonos.sampler_settings import SamplerUse

_TINY = 1e-20  # floor of probabilities inside logarithms, the original's


@dataclass(frozen=True)
class RowSampling:
    """Sampling settings of the rows in the batch, each a tensor [rows] on the device."""

    temperature: Tensor
    top_p: Tensor
    top_k: Tensor  # int64
    min_p: Tensor
    linear: Tensor
    conf: Tensor
    quad: Tensor
    repetition_penalty: Tensor
    repetition_window: Tensor  # int64


def penalise_repetition(logits: Tensor, recent: Tensor, window: Tensor, penalty: Tensor) -> Tensor:
    """Divide positive and multiply other logits of recent tokens by ``penalty``, once per occurrence.

    Args:
        logits: [rows, codebooks, vocabulary].
        recent: [rows, codebooks, n] tokens of the delayed grid, newest last; tokens beyond the
            vocabulary count as its last column.
        window: [rows] how many of the newest count.
        penalty: [rows] factor; 1 changes nothing.
    """
    n = recent.shape[-1]
    tokens = recent.clamp(max=logits.shape[-1] - 1)
    factor = penalty[:, None, None].to(logits.dtype)
    for age in range(n):
        token = tokens[..., n - 1 - age, None]
        value = logits.gather(-1, token)
        changed = torch.where(value <= 0, value * factor, value / factor)
        counts = (window > age)[:, None, None]
        logits = logits.scatter(-1, token, torch.where(counts, changed, value))
    return logits


def unified(probs: Tensor, linear: Tensor, conf: Tensor, quad: Tensor) -> Tensor:
    """Unified sampler: softmax of ``log p (linear + conf H) - quad (log p)^2``, H the entropy.

    A forbidden token (probability 0) stays forbidden; the original lets it back in.
    """
    log_p = probs.clamp(min=_TINY).log()
    entropy = -(probs * log_p).sum(-1, keepdim=True)
    linear, conf, quad = (t[:, None, None] for t in (linear, conf, quad))
    raw = log_p * (linear + entropy * conf) - log_p.square() * quad
    raw = raw.masked_fill(probs == 0, float("-inf"))
    return torch.where(linear > 0, raw.softmax(-1), probs)


def keep_top_p(probs: Tensor, top_p: Tensor) -> Tensor:
    """Keep tokens whose preceding cumulative mass is at most ``top_p``; 0 is off."""
    ordered, order = probs.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    p = top_p[:, None, None]
    kept = torch.zeros_like(probs).scatter(-1, order, ordered.masked_fill(before > p, 0.0))
    return torch.where(p > 0, kept / kept.sum(-1, keepdim=True), probs)


def keep_top_k(probs: Tensor, top_k: Tensor) -> Tensor:
    """Keep the ``top_k`` most likely tokens and their ties; 0 is off."""
    rank = top_k[:, None, None].clamp(min=1, max=probs.shape[-1]) - 1
    ordered = probs.sort(dim=-1, descending=True).values
    pivot = ordered.gather(-1, rank.expand(-1, probs.shape[1], 1))
    kept = probs.masked_fill(probs < pivot, 0.0)
    return torch.where(top_k[:, None, None] > 0, kept / kept.sum(-1, keepdim=True), probs)


def keep_min_p(probs: Tensor, min_p: Tensor) -> Tensor:
    """Keep tokens at least ``min_p`` times as likely as the likeliest; 0 is off."""
    p = min_p[:, None, None]
    kept = probs.masked_fill(probs < p * probs.amax(-1, keepdim=True), 0.0)
    return torch.where(p > 0, kept / kept.sum(-1, keepdim=True), probs)


def probabilities(logits: Tensor, settings: RowSampling, use: SamplerUse) -> Tensor:
    """Penalised logits [rows, codebooks, vocabulary] -> the distribution a token is drawn from."""
    temperature = settings.temperature[:, None, None]
    # Rows at temperature 0 take the arg-max elsewhere; 1 keeps their numbers finite here.
    probs = (logits / torch.where(temperature > 0, temperature, 1.0)).softmax(-1)
    if use.unified:
        probs = unified(probs, settings.linear, settings.conf, settings.quad)
    if use.top_p:
        probs = keep_top_p(probs, settings.top_p)
    if use.top_k:
        probs = keep_top_k(probs, settings.top_k)
    if use.min_p:
        probs = keep_min_p(probs, settings.min_p)
    return probs


def sample(
    logits: Tensor, recent: Tensor, seed: Tensor, step: Tensor, settings: RowSampling, use: SamplerUse
) -> Tensor:
    """Draw one token for every row and codebook.

    Args:
        logits: [rows, codebooks, vocabulary] fp32, forbidden tokens at -inf.
        recent: [rows, codebooks, n] last tokens of the delayed grid, newest last.
        seed: [rows] int64. step: [rows] int64. Together with the codebook and the token they
            decide the noise; the slot and the neighbours do not.
        settings: per-row settings.
        use: which parts any row needs.

    Returns:
        [rows, codebooks] int64.
    """
    if use.window:
        recent = recent[..., recent.shape[-1] - use.window :]
        logits = penalise_repetition(logits, recent, settings.repetition_window, settings.repetition_penalty)
    if not use.drawn:
        return logits.argmax(-1)
    probs = probabilities(logits, settings, use)
    drawn = (probs / exponential_noise(seed, step, logits.shape[1], logits.shape[2])).argmax(-1)
    if not use.greedy:
        return drawn
    return torch.where(settings.temperature[:, None] > 0, drawn, logits.argmax(-1))


def exponential_noise(seed: Tensor, step: Tensor, codebooks: int, vocabulary: int) -> Tensor:
    """Exponential(1) noise as a counter hash of (seed, step, codebook, token).

    ``argmax(p / noise)`` draws from p. One batched kernel, no generator state.

    Returns:
        [rows, codebooks, vocabulary] fp32, strictly positive.
    """
    codebook = torch.arange(codebooks, device=seed.device)
    cell = mix64(mix64(seed)[:, None] + step[:, None] * _GOLDEN + codebook * _ODD)  # [rows, codebooks]
    token = torch.arange(vocabulary, device=seed.device, dtype=torch.int32)
    bits = mix32(token * _GOLDEN32 ^ low32(cell)[..., None], low32(cell >> 32)[..., None])
    # 23 bits, centred: never 0 and never 1, so the logarithm is finite and negative.
    uniform = ((bits >> 9) & 0x7FFFFF).float().add_(0.5).mul_(2.0**-23)
    return uniform.log_().neg_()


# Odd constants: the golden ratio's fraction in 64 and 32 bits (as signed integers), and a prime.
_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
_GOLDEN32 = 0x9E3779B9 - (1 << 32)
_ODD = 0x632BE59BD9B4E019


def low32(x: Tensor) -> Tensor:
    """Low 32 bits of int64 as int32, wrapping."""
    return (((x & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000).to(torch.int32)


def mix64(x: Tensor) -> Tensor:
    """Finaliser of SplitMix64 (Steele, Lea, Flood 2014) on int64 with wrap-around."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * (0xBF58476D1CE4E5B9 - (1 << 64))
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * (0x94D049BB133111EB - (1 << 64))
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


def mix32(x: Tensor, key: Tensor) -> Tensor:
    """Two multiply-xorshift rounds on int32 with a second key between them (Wellons' lowbias32)."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    x = (x ^ ((x >> 15) & 0x1FFFF)) * (0x846CA68B - (1 << 32)) + key
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    return x ^ ((x >> 15) & 0x1FFFF)
