"""Import, help, load and first page, each in a fresh process."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.report import arguments, show

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "import zonos": ["-c", "import zonos"],
    "python -m zonos --help": ["-m", "zonos", "--help"],
    "import zonos.engine": ["-c", "import zonos.engine"],
    "load mini": ["-c", "import zonos; zonos.load('mini').close()"],
}


def main(argv: list[str]) -> int:
    """See ``--help``."""
    options = arguments("startup", __doc__ or "").parse_args(argv)
    times: dict[str, list[float]] = {name: [] for name in [*COMMANDS, "first page of app.py"]}
    for _ in range(options.rounds):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
            times[name].append(time.perf_counter() - start)
        times["first page of app.py"].append(_first_page())
    rows = [{"what": name, "seconds": statistics.median(found)} for name, found in times.items()]
    show("start-up", rows, options.json)
    return 0


def _first_page() -> float:
    """Seconds until the page answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GRADIO_SERVER_PORT": str(port), "ZONOS_DATA": folder}
        start = time.perf_counter()
        app = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        try:
            while time.perf_counter() - start < 120:
                if _answers(port):
                    return time.perf_counter() - start
                time.sleep(0.05)
        finally:
            app.terminate()
            app.wait()
    raise TimeoutError("the page did not answer within two minutes")


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
    except OSError:
        return False
    return True
