"""A producer's dictionary: a word and how to say it, as a spelling or as ``[[phonemes]]``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from zonos.text.languages import language as language_of
from zonos.text.languages import resolve_language

# Scripts that write words without blanks between them: there a word may begin anywhere.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "MYANMAR"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One word.

    ``say`` is a spelling, may hold ``[[phonemes]]``, and may be empty (the word is left out).
    ``language`` None means every language; else a code or alias. ``match_case`` True takes the word
    only as written, so that ``US`` can differ from ``us``.
    """

    word: str
    say: str
    language: str | None = None
    match_case: bool = False


class Dictionary:
    """Replaces whole words, the longest first, before a line is normalised.

    Args:
        entries: later entries win over earlier ones for the same word.

    Raises:
        LineError: ``unknown_language`` for an entry's language.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = tuple(entry for entry in entries if entry.word.strip())
        self._codes = [entry.language and resolve_language(entry.language) for entry in self.entries]

    def apply(self, text: str, language: str) -> str:
        """The text with every word of the dictionary replaced; what was put in is not read again."""
        exact, folded = self._tables(language)
        if not exact and not folded:
            return text
        pattern = _pattern((*exact, *folded), language)

        def say(match: re.Match[str]) -> str:
            word = match.group()
            return exact.get(word, folded.get(word.casefold(), word))

        return pattern.sub(say, text)

    def touches(self, text: str, language: str) -> bool:
        """Whether ``apply`` would change the text."""
        return self.apply(text, language) != text

    def _tables(self, language: str) -> tuple[dict[str, str], dict[str, str]]:
        if language not in self._cached:
            exact: dict[str, str] = {}
            folded: dict[str, str] = {}
            for entry, code in zip(self.entries, self._codes, strict=True):
                if code in (None, language):
                    word = entry.word.strip()
                    (exact if entry.match_case else folded)[word if entry.match_case else word.casefold()] = (
                        entry.say
                    )
            self._cached[language] = (exact, folded)
        return self._cached[language]

    @cached_property
    def _cached(self) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        return {}


def _pattern(words: Iterable[str], language: str) -> re.Pattern[str]:
    longest_first = sorted(set(words), key=len, reverse=True)
    choice = "|".join(re.escape(word) for word in longest_first)
    spaced = not _UNSPACED.intersection(language_of(language).scripts)
    return re.compile(rf"(?<!\w)(?:{choice})(?!\w)" if spaced else choice, re.IGNORECASE)
