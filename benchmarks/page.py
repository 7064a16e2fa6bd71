"""The table with many rows in a real chromium: first paint, typing, scrolling, size of its JSON."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import arguments, show

GOALS = {
    "first rows": 2.0,
    "all rows": None,
    "typing": 0.1,
    "scrolling": 0.1,
    "tick all": None,
    "filter": None,
}
TEXT = "Line {n}: the river was cold, and nobody had thought of bringing a second coat for the night."

# Seconds from each key to the frame that shows it; the frame's own work is over in the task behind it.
TYPING = """async (count) => {
  const field = document.querySelectorAll('.st-rows .st-text')[250];
  field.scrollIntoView({ block: 'center' }); field.focus();
  const found = [];
  for (let i = 0; i < count; i++) {
    await new Promise((done) => setTimeout(done, 40));
    const start = performance.now();
    document.execCommand('insertText', false, 'x');
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    found.push((performance.now() - start) / 1000);
  }
  return found;
}"""
SCROLLING = """async (steps) => {
  const found = [];
  for (let i = 1; i <= steps; i++) {
    const start = performance.now();
    window.scrollTo(0, (document.documentElement.scrollHeight * i) / steps);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    found.push((performance.now() - start) / 1000);
  }
  return found;
}"""
CLICK = """async (selector) => {
  const start = performance.now();
  document.querySelector(selector).click();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return (performance.now() - start) / 1000;
}"""
FILL = """async ([count, text]) => {
  const project = (await window.studioReady).project;
  project.remove([...project.order]);
  for (let n = 1; n <= count; n++) {
    const id = `bench${String(n).padStart(8, '0')}`;
    project.add(id, undefined, { text: text.replace('{n}', n), voice: 'Heart', emotion: { happiness: 0.9, neutral: 0.1 } });
  }
  await project.flush();
}"""


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("page", __doc__ or "")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--speak", type=int, default=0, help="generate this many lines instead: memory")
    options = parser.parse_args(argv)
    if options.speak:
        return _speak(options.speak, options.json)
    from ui.picture import CHROMIUM, FLAGS

    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise SystemExit("No chromium is installed (Debian: apt-get install chromium).")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ZONOS_DATA"] = folder
        from playwright.sync_api import sync_playwright

        from ui.page import Studio, build, launch_options

        studio = Studio.open()
        page = build(studio)
        _, address, _ = page.launch(prevent_thread_lock=True, **launch_options(studio))
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
                found, size = _measure(browser, address, options.rows, options.rounds)
                browser.close()
        finally:
            page.close()
            studio.close()
    rows = [
        {"what": what, "median s": statistics.median(times), "worst s": max(times), "goal s": GOALS[what]}
        for what, times in found.items()
    ]
    show(f"page with {options.rows} rows", rows, options.json, [f"{size:.0f} bytes of JSON a row"])
    return 0


def _measure(browser: Any, address: str, rows: int, rounds: int) -> tuple[dict[str, list[float]], float]:
    view = browser.new_page(viewport={"width": 1360, "height": 900})
    view.goto(address)
    view.wait_for_selector("[data-ready=yes]")
    view.evaluate(FILL, [rows, TEXT])
    found: dict[str, list[float]] = {name: [] for name in GOALS}
    for _ in range(rounds):
        view.reload()
        view.wait_for_selector(".st-rows > .st-row")
        found["first rows"].append(view.evaluate("performance.now() / 1000"))
        view.wait_for_function(f"document.querySelectorAll('.st-rows > .st-row').length === {rows}")
        found["all rows"].append(view.evaluate("performance.now() / 1000"))
        found["typing"] += view.evaluate(TYPING, 20)
        found["scrolling"] += view.evaluate(SCROLLING, 40)
        for _ in range(2):
            found["tick all"].append(view.evaluate(CLICK, ".st-head .st-tick"))
        for kind in ("ticked", "all"):
            found["filter"].append(view.evaluate(CLICK, f".st-filter [data-kind={kind}]"))
    size = view.evaluate(
        "window.studioReady.then((s) => s.project.api.changes(0)).then((a) => JSON.stringify(a.lines))"
    )
    return found, len(json.dumps(json.loads(size), ensure_ascii=False, separators=(",", ":")).encode()) / rows


def _speak(count: int, as_json: bool) -> int:
    """Memory of the server while one project's lines are generated, in tenths of the run."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ZONOS_DATA"] = folder
        from ui import edits, projects, sample
        from ui.limits import Limits
        from ui.page import Studio

        studio = Studio.open()
        project = sample.first_project(studio.store)
        words = ("One more line.", "Nobody was there.", "The door is open.", "Come in, please.")
        new = [
            {"op": "add", "id": f"bench{n:08d}", "fields": {"text": words[n % 4], "voice": "Heart"}}
            for n in range(count)
        ]
        with studio.store.transaction() as db:
            edits.apply(db, projects.get(db, project.token), new, Limits())
        studio.runs.start(project.token, "pending")
        rows: list[dict[str, Any]] = []
        while (now := studio.runs.status(project.token))["on"]:
            if now["done"] >= (len(rows) + 1) * count / 10:
                rows.append({"lines done": now["done"], "resident MB": _resident_mb()})
            time.sleep(0.2)
        studio.close()
    show(f"memory over {count} lines", rows, as_json)
    return 0


def _resident_mb() -> float:
    fields = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()
    return int(fields[0]) / 1024
