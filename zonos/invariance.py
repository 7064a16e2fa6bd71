"""Whether a row's matrix product depends on how many other rows there are, and how to prevent it.

Libraries pick another kernel for few rows than for many, and its sums differ in the last bits. Most
give every row the same bits as long as the number of rows is a multiple of some small number. That
number is found by trying, on the checkpoint's own weights and with the threads in use.
"""

from __future__ import annotations

import logging

import torch
import torch.nn.functional as F
from torch import Tensor

from zonos.model import Zonos

log = logging.getLogger(__name__)

QUANTA = (1, 2, 4, 8, 16, 32)
MOST_ROWS = 64  # tried up to here: kernels do not change beyond


def lane_quantum(model: Zonos) -> int:
    """Smallest number of lanes whose multiples all give a row the same bits.

    1 where that is not promised: only fp32 on the CPU is.
    """
    if model.device.type != "cpu" or model.dtype != torch.float32:
        return 1
    weights = _weights(model)
    for quantum in QUANTA:
        if all(same_bits(weight, quantum) for weight in weights):
            return quantum
    log.warning(
        "this machine's matrix products depend on the number of rows; results may vary with the batch"
    )
    return QUANTA[-1]


@torch.inference_mode()
def same_bits(weight: Tensor, quantum: int) -> bool:
    """Whether ``x @ weight.T`` gives each row the same bits for every multiple of ``quantum`` rows."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(MOST_ROWS, weight.shape[1], generator=generator)
    whole = F.linear(x, weight)
    # Fewest rows first: that is where kernels differ.
    return all(
        torch.equal(F.linear(x[:rows], weight), whole[:rows]) for rows in range(quantum, MOST_ROWS, quantum)
    )


def _weights(model: Zonos) -> list[Tensor]:
    """One matrix of each shape that a decode step multiplies with."""
    found: dict[torch.Size, Tensor] = {}
    for name, parameter in model.backbone.named_parameters():
        if parameter.ndim == 2 and name.endswith("weight"):
            found.setdefault(parameter.shape, parameter)
    # The fused heads are one product in a step; one codebook's share of it is enough to try.
    head = model.heads[0].weight
    assert isinstance(head, Tensor)
    return [*found.values(), head]
