"""What every benchmark prints: the machine, a table, or JSON."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch


def arguments(name: str, what: str) -> argparse.ArgumentParser:
    """A parser with what all benchmarks share."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=what)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=3, help="times each setting is measured, in turn")
    return parser


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def show(title: str, rows: Sequence[dict[str, Any]], as_json: bool, notes: Sequence[str] = ()) -> None:
    """Print rows of like keys."""
    if as_json:
        print(
            json.dumps({"benchmark": title, "machine": machine(), "rows": list(rows), "notes": list(notes)})
        )
        return
    where = machine()
    print(
        f"{title}  ({where['date']}; {where['processor']}, {where['threads']} threads, torch {where['torch']})"
    )
    if rows:
        names = list(rows[0])
        cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        for line in cells:
            print("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    for note in notes:
        print(f"  {note}")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return "" if value is None else str(value)


def ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """Median of the ratios of figures measured in alternation."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))
