"""The delay pattern, and what each cell of the next frame must be.

Codebook k lags k + 1 frames behind: the code of frame t stands at delayed frame t + k + 1, the
holes are MASK. A row's *step* s counts frames sampled since its audio prefix of P frames ended;
step s fills delayed frame P + 1 + s, so codebook k gets the code of new frame s - k.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def delay(codes: Tensor, mask_id: int) -> Tensor:
    """Codes [codebooks, frames] -> delayed [codebooks, frames + codebooks], holes = ``mask_id``."""
    n, frames = codes.shape
    delayed = codes.new_full((n, frames + n), mask_id)
    for k in range(n):
        delayed[k, k + 1 : k + 1 + frames] = codes[k]
    return delayed


def undelay(delayed: Tensor) -> Tensor:
    """Inverse of :func:`delay`."""
    n, width = delayed.shape
    return torch.stack([delayed[k, k + 1 : width - n + k + 1] for k in range(n)])


def prefix_cells(audio_prefix: Tensor, mask_id: int) -> Tensor:
    """Cells that the audio prefix still decides after the prefill.

    Args:
        audio_prefix: codes [codebooks, P], P may be 0.
        mask_id: the MASK token.

    Returns:
        [codebooks (step), codebooks]: at step s, codebook k > s holds frame P + s - k of the
        prefix, or MASK where there is none; entries with k <= s are not used.
    """
    n, frames = audio_prefix.shape
    cells = audio_prefix.new_full((n, n), mask_id)
    for step in range(n):
        for k in range(step + 1, n):
            frame = frames + step - k
            if frame >= 0:
                cells[step, k] = audio_prefix[k, frame]
    return cells


@dataclass(frozen=True)
class Cells:
    """The next frame and what it means for each row."""

    frame: Tensor  # [rows, codebooks] the whole next delayed frame
    eos_step: Tensor  # [rows] step at which codebook 0 said EOS, or -1
    code_index: Tensor  # [rows, codebooks] new frame index of each cell
    is_code: Tensor  # [rows, codebooks] bool: the cell is a code of the output
    done: Tensor  # [rows] bool: every code of the output is there


def fill_frame(
    sampled: Tensor, step: Tensor, limit: Tensor, eos_step: Tensor, prefix: Tensor, eos_id: int, mask_id: int
) -> Cells:
    """Put sampled tokens where they belong and force the others. Static shapes, no host sync.

    Args:
        sampled: [rows, codebooks] one token for every cell, used or not.
        step: [rows] step s of each row.
        limit: [rows] most new frames.
        eos_step: [rows] earlier EOS step, or -1.
        prefix: [rows, codebooks, codebooks] from :func:`prefix_cells`.
        eos_id: EOS, only from codebook 0.
        mask_id: MASK.
    """
    n = sampled.shape[1]
    k = torch.arange(n, device=sampled.device)
    index = step[:, None] - k  # [rows, codebooks]
    # Clamped index: rows past their first n steps no longer use the prefix.
    forced = prefix.gather(1, step.clamp(max=n - 1)[:, None, None].expand(-1, 1, n))[:, 0]
    frame = torch.where(index < 0, forced, sampled)
    frame = torch.where(index >= limit[:, None], mask_id, frame)
    says_eos = (eos_step < 0) & (frame[:, 0] == eos_id)
    eos_step = torch.where(says_eos, step, eos_step)
    # After EOS at step e, step e + j has MASK below codebook j and EOS in it.
    behind = (step - eos_step)[:, None] - k
    ending = (eos_step >= 0)[:, None] & (index >= 0)
    frame = torch.where(ending & (behind > 0), mask_id, frame)
    frame = torch.where(ending & (behind == 0), eos_id, frame)
    last = torch.where(eos_step >= 0, torch.minimum(eos_step, limit), limit)  # frames of the output
    is_code = (index >= 0) & (index < last[:, None])
    done = step >= last + n - 2
    return Cells(frame, eos_step, index, is_code, done)
