"""Numbers in the words of a language.

| languages                        | whole numbers       | ordinals        | years               |
|----------------------------------|---------------------|-----------------|---------------------|
| en (all kinds)                   | num2words           | num2words       | num2words, in pairs |
| de da nb                         | eSpeak              | num2words       | num2words           |
| fr es it pt nl sv fi ca ro tr eo | eSpeak              | num2words       | eSpeak              |
| ja                               | kanjize, SudachiPy  | as written      | as written          |
| ne                               | eSpeak, in Nepali digits (it reads 0-9 in English) | | eSpeak  |
| kl                               | num2words, in Danish | Danish | Danish |
| gn grc nci quc shn               | eSpeak lacks words or half of them; a warning says so | | |
| every other                      | eSpeak              | the plain number | eSpeak             |

eSpeak reads whole digits well in its own language: it knows stress and linking that it does not give
to the same number spelled out (Russian, Swedish, Portuguese, Vietnamese), so spelled words are used
only where it is wrong: English years, ordinals, decimals, money. Checked with eSpeak 1.52: 1 to 1 000 000 are read
without an English word, distinctly, in every language but those named. Over 15 digits every language reads
digit by digit, as a person would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from num2words import num2words

from zonos.text.locales import FRACTION_AS_NUMBER, base, point_word, separators

LONGEST_READ_WHOLE = 15  # digits
_WORDS = {
    "fr": "fr",
    "es": "es",
    "it": "it",
    "pt": "pt",
    "nl": "nl",
    "sv": "sv",
    "fi": "fi",
    "ca": "ca",
    "ro": "ro",
}
_WORDS |= {"tr": "tr", "eo": "eo", "de": "de", "da": "da", "nb": "no", "en": "en"}
_HAN_DIGITS = {"cmn": "零一二三四五六七八九", "yue": "零一二三四五六七八九"}
NO_NUMBER_WORDS = frozenset({"gn", "grc", "nci", "quc", "shn"})
# Stands before digits that are final, so that no later rule reads them again; taken out at the end.
READ = "\ue000"
BLANKS = "\u00a0\u202f\u2009"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it was written: digits before and after the decimal mark."""

    whole: str
    fraction: str = ""

    @property
    def value(self) -> float:
        """Its size, good enough to choose a plural."""
        return float(f"{self.whole or '0'}.{self.fraction or '0'}")


def read_amount(written: str, code: str) -> Amount:
    """Understand separators: the language's own first, then whichever only makes sense otherwise.

    ``1.234,56`` is the same number in German and in English; ``1.234`` is a thousand in German and
    one point two three four in English; ``3.14`` is a decimal everywhere.
    """
    decimal, group = separators(code)
    text = re.sub(rf"(?<=\d)[ {BLANKS}'’](?=\d)", "", written)
    marks = [mark for mark in text if mark in ".,"]
    if not marks:
        return Amount(text)
    last = marks[-1]
    if len(set(marks)) == 2:
        whole, _, fraction = text.rpartition(last)
        if len(re.findall(re.escape(last), text)) == 1:
            return Amount(re.sub("[.,]", "", whole), fraction)
        return Amount(re.sub("[.,]", "", text))
    if len(marks) > 1:
        return Amount(text.replace(last, ""))
    whole, _, fraction = text.partition(last)
    other = "," if decimal == "." else "."
    groups = last == (group if group in ".," else other)
    if groups and len(fraction) == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0"):
        return Amount(whole + fraction)
    return Amount(whole, fraction)


@lru_cache(maxsize=4096)
def cardinal(digits: str, code: str) -> str:
    """A whole number: words in English, digits for eSpeak elsewhere; never raises on any length."""
    short = digits.lstrip("0") or "0"
    if len(short) > LONGEST_READ_WHOLE:
        return each_digit(digits, code)
    return _english(int(short), code) if base(code) == "en" else READ + short


def each_digit(digits: str, code: str) -> str:
    """Digit by digit, with blanks between."""
    if base(code) == "en":
        return " ".join(_english(int(digit), code) for digit in digits)
    if code in _HAN_DIGITS:
        return "".join(_HAN_DIGITS[code][int(digit)] for digit in digits)
    return " ".join(cardinal(digit, code) for digit in digits)


def _english(number: int, code: str, to: str = "cardinal") -> str:
    words = str(num2words(number, lang="en", to=to)).replace(",", "")
    return words.replace(" and ", " ") if code == "en-us" else words


def borrowed(text: str, code: str) -> str:
    """Greenlanders count in Danish; eSpeak does so too, but crashes on it (``8``, ``0``)."""
    if code != "kl":
        return text
    short = re.sub(r"\d+", lambda match: _in_danish(match.group()), text)
    return re.sub(r"(?<=\w)[.,](?=\w)", " komma ", short) if short != text else text


def _in_danish(digits: str) -> str:
    parts = [digits] if len(digits) <= LONGEST_READ_WHOLE else list(digits)
    return " ".join(str(num2words(int(part), lang="da")) for part in parts)


@lru_cache(maxsize=4096)
def ordinal(digits: str, code: str) -> str:
    """``twenty-first``; the plain number where the language has no words here."""
    short = digits.lstrip("0") or "0"
    lang = _WORDS.get(base(code))
    if lang is None or len(short) > LONGEST_READ_WHOLE:
        return cardinal(digits, code)
    if lang == "en":
        return _english(int(short), code, "ordinal")
    try:
        return str(num2words(int(short), lang=lang, to="ordinal"))
    except (NotImplementedError, OverflowError, ValueError, IndexError, KeyError, TypeError):
        return cardinal(digits, code)


@lru_cache(maxsize=2048)
def year(digits: str, code: str) -> str:
    """``nineteen ninety-nine``, ``two thousand five``, ``neunzehnhundertneunundneunzig``."""
    number = int(digits)
    if base(code) == "en":
        if number % 1000 < 10 or number >= 3000:
            return _english(number, code)
        century, rest = divmod(number, 100)
        if not rest:
            return f"{_english(century, code)} hundred"
        return f"{_english(century, code)} {'oh ' if rest < 10 else ''}{_english(rest, code)}"
    if base(code) in {"de", "da", "nb"} and 1100 <= number < 2000:
        return str(num2words(number, lang=_WORDS[base(code)], to="year"))
    return READ + digits


def decimal(amount: Amount, code: str) -> str:
    """``three point one four``; where no word for the mark is known, the form that eSpeak reads."""
    whole = cardinal(amount.whole or "0", code)
    if not amount.fraction:
        return whole
    word = point_word(code)
    if word is None:
        return f"{READ}{amount.whole or '0'}{separators(code)[0]}{amount.fraction}"
    as_number = base(code) in FRACTION_AS_NUMBER and len(amount.fraction) <= 3 and amount.fraction[0] != "0"
    fraction = cardinal(amount.fraction, code) if as_number else each_digit(amount.fraction, code)
    blank = "" if code in _HAN_DIGITS else " "
    return f"{whole}{blank}{word}{blank}{fraction}"
