"""Linear layers in the order that the processor multiplies in, on the CPU.

torch's own product lays the weights out anew at every call, which costs most where few rows share it,
and a decode step has few. What it is worth by rows: ``python -m benchmarks packed``, docs/performance.md.
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
        weight: [outputs, inputs], fp32 or bf16, on the CPU.
        bias: [outputs], or None.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        # Not a buffer: the layout is opaque, so that no state dict could hold it.
        self._packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _USUAL_ROWS)
        self._bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """x [n, inputs] -> [n, outputs]."""
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self._bias, "none", [], "")
        return y


def pack(model: Zonos) -> Zonos:
    """Pack the heads, and the linear layers of attention and MLPs, of a model on the CPU.

    One at a time, so that no two copies of the backbone pile up; the heads stay as parameters too, and
    are packed anew when this is called again. Where this build of torch has no such product, nothing
    is packed.
    """
    if model.device.type != "cpu" or not works(model.dtype):
        return model
    # Mamba2 takes its weights by hand. No layer that is replaced may be in this list, or it would stay.
    owners = [m for m in model.backbone.modules() if not isinstance(m, nn.Linear | Mamba2)]
    for module in owners:
        for name in ("in_proj", "out_proj", "fc1", "fc2"):
            child = module._modules.get(name)
            if isinstance(child, nn.Linear):
                setattr(module, name, PackedLinear(child.weight, child.bias))
            del child
    model.packed_heads = PackedLinear(model.fused_heads)
    return model


@torch.inference_mode()
def works(dtype: torch.dtype) -> bool:
    """Try it: the operators are torch's own, but not promised to stay."""
    if dtype not in (torch.float32, torch.bfloat16):
        return False
    weight = torch.linspace(-1, 1, 32 * 64).sin().view(32, 64).to(dtype)
    x = torch.linspace(-2, 1, 3 * 64).cos().view(3, 64).to(dtype)
    try:
        packed = PackedLinear(weight)(x)
    except (AttributeError, RuntimeError, NotImplementedError) as error:
        log.info("weights stay as they are: %s", str(error).splitlines()[0])
        return False
    return torch.allclose(packed, x @ weight.T, atol=0.05, rtol=0.05)
