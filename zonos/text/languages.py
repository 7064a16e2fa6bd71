"""The languages of Zonos-v0.1: codes, names for people, aliases, and a check of the script.

The order of the codes is part of the model: a code's index is its ``language_id``.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from zonos.errors import LineError

# Where a region is not in the table, the nearest variety that is: "en-au" sounds nearer to London.
_BRITISH = frozenset(["en-au", "en-ie", "en-in", "en-nz", "en-uk", "en-za", "en-sg", "en-hk", "en-ng"])
_AMERICAN_SPANISH = "es-"
_EXACT_SPAIN = "es-es"


@dataclass(frozen=True, slots=True)
class Language:
    """One language of the model."""

    code: str
    english: str
    native: str
    scripts: tuple[str, ...]  # first words of Unicode character names, for example ``LATIN``
    aliases: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name for a menu: ``German · Deutsch``."""
        return self.english if self.english == self.native else f"{self.english} · {self.native}"

    @property
    def base(self) -> str:
        """The code without its region: ``en`` of ``en-gb``."""
        return self.code.split("-")[0]


def _read() -> tuple[Language, ...]:
    table = resources.files("zonos.text").joinpath("data/languages.tsv").read_text(encoding="utf-8")
    found = []
    for row in table.splitlines()[1:]:
        code, english, native, scripts, aliases = row.split("\t")
        found.append(Language(code, english, native, tuple(scripts.split()), tuple(aliases.split())))
    return tuple(found)


LANGUAGES: tuple[Language, ...] = _read()
CODES: tuple[str, ...] = tuple(language.code for language in LANGUAGES)


@cache
def _by_code() -> dict[str, Language]:
    return {language.code: language for language in LANGUAGES}


@cache
def _names() -> dict[str, str]:
    """Every accepted spelling, folded, to its code; a code wins over an alias of another."""
    names: dict[str, str] = {}
    for language in LANGUAGES:
        short = language.english.split(" (")[0]
        for name in (language.english, language.native, short, language.label, *language.aliases):
            names.setdefault(_fold(name), language.code)
    return names | {"english": "en-us"} | {code: code for code in CODES}


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold().replace("_", "-")


def language(code: str) -> Language:
    """The language of an exact code.

    Raises:
        KeyError: not one of ``CODES``.
    """
    return _by_code()[code]


def language_id(code: str) -> int:
    """The number that the model's ``language_id`` conditioner wants."""
    return CODES.index(code)


def resolve_language(text: str, speaks: Collection[str] = ()) -> str:
    """The model's code for what a person wrote: a code, an alias, a region or a name.

    ``en`` gives ``en-us``, ``zh`` ``cmn``, ``pt-PT`` ``pt``, ``German`` ``de``, ``en-AU`` ``en-gb``.

    Args:
        text: as it was written.
        speaks: codes of the one model that will be used, where it does not speak all; for the message.

    Raises:
        LineError: ``unknown_language``, naming the nearest codes, or those that the model speaks.
    """
    wanted = _fold(text)
    names = _names()
    code = names.get(wanted) or _regional(wanted)
    if code is None:
        raise LineError("unknown_language", _unknown(text, wanted, speaks))
    return code


def is_approximate(text: str) -> bool:
    """Whether ``resolve_language`` had to take another region's variety, as it does for ``en-AU``."""
    wanted = _fold(text)
    code = _names().get(wanted) or _regional(wanted)
    return wanted not in _names() and code is not None and len(_varieties(language(code).base)) > 1


def _varieties(base: str) -> list[str]:
    return [code for code in CODES if code.split("-")[0] == base]


def _regional(wanted: str) -> str | None:
    if wanted in _BRITISH:
        return "en-gb"
    if wanted == _EXACT_SPAIN:
        return "es"
    if wanted.startswith(_AMERICAN_SPANISH):
        return "es-419"
    base, _, region = wanted.partition("-")
    looks_like_code = 2 <= len(base) <= 3 and base.isascii() and bool(region) and len(region) <= 12
    return _names().get(base) if looks_like_code else None


def named(codes: Iterable[str]) -> str:
    """Codes for a sentence: ``de (German), it (Italian)``."""
    return ", ".join(f"{code} ({language(code).english})" for code in codes)


def _unknown(text: str, wanted: str, speaks: Collection[str]) -> str:
    near = difflib.get_close_matches(wanted, _names(), n=6, cutoff=0.6)
    codes = list(dict.fromkeys(_names()[name] for name in near))[:3]
    if speaks:
        hint = f"It speaks {named(speaks)}."
    elif codes:
        hint = f"Nearest: {named(codes)}."
    else:
        hint = "Use a code such as en-us, de, fr-fr, es, ja or cmn."
    given = text.strip()[:40] or "an empty cell"
    return f"The language {given!r} is not one this model speaks. {hint}"


def check_script(text: str, code: str) -> str | None:
    """A warning when the letters of ``text`` are not the letters of its language, else None.

    eSpeak spells letters that a voice does not know ("Chinese letter, Chinese letter"), and reads
    Latin words inside another script in English.
    """
    wanted = language(code)
    scripts = Counter(_script(letter) for letter in text if letter.isalpha())
    scripts.pop("", None)
    total = sum(scripts.values())
    if not total:
        return None
    fitting = sum(count for script, count in scripts.items() if script in wanted.scripts)
    if 2 * fitting < total:
        seen = scripts.most_common(1)[0][0].capitalize()
        usual = " or ".join(script.capitalize() for script in wanted.scripts)
        return (
            f"The text is written in {seen} letters, but {wanted.english} is written in {usual}. "
            "Check the language of this line: it may be spelled letter by letter."
        )
    strange = [script for script in scripts if script not in wanted.scripts and script != "LATIN"]
    if strange:
        some = "".join(letter for letter in text if letter.isalpha() and _script(letter) in strange)[:12]
        return f"{wanted.english} cannot read {some!r}: these letters will be spelled or left out."
    return None


@cache
def _script(letter: str) -> str:
    """First word of the character's name; marks that every script shares have none."""
    name = unicodedata.name(letter, "")
    first = name.split(" ")[0]
    if first in {"MODIFIER", "FEMININE", "MASCULINE", "SUPERSCRIPT", "MICRO", "MATHEMATICAL"}:
        return ""
    if first in {"FULLWIDTH", "HALFWIDTH"}:
        return name.split(" ")[1]
    return "KATAKANA" if first.startswith("KATAKANA") else first
