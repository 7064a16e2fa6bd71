"""``docs/hard-inputs.md`` names tests that exist, and leaves no row out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "docs" / "hard-inputs.md").read_text(encoding="utf-8")
ROWS = {"Text and language": 15, "Batching, sampling, length": 13, "Clips and files": 10}
ROWS |= {"Page, server, machine": 12}
NAMED = re.compile(r"`((?:\w+/)?test_\w+\.py)::(test_\w+)`")


def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_test_named_is_there() -> None:
    missing = [f"{file}::{name}" for file, name in NAMED.findall(TEXT) if name not in functions(TESTS / file)]
    assert missing == []


def test_every_row_has_a_test() -> None:
    for title, count in ROWS.items():
        section = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
        assert len(rows) == count, title
        for row in rows:
            assert len(re.split(r"(?<!\\)\|", row)) == 6, row  # four cells
            assert NAMED.search(row), row
