"""Where a checkpoint comes from: embedded, a folder, or the hub; what is on disk comes first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from zonos.config import ZonosConfig
from zonos.defaults import Defaults, read_defaults
from zonos.errors import CheckpointError
from zonos.hub.download import Hub, Report
from zonos.hub.layout import CONFIG
from zonos.hub.locate import MINI, PUBLISHED, Search, local_folders
from zonos.hub.weights import iter_tensors, read_tensors, readable_size

__all__ = [
    "Checkpoint",
    "ModelInfo",
    "Part",
    "available",
    "generation_defaults",
    "iter_tensors",
    "read_tensors",
    "resolve",
]


# Memory beside the weights: a CUDA context with its workspace, and the KV cache of one line of
# 30 s with guidance (26 layers x 2 x 4 heads x 128 x 2 bytes a token, twice).
_CONTEXT_BYTES = 1_000_000_000
_LINE_BYTES = 293_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """Codec or speaker encoder: its config (None where the files carry none) and weights."""

    config: Path | None
    weights: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Files of a checkpoint that is whole on this machine.

    ``speaker`` is None where no speaker encoder is there: lines without a voice still work, and
    ``notes`` says what is missing.
    """

    name: str  # what resolve() takes again
    title: str  # for people
    folder: Path
    config: Path
    weights: tuple[Path, ...]
    generation: Path | None
    codec: Part
    speaker: Part | None
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is read to load it."""
        parts = [part for part in (self.codec, self.speaker) if part]
        configs = (self.config, self.generation, *(part.config for part in parts))
        return (
            *(path for path in configs if path),
            *self.weights,
            *(path for part in parts for path in part.weights),
        )

    @property
    def bytes_beside_model(self) -> int:
        """Size of the weights of codec and speaker encoder."""
        parts = [part for part in (self.codec, self.speaker) if part]
        return sum(path.stat().st_size for part in parts for path in part.weights)

    @property
    def bytes_on_disk(self) -> int:
        """Size of all its files."""
        return sum(path.stat().st_size for path in self.files)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One entry of a model picker."""

    name: str
    title: str
    present: bool
    bytes_on_disk: int  # 0 where it is not present
    bytes_to_download: int  # 0 where it is present
    gpu_bytes: int  # estimate for one line at a time; 0: made for a CPU
    needs: str  # a sentence
    problem: str = ""  # what is wrong with what is there; where it is present: what does not work


def resolve(model: str, *, progress: Report | None = None, download: bool = True) -> Checkpoint:
    """Find a checkpoint, downloading only what is not on this machine yet.

    Args:
        model: ``mini``, ``transformer``, ``hybrid``, a hub id, a folder, or the name of a folder
            under ``ZONOS_MODELS``.
        progress: called with bytes done, bytes in all and the current file during a download.
        download: whether to fetch what is missing; otherwise that is an error too.

    Raises:
        CheckpointError: what is missing, how big it is and which command brings it.
    """
    hub = Hub.from_environment()
    search = Search.start(model, hub)
    reason = ""
    if search.gaps() and download:
        try:
            plan = search.plan()
            if plan:
                hub.fetch(plan, progress)
        except CheckpointError as error:
            reason = str(error)
        search = Search.start(model, hub)
    if search.gaps(fatal=True):
        raise CheckpointError(search.failure(reason))
    return _checkpoint(search, reason)


def generation_defaults(checkpoint: Checkpoint) -> Defaults:
    """The checkpoint's own defaults, else the product's; see :func:`zonos.defaults.read_defaults`."""
    return read_defaults(checkpoint.generation)


def available() -> list[ModelInfo]:
    """What can be loaded: the embedded voice, the published checkpoints, folders of ``ZONOS_MODELS``."""
    hub = Hub.from_environment()
    names = [MINI, *(entry.name for entry in PUBLISHED), *local_folders()]
    return [_info(name, hub) for name in names]


def _info(name: str, hub: Hub) -> ModelInfo:
    search = Search.start(name, hub)
    size, problem = _state(search)
    missing = sum(part.n_bytes for part in search.gaps())
    gpu = 0 if name == MINI else (size or search.n_bytes) + _CONTEXT_BYTES + _LINE_BYTES
    return ModelInfo(
        name=name,
        title=search.title,
        present=bool(size),
        bytes_on_disk=size,
        bytes_to_download=missing,
        gpu_bytes=gpu,
        needs=_needs(missing, gpu),
        problem=problem,
    )


def _state(search: Search) -> tuple[int, str]:
    """Bytes on disk of a checkpoint that can be loaded, else 0; and what is wrong with what is there."""
    gaps = search.gaps(fatal=True)
    if gaps:
        return 0, " ".join(text for part in gaps if part.begun for text in search.problems(part))
    try:
        checkpoint = _checkpoint(search)
    except CheckpointError as error:
        return 0, str(error)
    return checkpoint.bytes_on_disk, " ".join(checkpoint.notes)


def _needs(missing: int, gpu_bytes: int) -> str:
    download = f"{readable_size(missing)} to download" if missing else "nothing to download"
    if not gpu_bytes:
        return f"{download[0].upper()}{download[1:]}; runs on a CPU."
    return f"{download[0].upper()}{download[1:]}; about {readable_size(gpu_bytes)} of GPU memory."


def _checkpoint(search: Search, reason: str = "") -> Checkpoint:
    """The whole checkpoint of a search without a fatal gap."""
    folder = search.model.whole_folder
    _check_config(folder / CONFIG, search.name)
    gap = search.problems(search.speaker)
    return Checkpoint(
        name=search.name,
        title=search.title,
        folder=folder,
        config=folder / CONFIG,
        weights=search.model.paths()[1],
        generation=folder / search.generation if search.generation else None,
        codec=Part(*search.codec.paths()),
        speaker=None if gap else Part(*search.speaker.paths()),
        notes=(f"Voices cannot be used: {' '.join(gap)} {reason}".strip(),) if gap else (),
    )


def _check_config(config: Path, name: str) -> None:
    try:
        ZonosConfig.from_file(config)
    except (ValidationError, ValueError) as error:
        raise CheckpointError(
            f"{name} is no Zonos checkpoint: its config.json lacks what one has "
            f"({str(error).splitlines()[0]})."
        ) from error
