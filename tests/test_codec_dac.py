"""The published codec against numbers made by transformers' DacModel."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from zonos.codec import load_codec
from zonos.codec.dac import BLOCK, DacCodec, dac_key, decoder_context

DATA = Path(__file__).parent / "data/dac"


@pytest.fixture(scope="module")
def codec() -> DacCodec:
    made = load_codec(json.loads((DATA / "config.json").read_text()), load_file(DATA / "model.safetensors"))
    assert isinstance(made, DacCodec)
    return made


@pytest.fixture(scope="module")
def golden() -> dict[str, torch.Tensor]:
    return load_file(DATA / "cases.safetensors")


@pytest.mark.parametrize("row", [0, 1])
def test_golden_codes_and_audio(codec: DacCodec, golden: dict[str, torch.Tensor], row: int) -> None:
    assert torch.equal(codec.encode(golden["wav"][row]), golden["codes"][row])
    for codes, audio in (("codes", "decoded"), ("random_codes", "decoded_random")):
        torch.testing.assert_close(codec.decode(golden[codes][row]), golden[audio][row], atol=1e-6, rtol=0)


def test_sizes_come_from_the_config(codec: DacCodec) -> None:
    config = json.loads((DATA / "config.json").read_text())
    assert codec.sample_rate == config["sampling_rate"]
    assert codec.hop == config["hop_length"]
    assert codec.frame_rate == pytest.approx(config["sampling_rate"] / config["hop_length"])


def test_weight_norm_is_folded(codec: DacCodec) -> None:
    assert not [name for name, _ in codec.model.named_parameters() if name.endswith(("weight_g", "weight_v"))]
    assert not any(parameter.requires_grad for parameter in codec.model.parameters())


def test_context_covers_the_decoders_reach(codec: DacCodec) -> None:
    """Gradient of one frame's samples: no frame beyond the context may matter, the nearest ones do."""
    frames, middle = 41, 20
    latent = torch.randn(1, codec.model.latent_dim, frames, generator=torch.Generator().manual_seed(0))
    latent.requires_grad_()
    sound = codec.model.decode(latent)[0, 0]
    sound[middle * codec.hop : (middle + 1) * codec.hop].abs().sum().backward()
    assert latent.grad is not None
    reached = latent.grad[0].abs().sum(0).nonzero()[:, 0]
    assert middle - int(reached.min()) <= codec.context
    assert int(reached.max()) - middle <= codec.context
    assert int(reached.max()) - int(reached.min()) >= 2 * (codec.context - 1)


def test_context_of_other_strides() -> None:
    assert decoder_context([8, 8, 4, 2]) == 10
    assert decoder_context([2]) > decoder_context([8])


def test_a_line_longer_than_a_block_has_no_seam(codec: DacCodec) -> None:
    generator = torch.Generator().manual_seed(2)
    codes = torch.randint(0, codec.codebook_size, (codec.n_codebooks, BLOCK + 30), generator=generator)
    with torch.inference_mode():
        latent = codec.model.quantizer.from_codes(codes[None])[0]
        whole = codec.model.decode(latent)[0, 0]
    torch.testing.assert_close(codec.decode(codes), whole, atol=1e-6, rtol=0)


def test_bf16_weights_give_float_samples() -> None:
    config = json.loads((DATA / "config.json").read_text())
    made = load_codec(config, load_file(DATA / "model.safetensors"), dtype=torch.bfloat16)
    sound = made.decode(torch.zeros(made.n_codebooks, 5, dtype=torch.int64))
    assert sound.dtype == torch.float32
    assert sound.isfinite().all()


def test_a_foreign_key_is_no_dac_key() -> None:
    assert dac_key("decoder.conv2.weight", 4) == "decoder.model.6.weight"
    with pytest.raises(KeyError):
        dac_key("backbone.layers.0.norm.weight", 4)
