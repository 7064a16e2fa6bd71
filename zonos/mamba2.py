"""The hybrid's Mamba2 layer: state space duality (Dao and Gu 2024, arXiv 2405.21060) in plain PyTorch.

Per head, with state S [headdim, d_state], a frame t does
``S = exp(dt_t A) S + dt_t x_t B_tᵀ`` and ``y_t = S C_t + D x_t``. ``prefill`` runs whole sequences
in chunks of matrix products, ``step`` one frame of every row in place. Whatever the weights' type,
all between the two projections is fp32: a state lives for thousands of frames.

On the CPU a row's numbers do not depend on how many rows share a call, as long as ``linear`` holds
to that too and ``d_state`` is a multiple of 16. Three things would break it: kernels whose vector
body and scalar tail round differently (``F.silu``, ``F.softplus``; ``exp`` and ``log1p`` do not),
batched matrix products, and products whose operands start off a 64-byte line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zonos.config import BackboneConfig
from zonos.elementwise import silu, softplus

STATE_DTYPE = torch.float32
# The layer's own norm, fixed in the training library: not the config's norm_epsilon.
NORM_EPSILON = 1e-5
# Initial ranges, the published layer's defaults: step sizes log-uniform, decay rates uniform.
_DT_INIT = (1e-3, 1e-1)
_A_INIT = (1.0, 16.0)

Linear = Callable[[Tensor, Tensor], Tensor]
"""``(x [..., in], weight [out, in]) -> [..., out]``."""


def state_shapes(config: BackboneConfig) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """One row's states in one Mamba2 layer, both ``STATE_DTYPE`` and constant in the row's length.

    Returns:
        The convolution's ``(conv_dim, d_conv - 1)``, oldest frame first, and the recurrence's
        ``(heads, headdim, d_state)``.
    """
    ssm = config.ssm_cfg
    d_inner = ssm.expand * config.d_model
    conv_dim = d_inner + 2 * ssm.ngroups * ssm.d_state
    return (conv_dim, ssm.d_conv - 1), (d_inner // ssm.headdim, ssm.headdim, ssm.d_state)


def state_bytes_per_row(config: BackboneConfig) -> int:
    """Bytes that one row's states take over all Mamba2 layers; a guided line has two such rows."""
    layers = config.n_layer - len(config.attn_layer_idx)
    return layers * sum(map(math.prod, state_shapes(config))) * STATE_DTYPE.itemsize


class Mamba2(nn.Module):
    """Mamba2 mixer with the published hybrid's tensor names.

    Args:
        config: backbone shape; ``ssm_cfg`` holds the layer's own.
        linear: the matrix product of both projections, to be swapped for a row-invariant one.
    """

    def __init__(self, config: BackboneConfig, linear: Linear = F.linear) -> None:
        super().__init__()
        ssm = config.ssm_cfg
        self.linear = linear
        (self.conv_dim, _), (self.heads, self.headdim, self.d_state) = state_shapes(config)
        self.groups, self.chunk_size = ssm.ngroups, ssm.chunk_size
        self.d_inner = self.heads * self.headdim
        self.in_proj = nn.Linear(config.d_model, self.d_inner + self.conv_dim + self.heads, bias=False)
        self.conv1d = nn.Conv1d(self.conv_dim, self.conv_dim, ssm.d_conv, groups=self.conv_dim)
        self.dt_bias = nn.Parameter(torch.empty(self.heads))
        self.A_log = nn.Parameter(torch.empty(self.heads))
        self.D = nn.Parameter(torch.ones(self.heads))
        self.norm = nn.RMSNorm(self.d_inner, eps=NORM_EPSILON)
        self.out_proj = nn.Linear(self.d_inner, config.d_model, bias=False)
        self.reset_parameters()

    def exact(self) -> list[str]:
        """Parameters to keep in fp32: all but the two projections.

        A decay rate acts thousands of times over, where bf16's step of 0.4 % adds up, and what is
        computed with them is fp32 anyway, so that fp32 saves a cast of each in every step. In the
        published hybrid this takes 1.8 MB more than bf16.
        """
        return [name for name, _ in self.named_parameters() if not name.endswith("proj.weight")]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw step sizes and decay rates as the published layer does, so that random weights behave."""
        self.A_log.uniform_(*_A_INIT).log_()
        dt = self.dt_bias.uniform_(*map(math.log, _DT_INIT)).exp()
        self.dt_bias.copy_(dt + torch.log(-torch.expm1(-dt)))  # the inverse of softplus

    def prefill(self, x: Tensor, seq_lens: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Run packed sequences from an empty state.

        Args:
            x: ``[tokens, d_model]``, sequences one after another without padding.
            seq_lens: frames of each sequence, 1 or more; they sum to ``tokens``.

        Returns:
            ``y [tokens, d_model]`` and, per sequence and in fp32, its state after the last frame:
            ``conv_state [n, conv_dim, d_conv - 1]``, ``ssm_state [n, heads, headdim, d_state]``.
        """
        z, xbc, dt = self._project(x)
        lens = list(seq_lens)
        # One sequence at a time: the same shapes, hence the same bits, as when it comes alone.
        runs = [self._run_sequence(*parts) for parts in zip(xbc.split(lens), dt.split(lens), strict=True)]
        ys, conv_states, ssm_states = zip(*runs, strict=True)
        return self._output(torch.cat(ys), z, x.dtype), torch.stack(conv_states), torch.stack(ssm_states)

    def step(self, x: Tensor, conv_state: Tensor, ssm_state: Tensor) -> Tensor:
        """Run one frame of every row; static shapes, no host sync.

        Args:
            x: ``[rows, d_model]``.
            conv_state: ``[rows, conv_dim, d_conv - 1]``, moved on in place.
            ssm_state: ``[rows, heads, headdim, d_state]``, moved on in place.

        Returns:
            ``y [rows, d_model]``.
        """
        z, xbc, dt = self._project(x)
        mixed = self._convolve([*conv_state.unbind(-1), xbc])
        conv_state.copy_(torch.cat([conv_state[..., 1:], xbc[..., None]], dim=-1))
        inputs, b, c = self._split_heads(mixed)
        decay = torch.exp(dt * self._decay_rate())
        y = _advance(ssm_state, decay, inputs * dt[..., None], b, c)
        return self._output(y + self._skip(inputs), z, x.dtype)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Gate z ``[tokens, d_inner]``, x|B|C ``[tokens, conv_dim]`` and dt ``[tokens, heads]``, fp32."""
        projected = self.linear(x, self.in_proj.weight).to(STATE_DTYPE)
        z, xbc, dt = projected.split([self.d_inner, self.conv_dim, self.heads], dim=-1)
        return z, xbc, softplus(dt + self.dt_bias.to(STATE_DTYPE))

    def _run_sequence(self, xbc: Tensor, dt: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One sequence: ``y [frames, heads, headdim]`` and both states."""
        frames, history = len(xbc), self.conv1d.kernel_size[0] - 1
        padded = F.pad(xbc, (0, 0, history, 0))  # [history + frames, conv_dim]
        mixed = self._convolve([padded[lag : lag + frames] for lag in range(history + 1)])
        inputs, b, c = self._split_heads(mixed)
        y, ssm_state = chunked_scan(inputs, dt, self._decay_rate(), b, c, self.chunk_size)
        return y + self._skip(inputs), padded[frames:].mT, ssm_state

    def _convolve(self, taps: Sequence[Tensor]) -> Tensor:
        """Causal depthwise convolution and SiLU; ``taps`` are the inputs ``[..., conv_dim]``, oldest first."""
        weights = self.conv1d.weight.to(STATE_DTYPE)[:, 0].unbind(-1)
        assert self.conv1d.bias is not None
        total = self.conv1d.bias.to(STATE_DTYPE)
        for tap, weight in zip(taps, weights, strict=True):
            total = total + tap * weight
        return silu(total)

    def _split_heads(self, mixed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x ``[..., heads, headdim]``, B and C ``[..., groups, d_state]``."""
        width = self.groups * self.d_state
        inputs, b, c = mixed.split([self.d_inner, width, width], dim=-1)
        by_group = (self.groups, self.d_state)
        return (
            inputs.unflatten(-1, (self.heads, self.headdim)),
            b.unflatten(-1, by_group),
            c.unflatten(-1, by_group),
        )

    def _decay_rate(self) -> Tensor:
        return -torch.exp(self.A_log.to(STATE_DTYPE))  # A, [heads]

    def _skip(self, inputs: Tensor) -> Tensor:
        return inputs * self.D.to(STATE_DTYPE)[:, None]

    def _output(self, y: Tensor, z: Tensor, dtype: torch.dtype) -> Tensor:
        """Gate, then RMSNorm within each group, then the output projection."""
        gated = (y.flatten(-2) * silu(z)).unflatten(-1, (self.groups, -1))
        variance = gated.square().mean(dim=-1, keepdim=True)
        normed = (gated / torch.sqrt(variance + NORM_EPSILON)).flatten(-2)
        return self.linear((normed * self.norm.weight.to(STATE_DTYPE)).to(dtype), self.out_proj.weight)


def chunked_scan(
    x: Tensor, dt: Tensor, decay_rate: Tensor, b: Tensor, c: Tensor, chunk_size: int
) -> tuple[Tensor, Tensor]:
    """The recurrence over one sequence from an empty state, without the skip.

    Args:
        x: ``[frames, heads, headdim]``.
        dt: step sizes ``[frames, heads]``.
        decay_rate: A, negative, ``[heads]``.
        b: ``[frames, groups, d_state]``; so is ``c``.
        c: see ``b``.
        chunk_size: frames that one matrix product spans; chunks start at multiples of it.

    Returns:
        ``y [frames, heads, headdim]`` and the last state ``[heads, headdim, d_state]``.
    """
    state = x.new_zeros(*x.shape[1:], b.shape[-1])
    outputs = []
    chunks = (t.split(chunk_size) for t in (x * dt[..., None], dt * decay_rate, b, c))
    for x_dt, log_decay, b_chunk, c_chunk in zip(*chunks, strict=True):
        y, state = _scan_chunk(x_dt, log_decay, b_chunk, c_chunk, state)
        outputs.append(y)
    return torch.cat(outputs), state


def _scan_chunk(
    x_dt: Tensor, log_decay: Tensor, b: Tensor, c: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """One chunk from the ``state`` before it; shapes as in :func:`chunked_scan`, ``log_decay [frames, heads]``."""
    frames, heads, headdim = x_dt.shape
    groups = b.shape[1]
    b, c = b.transpose(0, 1), c.transpose(0, 1)  # [groups, frames, d_state]
    grouped = state.view(groups, -1, state.shape[-1])  # [groups, heads / groups * headdim, d_state]
    log_decay = log_decay.mT.contiguous()  # [heads, frames]

    between = _decay_between(log_decay)  # [heads, from, to]
    scores = torch.bmm(b, c.mT).unflatten(0, (groups, 1))  # [groups, 1, from, to]
    mixing = (between.unflatten(0, (groups, -1)) * scores).flatten(0, 1)
    within = torch.bmm(mixing.mT, x_dt.transpose(0, 1)).transpose(0, 1)  # [frames, heads, headdim]

    since_start = torch.exp(log_decay.cumsum(dim=-1))  # [heads, frames]
    carried = torch.bmm(c, grouped.mT).transpose(0, 1).reshape(frames, heads, headdim)
    y = within + carried * since_start.mT[..., None]

    kept = (x_dt * between[..., -1].mT[..., None]).view(frames, groups, -1).permute(1, 2, 0)
    return y, state * since_start[:, -1, None, None] + torch.bmm(kept, b).view_as(state)


def _decay_between(log_decay: Tensor) -> Tensor:
    """exp of the sums over (from, to], 0 where to < from: ``[heads, frames] -> [heads, from, to]``.

    Each sum starts at its own frame; a difference of two long sums would cancel to nothing after
    a frame that decays hard.
    """
    frames = log_decay.shape[-1]
    sums = log_decay[:, None, :].expand(-1, frames, -1).triu(diagonal=1).cumsum(dim=-1)
    return sums.exp_().triu_()


def _advance(state: Tensor, decay: Tensor, x_dt: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Move ``state [rows, heads, headdim, d_state]`` on by a frame in place; ``y [rows, heads, headdim]``.

    On the CPU row by row: each product then has one shape whatever the batch, and a row's state
    stays in cache over its three passes, several times faster than passes over all rows.
    """
    if state.device.type != "cpu":
        return _advance_rows(state, decay, x_dt, b, c)
    c = c.clone(memory_format=torch.contiguous_format)  # so that each row starts on a 64-byte line
    rows = (slice(row, row + 1) for row in range(len(state)))
    return torch.cat([_advance_rows(state[r], decay[r], x_dt[r], b[r], c[r]) for r in rows])


def _advance_rows(state: Tensor, decay: Tensor, x_dt: Tensor, b: Tensor, c: Tensor) -> Tensor:
    groups = b.shape[1]
    state.mul_(decay[..., None, None])
    grouped = state.unflatten(1, (groups, -1)).flatten(
        2, 3
    )  # [rows, groups, heads / groups * headdim, d_state]
    grouped.addcmul_(x_dt.flatten(1).unflatten(1, (groups, -1))[..., None], b[:, :, None, :])
    y = torch.bmm(grouped.flatten(0, 1), c.flatten(0, 1)[..., None])
    return y.view_as(x_dt)
