"""How fast this machine was seen to decode, kept from one process to the next.

A preview without a model (``--dry-run``, the page before its first run) says by it how long a run will take.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import platformdirs
import torch

from zonos.devices import cores_allowed

log = logging.getLogger(__name__)

_MOST = 100  # kept; the oldest go first
_SAME = 0.05  # a change of less is not worth writing


class Speeds:
    """Frames per second of one row alone, by checkpoint, device and number type.

    Args:
        path: of the file; None = in the user's cache folder. It may be lost or deleted at any time.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or platformdirs.user_cache_path("zonos-studio") / "speeds.json"

    def get(self, model: str, device: torch.device, dtype: torch.dtype) -> float | None:
        """What was seen last; None where nothing was."""
        speed = self._read().get(_key(model, device, dtype))
        return float(speed) if speed else None

    def keep(self, model: str, device: torch.device, dtype: torch.dtype, speed: float) -> None:
        """Remember a speed. Where that cannot be written, nothing is lost but the estimate."""
        known, key = self._read(), _key(model, device, dtype)
        if abs(known.get(key, 0.0) - speed) <= _SAME * speed:
            return
        known.pop(key, None)
        known[key] = round(speed, 2)
        recent = dict(list(known.items())[-_MOST:])
        part = self.path.with_suffix(f".{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(recent, indent=1), encoding="utf-8")
            part.replace(self.path)
        except OSError as error:
            log.info("the speed of this machine is not kept: %s", error)

    def _read(self) -> dict[str, float]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {key: value for key, value in found.items() if isinstance(value, (int, float)) and value > 0}


def _key(model: str, device: torch.device, dtype: torch.dtype) -> str:
    if device.type == "cuda":
        where = torch.cuda.get_device_name(device)
    else:
        where = f"cpu, {cores_allowed()} cores" if device.type == "cpu" else device.type
    return f"{model} | {where} | {str(dtype).removeprefix('torch.')}"
