"""A line's text to what the model is given: language, phonemes, token ids, pieces and gaps.

The steps, each in a module of its own: markup (what is no word), dictionary, clean, normalise
(numbers and dates), split, phonemise, tokenise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from zonos.errors import LineError
from zonos.text import markup, split
from zonos.text.dictionary import Dictionary, Entry
from zonos.text.espeak import phonemise
from zonos.text.languages import check_script, is_approximate, language_id, resolve_language
from zonos.text.languages import language as language_of
from zonos.text.markup import Ipa, Pause, Segment, Words
from zonos.text.normalise import normalise
from zonos.text.numbers import NO_NUMBER_WORDS
from zonos.text.split import GAPS, Atom, Break
from zonos.text.tokens import count_phonemes, tokenise, unknown_symbols

__all__ = [
    "Dictionary",
    "Entry",
    "Piece",
    "Spoken",
    "check_script",
    "count_phonemes",
    "normalise",
    "phonemise",
    "prepare",
    "resolve_language",
    "tokenise",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """One stretch of speech that the model says in one go."""

    text: str  # normalised words, ``[[phonemes]]`` as given
    phonemes: str  # with those of the opening before them
    ids: tuple[int, ...]  # BOS … EOS
    gap_after: float  # seconds of silence; 0 for the last piece unless a pause was asked for
    gap_before: float = 0.0  # seconds; only where the line begins with a pause
    opening: int = 0  # phonemes that a prefix clip says already


@dataclass(frozen=True, slots=True)
class Spoken:
    """A whole line, ready for the model."""

    language: str  # the model's code, after aliases
    language_id: int
    normalised: str
    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...]

    @property
    def phonemes(self) -> str:
        """All pieces, for a preview."""
        return " ".join(piece.phonemes for piece in self.pieces)


@dataclass(slots=True)
class _Run:
    """Words between two forced breaks, and the silence that follows them."""

    words: list[Atom] = field(default_factory=list)
    gap: float = 0.0
    asked: bool = False  # the gap is a pause that the writer wrote


def prepare(
    text: str,
    language: str,
    *,
    max_piece_phonemes: int,
    dictionary: Dictionary | None = None,
    opening: str = "",
) -> Spoken:
    """Everything from a line's text to token ids.

    Args:
        text: as a person typed it; the markup is described in ``zonos.text.markup``.
        language: a code, alias or name.
        max_piece_phonemes: longest piece, in ``count_phonemes``; at least 1.
        dictionary: the producer's own words.
        opening: what a prefix clip says. The model is given it before the first piece, which is shorter
            where both would be over two pieces long; it belongs to no other piece.

    Raises:
        LineError: ``empty_text``, ``no_phonemes``, ``unknown_language``, ``missing_japanese``,
            ``no_espeak``, ``old_espeak``, ``espeak_crashed``.
    """
    code = resolve_language(language)
    if not text.strip():
        raise LineError("empty_text", "The text is empty. Type what should be said, or delete the line.")
    segments, warnings = markup.parse(text)
    segments = _with_dictionary(segments, dictionary, code, warnings)
    runs = _runs(segments, code, warnings)
    before, opening_segments = _opening(opening, code, dictionary, warnings)
    pieces = _pieces(runs, max(1, max_piece_phonemes), code, before)
    if not pieces:
        raise LineError("no_phonemes", _nothing_to_say(text, segments))
    warnings += _language_warnings(text, opening_segments + segments, language, code)
    return Spoken(
        language=code,
        language_id=language_id(code),
        normalised=" ".join(piece.text for piece in pieces),
        pieces=tuple(pieces),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _with_dictionary(
    segments: list[Segment], dictionary: Dictionary | None, code: str, warnings: list[str]
) -> list[Segment]:
    """What the dictionary puts in may hold markup of its own."""
    if dictionary is None:
        return segments
    found: list[Segment] = []
    for segment in segments:
        if isinstance(segment, Words):
            parts, said = markup.parse(dictionary.apply(segment.text, code))
            found += parts
            warnings += said
        else:
            found.append(segment)
    return found


def _runs(segments: list[Segment], code: str, warnings: list[str]) -> list[_Run]:
    runs = [_Run()]
    glued = False  # whether the next word follows without a blank
    for segment in segments:
        if isinstance(segment, Pause):
            _add_pause(runs, segment.seconds)
            glued = False
        elif isinstance(segment, Ipa):
            count = count_phonemes(segment.phonemes)
            runs[-1].words.append(Atom(f"[[{segment.phonemes}]]", count, glued=glued, ipa=segment.phonemes))
            glued = True
        else:
            text, found = markup.clean(segment.text, code)
            warnings += found
            _add_words(runs, text, code, glued and not text[:1].isspace())
            glued = bool(text) and not text[-1].isspace()
    return runs


def _add_pause(runs: list[_Run], seconds: float) -> None:
    """A pause takes the place of a paragraph's gap; two pauses add up."""
    if len(runs) > 1 and not runs[-1].words and not runs[-2].asked:
        runs[-2].gap, runs[-2].asked = seconds, True
        return
    runs[-1].gap, runs[-1].asked = seconds, True
    runs.append(_Run())


def _end_paragraph(runs: list[_Run]) -> None:
    if runs[-1].words:
        runs[-1].gap = GAPS[Break.PARAGRAPH]
        runs.append(_Run())


def _add_words(runs: list[_Run], text: str, code: str, glued: bool) -> None:
    if split.BLANK_LINE.match(text.lstrip(" ")):
        _end_paragraph(runs)
    for line, after in split.blocks(text):
        words = _words(line, code)
        if not words:
            continue
        words[0] = replace(words[0], glued=glued)
        words[-1] = _close(words[-1], after)
        runs[-1].words += words
        glued = False
        if after is Break.PARAGRAPH:
            _end_paragraph(runs)


def _words(line: str, code: str) -> list[Atom]:
    words: list[Atom] = []
    for stretch, glued in split.stretches(line):
        found = split.atoms(normalise(stretch, code), lambda word: count_phonemes(phonemise(word, code)))
        if found and glued and words:
            words[-1] = replace(words[-1], after=_inside(words[-1].after))
            found[0] = replace(found[0], glued=True)
        words += found
    return words


def _inside(after: Break) -> Break:
    """Within an unbroken run, only a mark makes a break."""
    return Break.INSIDE if after is Break.WORD else after


def _close(word: Atom, after: Break) -> Atom:
    """The last word of a line: a line break without a mark is heard as a full stop."""
    stopped = f"{word.text}." if after is Break.SENTENCE and word.text[-1].isalnum() else word.text
    return replace(word, text=stopped, after=max(word.after, after))


def _opening(
    text: str, code: str, dictionary: Dictionary | None, warnings: list[str]
) -> tuple[list[Atom], list[Segment]]:
    """Its words, and what they were made of; the clip itself has the pauses."""
    parsed, _ = markup.parse(text)
    segments = _with_dictionary(parsed, dictionary, code, warnings)
    words = [word for run in _runs(segments, code, warnings) for word in run.words]
    return (words, segments) if any(word.count for word in words) else ([], [])


def _pieces(runs: list[_Run], limit: int, code: str, opening: list[Atom]) -> list[Piece]:
    pieces: list[Piece] = []
    lead = 0.0
    for run in runs:
        packed = _packed(run.words, limit, code)
        if opening and packed and not pieces:
            packed = _shorten_first(packed, limit, sum(word.count for word in opening), code)
        made: list[Piece] = []
        for words in packed:
            if (piece := _piece(words, code, [] if pieces or made else opening)) is not None:
                made.append(piece)
        if made:
            made[-1] = replace(made[-1], gap_after=run.gap)
            made[0] = replace(made[0], gap_before=lead) if not pieces else made[0]
            pieces += made
        elif pieces:
            pieces[-1] = replace(pieces[-1], gap_after=pieces[-1].gap_after + run.gap)
        else:
            lead += run.gap
    return pieces


def _shorten_first(packed: list[list[Atom]], limit: int, opening: int, code: str) -> list[list[Atom]]:
    """Opening and first piece make two pieces' room at most, but half a piece is left to say in any case."""
    room = max(-(-limit // 2), 2 * limit - opening)
    if sum(word.count for word in packed[0]) <= room:
        return packed
    first, *tail = _packed(packed[0], room, code)
    rest = [word for words in (*tail, *packed[1:]) for word in words]
    return [first, *_packed(rest, limit, code)]


def _packed(words: list[Atom], limit: int, code: str) -> list[list[Atom]]:
    return split.pack(words, limit, lambda text: count_phonemes(phonemise(text, code)))


def _piece(words: list[Atom], code: str, opening: list[Atom]) -> Piece | None:
    """None where the words hold nothing but marks."""
    text, phonemes = _said(words, code)
    if not count_phonemes(phonemes):
        return None
    before = count_phonemes(phonemes)
    if opening:
        _, phonemes = _said([*opening, *words], code)
    given = max(0, count_phonemes(phonemes) - before)
    return Piece(text, phonemes, tuple(tokenise(phonemes)), GAPS[words[-1].after], opening=given)


def _said(words: list[Atom], code: str) -> tuple[str, str]:
    """Text and phonemes of words that are spoken in one go."""
    text, phonemes, plain = "", "", ""
    for word in words:
        blank = "" if word.glued or not text else " "
        text += blank + word.text
        if word.ipa is None:
            plain += blank + word.text
        else:
            phonemes += phonemise(plain, code) + blank + word.ipa
            plain = ""
    return text, phonemes + phonemise(plain, code)


def _nothing_to_say(text: str, segments: list[Segment]) -> str:
    shown = repr(" ".join(text.split())[:40])
    if any(isinstance(segment, Ipa) for segment in segments):
        return (
            f"{shown} holds no phoneme that the model knows. Double brackets take phonemes in IPA, "
            "such as [[həlˈoʊ]]; write plain words without them."
        )
    if any(isinstance(segment, Pause) for segment in segments) and not _letters(segments):
        return (
            f"{shown} is only a pause, and a line needs words. Write the pause at the end of the line before "
            "or at the beginning of the next one."
        )
    return f"{shown} holds nothing that can be spoken, only marks. Add a word, or delete the line."


def _letters(segments: list[Segment]) -> bool:
    return any(isinstance(segment, Words) and segment.text.strip() for segment in segments)


def _language_warnings(text: str, segments: list[Segment], given: str, code: str) -> list[str]:
    words = " ".join(segment.text for segment in segments if isinstance(segment, Words))
    found = [check_script(words, code)]
    if is_approximate(given):
        found.append(
            f"{given.strip()!r} is spoken as {code} ({language_of(code).english}), the nearest there is."
        )
    if code in NO_NUMBER_WORDS and any(letter.isdigit() for letter in words):
        found.append(f"eSpeak has no number words for {code}: write the numbers of this line in letters.")
    strange = {symbol for s in segments if isinstance(s, Ipa) for symbol in unknown_symbols(s.phonemes)}
    if strange:
        names = " ".join(sorted(strange))
        found.append(f"The model does not know these phoneme symbols and will guess: {names}")
    return [warning for warning in found if warning]
