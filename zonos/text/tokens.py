"""Phonemes to token ids, and how many phonemes a string holds.

``data/symbol_ids.json`` is the model's own table: ids 0 to 3 are PAD, UNK, BOS and EOS, the rest one
character each. Characters outside the table become UNK and stay in place: eSpeak writes some for
many languages (nasal tildes, tone digits), and the model was trained with UNK there.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from importlib import resources

PAD, UNK, BOS, EOS = range(4)


@cache
def _table() -> tuple[dict[str, int], str]:
    raw = resources.files("zonos.text").joinpath("data/symbol_ids.json").read_text(encoding="utf-8")
    data = json.loads(raw)
    return data["ids"], data["punctuation"]


def punctuation_marks() -> str:
    """Marks that pass from text to tokens unchanged, the space included."""
    return _table()[1]


def tokenise(phonemes: str) -> list[int]:
    """Token ids of a phoneme string, BOS first and EOS last; int[len(phonemes) + 2]."""
    ids = _table()[0]
    return [BOS, *(ids.get(symbol, UNK) for symbol in phonemes), EOS]


def unknown_symbols(phonemes: str) -> tuple[str, ...]:
    """The symbols that become UNK, each once, in order."""
    ids = _table()[0]
    return tuple(dict.fromkeys(symbol for symbol in phonemes if symbol not in ids))


def count_phonemes(phonemes: str) -> int:
    """What speaking_rate counts: letters, without stress, length, tone, spaces and punctuation."""
    return sum(1 for symbol in phonemes if _is_letter(symbol))


@cache
def _is_letter(symbol: str) -> bool:
    category = unicodedata.category(symbol)
    return category.startswith("L") and category != "Lm"
