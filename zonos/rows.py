"""One row of the batch: what it was asked to do, and its state on the device."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from zonos.codebooks import delay, fill_frame, prefix_cells
from zonos.sampler_settings import SamplerSettings
from zonos.sampling import RowSampling

RECENT = 64  # longest repetition window


@dataclass(eq=False)  # a plan is itself, whatever its tensors hold
class RowPlan:
    """A row to admit, and where it is once admitted.

    Args:
        prefixes: prefix embeddings [tokens, d_model]: conditioned and, with guidance, unconditioned.
        audio_prefix: codes [codebooks, P] int64 on the device, P may be 0.
        limit: most new frames.
        seed: of the row's noise.
        sampling: settings.
    """

    prefixes: tuple[Tensor, ...]
    audio_prefix: Tensor
    limit: int
    seed: int
    sampling: SamplerSettings
    lane_ids: list[int] = field(default_factory=list)
    position: int = 0  # of the next token; the host's mirror

    @property
    def lanes(self) -> int:
        """1, or 2 with guidance."""
        return len(self.prefixes)

    @property
    def prefill_tokens(self) -> int:
        """Tokens before the first decode step, in each lane."""
        return self.prefixes[0].shape[0] + self.audio_prefix.shape[1]


@dataclass
class RowTensors:
    """State of all rows, one entry a slot; one slot more, for lanes without a row."""

    frame: Tensor  # [slots, codebooks] delayed frame that the next step takes in
    position: Tensor  # [slots] where its keys go
    step: Tensor  # [slots] steps sampled
    limit: Tensor  # [slots]
    eos_step: Tensor  # [slots], -1 = none yet
    prefix: Tensor  # [slots, codebooks, codebooks] cells that the audio prefix decides
    recent: Tensor  # [slots, codebooks, RECENT] delayed grid, newest last
    codes: Tensor  # [slots, codebooks, frames + 1] int16 output; the last column takes what is none
    seed: Tensor  # [slots]
    done: Tensor  # [slots] bool
    broken: Tensor  # [slots] bool
    repeats: Tensor  # [slots] times the last frame came in a row
    cfg_scale: Tensor  # [slots], and so on: one tensor a setting
    temperature: Tensor
    top_p: Tensor
    top_k: Tensor
    min_p: Tensor
    linear: Tensor
    conf: Tensor
    quad: Tensor
    repetition_penalty: Tensor
    repetition_window: Tensor

    @classmethod
    def empty(cls, slots: int, codebooks: int, mask_id: int, device: torch.device) -> RowTensors:
        """Buffers for ``slots`` rows; ``codes`` grows with the longest row admitted."""
        n = slots + 1

        def whole(value: int, *shape: int) -> Tensor:
            return torch.full((n, *shape), value, dtype=torch.int64, device=device)

        def number() -> Tensor:
            return torch.ones(n, device=device)

        return cls(
            frame=whole(mask_id, codebooks),
            position=whole(0),
            step=whole(0),
            limit=whole(0),
            eos_step=whole(-1),
            prefix=whole(mask_id, codebooks, codebooks),
            recent=whole(mask_id, codebooks, RECENT),
            codes=torch.zeros(n, codebooks, 1, dtype=torch.int16, device=device),
            seed=whole(0),
            done=torch.ones(n, dtype=torch.bool, device=device),  # nobody lives here yet
            broken=torch.zeros(n, dtype=torch.bool, device=device),
            repeats=whole(0),
            cfg_scale=number(),
            temperature=number(),
            top_p=number(),
            top_k=whole(0),
            min_p=number(),
            linear=number(),
            conf=number(),
            quad=number(),
            repetition_penalty=number(),
            repetition_window=whole(0),
        )

    def admit(self, row: int, plan: RowPlan, mask_id: int) -> None:
        """Write a new row's state."""
        self._fit_codes(plan.limit)
        delayed = delay(plan.audio_prefix, mask_id)[:, : plan.audio_prefix.shape[1] + 1]
        self.frame[row] = delayed[:, -1]
        self.recent[row] = mask_id
        newest = delayed[:, -RECENT:]
        self.recent[row, :, RECENT - newest.shape[1] :] = newest
        self.prefix[row] = prefix_cells(plan.audio_prefix.cpu(), mask_id).to(self.prefix.device)
        self.codes[row] = 0
        start = {
            "position": plan.prefill_tokens,
            "step": 0,
            "limit": plan.limit,
            "eos_step": -1,
            "seed": plan.seed,
            "done": False,
            "broken": False,
            "repeats": 0,
        }
        for name, value in {**start, **vars(plan.sampling)}.items():
            getattr(self, name)[row] = value

    def _fit_codes(self, frames: int) -> None:
        width = self.codes.shape[2] - 1
        if frames > width:
            wider = self.codes.new_zeros(*self.codes.shape[:2], max(frames, 2 * width) + 1)
            wider[..., :width] = self.codes[..., :width]
            self.codes = wider

    def sampling(self, n: int) -> RowSampling:
        """Settings of the first ``n`` rows."""
        return RowSampling(
            temperature=self.temperature[:n],
            top_p=self.top_p[:n],
            top_k=self.top_k[:n],
            min_p=self.min_p[:n],
            linear=self.linear[:n],
            conf=self.conf[:n],
            quad=self.quad[:n],
            repetition_penalty=self.repetition_penalty[:n],
            repetition_window=self.repetition_window[:n],
        )

    def move(self, source: int, target: int) -> None:
        """Copy a row's whole state."""
        for tensor in vars(self).values():
            tensor[target] = tensor[source]

    def advance(self, n: int, token: Tensor, broken: Tensor, eos_id: int, mask_id: int) -> None:
        """Take in one sampled token per row and codebook; rows that are done stand still.

        Args:
            n: live rows.
            token: [n, codebooks].
            broken: [n] bool, logits were not finite.
        """
        step, done = self.step[:n], self.done[:n]
        cells = fill_frame(token, step, self.limit[:n], self.eos_step[:n], self.prefix[:n], eos_id, mask_id)
        going = ~done
        self.broken[:n] |= broken & going
        width = self.codes.shape[2] - 1
        keep = cells.is_code & going[:, None]
        column = torch.where(keep, cells.code_index, width)
        self.codes[:n].scatter_(2, column[..., None], cells.frame[..., None].to(torch.int16))
        same = (cells.frame == self.frame[:n]).all(1)
        self.repeats[:n] = torch.where(same, self.repeats[:n] + 1, 0)
        self.frame[:n] = torch.where(done[:, None], self.frame[:n], cells.frame)
        shifted = torch.cat([self.recent[:n, :, 1:], cells.frame[..., None]], dim=-1)
        self.recent[:n] = torch.where(done[:, None, None], self.recent[:n], shifted)
        self.eos_step[:n] = torch.where(done, self.eos_step[:n], cells.eos_step)
        self.position[:n] += going
        self.step[:n] += going
        self.done[:n] |= cells.done | self.broken[:n]
