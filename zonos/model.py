"""The whole network of a checkpoint: prefix conditioner, embeddings, backbone, heads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from zonos.conditioning import PrefixConditioner
from zonos.config import ZonosConfig
from zonos.errors import CheckpointError
from zonos.mamba2 import STATE_DTYPE, Mamba2
from zonos.transformer import Backbone

N_EMBEDDINGS = 1026  # 1024 codes, EOS, MASK
N_LOGITS = 1025  # codes and EOS


class Zonos(nn.Module):
    """Tensor names are the published checkpoints' own.

    Args:
        config: shape of the checkpoint.
    """

    def __init__(self, config: ZonosConfig) -> None:
        super().__init__()
        self.config = config
        d_model = config.backbone.d_model
        self.embeddings = nn.ModuleList(
            nn.Embedding(N_EMBEDDINGS, d_model) for _ in range(config.n_codebooks)
        )
        self.backbone = Backbone(config.backbone)
        self.prefix_conditioner = PrefixConditioner(config.prefix_conditioner, d_model)
        self.heads = nn.ModuleList(
            nn.Linear(d_model, N_LOGITS, bias=False) for _ in range(config.n_codebooks)
        )
        self._fused: tuple[Tensor, Tensor] | None = None
        self.packed_heads: nn.Module | None = None  # the heads' product in another form: see zonos.packed

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.backbone.norm_f.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """Number type of the weights."""
        return self.backbone.norm_f.weight.dtype

    def fuse(self) -> Zonos:
        """Lay the codebooks' embeddings, and their heads, in one tensor each; parameters become views.

        One lookup and one matrix product then serve all codebooks. Heads get a row for MASK, which
        stays zero and is forbidden where logits are masked.
        """
        n, d_model = self.config.n_codebooks, self.config.backbone.d_model
        like = self.backbone.norm_f.weight
        table = like.new_zeros(n, N_EMBEDDINGS, d_model)
        heads = like.new_zeros(n, N_EMBEDDINGS, d_model)
        for k in range(n):
            for module, fused in ((self.embeddings[k], table[k]), (self.heads[k], heads[k, :N_LOGITS])):
                weight = module.get_parameter("weight")
                fused.copy_(weight.detach())
                module.register_parameter("weight", nn.Parameter(fused, requires_grad=False))
        self._fused = (table.view(-1, d_model), heads.view(-1, d_model))
        self.packed_heads = None
        return self

    @property
    def fused_heads(self) -> Tensor:
        """All heads' weights, [codebooks * 1026, d_model]."""
        assert self._fused is not None, "call fuse() after loading"
        return self._fused[1]

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Delayed frames [n, codebooks] -> sum of their embeddings [n, d_model]."""
        assert self._fused is not None, "call fuse() after loading"
        offsets = torch.arange(frames.shape[1], device=frames.device) * N_EMBEDDINGS
        return self._fused[0][frames + offsets].sum(1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden [n, d_model] -> logits [n, codebooks, 1026] fp32; the MASK column is not masked here."""
        if self.packed_heads is None:
            flat = nn.functional.linear(hidden, self.fused_heads)
        else:
            flat = self.packed_heads(hidden)
        return flat.unflatten(-1, (self.config.n_codebooks, N_EMBEDDINGS)).float()


def build(config: ZonosConfig, device: torch.device | str = "meta") -> Zonos:
    """An empty model; on the meta device it costs no memory."""
    with torch.device(device):
        return Zonos(config)


def load_weights(
    model: Zonos,
    tensors: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]],
    device: torch.device,
    dtype: torch.dtype,
) -> Zonos:
    """Fill a model built on the meta device, one tensor at a time, and make it ready to run.

    All take ``dtype``, but for the small parameters of the Mamba2 layers (see ``Mamba2.exact``).

    Raises:
        CheckpointError: names missing, unknown or of another shape, listed.
    """
    wanted = {name: tensor.shape for name, tensor in model.state_dict().items()}
    exact = exact_names(model)
    loaded: dict[str, Tensor] = {}
    problems: list[str] = []
    for name, tensor in tensors.items() if isinstance(tensors, Mapping) else tensors:
        if name not in wanted:
            problems.append(f"{name} is not part of this model")
        elif tensor.shape != wanted[name]:
            problems.append(f"{name} is {list(tensor.shape)}, expected {list(wanted[name])}")
        else:
            loaded[name] = tensor.to(device=device, dtype=STATE_DTYPE if name in exact else dtype)
    problems += [f"{name} is missing" for name in wanted if name not in loaded]
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise CheckpointError("The weights do not fit config.json: " + "; ".join(problems[:5]) + more + ".")
    model.load_state_dict(loaded, assign=True)
    return model.eval().requires_grad_(False).fuse()


def exact_names(model: Zonos) -> set[str]:
    """Parameters that are kept in fp32 whatever the model's number type."""
    return {
        f"{path}.{name}"
        for path, module in model.named_modules()
        if isinstance(module, Mamba2)
        for name in module.exact()
    }
