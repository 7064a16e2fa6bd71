"""Takes the pictures of the page for the README: ``python -m ui.picture``.

Starts the studio on an empty data folder, generates the sample script with the embedded checkpoint and
photographs it with chromium through playwright (both in the development requirements).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 1280, 780
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio")
SPOKEN_MS = 180_000


def main() -> int:
    """Make ``page.png`` and ``page-dark.png``."""
    parser = argparse.ArgumentParser(prog="python -m ui.picture", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of the pictures")
    out: Path = parser.parse_args().out
    browser = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if browser is None:
        print("No chromium is installed (Debian: apt-get install chromium).", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ZONOS_DATA"] = folder
        _photograph(Path(browser), out)
    return 0


def _photograph(browser: Path, out: Path) -> None:
    from playwright.sync_api import sync_playwright

    from ui.page import Studio, build, launch_options

    studio = Studio.open()
    page = build(studio)
    _, address, _ = page.launch(prevent_thread_lock=True, **launch_options(studio))
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=str(browser), args=list(FLAGS))
            view = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5)
            _speak(view, address)
            _shoot(view, out / "page.png")
            view.evaluate("document.body.classList.add('dark')")
            _shoot(view, out / "page-dark.png")
            chromium.close()
    finally:
        page.close()
        studio.close()


def _speak(view: Any, address: str) -> None:
    """Generate everything, then change one line and hear another, so that more than one status shows."""
    view.goto(address)
    view.wait_for_selector("[data-ready=yes]")
    view.locator("[data-which=pending]").click()
    view.wait_for_function(
        "document.querySelectorAll('.st-rows [data-kind=done].st-status').length === 4", timeout=SPOKEN_MS
    )
    view.wait_for_selector(".st-notice", state="detached", timeout=SPOKEN_MS)
    row = view.locator(".st-rows > .st-row").nth(3)
    row.locator(".st-text").fill("Put the box down, and step away from the door. Slowly.")
    view.locator(".st-rows [data-do=play]").nth(1).click()
    view.wait_for_function("document.querySelector('audio').currentTime > 0.9")
    view.locator(".st-dock .st-tool-big").click()
    view.locator(".st-rows [data-do=emotion]").nth(2).click()


def _shoot(view: Any, path: Path) -> None:
    view.wait_for_timeout(400)  # transitions of colours
    view.screenshot(path=path)
    print(path)


if __name__ == "__main__":
    sys.exit(main())
