"""Hard inputs, "Text and language": siblings of the public reports that failed here once.

The rows themselves are in ``test_text_cases.py``.
"""

from __future__ import annotations

import re

import pytest

from zonos.errors import LineError
from zonos.text import Spoken, prepare
from zonos.text.languages import CODES


def say(text: str, language: str = "en-us") -> Spoken:
    return prepare(text, language, max_piece_phonemes=200)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Wait {pause 1s} here", "Wait here"),
        ("Hello {name}!", "Hello !"),
        ("{{greeting}} and ${sum}", "{ } and $"),
        ("<|im_start|>user hello<|im_end|>", "user hello"),
        ("Wait <#0.5#> here", "Wait here"),
        ("[S1] Hello", "Hello"),
        ("{laughs} Hello", "Hello"),
    ],
)
def test_marks_of_other_programs_are_not_read_aloud(text: str, normalised: str) -> None:
    """Row 'Hello [wait, 5s] World': unknown tags are left out with a warning, pauses are pauses."""
    spoken = say(text)
    assert spoken.normalised == normalised
    assert spoken.warnings or "pause" in text


def test_a_pause_in_braces_is_a_pause() -> None:
    assert [piece.gap_after for piece in say("Wait {pause 1s} here").pieces] == [1.0, 0.0]


@pytest.mark.parametrize(
    "cue", ["(laughs)", "*sighs*", "(pause)", "(long pause)", "*clears throat*", "(laughing softly)"]
)
def test_directions_are_read_with_a_warning(cue: str) -> None:
    """Row 'Hello [wait, 5s] World': brackets of other kinds are words, and that is said."""
    spoken = say(f"Well {cue} yes.")
    assert [cue in warning for warning in spoken.warnings] == [True]


@pytest.mark.parametrize("words", ["(really)", "*very*", "(he paused)", "(see page 3)", "(crystal clear)"])
def test_plain_brackets_and_emphasis_need_no_warning(words: str) -> None:
    assert say(f"It was {words} good.").warnings == ()


@pytest.mark.parametrize(
    ("text", "language", "normalised"),
    [
        ("𝓗𝓮𝓵𝓵𝓸 𝐖𝐨𝐫𝐥𝐝", "en-us", "Hello World"),
        ("ʜᴇʟʟᴏ ᴛʜᴇʀᴇ", "en-us", "hello there"),
        ("𝟛 ㎏ ①", "en-us", "three kilograms one"),
        ("5 ㎡", "de", "5 Quadratmeter"),
        ("Ｈｅｌｌｏ", "en-us", "Hello"),
    ],
)
def test_letters_in_disguise_are_letters(text: str, language: str, normalised: str) -> None:
    """Row 'chat text with smileys among words': eSpeak spelled these as "letter one d four d"."""
    spoken = say(text, language)
    assert spoken.normalised == normalised
    assert spoken.warnings == ()


def test_given_phonemes_are_no_letters_in_disguise() -> None:
    assert say("[[hɪ ʀʏ]]").phonemes == "hɪ ʀʏ"


@pytest.mark.parametrize(
    ("text", "language", "normalised"),
    [
        ("It's 2024-03-05T14:30:00Z.", "en-us", "It's March fifth, twenty twenty-four, fourteen thirty UTC."),
        ("2024-03-05T14:30", "de", "fünfter März 2024, 14 Uhr 30"),
        ("2024-03-05T14:30:15.123+01:00", "es", "5 de marzo de 2024, 14 y 30"),
        ("2024-03-05T14:30", "cmn", "二零二四年3月5日, 14点30分"),
    ],
)
def test_moments_as_programs_write_them(text: str, language: str, normalised: str) -> None:
    """Row 'numbers in the line's language': read as "five tee fourteen" before."""
    assert say(text, language).normalised == normalised


@pytest.mark.parametrize(
    ("text", "language", "normalised"),
    [
        ("½ cup, 2½ more", "en-us", "½ cup, two and a half more"),
        ("½ Liter, 2½ km", "de", "½ Liter, 2 Komma 5 Kilometer"),
        ("un ½ litro", "es", "un medio litro"),
        ("¾", "ru", "три четверти"),
        ("我要½", "cmn", "我要二分之一"),
        ("3 ¼", "fr-fr", "3 virgule 25"),
        ("2½", "ja", "ニ テン ゴ"),
    ],
)
def test_fractions_in_one_sign(text: str, language: str, normalised: str) -> None:
    """Row 'numbers in the line's language': eSpeak says "a half" in 80 of its languages; 2½ was 21/2."""
    assert say(text, language).normalised == normalised


def test_no_language_reads_a_half_in_english() -> None:
    heard = {code: say("½", code).phonemes for code in CODES if not code.startswith("en")}
    assert [code for code, sound in heard.items() if "hˈɑːf" in sound or "hˈæf" in sound] == []


@pytest.mark.parametrize("mark", ["[[nonsense", "[pause 2s", "{slowly", "nonsense]]", "2s]", "slowly}"])
def test_a_mark_that_is_not_closed_is_warned_about(mark: str) -> None:
    """Row 'inline markup': what was meant as a mark and is none is named before it is read aloud."""
    (warning,) = say(f"Hello {mark} there").warnings
    assert "opens a mark that nothing closes" in warning or "closes no mark" in warning


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[§§§]]", "no phoneme that the model knows. Double brackets take phonemes in IPA"),
        ("[[]]", "no phoneme"),
        ("[pause 2s]", "is only a pause, and a line needs words"),
        ("[pause]\n\n[pause 1s]", "is only a pause"),
        ("[laughs]", "holds nothing that can be spoken"),
    ],
)
def test_a_line_of_marks_says_which_kind_of_nothing_it_is(text: str, says: str) -> None:
    with pytest.raises(LineError, match=re.escape(says)):
        say(text)
