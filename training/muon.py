"""Muon for matrices: momentum made orthogonal by Newton-Schulz steps (Jordan et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonal(matrix: Tensor, iterations: int = 4) -> Tensor:
    """About the nearest matrix with singular values near 1; [rows, columns] in bfloat16."""
    a, b, c = _COEFFICIENTS
    x: Tensor = matrix.bfloat16()
    turned = x.shape[0] > x.shape[1]
    if turned:
        x = x.T
    x = x / (x.norm() + 1e-7)
    for _ in range(iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if turned else x


class Muon(torch.optim.Optimizer):
    """Steps of one size in every direction of a matrix.

    Args:
        parameters: matrices only.
        lr: root mean square of a step is about lr times 0.2.
        momentum: Nesterov momentum.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, momentum: float = 0.95) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every matrix once."""
        for group in self.param_groups:
            for matrix in group["params"]:
                state = self.state[matrix]
                momentum = state.setdefault("momentum", torch.zeros_like(matrix))
                momentum.lerp_(matrix.grad, 1 - group["momentum"])
                direction = orthogonal(matrix.grad.lerp(momentum, group["momentum"]))
                scale = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
                matrix.add_(direction.to(matrix.dtype), alpha=-group["lr"] * scale)
