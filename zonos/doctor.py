"""``python -m zonos doctor``: what this machine can do, what is amiss, and what to do about it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TextIO
from urllib.parse import urlsplit

import psutil
import torch

from zonos.commands import pip_install, requirements
from zonos.devices import DTYPES, cpu_has_bf16
from zonos.errors import LineError
from zonos.folders import try_to_write, why_not
from zonos.hub import available
from zonos.hub.download import Hub
from zonos.hub.locate import MINI
from zonos.hub.weights import readable_size

Level = Literal["ok", "note", "warning", "fault"]
_MARKS: dict[Level, str] = {"ok": "ok", "note": "note", "warning": "WARN", "fault": "FAULT"}

_NEEDED_MEMORY_BYTES = 1_500_000_000  # torch, the embedded checkpoint and the page
_NEEDED_DISK_BYTES = 1_000_000_000  # two hours of wav at 24 kHz, with room to spare
_NETWORK_TIMEOUT = 3.0  # seconds
_SANE = {"en-us": "Hello.", "cmn": "你好。"}  # old eSpeak spells the second in English
_PACKAGES = {
    "soundfile": "reads and writes wav, flac, mp3 and ogg",
    "av": "reads m4a, webm and mp4",
    "pyloudnorm": "sets loudness",
    "pandas": "reads tables",
    "openpyxl": "reads xlsx",
    "dac": "decodes the audio of the published checkpoints",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    level: Level
    message: str  # a sentence
    action: str = ""  # what to do about it; empty where nothing is to be done


def main(arguments: Sequence[str], *, out: TextIO | None = None) -> int:
    """Run the command.

    Args:
        arguments: what stands after ``doctor`` on the command line.
        out: where to write; standard output by default.

    Returns:
        Exit status: 0 when speech can be made, 1 when a fault stands in the way.
    """
    parser = argparse.ArgumentParser(
        prog="python -m zonos doctor", description="Look at this machine and say what to do."
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--out", type=Path, default=Path(), help="the folder that audio will go to")
    options = parser.parse_args(arguments)
    findings = list(examine(options.out))
    broken = any(finding.level == "fault" for finding in findings)
    text = _as_json(findings, ok=not broken) if options.json else _as_text(findings)
    print(text, file=out or sys.stdout)
    return int(broken)


def examine(out: Path) -> Iterator[Finding]:
    """Every finding, in the order in which a person should read them.

    Args:
        out: the folder that audio will go to.
    """
    hub = Hub.from_environment()
    yield from _versions()
    yield from _packages()
    yield from _espeak()
    yield from _japanese()
    yield from _devices()
    yield from _memory()
    yield from _folders({"output": out, "downloads": hub.cache, "temporary": Path(tempfile.gettempdir())})
    yield from _checkpoints()
    yield from _network(hub)


def _as_json(findings: Iterable[Finding], *, ok: bool) -> str:
    return json.dumps(
        {"ok": ok, "findings": [asdict(finding) for finding in findings]}, ensure_ascii=False, indent=1
    )


def _as_text(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.level]:<6}{finding.check}: {finding.message}")
        if finding.action:
            lines.append(f"      -> {finding.action}")
    faults = sum(finding.level == "fault" for finding in findings)
    warned = sum(finding.level == "warning" for finding in findings)
    end = f"{faults} to mend first" if faults else "Speech can be made"
    lines.append(f"{end}{f', {warned} to look at' if warned else ''}.")
    return "\n".join(lines)


def _versions() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("versions", "ok", f"Python {version}, PyTorch {torch.__version__}, {sys.platform}.")


def _packages() -> Iterator[Finding]:
    missing = {name: use for name, use in _PACKAGES.items() if importlib.util.find_spec(name) is None}
    install = pip_install(*requirements("requirements.txt"))
    for name, use in missing.items():
        yield Finding("packages", "fault", f"{name} is missing; it {use}.", f"Run: {install}")
    if not missing:
        yield Finding("packages", "ok", f"{', '.join(_PACKAGES)} are there.")


def _espeak() -> Iterator[Finding]:
    from zonos.text.espeak import espeak_version, phonemise

    try:
        version = espeak_version()
        silent = [language for language, text in _SANE.items() if not phonemise(text, language).strip()]
    except LineError as error:
        sentence, _, action = error.reason.partition("Run: ")
        yield Finding("eSpeak", "fault", sentence.strip(), f"Run: {action}" if action else "")
        return
    name = f"eSpeak NG {'.'.join(map(str, version))}"
    if silent:
        yield Finding(
            "eSpeak",
            "fault",
            f"{name} has no data for {', '.join(silent)}.",
            f"Run: {pip_install('--force-reinstall', 'espeakng-loader')}",
        )
    else:
        yield Finding("eSpeak", "ok", f"{name} with its own data speaks {', '.join(_SANE)}.")


def _japanese() -> Iterator[Finding]:
    from zonos.text.japanese import readings

    try:
        readings("今日")
    except LineError as error:
        sentence, _, action = error.reason.partition("Run: ")
        yield Finding("Japanese", "note", sentence.strip(), f"For Japanese lines run: {action}")
    else:
        yield Finding("Japanese", "ok", "Japanese text can be read.")


def _devices() -> Iterator[Finding]:
    kinds = _working_types(torch.device("cpu"))
    native = "native bf16" if cpu_has_bf16() else "no native bf16, so float32 is used"
    yield Finding("CPU", "ok", f"{torch.get_num_threads()} threads; {', '.join(kinds)} work; {native}.")
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            yield _cuda(index)
    elif torch.backends.mps.is_available():
        kinds = _working_types(torch.device("mps"))
        yield Finding("GPU", "ok", f"Apple GPU; {', '.join(kinds)} work.")
    elif shutil.which("nvidia-smi"):
        yield Finding(
            "GPU",
            "warning",
            f"There is an NVIDIA driver, but PyTorch {torch.__version__} cannot use the card.",
            "Install the PyTorch build for your CUDA version: https://pytorch.org/get-started/locally",
        )
    else:
        yield Finding("GPU", "note", "There is no GPU; the built-in voice does well without.")


def _cuda(index: int) -> Finding:
    name, check = torch.cuda.get_device_name(index), f"GPU {index}"
    try:
        free, total = torch.cuda.mem_get_info(index)
        kinds = _working_types(torch.device("cuda", index))
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        return Finding(
            check, "warning", f"{name} cannot be used ({reason}).", "Use --device cpu, or mend the driver."
        )
    text = f"{name}: {readable_size(free)} of {readable_size(total)} free; {', '.join(kinds)} work."
    if free < total / 2:
        return Finding(check, "warning", text, "Another program holds its memory; close it for full speed.")
    return Finding(check, "ok", text)


def _working_types(device: torch.device) -> list[str]:
    """Number types that a product of two small matrices comes out right in."""
    return [name for name, dtype in DTYPES.items() if _multiplies(device, dtype)]


def _multiplies(device: torch.device, dtype: torch.dtype) -> bool:
    try:
        ones = torch.ones(8, 8, device=device, dtype=dtype)
        return bool(((ones @ ones) == 8).all())
    except (RuntimeError, TypeError):  # TypeError: MPS has no such type
        return False


def _memory() -> Iterator[Finding]:
    free, total = psutil.virtual_memory().available, psutil.virtual_memory().total
    allowed = _container_room()
    if allowed is not None:
        free = min(free, allowed)
    text = f"{readable_size(free)} of {readable_size(total)} free."
    if free < _NEEDED_MEMORY_BYTES:
        need = readable_size(_NEEDED_MEMORY_BYTES)
        yield Finding("memory", "warning", text, f"The built-in voice wants {need}; close other programs.")
    else:
        yield Finding("memory", "ok", text)


def _container_room(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that a container may still use; None outside one (its own limit is not the machine's)."""
    try:
        limit = (root / "memory.max").read_text().strip()
        used = int((root / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return max(int(limit) - used, 0) if limit.isdigit() else None


def _folders(folders: dict[str, Path]) -> Iterator[Finding]:
    for name, folder in folders.items():
        yield _folder(f"{name} folder", folder)


def _folder(check: str, folder: Path) -> Finding:
    existing = next(p for p in (folder.absolute(), *folder.absolute().parents) if os.path.exists(p))
    try:
        try_to_write(existing)
        free = shutil.disk_usage(existing).free
    except OSError as error:
        variable = {"downloads folder": "set HF_HOME", "temporary folder": "set TMPDIR"}.get(
            check, "choose another with --out"
        )
        return Finding(
            check,
            "fault",
            why_not(folder.absolute(), error),
            f"Mend that, or {variable}.",
        )
    text = f"{folder.absolute()} can be written; {readable_size(free)} free."
    if free < _NEEDED_DISK_BYTES:
        return Finding(
            check, "warning", text, "Make room: audio and downloads are kept until you delete them."
        )
    return Finding(check, "ok", text)


def _checkpoints() -> Iterator[Finding]:
    for model in available():
        check = f"model {model.name}"
        if model.present:
            size = readable_size(model.bytes_on_disk)
            level: Level = "warning" if model.problem else "ok"
            yield Finding(check, level, f"{model.title} can be loaded ({size}). {model.problem}".strip())
        elif model.name == MINI:
            yield Finding(check, "fault", model.problem, "Install the project again; its files are damaged.")
        elif model.problem:
            yield Finding(
                check, "warning", model.problem, f"Start with --model {model.name} to fetch what is missing."
            )
        else:
            yield Finding(
                check,
                "note",
                f"{model.title} is not here. {model.needs}",
                f"To fetch it, start with --model {model.name}.",
            )


def _network(hub: Hub, connect: Callable[..., socket.socket] = socket.create_connection) -> Iterator[Finding]:
    if hub.offline:
        yield Finding("network", "note", "HF_HUB_OFFLINE is set: nothing is downloaded.")
        return
    address = urlsplit(hub.endpoint)
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        connect((address.hostname or "", port), timeout=_NETWORK_TIMEOUT).close()
    except OSError as error:
        yield Finding(
            "network",
            "note",
            f"{hub.host} cannot be reached ({error.strerror or error}).",
            "What is on this machine works without; to download, connect or set HTTPS_PROXY or HF_ENDPOINT.",
        )
    else:
        yield Finding("network", "ok", f"{hub.host} can be reached.")
