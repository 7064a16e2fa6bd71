"""Which device and number type to use: GPU first, any device works."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from zonos.config import ZonosConfig
from zonos.errors import CheckpointError

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
_SHORT = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32"}
# Below this width a CPU is as fast in fp32 as in bf16 (`python -m benchmarks threads`), and
# fp32 makes a line's result independent of its neighbours.
_SMALL_MODEL = 1024


def pick_device(name: str | None) -> torch.device:
    """The named device, or the best there is: CUDA, then Apple's MPS, then the CPU.

    Raises:
        CheckpointError: the named device is not on this machine.
    """
    cuda = torch.cuda.is_available()
    mps = torch.backends.mps.is_available()
    if not name or name == "auto":
        return torch.device("cuda" if cuda else "mps" if mps else "cpu")
    kind = name.split(":")[0]
    if kind not in {"cuda", "mps", "cpu"}:
        raise CheckpointError(f"There is no device {name!r}; use cuda, mps, cpu or auto.")
    if (kind == "cuda" and not cuda) or (kind == "mps" and not mps):
        raise CheckpointError(f"This machine has no {kind} device that PyTorch can use; try cpu or auto.")
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise CheckpointError(f"There is no device {name!r}; use cuda, mps, cpu or auto.") from error


def pick_dtype(name: str | None, device: torch.device, config: ZonosConfig) -> torch.dtype:
    """The named number type, or the fastest that the device computes well.

    Raises:
        CheckpointError: unknown name.
    """
    if name and name != "auto":
        full = _SHORT.get(name, name)
        if full not in DTYPES:
            raise CheckpointError(f"There is no number type {name!r}; use {', '.join(DTYPES)} or auto.")
        return DTYPES[full]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    if device.type == "cpu" and config.backbone.d_model >= _SMALL_MODEL and cpu_has_bf16():
        return torch.bfloat16
    return torch.float32


def share_cores(device: torch.device, config: ZonosConfig) -> None:
    """Let each thread compute by itself where a small model runs on the processor beside its codec.

    Two threads of one process that both spread their products over all cores lose more than they win:
    as soon as there are more of OpenMP's threads than cores, each product waits for its helpers to be
    woken, which for small products takes longer than the product. The setting is torch's own and holds
    for the process; who sets OMP_NUM_THREADS has chosen, and is left alone.
    """
    small = config.backbone.d_model < _SMALL_MODEL
    if device.type == "cpu" and small and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def cores_allowed() -> int:
    """The cores that this process may compute on: what the machine has, or what OMP_NUM_THREADS says.

    Unlike torch's number of threads it is the same before a model is loaded and after (`share_cores`).
    """
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_has_bf16() -> bool:
    """Whether the processor multiplies bf16 natively (AVX512-BF16 or AMX)."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return False
    flags = next((line for line in info.read_text().splitlines() if line.startswith("flags")), "")
    return any(flag in flags.split() for flag in ("avx512_bf16", "amx_bf16"))
