"""Two tabs on one dictionary: what each changed is kept; where both changed a word, one has to look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ui.words import Word

Key = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Clash:
    """A word that another tab changed and this one would change otherwise; None where it is left out."""

    stored: Word | None
    wanted: Word | None

    def __str__(self) -> str:
        if self.stored is None:
            word = self.wanted.word if self.wanted else ""
            return f"Another tab has removed “{word}” meanwhile."
        return f"Another tab has changed “{self.stored.word}” meanwhile: {_said(self.stored)}."


def merge(
    seen: Iterable[Word], wanted: Iterable[Word], stored: Iterable[Word]
) -> tuple[list[Word], list[Clash]]:
    """The words to store, and those about which two tabs differ.

    Args:
        seen: what this tab showed before it was edited.
        wanted: what it holds now.
        stored: what is in the database.
    """
    before, mine, now = _by_key(seen), _by_key(wanted), _by_key(stored)
    found: list[Word] = []
    clashes: list[Clash] = []
    for key in dict.fromkeys([*mine, *now]):
        old, own, there = before.get(key), mine.get(key), now.get(key)
        if own != there and old not in (own, there):
            clashes.append(Clash(there, own))
        if kept := there if own == old else own:
            found.append(kept)
    return found, clashes


def seen_now(seen: Iterable[Word], clashes: Iterable[Clash]) -> list[Word]:
    """What a tab has seen once its clashes were told: saved again, its own words stand."""
    known = _by_key(seen)
    for clash in clashes:
        known |= _by_key([clash.stored] if clash.stored else [])
        if clash.stored is None and clash.wanted is not None:
            known.pop(_key(clash.wanted), None)
    return list(known.values())


def _by_key(words: Iterable[Word]) -> dict[Key, Word]:
    return {_key(word): word for word in words}


def _key(word: Word) -> Key:
    return word.language, word.word, word.match_case


def _said(word: Word) -> str:
    return f"it is said as “{word.say}” now" if word.say else "it is left out now"
