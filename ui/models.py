"""The model picker: what can be loaded, and what it needs."""

from __future__ import annotations

from zonos import hub


def choices() -> list[tuple[str, str]]:
    """``(label, name)`` of every model; what is not on this machine says so."""
    return [(_label(info), info.name) for info in hub.available()]


def refusal(name: str) -> str | None:
    """Why a model is not taken from a browser or a zip: only what the picker offers is.

    A folder of this machine or a download that nobody here chose would be opened otherwise.
    """
    known = [info.name for info in hub.available()]
    return None if name in known else f"There is no model {name!r} here; pick one of: {', '.join(known)}."


def note(name: str) -> str:
    """One line under the picker."""
    for info in hub.available():
        if info.name == name:
            words = f"**{info.title}**: {info.needs}"
            return f"{words} {info.problem}".strip()
    return f"The model {name} is not on this machine (any more); pick another."


def _label(info: hub.ModelInfo) -> str:
    return info.title if info.present else f"{info.title} (to download)"
