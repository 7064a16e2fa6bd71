"""The batched Zonos generator: lines in, speech out.

>>> import zonos
>>> with zonos.load("mini", voices=zonos.VoiceFolder(["examples/voices"])) as engine:
...     for event in engine.submit([zonos.Line(text="Good morning.", voice="Heart")]):
...         print(event)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# Worker threads that spin while they wait starve each other when the cores are shared: measured up
# to ten times slower. It must be set before torch starts its threads; a value that is set wins.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

from zonos.line import Emotion, Line, Sampling
from zonos.voices import VoiceFolder

if TYPE_CHECKING:
    from zonos.engine import Engine, load

__all__ = ["Emotion", "Engine", "Line", "Sampling", "VoiceFolder", "load"]


def __getattr__(name: str) -> Any:
    """The engine brings torch along, which whoever only reads scripts need not wait for."""
    if name in ("Engine", "load"):
        from zonos import engine

        return getattr(engine, name)
    raise AttributeError(f"module 'zonos' has no attribute {name!r}")
