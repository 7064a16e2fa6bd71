"""What a run would take, before it is started: rows at once, memory, time. As ``--dry-run`` foresees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ui.checks import voicing
from ui.space import is_zero_gpu
from zonos import hub
from zonos.errors import LineError
from zonos.line import Line
from zonos.text.dictionary import Dictionary


def ahead(
    lines: Iterable[Line], spellings: Dictionary, model: str, speed: float | None = None
) -> dict[str, Any]:
    """Takes, rows at once, memory in words and seconds.

    Args:
        lines: to be spoken.
        spellings: of their project.
        model: that speaks them.
        speed: frames per second of one row, where the engine in memory has measured it.

    Nothing for a model that is not on this machine, nor where a GPU is lent by the call.

    Lines that would fail are left out, as a run leaves them.
    """
    if is_zero_gpu() or not any(info.name == model and info.present for info in hub.available()):
        return {}
    from zonos.ahead import frame_rate, look_ahead
    from zonos.hub.weights import readable_size
    from zonos.request import Request, make_request

    def made(line: Line) -> Request | None:
        try:
            return make_request(line, known.defaults, known.config, rate, spellings)
        except LineError:  # the row says why
            return None

    known = voicing(model)
    checkpoint = hub.resolve(model, download=False)
    rate = frame_rate(checkpoint)
    requests = [request for request in map(made, lines) if request]
    if not requests:
        return {}
    found = look_ahead(checkpoint, known.config, requests, speed=speed)
    return {
        "takes": found.plan.takes,
        "rows": found.plan.rows,
        "memory": readable_size(found.peak_bytes),
        "seconds": found.plan.seconds,
    }
