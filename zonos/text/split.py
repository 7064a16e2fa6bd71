"""Long text into pieces that fit: at sentence ends, then clauses, then words; nothing is lost.

Counts are phonemes (``tokens.count_phonemes``), the unit of a line's length in the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum


class Break(IntEnum):
    """How strong the boundary after a word is."""

    INSIDE = 0  # within a word that is too long for one piece
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3
    PARAGRAPH = 4


# Seconds of silence that sound natural where a piece ends, before what the model itself leaves.
GAPS = {
    Break.INSIDE: 0.0,
    Break.WORD: 0.02,
    Break.CLAUSE: 0.12,
    Break.SENTENCE: 0.25,
    Break.PARAGRAPH: 0.6,
}
BLANK_LINE = re.compile(r"\n\s*\n")
# The share of the room that a piece must use before it may end there; a whole sentence may be short.
_SMALLEST_SHARE = {Break.SENTENCE: 0.0, Break.CLAUSE: 0.3, Break.WORD: 0.3}


@dataclass(frozen=True, slots=True)
class Atom:
    """A word with its punctuation, or phonemes given by the writer."""

    text: str
    count: int  # phonemes
    after: Break = Break.WORD
    glued: bool = False  # no blank before it
    ipa: str | None = None


_OPENERS = "«“„‟‘‚([{¿¡「『（【《〈"
_CLOSERS = "\"'”’»)]}」』）】》〉*~"
_SENTENCE_ENDS = ".!?…。！？．؟۔।॥።෴;"  # the Greek question mark is a semicolon, see _level
_CLAUSE_ENDS = ",;:—–،؛、，；：·"
_INNER_ENDS = re.compile(r"(?<=[。！？，、；：])(?=[^\s。！？，、；：」』）】》”’])")
LONGEST_UNBROKEN = 200
_UNBROKEN = re.compile(rf"\S{{1,{LONGEST_UNBROKEN}}}(?<=[。！？，、；：,.;:!?])|\S{{1,{LONGEST_UNBROKEN}}}")
_ABBREVIATION = re.compile(
    r"(?:(?:\w\.)+|(?:mr|mrs|ms|dr|prof|st|ave|rev|gen|col|capt|lt|sgt|gov|sen|rep|hon|jr|sr|vs|approx|dept|est|fig|no"
    r"|nr|bzw|ca|evtl|ggf|inkl|sog|str|tel|usw|vgl|zzgl|hr|fr|mme|mlle|me|mm|sra|srta|dra|ud|uds|pág|ing|avv|sig|dott"
    r"|eng|exmo|dhr|mevr|bijv|blz|art|bl|gr|ul|al|np|itd|tzn|tj|resp|např|čl|str|г|ул|стр|им|т))\.",
    re.IGNORECASE,
)
_STARTS_SMALL = re.compile(r"[^\w]*[a-zß-öø-ÿа-яёα-ω]")


def blocks(text: str) -> Iterator[tuple[str, Break]]:
    """Lines of a text with the break after each; a line that simply wraps joins the next.

    A blank line parts paragraphs. A single line break parts sentences, unless the next line goes on
    in small letters. What follows the last line is unknown: its break is that of a word, or of a
    paragraph where a blank line ends the text.
    """
    paragraphs = BLANK_LINE.split(text)
    for number, paragraph in enumerate(paragraphs):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        joined: list[str] = []
        for line in lines:
            if joined and _STARTS_SMALL.match(line):
                joined[-1] = f"{joined[-1]} {line}"
            else:
                joined.append(line)
        end = Break.WORD if number == len(paragraphs) - 1 else Break.PARAGRAPH
        for index, line in enumerate(joined):
            yield line, end if index == len(joined) - 1 else Break.SENTENCE


def stretches(line: str) -> Iterator[tuple[str, bool]]:
    """A line in parts whose unbroken runs of letters are short, and whether each is glued to the last.

    Nobody writes words of hundreds of letters; patterns and eSpeak take time with the square of them.
    """
    normal: list[str] = []
    for word in line.split():
        if len(word) <= LONGEST_UNBROKEN:
            normal.append(word)
            continue
        if normal:
            yield " ".join(normal), False
        normal = []
        for index, part in enumerate(_UNBROKEN.findall(word)):
            yield part, index > 0
    if normal:
        yield " ".join(normal), False


def atoms(text: str, count: Callable[[str], int]) -> list[Atom]:
    """The words of normalised text; marks that stand alone go with the word they belong to."""
    words = _attach_marks(text.split())
    found: list[Atom] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        parts = _INNER_ENDS.split(word)
        for place, part in enumerate(parts):
            rest = parts[place + 1] if place + 1 < len(parts) else following
            found.append(Atom(part, count(part), _level(part, rest), glued=place > 0))
    return found


def _attach_marks(tokens: list[str]) -> list[str]:
    """French ``« non ! »`` is one word here."""
    words: list[str] = []
    opening = ""
    for token in tokens:
        if any(letter.isalnum() for letter in token):
            words.append(opening + token)
            opening = ""
        elif (token[0] in _OPENERS and token[-1] in _OPENERS) or not words:
            opening += f"{token} "
        else:
            words[-1] = f"{words[-1]} {token}"
    if opening:
        words.append(opening.rstrip())
    return words


def _level(word: str, following: str) -> Break:
    bare = word.rstrip(_CLOSERS + " ")
    last = bare[-1:]
    if last in _CLAUSE_ENDS or not last:
        return Break.CLAUSE
    if last not in _SENTENCE_ENDS:
        return Break.WORD
    if last == "." and following:
        core = bare.lstrip(_OPENERS + "\"'")
        if _STARTS_SMALL.match(following) or _ABBREVIATION.fullmatch(core):
            return Break.WORD
    return Break.SENTENCE


def pack(words: list[Atom], limit: int, count: Callable[[str], int]) -> list[list[Atom]]:
    """Group words into as few pieces of at most ``limit`` phonemes as good breaks allow.

    Among equally many pieces with breaks as good, the most even lengths win. A single letter that
    eSpeak spells with more phonemes than the limit stays whole.
    """
    fitting = [part for word in words for part in _shorten(word, limit, count)]
    best = _greedy(fitting, limit)
    if len(best) < 2:
        return best
    total = sum(word.count for word in fitting)
    weakest = min(piece[-1].after for piece in best[:-1])
    step = max(1, limit // 16)
    for smaller in range(-(-total // len(best)), limit, step):
        even = _greedy(fitting, smaller)
        if len(even) == len(best) and min(piece[-1].after for piece in even[:-1]) >= weakest:
            return even
    return best


def _shorten(word: Atom, limit: int, count: Callable[[str], int]) -> list[Atom]:
    if word.count <= limit or len(word.ipa or word.text) < 2:
        return [word]
    halves = _halves(word.ipa or word.text)
    if word.ipa is None:
        first, second = (Atom(half, count(half), word.after, glued=True) for half in halves)
    else:
        first, second = (Atom(half, count(half), word.after, glued=True, ipa=half) for half in halves)
    parts = [replace(first, after=Break.INSIDE, glued=word.glued), second]
    return [piece for part in parts for piece in _shorten(part, limit, count)]


def _halves(text: str) -> tuple[str, str]:
    """Near the middle, at a blank where there is one."""
    middle = len(text) // 2
    blank = text.find(" ", middle)
    cut = blank if 0 < blank < len(text) - 1 else middle
    return text[:cut], text[cut:]


def _greedy(words: list[Atom], limit: int) -> list[list[Atom]]:
    pieces: list[list[Atom]] = []
    start = 0
    while start < len(words):
        end = _end(words, start, limit)
        pieces.append(words[start:end])
        start = end
    return pieces


def _end(words: list[Atom], start: int, limit: int) -> int:
    """Where the piece that begins at ``start`` ends: the strongest late break that fits."""
    used, last = 0, start
    sums: list[int] = []
    while last < len(words) and (last == start or used + words[last].count <= limit):
        used += words[last].count
        sums.append(used)
        last += 1
    if last == len(words):
        return last
    for level, share in _SMALLEST_SHARE.items():
        for end in range(last, start, -1):
            if words[end - 1].after >= level and sums[end - 1 - start] >= share * limit:
                return end
    return last
