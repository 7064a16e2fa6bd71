"""Linear layers in the order that the processor multiplies in: bf16 on the CPU.

torch's own bf16 product lays the weights out anew at every call, which costs most where few rows share
it. What it is worth by rows: ``python -m benchmarks packed``, docs/performance.md.
"""

from __future__ import annotations

import logging

import torch
from torch import Tensor, nn

from zonos.mamba2 import Mamba2
from zonos.model import Zonos

log = logging.getLogger(__name__)

_USUAL_ROWS = 32  # that the layout is chosen for; any number may come


class PackedLinear(nn.Module):
    """A linear layer whose weights are laid out for oneDNN; it cannot be trained or saved.

    Args:
        linear: bf16, on the CPU.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        # Not a buffer: the layout is opaque, so that no state dict could hold it.
        self._packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), _USUAL_ROWS)
        self._bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """x [n, inputs] -> [n, outputs]."""
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self._bias, "none", [], "")
        return y


def pack(model: Zonos) -> Zonos:
    """Replace the linear layers of attention and MLPs of a bf16 model on the CPU; others stay as they are.

    One at a time, so that no two copies of the weights pile up. Where this build of torch has no such
    product, nothing is replaced.
    """
    if model.device.type != "cpu" or model.dtype != torch.bfloat16 or not works():
        return model
    for module in list(model.backbone.modules()):
        for name in ("in_proj", "out_proj", "fc1", "fc2"):
            child = module._modules.get(name)
            # Mamba2 takes its weights by hand.
            if isinstance(child, nn.Linear) and not isinstance(module, Mamba2):
                setattr(module, name, PackedLinear(child))
    return model


@torch.inference_mode()
def works() -> bool:
    """Try it: the operators are torch's own, but not promised to stay."""
    linear = nn.Linear(64, 32, bias=False).bfloat16()
    x = torch.ones(3, 64, dtype=torch.bfloat16)
    try:
        packed = PackedLinear(linear)(x)
    except (AttributeError, RuntimeError, NotImplementedError) as error:
        log.info("bf16 weights stay as they are: %s", str(error).splitlines()[0])
        return False
    return torch.allclose(packed, linear(x), atol=0.05, rtol=0.05)
