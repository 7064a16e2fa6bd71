"""Tensors on disk: is a file whole, and what does it hold.

Safetensors files state their own length, so a download that broke off is found without reading
the tensors. Pickled files (``.pt``) are only ever opened with ``weights_only=True``.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zonos.errors import CheckpointError

if TYPE_CHECKING:
    from torch import Tensor

PICKLE_SUFFIXES = frozenset({".pt", ".pth", ".bin"})
_LENGTH_BYTES = 8  # a safetensors file starts with its header's length, u64 little endian
_MAX_HEADER_BYTES = 100_000_000  # the format's own limit
_LFS_POINTER = b"version https://git-lfs"
_ZIP_MAGIC = b"PK\x03\x04"


def readable_size(n_bytes: float) -> str:
    """Bytes as a person says them: ``3.2 GB``, ``740 MB``, ``12 kB`` (decimal units)."""
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.1f} GB"
    if n_bytes >= 1e6:
        return f"{n_bytes / 1e6:.0f} MB"
    return f"{max(n_bytes, 0) / 1e3:.0f} kB"


def problem_with(path: Path) -> str | None:
    """What is wrong with a file of a checkpoint, as a sentence; None when it is whole.

    Reads headers only, so it is quick on files of many gigabytes.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(len(_LFS_POINTER))
    except FileNotFoundError:
        return f"{path.name} is missing."
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}."
    if size == 0:
        return f"{path.name} is empty (0 bytes)."
    if start == _LFS_POINTER:
        return f"{path.name} is only a git-lfs pointer; run `git lfs pull` in its folder."
    if path.suffix == ".safetensors":
        return _safetensors_problem(path, size)
    if path.suffix == ".json":
        return _json_problem(path)
    if path.suffix in PICKLE_SUFFIXES and start.startswith(_ZIP_MAGIC) and not zipfile.is_zipfile(path):
        # A zip's table of contents stands at its end, so a cut file has none.
        return f"{path.name} is cut off: only {readable_size(size)} of it are there."
    return None


def _json_problem(path: Path) -> str | None:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        return f"{path.name} is not valid JSON ({error})."
    return None


def _safetensors_problem(path: Path, size: int) -> str | None:
    try:
        header, start = _header(path)
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except (ValueError, KeyError, TypeError, IndexError):
        return f"{path.name} is damaged or not a safetensors file; fetch it again."
    wanted = start + max(ends, default=0)
    if size < wanted:
        return f"{path.name} is cut off: {size:,} of {wanted:,} bytes are there."
    if size > wanted:
        return f"{path.name} is damaged: {size:,} bytes where {wanted:,} belong."
    return None


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Header of a safetensors file and the byte where its tensors begin.

    Raises:
        ValueError: it is not such a file.
    """
    with path.open("rb") as file:
        first = file.read(_LENGTH_BYTES)
        if len(first) < _LENGTH_BYTES:
            raise ValueError("too short")
        (length,) = struct.unpack("<Q", first)
        if length > _MAX_HEADER_BYTES:
            raise ValueError("no header")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("no header")
    return header, _LENGTH_BYTES + length


def iter_tensors(paths: Iterable[Path]) -> Iterator[tuple[str, Tensor]]:
    """Tensors of one file or of all shards, one at a time, on the CPU.

    Only one tensor of a safetensors file is in memory at once, so a model of 3 GB can move to its
    device without a second copy in RAM. A ``.pt`` file is mapped from disk.

    Raises:
        CheckpointError: a file is missing, cut off or damaged, or a name stands in two files.
    """
    seen: set[str] = set()
    for path in paths:
        for name, tensor in _file_tensors(path):
            if name in seen:
                raise CheckpointError(f"The tensor {name} stands in two files, the second is {path.name}.")
            seen.add(name)
            yield name, tensor


def read_tensors(paths: Iterable[Path]) -> dict[str, Tensor]:
    """All tensors of one file or of all shards, by name. Errors: see :func:`iter_tensors`."""
    return dict(iter_tensors(paths))


def _file_tensors(path: Path) -> Iterator[tuple[str, Tensor]]:
    if problem := problem_with(path):
        raise CheckpointError(f"{problem} (in {path.parent})")
    if path.suffix == ".safetensors":
        yield from _safetensors(path)
    elif path.suffix in PICKLE_SUFFIXES:
        yield from _pickled(path).items()
    else:
        raise CheckpointError(f"{path.name} is no weights file; .safetensors, .pt, .pth or .bin is.")


def _safetensors(path: Path) -> Iterator[tuple[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            for name in file.keys():  # noqa: SIM118 (the handle is no mapping)
                yield name, file.get_tensor(name)
    except SafetensorError as error:
        raise CheckpointError(f"{path.name} is damaged ({error}); fetch it again.") from error


def _pickled(path: Path) -> dict[str, Tensor]:
    import pickle

    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, IndexError) as error:
        raise CheckpointError(
            f"{path.name} is damaged, or holds more than tensors and is refused for safety."
        ) from error
    if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
        content = content["state_dict"]
    if not isinstance(content, dict) or not all(isinstance(t, torch.Tensor) for t in content.values()):
        raise CheckpointError(f"{path.name} does not hold tensors by name.")
    return content
