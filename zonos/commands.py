"""Commands in sentences: written so that they work as they are typed, in the shell that showed them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1]


def pip_install(*what: str) -> str:
    """Installs packages beside the ones that run now, wherever they are."""
    return typed(_short(Path(sys.executable)), "-m", "pip", "install", *what)


def requirements(name: str) -> tuple[str, str]:
    """``pip install`` arguments of a file of the project."""
    return "-r", _short(_PROJECT / name)


def hf_download(repository: str) -> str:
    """Fetches a repository of the hub into the cache that is looked at here."""
    program = Path(sys.executable).with_name("hf.exe" if os.name == "nt" else "hf")
    if program.is_file():
        return typed(_short(program), "download", repository)
    return typed(_short(Path(sys.executable)), "-m", "huggingface_hub.cli.hf", "download", repository)


def typed(*words: str) -> str:
    """Words as a shell takes them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _short(path: Path) -> str:
    """From here, where it is below: what people read in a guide. Links stay: a virtual environment's
    Python is one."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere, or the folder we are in is gone
        return str(path)
