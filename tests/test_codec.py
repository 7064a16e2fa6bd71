"""What every codec must keep: golden numbers, chunked equals whole, codes that cannot sound refused."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from zonos.codec import Codec, chunk_grid, frame_rate_of, load_codec
from zonos.errors import CheckpointError

DATA = Path(__file__).parent / "data"
MINI = Path(__file__).parents[1] / "zonos" / "checkpoints" / "mini"

Sizes = Callable[[], Iterator[int]]
PUSHES: dict[str, Sizes] = {
    "frame by frame": lambda: itertools.repeat(1),
    "all at once": lambda: itertools.repeat(10_000),
    "sevens": lambda: itertools.repeat(7),
    "uneven, some empty": lambda: itertools.cycle([0, 3, 31, 1, 0, 90]),
}


def dac() -> Codec:
    return load_codec(
        json.loads((DATA / "dac/config.json").read_text()), load_file(DATA / "dac/model.safetensors")
    )


def mini() -> Codec:
    return load_codec(json.loads((MINI / "codec.json").read_text()), load_file(MINI / "codec.safetensors"))


@pytest.fixture(scope="module", params=[dac, mini], ids=["dac", "mini"])
def codec(request: pytest.FixtureRequest) -> Codec:
    return request.param()


def some_codes(codec: Codec, frames: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, codec.codebook_size, (codec.n_codebooks, frames), generator=generator)


def streamed(codec: Codec, codes: torch.Tensor, sizes: Iterator[int], seed: int = 5) -> list[torch.Tensor]:
    stream, done, pieces = codec.stream(seed), 0, []
    while done < codes.shape[1]:
        size = next(sizes)
        done += size
        pieces.append(stream.push(codes[:, done - size : done], final=done >= codes.shape[1]))
    return pieces


def test_the_grid_is_fixed_from_the_first_frame() -> None:
    ranges = list(itertools.islice(chunk_grid(), 6))
    assert ranges == [(0, 8), (8, 24), (24, 56), (56, 120), (120, 184), (184, 248)]


@pytest.mark.parametrize("frames", [1, 8, 9, 23, 60, 131])
def test_chunked_equals_whole_whatever_the_pushes(codec: Codec, frames: int) -> None:
    codes = some_codes(codec, frames)
    whole = codec.decode(codes, seed=5)
    assert whole.shape == (frames * codec.hop,)
    assert whole.dtype == torch.float32
    results = [torch.cat(streamed(codec, codes, sizes())) for sizes in PUSHES.values()]
    for samples in results:
        assert torch.equal(samples, results[0])
    torch.testing.assert_close(results[0], whole, atol=1e-5, rtol=0)


def test_a_stream_gives_each_chunk_as_soon_as_its_context_is_there(codec: Codec) -> None:
    pieces = streamed(codec, some_codes(codec, 40), itertools.repeat(1))
    spoken = [index + 1 for index, piece in enumerate(pieces) if len(piece)]
    assert spoken == [8 + codec.context, 24 + codec.context, 40]
    assert [len(pieces[index - 1]) // codec.hop for index in spoken] == [8, 16, 16]


def test_final_may_come_without_codes(codec: Codec) -> None:
    codes = some_codes(codec, 30)
    stream = codec.stream(5)
    first, rest = stream.push(codes), stream.push(codes[:, :0], final=True)
    torch.testing.assert_close(torch.cat([first, rest]), codec.decode(codes, seed=5), atol=1e-5, rtol=0)


def test_a_finished_stream_takes_nothing_more(codec: Codec) -> None:
    stream = codec.stream()
    stream.push(some_codes(codec, 3), final=True)
    with pytest.raises(ValueError, match="final"):
        stream.push(some_codes(codec, 1))


def test_no_codes_no_sound(codec: Codec) -> None:
    empty = some_codes(codec, 0)
    assert codec.decode(empty).shape == (0,)
    assert codec.stream().push(empty, final=True).shape == (0,)
    assert codec.encode(torch.zeros(1, 0)).shape == (codec.n_codebooks, 0)


@pytest.mark.parametrize("bad", [-1, "size", "size + 1"], ids=["negative", "EOS", "MASK"])
def test_codes_outside_the_codebook_are_never_decoded(codec: Codec, bad: int | str) -> None:
    value = bad if isinstance(bad, int) else codec.codebook_size + (bad == "size + 1")
    codes = some_codes(codec, 20)
    codes[codec.n_codebooks - 1, 11] = value
    with pytest.raises(ValueError, match="codes must be 0 to"):
        codec.decode(codes)
    with pytest.raises(ValueError, match="codes must be 0 to"):
        codec.stream().push(codes)


def test_misshapen_codes_are_refused(codec: Codec) -> None:
    codes = some_codes(codec, 4)
    for wrong in (codes[:-1], codes[None], codes[0]):
        with pytest.raises(ValueError, match="codes must be"):
            codec.decode(wrong)
    with pytest.raises(ValueError, match="integers"):
        codec.decode(codes.float())


@pytest.mark.parametrize("samples", [1, 100, "hop", "hop + 1"])
def test_clips_are_padded_to_whole_frames(codec: Codec, samples: int | str) -> None:
    count = samples if isinstance(samples, int) else codec.hop + (samples == "hop + 1")
    codes = codec.encode(torch.randn(1, count, generator=torch.Generator().manual_seed(1)) * 0.1)
    assert codes.shape == (codec.n_codebooks, -(-count // codec.hop))
    assert codes.dtype == torch.int64
    assert not codes.is_inference()  # callers write into them
    sound = codec.decode(codes)
    assert sound.isfinite().all()
    assert not sound.is_inference()


def test_encode_refuses_stereo(codec: Codec) -> None:
    with pytest.raises(ValueError, match=r"\[1, samples\]"):
        codec.encode(torch.zeros(2, 5000))


def test_decoding_between_other_lines_changes_nothing(codec: Codec) -> None:
    codes, other = some_codes(codec, 90), some_codes(codec, 90, seed=9)
    alone = codec.decode(codes, seed=3)
    mine, theirs = codec.stream(3), codec.stream(4)
    pieces = []
    for start in range(0, 90, 10):
        theirs.push(other[:, start : start + 10], final=start == 80)
        pieces.append(mine.push(codes[:, start : start + 10], final=start == 80))
    torch.testing.assert_close(torch.cat(pieces), alone, atol=1e-5, rtol=0)


def test_the_frame_rate_is_known_without_weights() -> None:
    assert frame_rate_of(json.loads((DATA / "dac/config.json").read_text())) == dac().frame_rate
    assert frame_rate_of(json.loads((MINI / "codec.json").read_text())) == mini().frame_rate
    with pytest.raises(CheckpointError, match="encodec"):
        frame_rate_of({"model_type": "encodec"})


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(CheckpointError, match="encodec"):
        load_codec({"model_type": "encodec"}, {})


def test_weights_that_do_not_fit_are_refused(codec: Codec) -> None:
    name = "dac/config.json" if codec.context == 10 else None
    config = json.loads(((DATA / name) if name else (MINI / "codec.json")).read_text())
    with pytest.raises(CheckpointError, match="do not fit"):
        load_codec(config, {"dec_in.bias": torch.zeros(3)})
