"""On the CPU: packed layers say what plain ones say, and nothing else is packed."""

from __future__ import annotations

import weakref

import pytest
import torch
from engines import VOICES
from torch import nn

import zonos
from zonos import packed
from zonos.events import Done
from zonos.packed import PackedLinear
from zonos.pipeline import load_pipeline

DTYPES = ["float32", "bfloat16"]


def needs_packing(name: str) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, name)
    if not packed.works(dtype):
        pytest.skip(f"no packed {name} product in this torch build")
    return dtype


def count(model: nn.Module) -> int:
    return sum(isinstance(module, PackedLinear) for module in model.modules())


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 7, 32, 200])
@pytest.mark.parametrize("bias", [False, True])
def test_a_packed_layer_is_the_same_layer(name: str, rows: int, bias: bool) -> None:
    dtype = needs_packing(name)
    torch.manual_seed(0)
    linear = nn.Linear(96, 160, bias=bias).to(dtype)
    x = torch.randn(rows, 96).to(dtype)
    near = 0.02 if dtype == torch.bfloat16 else 1e-5
    with torch.inference_mode():
        found = PackedLinear(linear.weight, linear.bias)(x)
        torch.testing.assert_close(found, linear(x), atol=near, rtol=near)


@pytest.mark.parametrize("name", DTYPES)
def test_every_layer_and_the_heads_are_packed_and_it_speaks(name: str) -> None:
    needs_packing(name)
    with zonos.load("mini", dtype=name, device="cpu", voices=VOICES) as engine:
        model = engine.pipeline.model
        assert count(model) == 4 * model.config.backbone.n_layer + 1
        line = zonos.Line(text="Yes, of course.", voice="Heart", seed=1)
        (end,) = [event for event in engine.submit([line]) if isinstance(event, Done)]
    assert 0.4 < end.speech.seconds < 4


def test_no_layer_stays_beside_its_packed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_packing("float32")
    kept: list[weakref.ref[torch.Tensor]] = []
    most = 0

    def watched(weight: torch.Tensor, bias: torch.Tensor | None = None) -> PackedLinear:
        nonlocal most
        most = max(most, sum(ref() is not None for ref in kept))
        kept.append(weakref.ref(weight))
        return PackedLinear(weight, bias)

    monkeypatch.setattr(packed, "PackedLinear", watched)
    model = load_pipeline("mini", dtype="float32", device="cpu").model
    assert len(kept) > 4 * model.config.backbone.n_layer
    assert most <= 1


def test_fp16_keeps_its_layers() -> None:
    assert count(load_pipeline("mini", dtype="float16", device="cpu").model) == 0


def test_packing_again_takes_up_changed_heads() -> None:
    needs_packing("float32")
    model = load_pipeline("mini", dtype="float32", device="cpu").model
    hidden = torch.ones(2, model.config.backbone.d_model)
    with torch.inference_mode():
        before = model.logits(hidden)
        model.heads[0].get_parameter("weight").mul_(2)
        assert torch.equal(model.logits(hidden), before)
        after = packed.pack(model).logits(hidden)
    torch.testing.assert_close(after[:, 0], 2 * before[:, 0])
    assert torch.equal(after[:, 1:], before[:, 1:])


def test_a_torch_without_the_product_goes_on_with_plain_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(weight: torch.Tensor, bias: torch.Tensor | None = None) -> PackedLinear:
        raise NotImplementedError("no such operator")

    monkeypatch.setattr(packed, "PackedLinear", gone)
    model = load_pipeline("mini", dtype="bfloat16", device="cpu").model
    assert model.packed_heads is None
    assert (
        sum(isinstance(m, nn.Linear) for m in model.backbone.modules()) == 4 * model.config.backbone.n_layer
    )
