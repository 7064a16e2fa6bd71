"""The embedded codec against the numbers of the recipe that made it, and what training needs of it.

``data/mini_codec.safetensors`` belongs to the checkpoint in zonos/checkpoints/mini; tests that take
the fixture ``codec`` need new numbers when that is replaced, the others do not.
"""

import json
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file

from zonos.codec import load_codec
from zonos.codec.dsp import Bands, mel_filterbank
from zonos.codec.mini import Excitation, MiniCodec
from zonos.codec.mini_config import MiniCodecConfig

DATA = Path(__file__).parent / "data"
MINI = Path(__file__).parents[1] / "zonos" / "checkpoints" / "mini"
SMALL = MiniCodecConfig(d1=16, d2=24, latent=8, codebook_size=32, harm_bands=12, noise_bands=8)


@pytest.fixture(scope="module")
def codec() -> MiniCodec:
    made = load_codec(json.loads((MINI / "codec.json").read_text()), load_file(MINI / "codec.safetensors"))
    assert isinstance(made, MiniCodec)
    return made


@pytest.fixture(scope="module")
def golden() -> dict[str, torch.Tensor]:
    return load_file(DATA / "mini_codec.safetensors")


def small_codec(config: MiniCodecConfig = SMALL) -> MiniCodec:
    torch.manual_seed(0)
    codec = MiniCodec(config)
    codec.codebooks.normal_()
    return codec


def golden_bands(golden: dict[str, torch.Tensor]) -> Bands:
    return Bands(golden["log_f0"], golden["voicing_logit"], golden["harmonic_bands"], golden["noise_bands"])


def test_golden_encoder(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    latent = codec.encode_latent(codec.features(golden["wav"]))
    torch.testing.assert_close(latent, golden["latent"], atol=1e-4, rtol=0)
    assert torch.equal(codec.encode(golden["wav"]), golden["codes"][0].long())


def test_golden_bands(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    bands = codec.decode_bands(codec.dequantise(golden["codes"].long()))
    for ours, theirs in zip(bands, golden_bands(golden), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=0)


def test_golden_synthesis_needs_no_weights(golden: dict[str, torch.Tensor]) -> None:
    codec = MiniCodec(MiniCodecConfig())
    bands = golden_bands(golden)
    torch.testing.assert_close(bands.f0(), golden["f0"], atol=1e-4, rtol=0)
    quiet = bands._replace(noise=torch.full_like(bands.noise, -12.0))
    silence = torch.zeros(1, bands.log_f0.shape[1], codec.synthesiser.bins, dtype=torch.complex64)
    sound = codec.synthesise(quiet, Excitation(golden["f0"], silence))
    torch.testing.assert_close(sound, golden["harmonic_only"], atol=1e-4, rtol=0)


def test_resynthesis_keeps_the_level(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    sound = codec.decode(golden["codes"][0], seed=1)
    level = sound.square().mean() / golden["wav"].square().mean()
    assert 0.7 < float(level.sqrt()) < 1.4


def test_the_grid_equals_one_pass_over_everything(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    """Phase carried, noise counted, context enough: no chunk shows in the samples."""
    codes = golden["codes"].long().repeat(1, 1, 3)  # [1, K, 240]
    bands = codec.decode_bands(codec.dequantise(codes))
    noise = codec.synthesiser.noise(7, 0, bands.log_f0.shape[1])
    whole = codec.synthesise(bands, Excitation(bands.f0(), noise))[0]
    torch.testing.assert_close(codec.decode(codes[0], seed=7), whole, atol=1e-5, rtol=0)


def test_decode_and_stream_are_the_same_bytes(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    codes = golden["codes"][0].long()
    stream = codec.stream(7)
    pieces = [stream.push(codes[:, i : i + 1], final=i == codes.shape[1] - 1) for i in range(codes.shape[1])]
    assert torch.equal(torch.cat(pieces), codec.decode(codes, seed=7))


def test_the_context_is_needed(codec: MiniCodec, golden: dict[str, torch.Tensor]) -> None:
    codes = golden["codes"][0].long()
    whole = codec.decode(codes)
    codec.context -= 4
    try:
        assert (codec.decode(codes) - whole).abs().max() > 1e-4
    finally:
        codec.context += 4


def test_the_seed_decides_the_noise_and_nothing_else_does(
    codec: MiniCodec, golden: dict[str, torch.Tensor]
) -> None:
    codes = golden["codes"][0].long()
    torch.manual_seed(1)
    first = codec.decode(codes, seed=1)
    torch.manual_seed(2)
    assert torch.equal(first, codec.decode(codes, seed=1))
    assert not torch.equal(first, codec.decode(codes, seed=2))


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1, -1])
def test_noise_is_standard_normal_and_counted(seed: int) -> None:
    codec = MiniCodec(SMALL)
    noise = codec.synthesiser.noise(seed, 0, 2000)[0]
    for part in (noise.real, noise.imag):
        assert abs(float(part.mean())) < 0.005
        assert abs(float(part.std()) - 1) < 0.005
    assert abs(float((noise.real * noise.imag).mean())) < 0.005
    assert abs(float((noise[1:].real * noise[:-1].real).mean())) < 0.005
    assert abs(float((noise[:, 1:].real * noise[:, :-1].imag).mean())) < 0.005
    assert torch.equal(codec.synthesiser.noise(seed, 700, 30)[0], noise[700:730])


def test_neighbouring_seeds_share_no_noise() -> None:
    codec = MiniCodec(SMALL)
    one, two = (codec.synthesiser.noise(seed, 0, 500) for seed in (1, 2))
    assert abs(float((one.real * two.real).mean())) < 0.01


def test_unvoiced_frames_have_no_pulses() -> None:
    codec = MiniCodec(SMALL)
    f0 = torch.zeros(1, 30)
    bands = Bands(f0, f0 - 1, torch.zeros(1, 30, 12), torch.full((1, 30, 8), -12.0))
    silence = torch.zeros(1, 30, codec.synthesiser.bins, dtype=torch.complex64)
    assert codec.synthesise(bands, Excitation(f0, silence)).abs().max() == 0


def test_mel_filters_sum_to_one_and_none_is_empty() -> None:
    bank = mel_filterbank(24000, 1024, 80)
    torch.testing.assert_close(bank.sum(-1), torch.ones(80))
    assert (bank >= 0).all()


def test_every_stage_is_batched_and_trains() -> None:
    codec = small_codec()
    wav = torch.randn(3, 12 * codec.hop) * 0.1
    latent = codec.encode_latent(codec.features(wav))
    assert latent.shape == (3, 12, SMALL.latent)
    bands = codec.decode_bands(latent)
    noise = torch.randn(3, 36, codec.synthesiser.bins, dtype=torch.complex64)
    sound = codec.synthesise(bands, Excitation(torch.full((3, 36), 120.0), noise))
    assert sound.shape == wav.shape
    (sound.square().mean() + bands.log_f0.square().mean() + bands.voicing_logit.square().mean()).backward()
    without = [name for name, p in codec.named_parameters() if p.grad is None or not p.grad.isfinite().all()]
    assert not without
    codes = codec.quantise(latent)
    assert codes.shape == (3, SMALL.n_codebooks, 12)
    assert codec.dequantise(codes).shape == latent.shape


def test_rows_of_a_batch_do_not_mix() -> None:
    codec = small_codec().eval()
    wav = torch.randn(2, 12 * codec.hop) * 0.1
    both = codec.decode_bands(codec.encode_latent(codec.features(wav)))
    alone = codec.decode_bands(codec.encode_latent(codec.features(wav[1:])))
    for batch, single in zip(both, alone, strict=True):
        torch.testing.assert_close(batch[1:], single, atol=1e-5, rtol=0)


def test_deep_codebooks_may_be_constant() -> None:
    config = SMALL.model_copy(update={"real_codebooks": 4, "constant_code": 3})
    codec = small_codec(config).eval()
    assert codec.state_dict()["codebooks"].shape[0] == 4
    codes = codec.encode(torch.randn(1, 20 * codec.hop) * 0.1)
    assert codes.shape == (9, 20)
    assert (codes[4:] == 3).all()
    other = codes.clone()
    other[4:] = 17
    assert torch.equal(codec.decode(codes), codec.decode(other))


@pytest.mark.parametrize("n_codebooks", [1, 4, 12])
def test_any_number_of_codebooks(n_codebooks: int) -> None:
    codec = small_codec(SMALL.model_copy(update={"n_codebooks": n_codebooks})).eval()
    codes = codec.encode(torch.randn(1, 20 * codec.hop) * 0.1)
    assert codes.shape == (n_codebooks, 20)
    assert codec.decode(codes).shape == (20 * codec.hop,)


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_other_strides_stream_exactly(stride: int) -> None:
    codec = small_codec(SMALL.model_copy(update={"stride": stride})).eval()
    codes = torch.randint(0, 32, (9, 90), generator=torch.Generator().manual_seed(1))
    bands = codec.decode_bands(codec.dequantise(codes[None]))
    noise = codec.synthesiser.noise(7, 0, bands.log_f0.shape[1])
    whole = codec.synthesise(bands, Excitation(bands.f0(), noise))[0]
    torch.testing.assert_close(codec.decode(codes, seed=7), whole, atol=2e-5, rtol=0)


def test_a_config_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValidationError, match="within the codebooks"):
        MiniCodecConfig(n_codebooks=4, real_codebooks=5)
    with pytest.raises(ValidationError, match="within the codebooks"):
        MiniCodecConfig(constant_code=1024)


def test_on_apple_silicon_it_stays_on_the_cpu() -> None:
    config = json.loads((MINI / "codec.json").read_text())
    made = load_codec(config, load_file(MINI / "codec.safetensors"), device="mps")
    assert isinstance(made, MiniCodec)
    assert made.codebooks.device.type == "cpu"
