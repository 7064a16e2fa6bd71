"""A hub of our own, an empty cache, small checkpoints."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fake_hub import FakeHub
from safetensors.torch import save

from zonos.hub import locate

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
