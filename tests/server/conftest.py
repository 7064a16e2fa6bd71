"""Fixtures: one engine for all tests, servers around it, a gate that holds it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from engines import mini
from live_server import VOICES, Running, Serve, listening
from waiting import until

from zonos.engine import Engine
from zonos.server import Settings
from zonos.voices import VoiceFolder


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with Engine(mini(), voices=VoiceFolder([VOICES])) as engine:
        yield engine


@pytest.fixture
def serve(engine: Engine, tmp_path: Path) -> Iterator[Serve]:
    """Starts servers on the shared engine, each with settings of its own."""
    with ExitStack() as stack:

        def start(*, send_buffer: int | None = None, **settings: Any) -> Running:
            settings = {"data": tmp_path / "server", "voices": (VOICES,), **settings}
            return stack.enter_context(listening(engine, Settings(**settings), send_buffer))

        yield start
    until(lambda: engine.status().running == 0, "the engine is idle again")


@pytest.fixture
def server(serve: Serve) -> Running:
    """With the usual settings."""
    return serve()


@pytest.fixture
def gate(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is not set, the engine decodes nothing: what is asked for stays open."""
    opened = threading.Event()
    turn = engine.loop.turn

    def held() -> bool:
        opened.wait(60)
        return turn()

    monkeypatch.setattr(engine.loop, "turn", held)
    yield opened
    opened.set()
