"""What a run would take, before it is started: rows at once, memory, time. As ``--dry-run`` foresees it."""

from __future__ import annotations

import json
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
        speed: frames per second of one row, where it was measured.

    Nothing for a model that is not on this machine, nor where a GPU is lent by the call.

    Lines that would fail are left out, as a run leaves them.
    """
    if is_zero_gpu() or not any(info.name == model and info.present for info in hub.available()):
        return {}
    from zonos.codec import frame_rate_of
    from zonos.devices import pick_device, pick_dtype
    from zonos.hub.weights import readable_size
    from zonos.plan import MOST_SLOTS, plan_run
    from zonos.request import Request, make_request

    def made(line: Line) -> Request | None:
        try:
            return make_request(line, known.defaults, known.config, frame_rate, spellings)
        except LineError:  # the row says why
            return None

    known = voicing(model)
    checkpoint = hub.resolve(model, download=False)
    codec = checkpoint.codec.config
    frame_rate = frame_rate_of(json.loads(codec.read_text(encoding="utf-8")) if codec else {})
    requests = [request for request in map(made, lines) if request]
    if not requests:
        return {}
    device = pick_device(None)
    dtype = pick_dtype(None, device, known.config)
    slots = MOST_SLOTS[device.type]
    plan = plan_run(
        known.config, requests, dtype=dtype, device=device.type, slots=slots, frames_per_second=speed
    )
    return {
        "takes": plan.takes,
        "rows": plan.rows,
        "memory": readable_size(plan.peak_bytes + checkpoint.bytes_beside_model),
        "seconds": plan.seconds,
    }
