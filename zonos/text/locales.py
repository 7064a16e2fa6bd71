"""How each language writes and names numbers, money, units and addresses.

CLDR (through Babel) gives separators, plural forms, months, currencies and units; the small tables
here hold what CLDR lacks: the words that a person says for a decimal mark, a minus, a range.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, get_month_names
from babel.lists import format_list
from babel.numbers import (
    format_decimal,
    get_currency_name,
    get_currency_symbol,
    get_decimal_symbol,
    get_group_symbol,
)
from babel.units import format_unit

from zonos.text.languages import language as language_of

_LOCALES = {
    "cmn": "zh_Hans",
    "hak": "zh_Hant",
    "hyw": "hy",
    "en-029": "en_001",
    "en-gb-scotland": "en_GB",
    "en-gb-x-gbclan": "en_GB",
    "en-gb-x-gbcwmd": "en_GB",
    "en-gb-x-rp": "en_GB",
    "es-419": "es_419",
    "fr-fr": "fr_FR",
    "pt": "pt_PT",
    "ru-lv": "ru",
    "vi-vn-x-central": "vi",
    "vi-vn-x-south": "vi",
}
_NO_LOCALE = frozenset({"fa-latn", "grc", "hak", "la", "py", "nci"})  # names would be in other letters

# Base code -> word for the decimal mark. Languages not listed leave decimals to eSpeak.
POINT = {
    "af": "komma", "az": "vergül", "bg": "цяло и", "bs": "zarez", "ca": "coma", "cmn": "点", "cs": "celá",
    "cy": "pwynt", "da": "komma", "de": "Komma", "el": "κόμμα", "en": "point", "eo": "komo", "es": "coma",
    "et": "koma", "eu": "koma", "fi": "pilkku", "fr": "virgule", "hi": "दशमलव", "hr": "zarez", "hu": "egész",
    "ht": "vigil", "hy": "ամբողջ", "hyw": "ամբողջ", "id": "koma", "is": "komma", "it": "virgola", "ka": "მთელი", "ko": "점",
    "lt": "kablelis", "lv": "komats", "mk": "запирка", "ms": "perpuluhan", "nb": "komma", "nl": "komma",
    "pl": "przecinek", "pt": "vírgula", "ro": "virgulă", "ru": "запятая", "sk": "celá", "sl": "vejica",
    "sq": "presje", "sr": "zarez", "sv": "komma", "sw": "nukta", "ta": "புள்ளி", "tr": "virgül",
    "vi": "phẩy", "yue": "點",
}  # fmt: skip
# es-419 says "punto"; so do all with a point as decimal mark.
POINT_BY_CODE = {"es-419": "punto"}
# Languages that read a short fraction as one number ("trois virgule quatorze"), others digit by digit.
FRACTION_AS_NUMBER = frozenset({"fr", "es", "it", "pt", "ca", "ro", "ru", "pl", "cs", "sk", "tr"})

MINUS = {
    "af": "minus", "bg": "минус", "bs": "minus", "ca": "menys", "cmn": "负", "cs": "mínus", "da": "minus",
    "de": "minus", "el": "μείον", "en": "minus", "eo": "minus", "es": "menos", "et": "miinus", "fi": "miinus",
    "fr": "moins", "hi": "माइनस", "hr": "minus", "hu": "mínusz", "id": "minus", "is": "mínus", "it": "meno",
    "ko": "마이너스", "lt": "minus", "lv": "mīnus", "mk": "минус", "nb": "minus", "nl": "min", "pl": "minus",
    "pt": "menos", "ro": "minus", "ru": "минус", "sk": "mínus", "sl": "minus", "sr": "minus", "sv": "minus",
    "tr": "eksi", "vi": "âm", "yue": "負",
}  # fmt: skip
RANGE = {
    "ca": "a", "cmn": "到", "cs": "až", "da": "til", "de": "bis", "en": "to", "es": "a", "fi": "viiva",
    "fr": "à", "hr": "do", "it": "a", "nb": "til", "nl": "tot", "pl": "do", "pt": "a", "ro": "până la",
    "ru": "до", "sk": "až", "sl": "do", "sr": "do", "sv": "till", "yue": "到",
}  # fmt: skip
# Words between hour and minutes; languages not listed say the two numbers one after the other.
HOUR = {
    "de": "Uhr", "fr": "heures", "cmn": "点", "yue": "點", "it": "e", "es": "y", "pt": "e", "ro": "și",
    "ko": "시",
}  # fmt: skip
MINUTE = {"cmn": "分", "yue": "分", "ko": "분"}
# Word between a whole amount and its cents.
CENTS = {"es": "con", "it": "e", "pt": "e", "ca": "amb"}

# ½, ¼, ¾ where eSpeak has no words of the language for them and says the English ones.
FRACTIONS = {
    "ca": ("mig", "un quart", "tres quarts"), "cmn": ("二分之一", "四分之一", "四分之三"),
    "el": ("μισό", "ένα τέταρτο", "τρία τέταρτα"), "es": ("medio", "un cuarto", "tres cuartos"),
    "fi": ("puoli", "neljäsosa", "kolme neljäsosaa"), "hi": ("आधा", "चौथाई", "तीन चौथाई"),
    "ja": ("二分の一", "四分の一", "四分の三"), "id": ("setengah", "seperempat", "tiga perempat"), "ko": ("이분의 일", "사분의 일", "사분의 삼"),
    "nb": ("en halv", "en kvart", "tre kvart"), "ro": ("jumătate", "un sfert", "trei sferturi"),
    "ru": ("половина", "четверть", "три четверти"), "sv": ("en halv", "en kvart", "tre kvart"),
    "tr": ("yarım", "çeyrek", "dörtte üç"), "yue": ("二分之一", "四分之一", "四分之三"),
}  # fmt: skip
ESPEAK_FRACTIONS = frozenset(
    ["en", "af", "cs", "da", "de", "fr", "hu", "it", "kn", "lt", "lv", "nl", "pl", "pt", "sk", "ta"]
)

# dot, slash, at
_ADDRESS = {
    "ca": ("punt", "barra", "arrova"), "cs": ("tečka", "lomítko", "zavináč"), "da": ("punktum", "skråstreg", "snabel-a"),
    "de": ("Punkt", "Schrägstrich", "ät"), "en": ("dot", "slash", "at"), "es": ("punto", "barra", "arroba"),
    "fi": ("piste", "kauttaviiva", "ät"), "fr": ("point", "barre", "arobase"), "hu": ("pont", "per", "kukac"),
    "it": ("punto", "barra", "chiocciola"), "nb": ("punktum", "skråstrek", "krøllalfa"),
    "nl": ("punt", "schuine streep", "apenstaartje"), "pl": ("kropka", "ukośnik", "małpa"),
    "pt": ("ponto", "barra", "arroba"), "ro": ("punct", "bară", "arond"), "ru": ("точка", "слэш", "собака"),
    "sv": ("punkt", "snedstreck", "snabel-a"), "tr": ("nokta", "bölü", "et"),
}  # fmt: skip

# What people say for a symbol that CLDR names in full ("US dollars"): one, other.
_SHORT_MONEY = {
    "en": {"USD": ("dollar", "dollars"), "GBP": ("pound", "pounds"), "JPY": ("yen", "yen"), "INR": ("rupee", "rupees")},
    "de": {"USD": ("Dollar", "Dollar"), "GBP": ("Pfund", "Pfund"), "JPY": ("Yen", "Yen")},
    "fr": {"USD": ("dollar", "dollars"), "GBP": ("livre", "livres"), "JPY": ("yen", "yens")},
    "es": {"USD": ("dólar", "dólares"), "GBP": ("libra", "libras"), "JPY": ("yen", "yenes")},
    "it": {"USD": ("dollaro", "dollari"), "GBP": ("sterlina", "sterline"), "JPY": ("yen", "yen")},
    "pt": {"USD": ("dólar", "dólares"), "GBP": ("libra", "libras"), "BRL": ("real", "reais"), "JPY": ("iene", "ienes")},
    "nl": {"USD": ("dollar", "dollar"), "GBP": ("pond", "pond"), "JPY": ("yen", "yen")},
    "sv": {"USD": ("dollar", "dollar"), "GBP": ("pund", "pund")},
    "da": {"USD": ("dollar", "dollar"), "GBP": ("pund", "pund")},
    "nb": {"USD": ("dollar", "dollar"), "GBP": ("pund", "pund")},
    "cmn": {"USD": ("美元", "美元"), "GBP": ("英镑", "英镑"), "CNY": ("元", "元"), "JPY": ("日元", "日元")},
    "tr": {"USD": ("dolar", "dolar"), "GBP": ("sterlin", "sterlin"), "TRY": ("lira", "lira")},
}  # fmt: skip

# For small languages that CLDR does not serve: understood everywhere.
_LATIN_MONEY = {"EUR": "euro", "USD": "dollar", "GBP": "pound", "JPY": "yen", "CHF": "frank", "INR": "rupi"}

# Nobody says whose currency it is when its own symbol was written.
_QUALIFIERS = re.compile(
    r" США| amerykański(?:e|ch)?| polski(?:e|ch)?|российск\w+ |svenska? |norska? |danska? |norske? |danske? |भारतीय "
    r"| suisses?| des États-Unis|US-| estadounidenses?| américains?|турецк\w+ "
)


def base(code: str) -> str:
    """The language of a code without its region."""
    return language_of(code).base


@cache
def locale(code: str) -> Locale | None:
    """The CLDR locale of a language, or None where CLDR has none in its letters."""
    if code in _NO_LOCALE:
        return None
    try:
        return Locale.parse(_LOCALES.get(code, code.replace("-", "_")))
    except (UnknownLocaleError, ValueError):
        return None


@cache
def conjunction(code: str) -> str:
    """What joins two things in a language, as CLDR lists them; "&" where it has no word of its own."""
    found = locale(code)
    if found is None:
        return "&"
    return format_list(["0", "1"], style="standard", locale=found)[1:-1].strip() or "&"


@cache
def separators(code: str) -> tuple[str, str]:
    """Decimal mark and thousands separator, for example ``(",", ".")`` in German."""
    here = locale(code)
    if here is None:
        return ".", ","
    if code == "es":
        return ",", "."  # CLDR writes a blank in some versions; Spain still types points
    decimal, group = (
        str(symbol(here, numbering_system="latn")) for symbol in (get_decimal_symbol, get_group_symbol)
    )
    return decimal, group


def point_word(code: str) -> str | None:
    """The spoken decimal mark."""
    return POINT_BY_CODE.get(code) or POINT.get(base(code))


def address_words(code: str) -> dict[str, str]:
    """What the marks of an address are read as; English where the language has no entry."""
    dot, slash, at = _ADDRESS.get(base(code), _ADDRESS["en"])
    return {
        ".": dot,
        "/": slash,
        "@": at,
        "_": " ",
        "%": " ",
        "=": " ",
        "&": " ",
        "+": " ",
        "~": " ",
        ":": " ",
    }


def plural(code: str, count: float) -> bool:
    """Whether a count takes another form than one, in languages with only two forms."""
    here = locale(code)
    return here is None or str(here.plural_form(count)) != "one"


def currency_name(currency: str, count: float, code: str) -> str | None:
    """``euros``, ``рублей``: a currency's name after a count; None where the language has none."""
    short = _SHORT_MONEY.get(base(code), {}).get(currency)
    known = _LATIN_MONEY if language_of(code).scripts == ("LATIN",) else {}
    if short:
        return short[plural(code, count)]
    here = locale(code)
    if here is None:
        return known.get(currency)
    name = str(get_currency_name(currency, count=count, locale=here))
    name = _QUALIFIERS.sub("", name)
    return known.get(currency) if name in {currency, get_currency_symbol(currency, here)} else name


@cache
def currency_words(code: str) -> dict[str, str]:
    """Folded currency names of a language to their codes, for ``1.234,56 Euro``."""
    found: dict[str, str] = {}
    for currency in (
        "EUR",
        "USD",
        "GBP",
        "JPY",
        "CHF",
        "PLN",
        "CZK",
        "SEK",
        "NOK",
        "DKK",
        "RUB",
        "TRY",
        "BRL",
        "INR",
    ):
        for count in (1, 2, 5, 1.5):
            name = currency_name(currency, count, code)
            if name:
                found[name.casefold()] = currency
    return found


def unit_phrase(amount: str, count: float, unit: str, code: str) -> str | None:
    """A number in words or digits with a CLDR unit's long name: ``5 Kilometer``.

    Args:
        amount: how the number will be read.
        count: its value, which chooses the plural.
        unit: CLDR id, for example ``length-kilometer``.
    """
    here = locale(code)
    if here is None:
        return None
    one, many = (
        format_unit(number, unit, length="long", locale=here, numbering_system="latn") for number in (1, 9)
    )
    exact = round(count, 3)
    shown = format_unit(exact, unit, length="long", locale=here, numbering_system="latn")
    number = format_decimal(exact, locale=here, numbering_system="latn")
    if number not in shown:
        return f"{amount} {(many if plural(code, count) else one).strip('0123456789 ')}"
    return str(shown).replace(number, amount, 1)


@cache
def months(code: str) -> dict[str, int]:
    """Folded month names, as a date writes them and alone, to 1..12."""
    here = locale(code)
    found: dict[str, int] = {}
    if here is not None:
        for context in ("format", "stand-alone"):
            for number, name in get_month_names("wide", context=context, locale=here).items():
                found[str(name).casefold()] = number
    return found


# "Year" and "day", written short: a voice would spell them.
_DATE_MARKS = re.compile(r"[\s-](?:г|р|m|d|ж|թ|й)\.(?=$|[\s,])| ел$")


def long_date(year: int, month: int, day: int, code: str) -> str | None:
    """``21 mars 1999``: a date with its month in words, in the language's own order."""
    here = locale(code)
    if here is None:
        return None
    try:
        shown = format_date(date(year, month, day), format="long", locale=here)
    except ValueError:
        return None
    plain = _DATE_MARKS.sub("", str(shown)).replace("(e)", "e").replace("(a)", "a")
    return None if re.search(r"\bM\d\d\b", plain) else plain  # CLDR has no names of months here


@cache
def day_first(code: str) -> bool:
    """Whether 03/04 is the third of April here."""
    here = locale(code)
    if here is None:
        return True
    pattern = here.date_formats["short"].pattern
    return bool(pattern.find("d") < pattern.find("M"))
