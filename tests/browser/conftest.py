"""A real server and a real chromium. Without chromium the tests skip and say why; with
``ZONOS_REQUIRE_BROWSER=1`` they fail instead."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
    # A microphone without asking, in which the sample voice Marcus speaks.
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    f"--use-file-for-fake-audio-capture={ROOT / 'examples' / 'voices' / 'Marcus.wav'}",
]
# Only what fails waits so long: these are for machines that have much else to do.
START_SECONDS = 120
PAGE_MS = 60_000
EXPECT_MS = 20_000


def unavailable(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("ZONOS_REQUIRE_BROWSER") == "1":
        pytest.fail(f"ZONOS_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


class Server:
    """``python app.py`` on a free port, with a data folder of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = environment
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start, and wait for the line with the address."""
        settings = {
            "ZONOS_DATA": str(self.folder),
            "GRADIO_SERVER_PORT": str(self.port),
            "OMP_NUM_THREADS": "2",
            "PYTHONUNBUFFERED": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=os.environ | settings | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output: list[str] = []
        ready = threading.Event()

        def read() -> None:
            assert self.process.stdout is not None
            for row in self.process.stdout:
                self.output.append(row)
                if "Zonos Studio is at" in row:
                    ready.set()
            ready.set()

        threading.Thread(target=read, daemon=True).start()
        assert ready.wait(START_SECONDS), "the server did not start in time"
        assert self.process.poll() is None, "".join(self.output)

    def kill(self) -> None:
        """As a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """As a person would."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        unavailable("the playwright package is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        unavailable("no chromium is installed (Debian: apt-get install chromium)")
    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One studio for all tests; each visit is another person's."""
    running = Server(tmp_path_factory.mktemp("studio"))
    yield running
    running.stop()


@pytest.fixture
def visit(chromium: Any, server: Server) -> Iterator[Callable[..., Any]]:
    """``visit()`` opens the studio as a new person; faults in the page's script fail the test."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_page(address: str = server.address, context: Any = None, **options: Any) -> Any:
        if context is None:
            context = chromium.new_context(viewport={"width": 1360, "height": 900}, **options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PAGE_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        page.goto(address)
        page.wait_for_selector("[data-ready=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
