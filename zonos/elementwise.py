"""Elementwise functions whose bits do not depend on an element's place in its tensor.

On the CPU, PyTorch computes the tail of a tensor's silu, sigmoid and softplus with other code than
its body, so a row's bits would depend on how many rows stand before it. ``exp``, ``log1p`` and the
basic operations do not.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def silu(x: Tensor) -> Tensor:
    """``x * sigmoid(x)``."""
    return x / (1 + torch.exp(-x)) if x.device.type == "cpu" else F.silu(x)


def softplus(x: Tensor) -> Tensor:
    """``log(1 + exp(x))``."""
    if x.device.type != "cpu":
        return F.softplus(x)
    return x.clamp_min(0) + torch.log1p(torch.exp(-x.abs()))
