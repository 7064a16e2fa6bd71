"""bf16 on the CPU: packed layers say what plain ones say, and nothing else is packed."""

from __future__ import annotations

import pytest
import torch
from engines import VOICES
from torch import nn

import zonos
from zonos import packed
from zonos.events import Done
from zonos.packed import PackedLinear
from zonos.pipeline import load_pipeline

needs_packing = pytest.mark.skipif(not packed.works(), reason="no packed bf16 product in this torch build")


def count(model: nn.Module) -> int:
    return sum(isinstance(module, PackedLinear) for module in model.modules())


@needs_packing
@pytest.mark.parametrize("rows", [1, 2, 7, 32, 200])
@pytest.mark.parametrize("bias", [False, True])
def test_a_packed_layer_is_the_same_layer(rows: int, bias: bool) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(96, 160, bias=bias).bfloat16()
    x = torch.randn(rows, 96).bfloat16()
    with torch.inference_mode():
        torch.testing.assert_close(PackedLinear(linear)(x), linear(x), atol=0.02, rtol=0.02)


@needs_packing
def test_every_layer_of_a_bf16_model_is_packed_and_it_speaks() -> None:
    with zonos.load("mini", dtype="bfloat16", device="cpu", voices=VOICES) as engine:
        model = engine.pipeline.model
        assert count(model) == 4 * model.config.backbone.n_layer
        line = zonos.Line(text="Yes, of course.", voice="Heart", seed=1)
        (end,) = [event for event in engine.submit([line]) if isinstance(event, Done)]
    assert 0.4 < end.speech.seconds < 4


def test_fp32_keeps_its_layers() -> None:
    assert count(load_pipeline("mini", dtype="float32", device="cpu").model) == 0


def test_a_torch_without_the_product_goes_on_with_plain_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(linear: nn.Linear) -> PackedLinear:
        raise NotImplementedError("no such operator")

    monkeypatch.setattr(packed, "PackedLinear", gone)
    model = load_pipeline("mini", dtype="bfloat16", device="cpu").model
    assert (
        sum(isinstance(m, nn.Linear) for m in model.backbone.modules()) == 4 * model.config.backbone.n_layer
    )
