"""The HTTP API in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def server_process(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``python -m zonos serve`` on a free port; asked to end at the end.

    Args:
        options: of the command.

    Yields:
        Its address, once it listens, and its process.

    Raises:
        RuntimeError: it did not start; it has said why on standard error.
    """
    command = [sys.executable, "-m", "zonos", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        first = process.stdout.readline() if process.stdout else ""
        if not first:
            raise RuntimeError("The server did not start; what it said stands above.")
        yield first.split()[-1], process
    finally:
        process.terminate()
        process.wait()
