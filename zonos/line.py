"""A line of the script: everything that decides how one piece of speech sounds.

One schema serves the page, script files, the command line and the HTTP API. ``None`` means "the
checkpoint's own default"; ``"auto"`` means "unconditioned": the model decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

Auto = Literal["auto"]
AUTO: Auto = "auto"

EMOTIONS = ("happiness", "sadness", "disgust", "fear", "surprise", "anger", "other", "neutral")
MAX_TEXT_CHARACTERS = 20_000
MAX_SEED = 2**63 - 1


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


Number = Annotated[float, AfterValidator(_finite)]
Weight = Annotated[Number, Field(ge=0, le=1)]


class _Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


class Emotion(_Schema):
    """Eight weights from 0 to 1; the model sees them divided by their sum."""

    happiness: Weight = 0.0
    sadness: Weight = 0.0
    disgust: Weight = 0.0
    fear: Weight = 0.0
    surprise: Weight = 0.0
    anger: Weight = 0.0
    other: Weight = 0.0
    neutral: Weight = 0.0

    def vector(self) -> tuple[float, ...] | None:
        """The eight weights in the model's order, summing to 1; None when all are zero."""
        weights = tuple(getattr(self, name) for name in EMOTIONS)
        total = sum(weights)
        return tuple(w / total for w in weights) if total > 0 else None

    @classmethod
    def from_vector(cls, weights: tuple[float, ...] | list[float]) -> Emotion:
        """Build from eight weights in the model's order."""
        return cls(**dict(zip(EMOTIONS, weights, strict=True)))


def _mix(**weights: float) -> Emotion:
    return Emotion(**weights)


# The model's own mix, used where a checkpoint was trained with it as the plain manner of speaking.
DEFAULT_MIX = Emotion.from_vector((0.3077, 0.0256, 0.0256, 0.0256, 0.0256, 0.0256, 0.2564, 0.3077))

PRESETS: dict[str, Emotion] = {
    "neutral": _mix(neutral=1.0),
    "mixed": DEFAULT_MIX,
    "happy": _mix(happiness=0.9, neutral=0.1),
    "cheerful": _mix(happiness=0.6, surprise=0.15, neutral=0.25),
    "sad": _mix(sadness=0.9, neutral=0.1),
    "gentle": _mix(sadness=0.2, happiness=0.2, neutral=0.6),
    "angry": _mix(anger=0.9, neutral=0.1),
    "stern": _mix(anger=0.4, neutral=0.6),
    "afraid": _mix(fear=0.9, neutral=0.1),
    "surprised": _mix(surprise=0.9, neutral=0.1),
    "disgusted": _mix(disgust=0.9, neutral=0.1),
}


_MOST_EMOTION = 1000  # characters; eight weights with all their digits take 300
_MOST_SHOWN = 60  # characters of a wrong value in a sentence: it may be megabytes of somebody's file
_WEIGHTS = re.compile(r"([^\s=:,;]+)\s*[=:]\s*([^\s,;]+)")


def parse_emotion(value: Any) -> Any:
    """Accept a preset's name, ``auto``, ``happiness=0.8 surprise=0.2``, a mapping, eight weights or an Emotion.

    Raises:
        ValueError: an unknown preset or emotion, named, with the names that exist.
    """
    if value is None or isinstance(value, Emotion):
        return value
    if isinstance(value, dict):
        return _known(value)
    if isinstance(value, (list, tuple)) and len(value) == len(EMOTIONS):
        return dict(zip(EMOTIONS, value, strict=True))
    if not isinstance(value, str):
        raise ValueError(
            f"{_shown(value)} is no emotion; use a preset's name, or weights such as happiness=0.8"
        )
    text = value.strip().lower()
    if not text:
        return None
    if text == AUTO:
        return AUTO
    if text in PRESETS:
        return PRESETS[text]
    # Looking for weights takes the square of the time in a long text without any.
    pairs = _WEIGHTS.findall(text) if len(text) <= _MOST_EMOTION else []
    if not pairs or _WEIGHTS.sub(" ", text).strip(" ,;\t\n"):
        raise ValueError(
            f"unknown emotion {_shown(value)}; use auto, a preset ({', '.join(PRESETS)}) "
            "or weights such as happiness=0.8 surprise=0.2"
        )
    return _known(dict(pairs))


def _known(weights: dict[str, Any]) -> dict[str, Any]:
    unknown = next((name for name in weights if name not in EMOTIONS), None)
    if unknown is not None:
        raise ValueError(f"unknown emotion {_shown(unknown)}; the eight are {', '.join(EMOTIONS)}")
    return weights


def _eight(value: Any) -> Any:
    """One number stands for all eight."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return (float(value),) * 8
    if isinstance(value, str) and value.strip().lower() != AUTO:
        parts = [_number(part) for part in re.split(r"[\s,;]+", value.strip()) if part]
        return tuple(parts) * 8 if len(parts) == 1 else tuple(parts)
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{_shown(text)} is not a number") from None


def _shown(value: Any, words: Callable[[Any], str] = repr) -> str:
    try:
        text = words(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _seed(value: Any) -> Any:
    """Spreadsheets hand integers over as ``12.0``."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class Conditioning(_Schema):
    """How the line should be spoken; every field settable or ``"auto"``."""

    emotion: Annotated[Emotion | Auto | None, BeforeValidator(parse_emotion)] = None
    pitch_std: Annotated[Number, Field(ge=0, le=400)] | Auto | None = None  # Hz
    speaking_rate: Annotated[Number, Field(ge=1, le=40)] | Auto | None = None  # phonemes per second
    fmax: Annotated[Number, Field(ge=0, le=24_000)] | Auto | None = None  # Hz
    vqscore_8: Annotated[
        Annotated[tuple[Annotated[Number, Field(ge=0.5, le=0.8)], ...], Field(min_length=8, max_length=8)]
        | Auto
        | None,
        BeforeValidator(_eight),
    ] = Field(default=None)
    ctc_loss: Annotated[Number, Field(ge=-1, le=1000)] | Auto | None = None
    dnsmos_ovrl: Annotated[Number, Field(ge=1, le=5)] | Auto | None = None
    speaker_noised: bool | Auto | None = None


class Sampling(_Schema):
    """How tokens are drawn; 0 switches top_p, top_k, min_p and the unified sampler off."""

    cfg_scale: Annotated[Number, Field(ge=1, le=5)] | None = None
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    top_p: Annotated[Number, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, le=1024)] | None = None
    min_p: Annotated[Number, Field(ge=0, le=1)] | None = None
    linear: Annotated[Number, Field(ge=0, le=1)] | None = None
    conf: Annotated[Number, Field(ge=-2, le=2)] | None = None
    quad: Annotated[Number, Field(ge=-2, le=2)] | None = None
    repetition_penalty: Annotated[Number, Field(ge=0.5, le=10)] | None = None
    repetition_window: Annotated[int, Field(ge=0, le=64)] | None = None


class Line(Conditioning, Sampling):
    """One row of the table.

    ``voice`` names a voice that the caller's voice source knows (a path only where that source
    allows paths); empty means unconditioned. ``prefix_audio`` is a clip that the speech continues,
    ``prefix_text`` what is said in it.
    """

    text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
    id: Annotated[str, Field(max_length=200)] | None = None
    name: Annotated[str, Field(max_length=400)] | None = None
    language: Annotated[str, Field(max_length=40)] = "en-us"
    voice: Annotated[str, Field(max_length=4096)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_SEED), BeforeValidator(_seed)] | None = None
    takes: Annotated[int, Field(ge=1, le=100)] = 1
    prefix_audio: Annotated[str, Field(max_length=4096)] | None = None
    prefix_text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None = None
    keep_prefix: bool = False
    max_seconds: Annotated[Number, Field(gt=0, le=3600)] | None = None


HYBRID_ONLY = ("vqscore_8", "ctc_loss", "dnsmos_ovrl", "speaker_noised")


def explain(error: ValidationError) -> list[tuple[str, str]]:
    """Turn pydantic's errors into ``(field, sentence)`` pairs for people."""
    found: dict[str, str] = {}
    for item in error.errors(include_url=False, include_context=True):
        place = [str(part) for part in item["loc"] if not str(part).startswith(("function-", "constrained-"))]
        field = place[0] if place else "line"
        # The first says what was wrong with the value; the rest are the other types that it may be.
        if field not in found:
            found[field] = _sentence(field, item)
    return list(found.items())


_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_KINDS = (
    ("float", "a number"),
    ("int", "a whole number"),
    ("bool", "yes or no"),
    ("string", "text"),
    ("tuple", "a number, or a list of them"),
    ("finite", "a finite number"),
    ("model", "an object of settings"),
    ("dict", "an object of settings"),
)


def _sentence(field: str, item: Any) -> str:
    context, given = item.get("ctx", {}), item.get("input")
    kind = item["type"]
    name = next((str(part) for part in item["loc"] if part in EMOTIONS), field)
    if kind == "extra_forbidden":
        return f"{_shown(field, str)} is not a setting this studio knows."
    if kind == "missing":
        return f"{field} is missing."
    if kind in {"greater_than_equal", "less_than_equal", "greater_than", "less_than"}:
        return f"{name} is {_shown(given, str)}; it must be {_span(name, context)}."
    if kind == "value_error":
        return f"{field}: {context.get('error', item['msg'])}."
    if kind == "string_too_long":
        return f"{field} is longer than {context.get('max_length')} characters; split it."
    if kind in {"too_short", "too_long"}:
        return f"{field} takes one value or {context.get('min_length') or context.get('max_length')}."
    wanted = next((words for start, words in _KINDS if kind.startswith(start)), context.get("expected"))
    if wanted:
        return f"{name} is {_shown(given)}; it must be {wanted}."
    return f"{field}: {item['msg']} (got {_shown(given)})."


def _span(field: str, context: dict[str, Any]) -> str:
    low, high = limits(field)
    if low is not None and high is not None:
        return f"from {_plain(low)} to {_plain(high)}"
    return " and ".join(f"{_BOUNDS[key]} {_plain(value)}" for key, value in context.items() if key in _BOUNDS)


def _plain(value: float) -> str:
    """Nobody types ``9.22337e+18``."""
    return str(value) if isinstance(value, int) else f"{value:g}"


@cache
def limits(field: str) -> tuple[float | None, float | None]:
    """Smallest and largest value of a numeric field or an emotion's weight, read from its schema."""
    model = Emotion if field in EMOTIONS else Line
    schema = model.model_json_schema()["properties"].get(field, {})
    for option in [schema, *schema.get("anyOf", [])]:
        # pydantic writes bounds that follow a validator under its own names
        low = next(
            (option[key] for key in ("minimum", "exclusiveMinimum", "ge", "gt") if key in option), None
        )
        high = next(
            (option[key] for key in ("maximum", "exclusiveMaximum", "le", "lt") if key in option), None
        )
        if low is not None or high is not None:
            return low, high
    return None, None
