"""Checkpoints in folders and their tensors. Case: "a local folder as model"."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from fake_hub import FakeHub
from hub_support import BIG, CODEC, MODEL, SMALL, SPEAKER, cache, folder_with, hub, pickled, published
from safetensors.torch import save_file

from zonos.errors import CheckpointError
from zonos.hub import iter_tensors, read_tensors, resolve
from zonos.hub.weights import problem_with, readable_size

__all__ = ["cache", "hub"]


# --- embedded and local -------------------------------------------------------------------------


def test_mini_is_whole_and_needs_no_network() -> None:
    checkpoint = resolve("mini")
    assert checkpoint.name == "mini"
    assert len(checkpoint.weights) == 3
    assert checkpoint.speaker is not None
    assert checkpoint.notes == ()
    assert checkpoint.bytes_on_disk == sum(p.stat().st_size for p in checkpoint.files)
    assert all(path.is_file() for path in checkpoint.files)


def test_a_local_folder_as_model(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "mine")
    checkpoint = resolve(str(folder))
    assert checkpoint.weights == (folder / "model.safetensors",)
    assert checkpoint.codec.weights == (folder / "codec.safetensors",)
    assert checkpoint.generation is None


def test_a_local_folder_in_the_published_layout_with_codec_and_speaker_beside(tmp_path: Path) -> None:
    folder = tmp_path / "zonos"
    for name, content in published()[MODEL].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for sub, repository in (("dac_44khz", CODEC), ("speaker", SPEAKER)):
        (folder / sub).mkdir()
        for name, content in published()[repository].items():
            (folder / sub / name).write_bytes(content)
    checkpoint = resolve(str(folder))
    assert checkpoint.codec.weights == (folder / "dac_44khz" / "model.safetensors",)
    assert checkpoint.speaker is not None
    assert checkpoint.speaker.config is None
    assert [path.suffix for path in checkpoint.speaker.weights] == [".pt", ".pt"]


def test_a_local_folder_takes_codec_and_speaker_from_the_hub(tmp_path: Path, hub: FakeHub) -> None:
    folder = folder_with(
        tmp_path / "m",
        **dict.fromkeys(("codec.json", "codec.safetensors", "speaker.json", "speaker.safetensors")),
    )
    checkpoint = resolve(str(folder))
    assert checkpoint.weights == (folder / "model.safetensors",)
    assert CODEC.split("/")[1] in str(checkpoint.codec.weights[0])
    assert not any(MODEL in path for _, path, _ in hub.requests)


def test_safetensors_are_preferred_to_pickles(tmp_path: Path) -> None:
    folder_with(tmp_path / "m", **{"pytorch_model.bin": pickled()})
    folder = folder_with(tmp_path / "n", **{"speaker.json": None, "speaker.safetensors": None})
    (folder / "ResNet293_SimAM_ASP_base.pt").write_bytes(pickled())
    (folder / "ResNet293_SimAM_ASP_base.safetensors").write_bytes(SMALL)
    (folder / "ResNet293_SimAM_ASP_base_LDA-128.pt").write_bytes(pickled())
    found = resolve(str(folder)).speaker
    assert found is not None
    assert [path.suffix for path in found.weights] == [".safetensors", ".pt"]
    assert resolve(str(tmp_path / "m")).weights[0].suffix == ".safetensors"


@pytest.mark.parametrize("kept", [[1, 3], [2], [1, 2]])
def test_a_missing_shard_is_named(tmp_path: Path, kept: list[int]) -> None:
    shards = {f"model-0000{n}-of-00003.safetensors": SMALL for n in kept}
    folder = folder_with(tmp_path / "m", **{"model.safetensors": None}, **shards)
    gone = next(n for n in (1, 2, 3) if n not in kept)
    with pytest.raises(CheckpointError, match=f"model-0000{gone}-of-00003.safetensors is missing"):
        resolve(str(folder))


def test_shards_of_an_index_may_have_any_name_inside_the_folder(tmp_path: Path) -> None:
    index = json.dumps({"weight_map": {"w": "part-a.safetensors", "x": "../../outside.safetensors"}})
    folder = folder_with(
        tmp_path / "m",
        **{"model.safetensors": None, "model.safetensors.index.json": index.encode()},
        **{"part-a.safetensors": SMALL},
    )
    assert resolve(str(folder)).weights == (folder / "part-a.safetensors",)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.safetensors", BIG[: len(BIG) // 2], "is cut off"),
        ("model.safetensors", BIG[:5], "damaged or not a safetensors file"),
        ("model.safetensors", b"", "is empty"),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid x", "git lfs pull"),
        ("model.safetensors", b"<!doctype html><html>sign in</html>", "not a safetensors file"),
        ("model.safetensors", BIG + b"more", "is damaged"),
        ("codec.safetensors", SMALL[:-1], "codec.safetensors is cut off"),
        ("config.json", b'{"backbone": ', "config.json is not valid JSON"),
        ("config.json", b'{"model_type": "llama"}', "no Zonos checkpoint"),
        ("config.json", None, "config.json is missing"),
        ("codec.safetensors", None, "codec.safetensors is missing"),
    ],
)
def test_what_is_wrong_with_a_local_folder_is_said(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    folder = folder_with(tmp_path / "m", **{name: content})
    with pytest.raises(CheckpointError, match=said):
        resolve(str(folder))


def test_a_missing_speaker_encoder_is_a_note_since_lines_without_voice_still_work(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "m", **{"speaker.safetensors": SMALL[:-4]})
    checkpoint = resolve(str(folder))
    assert checkpoint.speaker is None
    assert "speaker.safetensors is cut off" in checkpoint.notes[0]


@pytest.mark.parametrize("model", ["", "nonsense", "./no/such/folder", "C:\\models\\zonos", "a/b/c"])
def test_a_word_that_is_no_model_is_refused_with_what_there_is(model: str) -> None:
    with pytest.raises(CheckpointError, match="mini, transformer, hybrid"):
        resolve(model)


def test_a_file_as_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(SMALL)
    with pytest.raises(CheckpointError, match="give the folder"):
        resolve(str(tmp_path / "model.safetensors"))


# --- tensors ------------------------------------------------------------------------------------


def test_tensors_of_one_file_and_of_shards_are_the_same(tmp_path: Path) -> None:
    tensors = {f"t{n}": torch.randn(4, n + 1, generator=torch.Generator().manual_seed(n)) for n in range(4)}
    save_file(tensors, tmp_path / "all.safetensors")
    save_file({n: tensors[n] for n in ("t0", "t1")}, tmp_path / "a.safetensors")
    save_file({n: tensors[n] for n in ("t2", "t3")}, tmp_path / "b.safetensors")
    one = read_tensors([tmp_path / "all.safetensors"])
    two = read_tensors([tmp_path / "a.safetensors", tmp_path / "b.safetensors"])
    assert one.keys() == two.keys() == tensors.keys()
    assert all(torch.equal(one[name], two[name]) for name in tensors)


def test_a_tensor_in_two_shards_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_file({"t": torch.ones(1)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(CheckpointError, match="stands in two files"):
        read_tensors([tmp_path / "a.safetensors", tmp_path / "b.safetensors"])


def test_tensors_come_one_at_a_time(tmp_path: Path) -> None:
    save_file({"a": torch.ones(2), "b": torch.ones(3)}, tmp_path / "m.safetensors")
    stream = iter_tensors([tmp_path / "m.safetensors"])
    name, tensor = next(stream)
    assert (name, tuple(tensor.shape)) == ("a", (2,))
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrap", [False, True])
def test_pickled_weights_load_as_tensors_only(tmp_path: Path, wrap: bool) -> None:
    content = {"weight": torch.eye(3)}
    (tmp_path / "m.pt").write_bytes(pickled({"state_dict": content} if wrap else content))
    assert torch.equal(read_tensors([tmp_path / "m.pt"])["weight"], torch.eye(3))


class Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch /tmp/never-made-by-zonos",)


@pytest.mark.parametrize("content", [{"weight": Harmful()}, Harmful(), {"weight": "words"}, [torch.eye(2)]])
def test_a_pickle_with_more_than_tensors_is_refused(tmp_path: Path, content: object) -> None:
    (tmp_path / "m.pt").write_bytes(pickled(content))
    with pytest.raises(CheckpointError, match=r"m\.pt"):
        read_tensors([tmp_path / "m.pt"])
    assert not Path("/tmp/never-made-by-zonos").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_cut_pickle_is_found(tmp_path: Path, share: float) -> None:
    whole = pickled()
    (tmp_path / "m.pt").write_bytes(whole[: int(len(whole) * share)])
    assert "cut off" in (problem_with(tmp_path / "m.pt") or "")
    with pytest.raises(CheckpointError, match="cut off"):
        read_tensors([tmp_path / "m.pt"])


def test_sizes_read_as_people_say_them() -> None:
    assert [readable_size(n) for n in (3_248_799_744, 306_483_108, 12_000, 0)] == [
        "3.2 GB",
        "306 MB",
        "12 kB",
        "0 kB",
    ]
