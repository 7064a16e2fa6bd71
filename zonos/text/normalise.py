"""Text as a person would read it: numbers, money, dates, times and units in the line's own language.

Text without digits, "&" and currency signs passes unchanged (Japanese excepted, which becomes readings),
so the phonemes stay those that the published checkpoints were trained on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from zonos.text import amounts
from zonos.text.japanese import readings
from zonos.text.locales import (
    ESPEAK_FRACTIONS,
    FRACTIONS,
    HOUR,
    MINUTE,
    base,
    conjunction,
    day_first,
    long_date,
    months,
    separators,
)
from zonos.text.numbers import READ, borrowed, cardinal, each_digit, ordinal, year

Rule = Callable[[str, str], str]

_NUMERIC = re.compile(r"[\d²³¼½¾]")
# eSpeak reads it, but never gets it: texts are cut at the letters of words first.
_AMPERSAND = re.compile(r"\s*(?<!&)&(?!&)\s*(?=[\w(\"'’])")
_EDGE = r"(?<![\w.,:/+-])"
_PHONE = re.compile(
    rf"{_EDGE}(?:\+\d[\d ().-]{{5,20}}\d"
    r"|0\d{1,5}[ /-]\d[\d -]{3,14}\d"
    r"|0\d{6,14}"
    r"|\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}"
    r"|\d{3}-\d{4})(?![\w])(?![.,:/-]\d)"
)
_ISO_DATE = re.compile(rf"{_EDGE}(\d{{4}})-(\d\d)-(\d\d)(?![\w-])")
# As programs write moments; the zone is left out, but for "Z".
_ISO_MOMENT = re.compile(
    rf"{_EDGE}(\d{{4}}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(?:(Z)|[+-]\d\d(?::?\d\d)?)?(?![\w:-])"
)
_DATE = re.compile(rf"{_EDGE}(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}})(?![\w/-])")
_TIME = re.compile(rf"{_EDGE}([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?([AaPp])\.?[Mm]\b\.?)?")
_HOUR_ONLY = re.compile(r"(?<![\w.,:/-])(1[0-2]|[1-9])\s?([AaPp])\.?[Mm]\b\.?")
_FRACTION = re.compile(r"(?:(\d+) ?)?([½¼¾])")
_HAN_YEAR = re.compile(r"(?<!\d)\d{4}(?=年)")
_NEPALI = str.maketrans("0123456789", "०१२३४५६७८९")
# German words after which a day takes -n, and which make it take the plain -e.
_WEAK_N = {
    "am",
    "dem",
    "den",
    "vom",
    "zum",
    "beim",
    "im",
    "bis",
    "seit",
    "ab",
    "des",
    "zu",
    "nach",
    "vor",
    "einem",
}
_WEAK_E = {"der", "die", "das"}


@lru_cache(maxsize=512)
def normalise(text: str, language: str) -> str:
    """Words and digits as they should be read.

    Args:
        text: plain words; markup is handled before.
        language: one of ``languages.CODES``.

    Raises:
        LineError: ``missing_japanese`` for ``ja`` without its optional extra.
    """
    if language == "ja":
        return readings(_fractions(text, language))
    text = _AMPERSAND.sub(f" {conjunction(language)} ", text)
    if not _NUMERIC.search(text):
        return text
    text = _ascii_digits(text.replace(READ, ""))
    for rule in _RULES:
        text = rule(text, language)
    text = borrowed(text.replace(READ, ""), language)
    return text.translate(_NEPALI) if language == "ne" else text


def _ascii_digits(text: str) -> str:
    return "".join(
        str(unicodedata.decimal(letter)) if not letter.isascii() and letter.isdecimal() else letter
        for letter in text.replace("٫", ".").replace("٬", ",")
    )


def _phones(text: str, code: str) -> str:
    def spoken(match: re.Match[str]) -> str:
        groups = re.findall(r"\d+", match.group())
        if match.group().startswith("+") and not 7 <= sum(map(len, groups)) <= 15:
            return match.group()
        plus = "" if not match.group().startswith("+") else "plus " if base(code) == "en" else "+ "
        return plus + ", ".join(each_digit(group, code) for group in groups)

    return _PHONE.sub(spoken, text)


def _dates(text: str, code: str) -> str:
    def iso(match: re.Match[str]) -> str:
        return _date(match, int(match.group(1)), int(match.group(2)), int(match.group(3)), code)

    def numeric(match: re.Match[str]) -> str:
        first, second, full_year = int(match.group(1)), int(match.group(3)), int(match.group(4))
        european = match.group(2) == "." or day_first(code)
        day, month = (first, second) if (european and second <= 12) or first > 12 else (second, first)
        return _date(match, full_year, month, day, code)

    text = _ISO_MOMENT.sub(lambda m: f"{m.group(1)}, {m.group(2)}{' UTC' if m.group(3) else ''}", text)
    text = _ISO_DATE.sub(iso, text)
    text = _DATE.sub(numeric, text)
    return _HAN_YEAR.sub(lambda match: each_digit(match.group(), code), text) if base(code) in _HAN else text


_DAY_ORDINALS = frozenset({"de", "da", "nb", "fi"})
_READ_LATER = _DAY_ORDINALS | {"en", "cmn", "yue"}  # later rules turn the day or the year into words
_HAN = frozenset({"cmn", "yue"})
_HOUR_ALONE = frozenset({"de", "fr", "cmn", "yue", "ko"})  # "10 Uhr"; in Italian it is "10", not "10 e"


def _date(match: re.Match[str], full_year: int, month: int, day: int, code: str) -> str:
    shown = long_date(full_year, month, day, code)
    if shown is None:
        valid = 1 <= month <= 12 and 1 <= day <= 31
        return f"{READ}{day} {READ}{month} {READ}{full_year}" if valid else match.group()
    return shown if base(code) in _READ_LATER else re.sub(r"(\d+)\.?(?!\d)", rf"{READ}\1", shown)


def _month_days(text: str, code: str) -> str:
    """The day beside a month's name is an ordinal in English, German and the Nordic languages."""
    names = "|".join(re.escape(name) for name in sorted(months(code), key=len, reverse=True))
    if base(code) == "en":
        return _english_days(text, names, code)
    if base(code) == "de":
        text = _GERMAN_ORDINAL.sub(
            lambda m: f"{m.group(1)} {ordinal(m.group(2), code)}{_german_ending(m.group(1))}", text
        )
    if not names:
        return text
    if base(code) not in _DAY_ORDINALS:  # the dot of "21. března" is no full stop
        return re.sub(
            rf"(?<![\w.,])(\d{{1,2}}|\d{{4}})\. ?(?=(?:{names})(?!\w))", r"\1 ", text, flags=re.IGNORECASE
        )
    pattern = re.compile(
        rf"(?:(?<!\w)(\w+) )?(?<![\w.,])(\d{{1,2}})\. ?(?=(?:{names})(?![\w]))", re.IGNORECASE
    )

    def spoken(match: re.Match[str]) -> str:
        before, words = match.group(1), ordinal(match.group(2), code)
        if base(code) == "de":
            words += _german_ending(before)
        return f"{before} {words} " if before else f"{words} "

    return pattern.sub(spoken, text)


_GERMAN_ORDINAL = re.compile(
    rf"(?<!\w)({'|'.join(sorted(_WEAK_N | _WEAK_E | {'zur', 'einer'}))}) (\d{{1,3}})\.(?= [A-ZÄÖÜ])",
    re.IGNORECASE,
)


def _german_ending(before: str | None) -> str:
    word = (before or "").lower()
    return "n" if word in _WEAK_N | {"zur", "einer"} else "" if word in _WEAK_E else "r"


def _english_days(text: str, names: str, code: str) -> str:
    after = re.compile(rf"(?<!\w)({names}) (\d{{1,2}})(?:st|nd|rd|th)?(?![\w.:,/]*\d)", re.IGNORECASE)
    before = re.compile(
        rf"(?<![\w.,:/-])(the )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?=(?:{names})(?!\w))", re.IGNORECASE
    )
    with_year = re.compile(rf"(?<!\w)({names}) (\d{{1,2}})(?:st|nd|rd|th)?, ?(\d{{4}})(?!\w)", re.IGNORECASE)
    text = with_year.sub(
        lambda m: (
            f"{m.group(1)} {ordinal(m.group(2), code)}, {year(m.group(3), code)}"
            if m.group(3)[0] != "0"
            else m.group()
        ),
        text,
    )
    text = after.sub(lambda m: f"{m.group(1)} {ordinal(m.group(2), code)}", text)
    return before.sub(lambda m: f"{m.group(1) or 'the '}{ordinal(m.group(2), code)} of ", text)


def _times(text: str, code: str) -> str:
    if base(code) == "en":
        text = _TIME.sub(lambda match: _english_time(match, code), text)
        return _HOUR_ONLY.sub(lambda m: f"{cardinal(m.group(1), code)} {m.group(2).upper()}M{_stop(m)}", text)
    if base(code) == "de":
        text = re.sub(r"(?<![\w.,:])([01]?\d|2[0-4])[.:]([0-5]\d) Uhr(?!\w)", _german_time, text)
    if base(code) in {"da", "nb", "sv", "fi"}:  # "kl. 10.30"
        text = re.sub(r"(?<!\w)(kl\.?|klo) ([01]?\d|2[0-4])\.([0-5]\d)(?![\w.]*\d)", r"\1 \2:\3", text)
    if base(code) == "fr":
        text = re.sub(r"(?<![\w.,:])([01]?\d|2[0-4]) ?h ?([0-5]\d)(?!\w)", r"\1:\2", text)
    return _TIME.sub(lambda match: _other_time(match, code), text)


def _german_time(match: re.Match[str]) -> str:
    minutes = int(match.group(2))
    return f"{int(match.group(1))} Uhr" + (f" {minutes}" if minutes else "")


def _other_time(match: re.Match[str], code: str) -> str:
    hour, minute, second = int(match.group(1)), int(match.group(2)), match.group(3)
    word, suffix = HOUR.get(base(code), ""), MINUTE.get(base(code), "")
    between = "" if base(code) in _HAN else " "
    named = f"{READ}{hour}" + (("" if suffix else " ") + word if word else "")
    if not minute and not second:
        return named if base(code) in _HOUR_ALONE else f"{READ}{hour}"
    tail = f" {READ}{int(second)}" if second else ""
    return f"{named}{between}{READ}{minute}{suffix}{tail}"


def _english_time(match: re.Match[str], code: str) -> str:
    hour, minute, half = int(match.group(1)), int(match.group(2)), match.group(4)
    words = cardinal(str(hour), code)
    if minute:
        words += f" {'oh ' if minute < 10 else ''}{cardinal(str(minute), code)}"
    elif not half:
        words += " o'clock" if hour <= 12 else " hundred"
    if match.group(3):
        words += f" and {cardinal(str(int(match.group(3))), code)} seconds"
    return f"{words} {half.upper()}M{_stop(match)}" if half else words


def _stop(match: re.Match[str]) -> str:
    """The full stop of ``p.m.`` is the sentence's own where a capital or nothing follows."""
    ends = re.match(r"\s*$|\s+[\"'“«(]?[A-Z]", match.string[match.end() :])
    return "." if match.group().endswith(".") and ends else ""


def _fractions(text: str, code: str) -> str:
    """``½`` alone in words of the language; ``2½`` as ``2.5``, in English ``2 and a half``."""
    words = FRACTIONS.get(base(code))

    def spoken(match: re.Match[str]) -> str:
        whole, place = match.group(1), "½¼¾".index(match.group(2))
        if whole and base(code) == "en":
            return f"{whole} and {('a half', 'a quarter', 'three quarters')[place]}"
        if not whole and base(code) in ESPEAK_FRACTIONS:
            return match.group()
        if not whole and words is not None:
            return words[place]
        return f"{whole or '0'}{separators(code)[0]}{('5', '25', '75')[place]}"

    return _FRACTION.sub(spoken, text)


_RULES: tuple[Rule, ...] = (
    _fractions,
    _phones,
    amounts.join_groups,
    _dates,
    _month_days,
    _times,
    amounts.ordinals,
    amounts.ranges_and_signs,
    amounts.money,
    amounts.units,
    amounts.plain,
)
