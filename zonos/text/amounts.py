"""Money, units, percentages, ordinals, ranges and plain numbers in running text."""

from __future__ import annotations

import re
from functools import cache

from zonos.text.locales import (
    CENTS,
    MINUS,
    RANGE,
    base,
    currency_name,
    currency_words,
    point_word,
    separators,
    unit_phrase,
)
from zonos.text.numbers import (
    BLANKS,
    READ,
    Amount,
    cardinal,
    decimal,
    each_digit,
    ordinal,
    read_amount,
    year,
)

NUMBER = r"(?:\d{1,3}(?:['’]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*)"
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏͰ-ԯ"

_SYMBOLS = {
    "US$": "USD", "R$": "BRL", "A$": "AUD", "C$": "CAD", "$": "USD", "£": "GBP", "€": "EUR", "¥": "JPY",
    "￥": "CNY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₫": "VND", "฿": "THB", "₱": "PHP",
    "₦": "NGN", "₪": "ILS", "zł": "PLN", "Kč": "CZK", "EUR": "EUR", "USD": "USD", "GBP": "GBP", "CHF": "CHF",
    "JPY": "JPY", "CAD": "CAD", "AUD": "AUD", "INR": "INR", "RUB": "RUB", "руб.": "RUB", "kr": "SEK",
}  # fmt: skip
_CROWN = {"sv": "SEK", "da": "DKK", "nb": "NOK", "is": "ISK"}
_MINOR = {
    "USD": ("cent", "cents"), "EUR": ("cent", "cents"), "CAD": ("cent", "cents"), "AUD": ("cent", "cents"),
    "GBP": ("penny", "pence"), "INR": ("paisa", "paise"),
}  # fmt: skip
_MAGNITUDES = {
    "en": {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "bn": "billion", "b": "billion",
           "B": "billion", "tn": "trillion", "T": "trillion"},
    "de": {"Mio.": "Millionen", "Mio": "Millionen", "Mrd.": "Milliarden", "Mrd": "Milliarden", "Tsd.": "Tausend"},
    "es": {"M": "millones"},
    "fr": {"M": "millions", "Md": "milliards", "k": "mille"},
    "ru": {"млн": "миллионов", "млрд": "миллиардов", "тыс.": "тысяч"},
    "pl": {"mln": "milionów", "mld": "miliardów", "tys.": "tysięcy"},
}  # fmt: skip
_MAGNITUDE_WORD = (
    r"thousand|[mb]illions?|trillions?|Million(?:en)?|Milliarden?|Tausend|milliards?|mille|mill[oó]n(?:es)?|mil|milion[ei]"
    r"|miliard[oi]|milh(?:ão|ões)|bilh(?:ão|ões)|miljoen|miljard|miljon(?:er)?|miljard(?:er)?"
    r"|миллион(?:а|ов)?|миллиард(?:а|ов)?|тысяч[аи]?|milion(?:y|ów)?|miliard(?:y|ów)?"
)
_OF = {"fr": "de", "es": "de", "pt": "de", "it": "di", "ca": "de", "ro": "de"}

_UNITS = {
    "km/h": "speed-kilometer-per-hour", "kmh": "speed-kilometer-per-hour", "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour", "km²": "area-square-kilometer", "m²": "area-square-meter", "m³": "volume-cubic-meter",
    "km": "length-kilometer", "cm": "length-centimeter", "mm": "length-millimeter", "m": "length-meter",
    "mi": "length-mile", "ft": "length-foot", "kg": "mass-kilogram", "mg": "mass-milligram", "g": "mass-gram",
    "lbs": "mass-pound", "lb": "mass-pound", "oz": "mass-ounce", "ml": "volume-milliliter", "mL": "volume-milliliter",
    "l": "volume-liter", "L": "volume-liter", "°C": "temperature-celsius", "℃": "temperature-celsius",
    "°F": "temperature-fahrenheit", "℉": "temperature-fahrenheit", "°": "angle-degree", "kB": "digital-kilobyte",
    "KB": "digital-kilobyte", "MB": "digital-megabyte", "GB": "digital-gigabyte", "TB": "digital-terabyte",
    "kHz": "frequency-kilohertz", "MHz": "frequency-megahertz", "GHz": "frequency-gigahertz", "Hz": "frequency-hertz",
    "kWh": "energy-kilowatt-hour", "kW": "power-kilowatt", "W": "power-watt", "V": "electric-volt",
    "kcal": "energy-foodcalorie", "ms": "duration-millisecond", "min": "duration-minute", "h": "duration-hour",
    "hrs": "duration-hour", "hr": "duration-hour", "км/ч": "speed-kilometer-per-hour", "км": "length-kilometer",
    "кг": "mass-kilogram", "см": "length-centimeter", "мм": "length-millimeter", "м": "length-meter", "г": "mass-gram",
    "л": "volume-liter",
}  # fmt: skip

_UNITS |= dict.fromkeys("%％٪", "concentr-percent")
# Where CLDR has only the sign and eSpeak skips it or says it in English.
_PERCENT = {
    "ar": "بالمئة", "ht": "pousan", "ko": "퍼센트", "la": "per centum", "mi": "ōrau", "mt": "fil-mija", "pap": "porshento",
    "tt": "процент",
}  # fmt: skip
_PERCENT_FIRST = {"cmn": "百分之", "yue": "百分之"}

_SUFFIX_ORDINAL = {
    "en": r"st|nd|rd|th", "fr": r"ers?|ères?|ères?|res?|nde?|e|es|[eè]mes?", "nl": r"e|de|ste", "es": r"\.?[ºª]|er|o|a",
    "it": r"[º°ª]", "pt": r"\.?[ºª°]", "sv": r":[ae]", "ca": r"[rntèé]|è|a", "fi": r":s", "ro": r"-lea", "tr": r"'?[ıiuü]nc[ıiuü]",
    "eo": r"-?a",
}  # fmt: skip
_FEMININE = {"es": ("o", "a"), "it": ("o", "a"), "pt": ("o", "a")}
_FRACTIONS = {
    "1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters",
    "1/8": "one eighth", "3/8": "three eighths", "5/8": "five eighths", "7/8": "seven eighths", "1/5": "one fifth",
}  # fmt: skip


def money(text: str, code: str) -> str:
    """``$1.5 million``, ``£12,500.75``, ``20 €``, ``1.234,56 Euro``: amount, then the currency."""
    magnitude = rf"(?:\s?(?P<magnitude>{_magnitudes(code)})(?![\w]))?"
    sign = r"(?P<minus>(?<![\w])[-−])?"
    number = rf"(?P<number>{NUMBER}|\.\d+)"
    names = "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True))
    before = re.compile(rf"{sign}(?<![A-Za-z\d])(?P<symbol>{names})[ {BLANKS}]?{number}{magnitude}")
    after = re.compile(rf"{sign}(?<![\w.,]){number}{magnitude}[ {BLANKS}]?(?P<symbol>{names})(?![\w])")
    for pattern in (before, after):
        text = pattern.sub(
            lambda match: _spoken_money(match, _currency(match.group("symbol"), code), code), text
        )
    return _named_money(text, code)


def _named_money(text: str, code: str) -> str:
    """Only decimals: a whole number before ``Euro`` needs nothing."""
    words = currency_words(code)
    if not words:
        return text
    names = "|".join(re.escape(name) for name in sorted(words, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<![\w.,])(?P<number>\d[\d.,'’]*[.,]\d\d)(?!\d) (?P<symbol>{names})(?![\w])", re.IGNORECASE
    )
    return pattern.sub(lambda match: _cents_after(match, code), text)


def _cents_after(match: re.Match[str], code: str) -> str:
    amount = read_amount(match.group("number"), code)
    if len(amount.fraction) != 2:
        return match.group()
    return _whole_and_cents(amount, match.group("symbol"), None, code)


def _price_ranges(text: str, code: str) -> str:
    """``$5-10`` is said with the currency last."""
    word = RANGE.get(base(code))
    if word is None:
        return text
    return re.sub(rf"([$£€¥])({NUMBER})\s?[-–]\s?\1?({NUMBER})(?![\w-])", rf"\2 {word} \1\3", text)


def _currency(symbol: str, code: str) -> str:
    if symbol == "kr":
        return _CROWN.get(base(code), "SEK")
    if symbol == "¥" and base(code) in {"cmn", "yue", "hak"}:
        return "CNY"
    return _SYMBOLS[symbol]


@cache
def _magnitudes(code: str) -> str:
    short = sorted(_MAGNITUDES.get(base(code), {}), key=len, reverse=True)
    return "|".join([_MAGNITUDE_WORD, *map(re.escape, short)])


def _spoken_money(match: re.Match[str], currency: str, code: str) -> str:
    written, magnitude = match.group("number"), match.group("magnitude")
    amount = read_amount(written, code)
    minus = f"{MINUS.get(base(code), '-')} " if match.group("minus") else ""
    if magnitude:
        word = _MAGNITUDES.get(base(code), {}).get(magnitude, magnitude)
        name = currency_name(currency, 1_000_000, code) or match.group("symbol")
        return f"{minus}{decimal(amount, code)} {word} {_of(name, word, code)}"
    name = currency_name(currency, amount.value, code)
    if name is None:
        return f"{minus}{decimal(amount, code)} {match.group('symbol')}"
    if len(amount.fraction) == 2 or not amount.whole.strip("0"):
        return minus + _whole_and_cents(amount, name, currency, code)
    return f"{minus}{decimal(amount, code)} {name}"


def _of(name: str, magnitude: str, code: str) -> str:
    joint = _OF.get(base(code))
    if joint is None or magnitude in {"mil", "mille"}:
        return name
    return f"d'{name}" if base(code) == "fr" and name[0] in "aeiouéè" else f"{joint} {name}"


def _whole_and_cents(amount: Amount, name: str, currency: str | None, code: str) -> str:
    """``three dollars and fifty cents``; elsewhere ``2 Euro 50``."""
    cents = int(amount.fraction.ljust(2, "0")[:2] or "0")
    if currency:
        name = currency_name(currency, float(int(amount.whole or "0")), code) or name
    whole = f"{cardinal(amount.whole or '0', code)} {name}"
    if not cents:
        return whole
    if base(code) != "en":
        joint = CENTS.get(base(code))
        return f"{whole} {f'{joint} ' if joint else ''}{READ}{cents}"
    one, many = _MINOR.get(currency or "EUR", ("hundredth", "hundredths"))
    minor = f"{cardinal(str(cents), code)} {one if cents == 1 else many}"
    return f"{whole} and {minor}" if amount.whole.strip("0") else minor


def units(text: str, code: str) -> str:
    """``5 km/h`` in words, the plural and the number in the line's language; ``%`` too."""
    names = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True) if unit not in "%％٪")
    pattern = re.compile(
        rf"(?<![\w.,])(?P<minus>[-−])?(?P<number>{NUMBER})[ {BLANKS}]?(?P<unit>{names})(?![\w²³/])"
    )
    text = pattern.sub(lambda match: _spoken_unit(match, code), text)
    if base(code) in {"tr", "eu"}:  # written before the number there
        text = re.sub(rf"(?<!\d)%[ {BLANKS}]?({NUMBER})", r"\1%", text)
    percent = re.compile(
        rf"(?<![\w.,])(?P<minus>[-−])?(?P<number>{NUMBER}|\.\d+)[ {BLANKS}]?(?P<unit>%|％|٪)"
    )
    return percent.sub(lambda match: _percent(match, code), text)


def _percent(match: re.Match[str], code: str) -> str:
    """CLDR's word, in its right plural; where it has none eSpeak reads ``5%``, without a blank."""
    if code in _PERCENT_FIRST:
        return _PERCENT_FIRST[code] + decimal(read_amount(match.group("number"), code), code)
    if base(code) in _PERCENT:
        return f"{decimal(read_amount(match.group('number'), code), code)} {_PERCENT[base(code)]}"
    spoken = _spoken_unit(match, code)
    return spoken if "%" not in spoken else re.sub(rf"[ {BLANKS}]+%", "%", spoken)


def _spoken_unit(match: re.Match[str], code: str) -> str:
    amount = read_amount(match.group("number"), code)
    phrase = unit_phrase(decimal(amount, code), amount.value, _UNITS[match.group("unit")], code)
    if phrase is None:
        return match.group()
    return f"{MINUS.get(base(code), '-')} {phrase}" if match.group("minus") else phrase


def ordinals(text: str, code: str) -> str:
    """``21st``, ``1er``, ``2ª``; English decades too: ``1990s``."""
    text = _decades(text, code) if base(code) == "en" else text
    suffix = _SUFFIX_ORDINAL.get(base(code))
    if suffix is None:
        return text
    pattern = re.compile(rf"(?<![\w.])(\d[\d,]*)({suffix})(?![\w])", re.IGNORECASE)
    return pattern.sub(lambda match: _spoken_ordinal(match.group(1), match.group(2), code), text)


def _spoken_ordinal(digits: str, suffix: str, code: str) -> str:
    word = ordinal(digits.replace(",", ""), code)
    if base(code) in _FEMININE and suffix.rstrip().endswith(("ª", "a")) and word.endswith("o"):
        return word[:-1] + "a"
    if base(code) == "fr" and digits == "1" and suffix.lower() in {"re", "ère", "res", "ères"}:
        return "première"
    return word


def _decades(text: str, code: str) -> str:
    def spoken(match: re.Match[str]) -> str:
        digits = match.group(1)
        words = year(digits, code) if len(digits) == 4 else cardinal(digits, code)
        return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"

    return re.sub(r"(?<![\w.,])['’]?(\d{2}0|\d{3}0|[1-9]0)['’]?s(?![\w])", spoken, text)


def ranges_and_signs(text: str, code: str) -> str:
    """``5-10`` is "five to ten" where the language's word is known; a leading minus is said."""
    text = re.sub(r"([$£€¥])[-−](?=\d)", r"-\1", _price_ranges(text, code))
    word = RANGE.get(base(code))
    if word:
        text = re.sub(rf"(?<![\w\-–.,/])({NUMBER})(?:[-–]| – )({NUMBER})(?![\w\-–/])", rf"\1 {word} \2", text)
    minus = MINUS.get(base(code))
    if minus:
        text = re.sub(r"(?:(?<![\w\-–)])-|−)(?=[.]?\d)", f"{minus} ", text)
    if base(code) == "en":
        text = re.sub(r"(?<![\w&#])(?:#|№ ?|No\. ?)(?=\d)", "number ", text)
        text = re.sub(r"(?<![\d/.])\d/\d(?![\d/])", lambda m: _FRACTIONS.get(m.group(), m.group()), text)
        text = text.replace("²", " squared").replace("³", " cubed")
    return text


def join_groups(text: str, code: str) -> str:
    """``12 500`` is one number where blanks part the thousands; with a hard blank it is everywhere."""
    blanks = f" {BLANKS}" if separators(code)[1] in BLANKS else BLANKS
    return re.sub(rf"(?<![\w.,{READ}])\d{{1,3}}(?:[{blanks}]\d{{3}})+(?!\d)", _without_blanks, text)


def plain(text: str, code: str) -> str:
    """Every number that is left."""
    glued = re.compile(
        rf"(?P<before>[{_LATIN}])?(?<![{READ}\d])(?P<number>{NUMBER}|(?<![\w.])\.\d+)(?P<after>[{_LATIN}])?"
    )
    return glued.sub(lambda match: _plain(match, code), text)


def _without_blanks(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match.group())


def _plain(match: re.Match[str], code: str) -> str:
    before, number, after = match.group("before") or "", match.group("number"), match.group("after") or ""
    if (before or after) and number.isdigit():
        return match.group()  # C3PO, mp3, 4K: eSpeak reads letters and digits of one word well
    spoken = _number(number, code)
    return f"{before}{' ' if before else ''}{spoken}{' ' if after else ''}{after}"


def _number(number: str, code: str) -> str:
    if number.isdigit():
        if len(number) > 1 and number.startswith("0"):
            return each_digit(number, code)
        is_year = len(number) == 4 and 1000 < int(number) < 3000
        return year(number, code) if is_year else cardinal(number, code)
    parts = re.split("[.,]", number)
    same_mark = len(set(re.sub(r"[\d'’]", "", number))) == 1
    if len(parts) > 2 and same_mark and not _grouped(parts):
        return _sequence(number, parts, code)
    return decimal(read_amount(number, code), code)


def _grouped(parts: list[str]) -> bool:
    """1 234 567 or the Indian 12 34 567."""
    return 1 <= len(parts[0]) <= 3 and len(parts[-1]) == 3 and all(len(part) in (2, 3) for part in parts[1:])


def _sequence(number: str, parts: list[str], code: str) -> str:
    """A list ``1,2,3`` or a version ``1.2.3``."""
    words = [_number(part, code) for part in parts]
    return ", ".join(words) if "," in number else f" {point_word(code) or ''} ".replace("  ", " ").join(words)
