"""What a line gets where it says nothing: a checkpoint's own defaults, or the product's.

The product's values are those of the published Zonos-v0.1 (its web page's sampling, its library's
conditioning); a checkpoint overrides any of them in ``generation.json`` beside its config.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from zonos.errors import CheckpointError
from zonos.line import AUTO, Auto, Emotion, Line, explain, parse_emotion
from zonos.text.languages import CODES

log = logging.getLogger(__name__)


class Defaults(BaseModel):
    """One value for every setting of a line that the line itself may leave open; and what it may ask for.

    Names, units and ranges are those of :class:`zonos.line.Line`; ``"auto"`` is unconditioned.
    ``languages`` are the codes that the checkpoint was trained on, none where it does not say so.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cfg_scale: float = 2.0
    temperature: float = 1.0
    top_p: float = 0.0
    top_k: int = 0
    min_p: float = 0.0
    linear: float = 0.5
    conf: float = 0.4
    quad: float = 0.0
    repetition_penalty: float = 3.0
    repetition_window: int = 2
    emotion: Emotion | Auto = AUTO
    pitch_std: float | Auto = 45.0
    speaking_rate: float | Auto = 15.0
    fmax: float | Auto = 22_050.0
    vqscore_8: tuple[float, ...] | Auto = AUTO
    ctc_loss: float | Auto = 0.0
    dnsmos_ovrl: float | Auto = AUTO
    speaker_noised: bool | Auto = False
    languages: tuple[str, ...] = ()
    max_seconds: float = 30.0  # the longest piece the model speaks in one go; no limit on a line

    @field_validator("emotion", mode="before")
    @classmethod
    def _emotion(cls, value: Any) -> Any:
        return _emotion_value(value)

    def fill(self, line: Line) -> Line:
        """The line with every open setting filled in; what the line says itself stays.

        Only ``max_seconds`` stays open: in a line it limits the whole take, however many pieces.
        """
        filled = set(Defaults.model_fields) - {"max_seconds", "languages"}
        open_fields = [name for name in filled if getattr(line, name) is None]
        return line.model_copy(update={name: getattr(self, name) for name in open_fields})


def _emotion_value(value: Any) -> Any:
    """Eight numbers in the model's order, or anything that a line's emotion may be."""
    if isinstance(value, (list, tuple)):
        return Emotion.from_vector(list(value))
    return parse_emotion(value)


def read_defaults(path: Path | None) -> Defaults:
    """Defaults of a checkpoint, from its ``generation.json``; the product's where it is None.

    Fields that are not known are left out and named in a warning, so that a newer checkpoint
    still loads.

    Raises:
        CheckpointError: the file cannot be read or holds a value out of range; names it.
    """
    if path is None:
        return Defaults()
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"The defaults in {path} cannot be read: {error}.") from error
    if not isinstance(given, dict):
        raise CheckpointError(f"The defaults in {path} must be a JSON object of settings.")
    unknown = sorted(set(given) - set(Defaults.model_fields))
    if unknown:
        log.warning("%s: unknown defaults left out: %s", path, ", ".join(unknown))
    known = {name: value for name, value in given.items() if name not in unknown}
    languages = _languages(known.pop("languages", ()), path)
    return _checked(known, path).model_copy(update={"languages": languages})


def _languages(given: Any, path: Path) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)) or not all(code in CODES for code in given):
        raise CheckpointError(f"{path}: languages must be a list of codes such as en-us, it is {given!r}.")
    return tuple(given)


def _checked(given: dict[str, Any], path: Path) -> Defaults:
    """Ranges are stated once, in the line's schema, so the values are checked through a line."""
    try:
        values = {n: _emotion_value(v) if n == "emotion" else v for n, v in given.items() if v is not None}
        line = Line(text="", **values)
    except ValidationError as error:
        raise CheckpointError(f"{path}: " + " ".join(sentence for _, sentence in explain(error))) from error
    except ValueError as error:
        raise CheckpointError(f"{path}: emotion: {error}") from error
    return Defaults(**{name: getattr(line, name) for name in values})
