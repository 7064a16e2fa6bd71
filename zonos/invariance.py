"""Whether a row's matrix product depends on how many other rows there are, and how to prevent it.

Libraries pick another kernel for few rows than for many, and its sums differ in the last bits. Most
give every row the same bits as long as the number of rows is a multiple of some small number. That
number is found by trying, on the checkpoint's own weights and with the threads in use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import torch
from torch import Tensor, nn

from zonos.model import Zonos
from zonos.packed import PackedLinear

log = logging.getLogger(__name__)

QUANTA = (1, 2, 4, 8, 16, 32)
Product = Callable[[Tensor], Tensor]
MOST_ROWS = 64  # tried up to here: kernels do not change beyond


def lane_quantum(model: Zonos) -> int:
    """Smallest number of lanes whose multiples all give a row the same bits.

    1 where that is not promised: only fp32 on the CPU is.
    """
    if model.device.type != "cpu" or model.dtype != torch.float32:
        return 1
    products = _products(model)
    for quantum in QUANTA:
        if all(same_bits(product, width, quantum) for product, width in products):
            return quantum
    log.warning(
        "this machine's matrix products depend on the number of rows; results may vary with the batch"
    )
    return QUANTA[-1]


@torch.inference_mode()
def same_bits(product: Product, width: int, quantum: int) -> bool:
    """Whether ``product`` of x [rows, width] gives each row the same bits for every multiple of ``quantum`` rows."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(MOST_ROWS, width, generator=generator)
    whole = product(x)
    # Fewest rows first: that is where kernels differ.
    return all(torch.equal(product(x[:rows]), whole[:rows]) for rows in range(quantum, MOST_ROWS, quantum))


def _products(model: Zonos) -> list[tuple[Product, int]]:
    """One product of each kind and shape that a decode step makes, and the width of what goes in."""
    found: dict[tuple[type, int, int], tuple[Product, int]] = {}
    for module in model.backbone.modules():
        if isinstance(module, nn.Linear | PackedLinear):
            kind = (type(module), module.out_features, module.in_features)
            found.setdefault(kind, (module, module.in_features))
    return [*found.values(), (model.logits, model.config.backbone.d_model)]
