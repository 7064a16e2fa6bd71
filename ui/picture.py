"""Takes the pictures of the page for README and docs: ``python -m ui.picture``.

Starts the studio on an empty data folder, works through it as a producer would, in about a minute, and
photographs each step with chromium through playwright (both in the development requirements).
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
WIDTH, HEIGHT = 1280, 860
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio")
SPOKEN_MS = 180_000
CELLS = (
    "text\tvoice\temotion\n"
    "The bridge is out. We have to go around.\tMarcus\tstern\n"
    '"Around?\nThat takes a whole day!"\tJune\tsurprised\n'
    "Then we had better start walking.\tVera\tvery calm\n"
)
PASTE = """(field, words) => {
  const data = new DataTransfer();
  data.setData('text/plain', words);
  field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
}"""


def main() -> int:
    """Make the pictures."""
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
            view.set_default_timeout(SPOKEN_MS)
            view.goto(address)
            view.wait_for_selector("[data-ready=yes]")
            for name, step in STEPS.items():
                step(view)
                _shoot(view, out / f"{name}.png")
            chromium.close()
    finally:
        page.close()
        studio.close()


def _speak(view: Any) -> None:
    view.locator("[data-which=pending]").click()
    view.wait_for_selector(".st-rows .st-busy[style*='%']")
    view.wait_for_function("document.querySelector('.st-bar-words').textContent.includes('per second')")


def _listen(view: Any) -> None:
    """One line changed, another heard, so that more than one status shows."""
    view.wait_for_function("document.querySelectorAll('.st-rows [data-kind=done].st-status').length === 4")
    view.wait_for_selector(".st-notice", state="detached")
    row = view.locator(".st-rows > .st-row").nth(3)
    row.locator(".st-text").fill("Put the box down, and step away from the door. Slowly.")
    view.locator(".st-rows [data-do=play]").nth(1).click()
    view.wait_for_function("document.querySelector('audio').currentTime > 0.9")
    view.locator(".st-dock .st-tool-big").click()
    view.locator(".st-rows [data-do=emotion]").nth(2).click()


def _dark(view: Any) -> None:
    view.evaluate("document.body.classList.add('dark')")


def _takes(view: Any) -> None:
    view.evaluate("document.body.classList.remove('dark')")
    view.keyboard.press("Escape")
    view.locator(".st-rows [data-do=menu]").nth(1).click()
    view.locator(".st-menu [data-act=three]").click()
    view.wait_for_function("document.querySelectorAll('.st-rows .st-take')[1].textContent.startsWith('4')")
    view.locator(".st-rows [data-do=menu]").nth(1).click()
    view.locator(".st-menu [data-act=takes]").click()
    view.wait_for_selector(".st-take-row")


def _paste(view: Any) -> None:
    view.keyboard.press("Escape")
    view.locator(".st-rows .st-text").nth(3).evaluate(PASTE, CELLS)
    view.wait_for_selector(".st-import[open]")


def _details(view: Any) -> None:
    view.locator(".st-import .st-primary").click()
    view.locator(".st-rows [data-do=menu]").nth(4).click()
    view.locator(".st-menu [data-act=details]").click()
    view.wait_for_function("document.querySelector('.st-phonemes').textContent.length > 3")


def _export(view: Any) -> None:
    view.keyboard.press("Escape")
    view.get_by_role("tab", name="Export").click()
    view.wait_for_function(
        "document.querySelector('#studio-export-preview textarea').value.includes('lines.')"
    )


STEPS = {
    "walk-1-generate": _speak,
    "page": _listen,
    "page-dark": _dark,
    "walk-2-takes": _takes,
    "walk-3-paste": _paste,
    "walk-4-settings": _details,
    "walk-5-export": _export,
}


def _shoot(view: Any, path: Path) -> None:
    view.wait_for_timeout(400)  # transitions of colours
    view.screenshot(path=path)
    print(path)


if __name__ == "__main__":
    sys.exit(main())
