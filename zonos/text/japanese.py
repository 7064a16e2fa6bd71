"""Japanese text as katakana readings: NFKC, numerals to kanji, the reading of each morpheme.

SudachiPy and kanjize are an optional extra (requirements-ja.txt), imported when the first ``ja``
line comes.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache
from typing import Any

from zonos.commands import pip_install, requirements
from zonos.errors import LineError

_DICTIONARIES = ("full", "core", "small")
_SYMBOL_READING = "キゴウ"  # "symbol": what the dictionary says for blanks, brackets and unknown marks
_GROUPED = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_DECIMAL = re.compile(r"(?<![\d.])(\d+)\.(\d+)(?![\d.])")
_DIGITS = re.compile(r"\d+")
_KANJI_DIGITS = "零一二三四五六七八九"
_LONGEST_NUMERAL = 16  # digits; longer ones are read one by one
# SudachiPy refuses inputs over 49 149 bytes; four bytes a character at most.
_PARTS = re.compile(r"[\s\S]{1,9000}(?<=[。！？\n])|[\s\S]{1,9000}")
_LOCK = threading.Lock()


def readings(text: str) -> str:
    """Readings of the morphemes, joined by single spaces; punctuation stays itself.

    Raises:
        LineError: ``missing_japanese`` when the optional extra is not installed.
    """
    prepared = _numerals(unicodedata.normalize("NFKC", text))
    with _LOCK:  # a Sudachi tokenizer may be used by one thread at a time
        tokenizer, mode = _tokenizer()
        morphemes = [
            (morpheme.surface(), morpheme.reading_form())
            for part in _PARTS.findall(prepared)
            for morpheme in tokenizer.tokenize(part, mode)
        ]
    spoken = (_spoken(surface, reading) for surface, reading in morphemes)
    return " ".join(word for word in spoken if word)


def _spoken(surface: str, reading: str) -> str:
    """A symbol without a reading of its own is kept as a mark, never read as the word "symbol"."""
    if reading != _SYMBOL_READING or surface in {"記号", "きごう", "キゴウ"}:
        return reading
    return "" if surface.isspace() else surface


def _numerals(text: str) -> str:
    plain = _GROUPED.sub(lambda match: match.group().replace(",", ""), text)
    pointed = _DECIMAL.sub(lambda m: f"{_whole(m.group(1))}点{_each(m.group(2))}", plain)
    return _DIGITS.sub(lambda match: _whole(match.group()), pointed)


def _whole(digits: str) -> str:
    if len(digits) > _LONGEST_NUMERAL or (digits.startswith("0") and len(digits) > 1):
        return _each(digits)
    return str(_kanjize()(int(digits))) if int(digits) else "零"


def _each(digits: str) -> str:
    return "".join(_KANJI_DIGITS[int(digit)] for digit in digits)


@cache
def _kanjize() -> Any:
    try:
        from kanjize import number2kanji
    except ImportError as error:
        raise _missing(error) from error
    return number2kanji


@cache
def _tokenizer() -> tuple[Any, Any]:
    try:
        from sudachipy import Dictionary, SplitMode
    except ImportError as error:
        raise _missing(error) from error
    return _dictionary(Dictionary).create(), SplitMode.A


def _dictionary(factory: Any) -> Any:
    """The largest dictionary that is installed; the published model was made with ``full``."""
    reason: Exception | None = None
    for size in _DICTIONARIES:
        try:
            return factory(dict=size)
        except Exception as error:  # noqa: BLE001, PERF203 - SudachiPy raises its own and ImportError alike
            reason = error
    raise _missing(reason)


def _missing(error: Exception | None) -> LineError:
    needed = "SudachiPy, its core dictionary and kanjize"
    command = pip_install(*requirements("requirements-ja.txt"))
    reason = f"Japanese lines need {needed}, which are not all installed ({error}). Run: {command}"
    return LineError("missing_japanese", reason)
