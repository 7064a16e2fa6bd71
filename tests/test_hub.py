"""Cases: "HF_HUB_OFFLINE=1; no network; a local folder as model; a download cut at half"."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from pathlib import Path

import pytest
from fake_hub import COMMIT, FakeHub
from hub_support import BIG, CODEC, MODEL, SPEAKER, cache, folder_with, hub

from zonos.defaults import Defaults
from zonos.errors import CheckpointError
from zonos.hub import available, generation_defaults, locate, resolve
from zonos.hub.weights import readable_size
from zonos.line import AUTO, Line

__all__ = ["cache", "hub"]


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
