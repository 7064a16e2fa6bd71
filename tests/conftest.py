"""Shared fixtures. Threads are fixed, so that numbers do not depend on the machine's load."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "20000")  # spinning threads starve each other on busy machines
# The small models of the tests gain nothing from a second thread, and lose much on a busy machine;
# tests of what threads could change set their number themselves.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
# What the product keeps in the user's cache must neither be read nor changed.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="zonos-cache-")

import pytest

atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of the small golden files."""
    return DATA
