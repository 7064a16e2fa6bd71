"""The one model that is in memory, and who may change it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ui import models
from ui.space import SpaceEngine, is_zero_gpu
from zonos.errors import CheckpointError

if TYPE_CHECKING:
    from zonos.engine import Engine


class Engines:
    """Lends out the engine of a model; another model is loaded when nobody uses the present one.

    Args:
        load: makes an engine from a model's name.
    """

    def __init__(self, load: Callable[[str], Engine | SpaceEngine]) -> None:
        self._load = load
        self._turn = threading.Condition()
        self._model: str | None = None
        self._engine: Engine | SpaceEngine | None = None
        self._users = 0
        self._changing = False

    @property
    def model(self) -> str | None:
        """Name of the model in memory, if any."""
        return self._model

    def speed(self, model: str) -> float | None:
        """Frames per second of one row, as measured by the engine in memory; None where nothing is known."""
        with self._turn:
            engine = self._engine if self._model == model else None
        return None if engine is None or isinstance(engine, SpaceEngine) else engine.status().alone

    @contextmanager
    def use(self, model: str) -> Iterator[Engine | SpaceEngine]:
        """Borrow the engine of ``model``; waits until users of another model are through.

        Raises:
            CheckpointError: the model cannot be loaded.
        """
        engine = self._take(model)
        try:
            yield engine
        finally:
            with self._turn:
                self._users -= 1
                self._turn.notify_all()

    def close(self) -> None:
        """End the engine."""
        with self._turn:
            if self._engine is not None:
                self._engine.close()
            self._engine = self._model = None

    def _take(self, model: str) -> Engine | SpaceEngine:
        with self._turn:
            self._turn.wait_for(lambda: not self._changing and (self._ready(model) or self._users == 0))
            if engine := self._ready(model):
                self._users += 1
                return engine
            self._changing = True
        try:
            engine = self._swap(model)
        except BaseException:
            with self._turn:
                self._changing = False
                self._turn.notify_all()
            raise
        with self._turn:
            self._model, self._engine, self._changing = model, engine, False
            self._users += 1
            self._turn.notify_all()
        return engine

    def _ready(self, model: str) -> Engine | SpaceEngine | None:
        """The engine of a model if it is in memory, and has not ended after a fault past mending."""
        engine = self._engine if self._model == model else None
        return None if engine is None or engine.closed else engine

    def _swap(self, model: str) -> Engine | SpaceEngine:
        """Outside the lock: loading takes a while. The old model goes first, memory holds one."""
        old, self._engine, self._model = self._engine, None, None
        if old is not None:
            old.close()
        return self._load(model)


def load_engine(model: str) -> Engine | SpaceEngine:
    """The real thing; torch is imported here, not when the page starts.

    Raises:
        CheckpointError: it cannot be loaded, or is none that the page offers.
    """
    if sentence := models.refusal(model):
        raise CheckpointError(sentence)
    if is_zero_gpu():
        return SpaceEngine(model)
    from zonos.engine import load

    return load(model)
