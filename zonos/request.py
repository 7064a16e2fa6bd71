"""A line made ready: its text as tokens, its settings decided, its length estimated."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonos.config import ZonosConfig
from zonos.defaults import Defaults
from zonos.errors import LineError
from zonos.line import AUTO, HYBRID_ONLY, MAX_SEED, Conditioning, Emotion, Line
from zonos.sampler_settings import SamplerSettings
from zonos.text import Piece, Spoken, count_phonemes, prepare
from zonos.text.dictionary import Dictionary
from zonos.text.languages import named, resolve_language

# Speech without a wanted rate: what the published model was asked for by default.
PLAIN_RATE = 15.0  # phonemes a second
LEAD_SECONDS = 0.3  # silence around the words
MAX_PREFIX_SECONDS = 20.0
_FASTEST = 40.0  # phonemes a second
GUARD_FACTOR, GUARD_SECONDS = 3.0, 2.5  # a row longer than this times its estimate has lost its way


@dataclass(frozen=True)
class Preview:
    """What would be spoken, and about how long it takes to hear it."""

    language: str
    phonemes: str
    pieces: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PieceRequest:
    """One piece of a line: a row of the batch."""

    ids: tuple[int, ...]
    phonemes: str
    gap_before: float  # seconds
    gap_after: float
    expected_frames: int
    limit: int  # most frames
    limit_is_asked: bool  # the producer's own limit, not the guard against a row that lost its way
    prefix_frames: int = 0  # of the prefix clip before it, as its words tell


@dataclass(frozen=True)
class Request:
    """A line without its voice: everything that text and settings decide. One serves all takes."""

    line: Line  # every setting filled in
    spoken: Spoken
    pieces: tuple[PieceRequest, ...]
    values: Mapping[str, Any]  # conditioning values by conditioner, without text and speaker
    sampling: SamplerSettings
    warnings: tuple[str, ...]

    @property
    def phonemes(self) -> str:
        """Of the whole line."""
        return self.spoken.phonemes

    @property
    def expected_frames(self) -> int:
        """Over all pieces."""
        return sum(piece.expected_frames for piece in self.pieces)

    def expected_seconds(self, frame_rate: float) -> float:
        """Speech, silences, and the prefix clip where it is kept."""
        gaps = sum(piece.gap_before + piece.gap_after for piece in self.pieces)
        kept = self.pieces[0].prefix_frames if self.line.keep_prefix else 0
        return (self.expected_frames + kept) / frame_rate + gaps


def make_request(
    line: Line,
    defaults: Defaults,
    config: ZonosConfig,
    frame_rate: float,
    dictionary: Dictionary | None = None,
) -> Request:
    """Resolve a line against a checkpoint.

    Args:
        line: validated.
        defaults: the checkpoint's.
        config: decides which conditioners exist.
        frame_rate: frames per second of the codec.
        dictionary: spellings to apply first.

    Raises:
        LineError: nothing to speak, unknown language, ``long_prefix_text`` and the like.
    """
    code = resolve_language(line.language, defaults.languages)
    filled = defaults.fill(line)
    rate = _rate(filled.speaking_rate, defaults)
    # Models are sure of themselves up to about half of the longest speech they were made for.
    budget = max(20, round(rate * defaults.max_seconds / 2))
    spoken = prepare(
        line.text,
        line.language,
        max_piece_phonemes=budget,
        dictionary=dictionary,
        opening=(line.prefix_text or "") if line.prefix_audio else "",
    )
    if spoken.pieces[0].opening > MAX_PREFIX_SECONDS * _FASTEST:
        reason = (
            f"prefix_text is longer than anybody can say in the {MAX_PREFIX_SECONDS:.0f} s that a prefix clip may last; "
            "give only what is said in the clip."
        )
        raise LineError("long_prefix_text", reason)
    pieces = tuple(_piece(piece, rate, frame_rate, defaults, line.max_seconds) for piece in spoken.pieces)
    return Request(
        line=filled,
        spoken=spoken,
        pieces=pieces,
        values=_values(filled, spoken.language_id, config),
        sampling=SamplerSettings(
            **{name: getattr(filled, name) for name in SamplerSettings.__dataclass_fields__}
        ),
        warnings=(*_foreign(code, defaults), *spoken.warnings, *_warnings(line, config)),
    )


def preview(request: Request, frame_rate: float) -> Preview:
    """For people, before anything is generated."""
    return Preview(
        language=request.spoken.language,
        phonemes=request.phonemes,
        pieces=tuple(piece.text for piece in request.spoken.pieces),
        seconds=request.expected_seconds(frame_rate),
        warnings=request.warnings,
    )


def _rate(wanted: Any, defaults: Defaults) -> float:
    for rate in (wanted, defaults.speaking_rate):
        if isinstance(rate, (int, float)):
            return float(rate)
    return PLAIN_RATE


def _piece(
    piece: Piece, rate: float, frame_rate: float, defaults: Defaults, max_seconds: float | None
) -> PieceRequest:
    count = count_phonemes(piece.phonemes) - piece.opening
    # A wanted rate is a wish: the guard allows for a model that speaks at its plain pace.
    guard = min(GUARD_FACTOR * count / min(rate, PLAIN_RATE) + GUARD_SECONDS, defaults.max_seconds)
    asked = max_seconds is not None and max_seconds < guard
    limit = max_seconds if asked and max_seconds is not None else guard
    most = max(1, round(limit * frame_rate))
    return PieceRequest(
        ids=tuple(piece.ids),
        phonemes=piece.phonemes,
        gap_before=piece.gap_before,
        gap_after=piece.gap_after,
        expected_frames=min(most, max(1, round((count / rate + LEAD_SECONDS) * frame_rate))),
        limit=most,
        limit_is_asked=asked,
        prefix_frames=round(piece.opening / rate * frame_rate),
    )


def _values(line: Line, language_id: int, config: ZonosConfig) -> dict[str, Any]:
    """Conditioning values; a name is absent where the line leaves it to the model."""
    values: dict[str, Any] = {"language_id": language_id}
    for name in Conditioning.model_fields:
        value = getattr(line, name)
        if isinstance(value, Emotion):
            value = value.vector()
        if value is not None and value != AUTO:
            values[name] = int(value) if isinstance(value, bool) else value
    return {name: value for name, value in values.items() if name in config.conditioner_names}


def _foreign(code: str, defaults: Defaults) -> list[str]:
    """A language that the checkpoint has not learnt is spoken all the same, as well as it can."""
    if not defaults.languages or code in defaults.languages:
        return []
    return [
        f"This model has learnt {named(defaults.languages)} only; {named([code])} will not sound right. "
        "Pick another model or language."
    ]


def _warnings(line: Line, config: ZonosConfig) -> list[str]:
    warnings = []
    unused = [
        name
        for name in HYBRID_ONLY
        if getattr(line, name) not in (None, AUTO) and name not in config.conditioner_names
    ]
    if unused:
        warnings.append(f"{', '.join(unused)}: only the hybrid model knows this; ignored.")
    if isinstance(line.emotion, Emotion) and line.emotion.vector() is None:
        warnings.append("All emotions are 0: treated as auto.")
    if line.prefix_audio and not line.prefix_text:
        warnings.append("prefix_audio without prefix_text: give its transcript, or words may be lost.")
    return warnings


def derive_seed(seed: int, *path: int | str) -> int:
    """A seed that follows from another: takes, pieces and retries; the same everywhere."""
    digest = hashlib.blake2b(repr((seed, *path)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") & MAX_SEED


def new_seed() -> int:
    """A seed for a line that names none; small enough to read out and to survive a spreadsheet."""
    return secrets.randbelow(2**31)


def take_seed(seed: int, take: int) -> int:
    """Take 0 has the line's own seed, the others follow from it."""
    return seed if take == 0 else derive_seed(seed, "take", take)
