"""Cases: "HF_HUB_OFFLINE=1; no network; a local folder as model; a download cut at half"."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fake_hub import COMMIT, FakeHub
from safetensors.torch import save, save_file

from zonos.defaults import Defaults
from zonos.errors import CheckpointError
from zonos.hub import available, generation_defaults, iter_tensors, locate, read_tensors, resolve
from zonos.hub.weights import problem_with, readable_size
from zonos.line import AUTO, Line

MODEL = "Zyphra/Zonos-v0.1-transformer"
CODEC, SPEAKER = locate.DAC_REPOSITORY, locate.SPEAKER_REPOSITORY
CONFIG = (locate.MINI_FOLDER / "config.json").read_bytes()
BIG = save({"a": torch.arange(50_000, dtype=torch.float32), "b": torch.ones(3)})
SMALL = save({"w": torch.ones(8)})


def pickled(content: object = None) -> bytes:
    buffer = io.BytesIO()
    torch.save({"weight": torch.eye(3)} if content is None else content, buffer)
    return buffer.getvalue()


def published() -> dict[str, dict[str, bytes]]:
    return {
        MODEL: {"README.md": b"hello", "config.json": CONFIG, "model.safetensors": BIG},
        CODEC: {"config.json": b"{}", "model.safetensors": SMALL, "weights.pth": b"never wanted"},
        SPEAKER: {
            "ResNet293_SimAM_ASP_base.pt": pickled(),
            "ResNet293_SimAM_ASP_base_LDA-128.pt": pickled(),
        },
    }


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and no way out of this machine."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the discard port: refused at once
    for name in ("HF_HUB_OFFLINE", "HF_HUB_CACHE", "ZONOS_MODELS", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    # The library reads the variable once, when it is imported; another test may have set it then.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    # The library writes 10 MB at once; the files here are smaller.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)
    return tmp_path / "hf" / "hub"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with FakeHub(published()).serving() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        yield served


def folder_with(path: Path, **changed: bytes | None) -> Path:
    """A local checkpoint in the embedded layout, small; a value of None leaves a file out."""
    path.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes | None] = {
        "config.json": CONFIG,
        "model.safetensors": BIG,
        "codec.json": b"{}",
        "codec.safetensors": SMALL,
        "speaker.json": b"{}",
        "speaker.safetensors": SMALL,
    }
    for name, content in (files | changed).items():
        if content is not None:
            (path / name).write_bytes(content)
    return path


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


# --- the hub ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [MODEL, "transformer"])
def test_a_hub_id_or_its_short_name_is_downloaded_once(
    model: str, hub: FakeHub, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = resolve(model)
    assert first.weights[0].read_bytes() == BIG
    assert first.name == MODEL
    assert first.speaker is not None
    assert not hub.gets("weights.pth")
    assert not hub.gets("README.md")
    hub.requests.clear()
    assert resolve(model) == first
    assert hub.requests == []  # what is whole on disk is never asked for again
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert resolve(model) == first


def test_the_cache_is_laid_out_as_other_programs_expect(hub: FakeHub, cache: Path) -> None:
    from huggingface_hub import try_to_load_from_cache

    resolve(MODEL)
    found = try_to_load_from_cache(MODEL, "model.safetensors", cache_dir=cache)
    assert isinstance(found, str)
    assert Path(found).parent.name == COMMIT


def test_a_download_cut_at_half_goes_on_within_the_same_start(hub: FakeHub) -> None:
    half = 100_000
    hub.cuts["model.safetensors"] = (1, half)
    assert resolve(MODEL).weights[0].read_bytes() == BIG
    assert f"bytes={half}-" in hub.gets("model.safetensors")


def test_a_download_cut_at_half_goes_on_at_the_next_start(hub: FakeHub, cache: Path) -> None:
    class Killed(BaseException):
        """Stands for a closed laptop: nothing in the code handles it."""

    def stop(done: int, total: int, name: str) -> None:
        if name == "model.safetensors":
            raise Killed

    with pytest.raises(Killed):
        resolve(MODEL, progress=stop)
    (part,) = cache.rglob("*.part")
    begun = part.stat().st_size
    assert 0 < begun < len(BIG)
    hub.requests.clear()
    assert resolve(MODEL).weights[0].read_bytes() == BIG
    assert hub.gets("model.safetensors", MODEL) == [f"bytes={begun}-"]
    assert not list(cache.rglob("*.part"))


def test_a_server_that_stays_dead_is_said_with_how_far_it_came(hub: FakeHub) -> None:
    hub.cuts["model.safetensors"] = (1000, 0)
    with pytest.raises(CheckpointError, match=r"broke off.*Start again and it goes on from there"):
        resolve(MODEL)


def test_progress_counts_every_byte_of_every_file(hub: FakeHub) -> None:
    calls: list[tuple[int, int, str]] = []
    resolve(MODEL, progress=lambda done, total, name: calls.append((done, total, name)))
    totals = {total for _, total, _ in calls}
    wanted = [
        hub.files[repository][name]
        for repository in (MODEL, CODEC, SPEAKER)
        for name in hub.files[repository]
        if name not in {"README.md", "weights.pth"}
    ]
    assert totals == {sum(map(len, wanted))}
    assert calls[-1][0] == calls[-1][1]
    done = [call[0] for call in calls]
    assert done == sorted(done)


def test_a_damaged_file_in_the_cache_is_fetched_again(hub: FakeHub) -> None:
    weights = resolve(MODEL).weights[0]
    weights.resolve().write_bytes(BIG[:1000])
    hub.requests.clear()
    assert resolve(MODEL).weights[0].read_bytes() == BIG
    assert hub.gets("config.json") == []


def test_a_damaged_file_in_the_cache_is_named_when_offline(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(MODEL).weights[0].resolve().write_bytes(BIG[:1000])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CheckpointError, match=r"model.safetensors is cut off.*HF_HUB_OFFLINE"):
        resolve(MODEL)


def test_wrong_bytes_from_the_hub_never_become_a_checkpoint(hub: FakeHub, cache: Path) -> None:
    blobs = cache / "models--Zyphra--Zonos-v0.1-transformer" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{hashlib.sha256(BIG).hexdigest()}.part").write_bytes(bytes(1000))  # not BIG's beginning
    with pytest.raises(CheckpointError, match="arrived damaged"):
        resolve(MODEL)
    assert resolve(MODEL).weights[0].read_bytes() == BIG


def test_offline_with_nothing_says_what_is_missing_how_big_and_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CheckpointError) as caught:
        resolve("transformer")
    text = str(caught.value)
    assert text.endswith(f"hf download {SPEAKER}")
    for word in (
        "3.2 GB",
        "306 MB",
        "396 MB",
        "That is 4.0 GB in all.",
        "HF_HUB_OFFLINE",
        f"hf download {MODEL} && ",
        f"hf download {CODEC} && ",
        "mini",
    ):
        assert word in text


def test_the_guide_names_the_size_that_the_program_names() -> None:
    table = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    for model in available()[1:]:
        size = readable_size(model.bytes_to_download)
        assert f"| `{model.name}` |" in table
        (row,) = (row for row in table.splitlines() if row.startswith(f"| `{model.name}` |"))
        assert f"{size} download with codec and speaker encoder" in row
        assert f"{size} to download" in model.needs


def test_no_network_says_so_and_mini_still_starts() -> None:
    with pytest.raises(CheckpointError, match=r"127.0.0.1:9 cannot be reached"):
        resolve("hybrid")
    assert resolve("mini").name == "mini"


def test_no_such_repository(hub: FakeHub) -> None:
    with pytest.raises(CheckpointError, match="There is no model 'some/body'"):
        resolve("some/body")


def test_a_repository_that_holds_something_else(hub: FakeHub) -> None:
    hub.files["some/body"] = {"weights.gguf": b"x"}
    with pytest.raises(CheckpointError, match=r"some/body has no config.json"):
        resolve("some/body")


@pytest.mark.parametrize("status", [403, 500, 503])
def test_a_hub_that_refuses_is_said(hub: FakeHub, status: int) -> None:
    hub.status["model.safetensors"] = status
    with pytest.raises(CheckpointError, match=r"model.safetensors is missing"):
        resolve(MODEL)


def test_a_hub_checkpoint_that_brings_its_own_codec(hub: FakeHub) -> None:
    hub.files["some/mini"] = {path.name: path.read_bytes() for path in folder_files()}
    checkpoint = resolve("some/mini")
    assert checkpoint.codec.config is not None
    assert checkpoint.codec.config.name == "codec.json"
    assert not any(CODEC in path for _, path, _ in hub.requests)


def folder_files() -> list[Path]:
    return [path for path in locate.MINI_FOLDER.iterdir() if path.suffix in {".json", ".safetensors"}]


def test_a_full_disk_is_said_before_the_download(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=10_000)
    monkeypatch.setattr("zonos.hub.download.shutil.disk_usage", lambda _: usage)
    with pytest.raises(CheckpointError, match=r"only 10 kB are free.*HF_HOME"):
        resolve(MODEL)
    assert not hub.gets("model.safetensors")


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


# --- picker and defaults ------------------------------------------------------------------------


def test_the_picker_lists_what_is_there_and_what_the_rest_needs() -> None:
    mini, transformer, hybrid = available()
    assert (mini.name, mini.present, mini.bytes_to_download) == ("mini", True, 0)
    assert not transformer.present
    assert "4.0 GB to download" in transformer.needs
    assert "GPU memory" in hybrid.needs
    assert hybrid.gpu_bytes > transformer.gpu_bytes > transformer.bytes_to_download


def test_the_picker_after_a_download(hub: FakeHub) -> None:
    resolve("transformer")
    info = available()[1]
    assert info.present
    assert info.needs.startswith("Nothing to download")


def test_the_picker_lists_local_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_with(tmp_path / "models" / "mine")
    folder_with(tmp_path / "models" / "mini")  # a taken name: listed by its path
    folder_with(tmp_path / "models" / "broken", **{"model.safetensors": BIG[:-1]})
    folder_with(tmp_path / "models" / "other", **{"config.json": b'{"model_type": "llama"}'})
    (tmp_path / "models" / "empty").mkdir()
    single = folder_with(tmp_path / "single")
    roots = [tmp_path / "models", single, tmp_path / "gone"]
    monkeypatch.setenv("ZONOS_MODELS", os.pathsep.join(map(str, roots)))
    found = {info.name: info for info in available()[3:]}
    assert set(found) == {"mine", str(tmp_path / "models" / "mini"), "broken", "other", "single"}
    assert found["mine"].present
    assert found["mine"].title == "mine"
    assert "cut off" in found["broken"].problem
    assert "no Zonos checkpoint" in found["other"].problem
    assert resolve("mine").folder == tmp_path / "models" / "mine"


def test_a_checkpoints_own_defaults() -> None:
    defaults = generation_defaults(resolve("mini"))
    own = json.loads((locate.MINI_FOLDER / "generation.json").read_text())
    assert defaults.temperature == own["temperature"]
    assert defaults.max_seconds == own["max_seconds"]
    assert defaults.emotion != AUTO


def test_the_products_defaults_are_the_table_of_the_reference(tmp_path: Path) -> None:
    defaults = generation_defaults(resolve(str(folder_with(tmp_path / "m"))))
    assert defaults == Defaults()
    assert (defaults.fmax, defaults.pitch_std, defaults.speaking_rate) == (22_050, 45, 15)
    assert (defaults.cfg_scale, defaults.linear, defaults.conf, defaults.quad) == (2, 0.5, 0.4, 0)
    assert (defaults.repetition_penalty, defaults.repetition_window, defaults.temperature) == (3, 2, 1)
    assert (defaults.emotion, defaults.vqscore_8, defaults.dnsmos_ovrl) == (AUTO, AUTO, AUTO)


def test_unknown_defaults_are_left_out_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = json.dumps({"temperature": 0.5, "shimmer": 3, "emotion": "happy", "fmax": None}).encode()
    folder = folder_with(tmp_path / "m", **{"generation.json": content})
    with caplog.at_level(logging.WARNING):
        defaults = generation_defaults(resolve(str(folder)))
    assert defaults.temperature == 0.5
    assert defaults.fmax == 22_050
    assert "shimmer" in caplog.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"speaking_rate": 100}, "from 1 to 40"),
        ({"emotion": [1, 0]}, "emotion"),
        ({"emotion": "furious"}, "unknown emotion"),
        ({"temperature": "hot"}, "temperature"),
        ({"languages": ["english"]}, "languages"),
        ({"languages": "en-us"}, "languages"),
        ([1, 2], "JSON object"),
    ],
)
def test_defaults_out_of_range_are_refused(tmp_path: Path, content: object, said: str) -> None:
    folder = folder_with(tmp_path / "m", **{"generation.json": json.dumps(content).encode()})
    with pytest.raises(CheckpointError, match=said):
        generation_defaults(resolve(str(folder)))


def test_defaults_fill_only_what_a_line_leaves_open() -> None:
    line = Line(text="Hi", cfg_scale=3, pitch_std="auto", temperature=0)
    filled = Defaults().fill(line)
    assert (filled.cfg_scale, filled.pitch_std, filled.temperature) == (3, "auto", 0)
    assert filled.fmax == 22_050
    # A model's longest piece is no limit on a line: a text of four pieces would be cut.
    settings = [name for name in Defaults.model_fields if name != "languages"]
    assert [name for name in settings if getattr(filled, name) is None] == ["max_seconds"]
