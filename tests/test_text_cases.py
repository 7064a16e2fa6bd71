"""Every row of the hard inputs' table "Text and language" that text alone decides, with siblings; of
languages see test_text_languages."""

from __future__ import annotations

import pytest
from text_support import failure, say

from zonos.text import (
    Dictionary,
    Entry,
    count_phonemes,
    phonemise,
)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u00a0 \u3000"])
def test_blank_lines_are_skipped_with_a_reason(text: str) -> None:
    error = failure(text)
    assert error.code == "empty_text"
    assert error.reason.endswith(".")


def test_a_blank_line_does_not_disturb_the_next() -> None:
    assert failure("").code == "empty_text"
    assert say("Hi").phonemes == "hˈaɪ"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich habe 3 Katzen und 1.234,56 Euro."),
        ("fr-fr", "Il y a 21 élèves."),
        ("es", "2 gatos"),
        ("pl", "5 kotów i 2,50 zł"),
        ("hi", "5 रुपये"),
        ("cmn", "我有3个苹果，2024年。"),
    ],
)
def test_numbers_in_the_lines_language(language: str, text: str) -> None:
    spoken = say(text, language).phonemes
    assert not any(english in spoken for english in ("θɹ", "twˈɛnti", "hˈʌndɹɪd", "fˈaɪv", "pˈɔɪnt"))


@pytest.mark.parametrize(
    ("language", "text", "normalised"),
    [
        ("en-us", "It cost $1.5 million.", "It cost one point five million dollars."),
        ("en-gb", "£12,500.75", "twelve thousand five hundred pounds and seventy-five pence"),
        ("en-us", "€1 and $0.99 and ₹10", "one euro and ninety-nine cents and ten rupees"),
        ("en-us", "US$ 3bn", "three billion dollars"),
        ("en-gb", "¥1,000", "one thousand yen"),
    ],
)
def test_money_as_a_person_would_read_it(language: str, text: str, normalised: str) -> None:
    assert say(text, language).normalised == normalised


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ("Hello [wait, 5s] World", [5.0, 0.0]),
        ("Hello [pause 0.5s] World", [0.5, 0.0]),
        ("Hello [pause 500ms] World", [0.5, 0.0]),
        ("Hello [break 1s] World", [1.0, 0.0]),
        ("Hello [pause] World [silence: 2 s]", [0.5, 2.0]),
        ('Hello <break time="1.5s"/> World', [1.5, 0.0]),
        ("Hello [PAUSE 0,25 seconds] World", [0.25, 0.0]),
        ("Hello. [pause 1s] ... [pause 1s] World", [2.0, 0.0]),
        ("Hello.\n\n[pause 1s]\n\nWorld", [1.0, 0.0]),
    ],
)
def test_pauses_are_silence(text: str, gaps: list[float]) -> None:
    spoken = say(text)
    assert [piece.gap_after for piece in spoken.pieces] == gaps
    assert [piece.phonemes.strip(".") for piece in spoken.pieces] == ["həlˈoʊ", "wˈɜːld"]


def test_a_pause_at_the_beginning_comes_before() -> None:
    spoken = say("[pause 300ms] Hi")
    assert spoken.pieces[0].gap_before == pytest.approx(0.3)


def test_a_very_long_pause_is_shortened_and_said() -> None:
    spoken = say("Hi [pause 9999s] there")
    assert spoken.pieces[0].gap_after == 30
    assert any("shortened" in warning for warning in spoken.warnings)


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("[[həlˈoʊ]] world", "həlˈoʊ wˈɜːld"),
        ("say [[ˈɛf]], then", "sˈeɪ ˈɛf, ðˈɛn"),
        ("[[ˈaɪ.pˈi:eɪ]]", "ˈaɪ.pˈi:eɪ"),
        ("un[[ˈeɪ]]able", "ˈʌnˈeɪˈeɪbəl"),
    ],
)
def test_inline_phonemes_pass_through(text: str, phonemes: str) -> None:
    assert say(text).phonemes == phonemes


def test_symbols_the_model_lacks_are_named() -> None:
    spoken = say("[[hɞ̞ᵻ]] there")
    assert any("̞" in warning for warning in spoken.warnings)
    assert 1 in spoken.pieces[0].ids


@pytest.mark.parametrize("tag", ["[laughs]", "[whisper softly]", "[pause abc]", "[emotion: sad]", "[1]"])
def test_unknown_tags_are_not_read_aloud_without_a_warning(tag: str) -> None:
    spoken = say(f"Hello {tag} World")
    assert spoken.phonemes == "həlˈoʊ wˈɜːld"
    assert any(tag in warning for warning in spoken.warnings)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("<speak>hi</speak>", "hi"),
        ("<b>bold</b> &amp; tags", "bold and tags"),
        ("<speak><prosody rate='slow'>hi <i>you</i></prosody></speak>", "hi you"),
        ("7<9 and 9>7", "seven<nine and nine>seven"),
        ("see https://example.com/a?b=1.", "see example dot com slash a."),
        ("www.example.org or me@mail.example.com", "example dot org or me at mail dot example dot com"),
        ("go to docs.example.com now", "go to docs dot example dot com now"),
        ("lol 😀 ok :-) bye 🎉👩\u200d👩\u200d👧 <3", "lol ok bye"),
        ("★ done ✓", "done"),
        ("7) open 8) close x) leave", "seven) open eight) close x) leave"),
        ("cool 8-) yes", "cool yes"),
        ("read [the docs](https://example.com) now", "read the docs now"),
        ("**really** _good_ `code` 5*3*2", "really good code five*three*two"),
        ("# Title\n- first\n- second", "Title. first. second"),
        ("ＡＢＣ １２", "ABC twelve"),
    ],
)
def test_markup_addresses_and_smileys_by_a_stated_rule(text: str, normalised: str) -> None:
    spoken = say(text)
    assert spoken.normalised == normalised
    if any(mark in text for mark in ("<s", "<b", "www", "http", "😀", "★")) and "](" not in text:
        assert spoken.warnings


def test_an_address_is_read_in_the_lines_language() -> None:
    assert say("siehe https://example.de/x", "de").normalised == "siehe example Punkt de Schrägstrich x"


ENGLISH = "The lantern on the pier went out at nine, and nobody came to light it again. Why would they? "


@pytest.mark.parametrize("room", [30, 60, 120])
def test_a_thousand_characters_are_split_at_sentences(room: int) -> None:
    text = ENGLISH * 11
    spoken = say(text, room=room)
    assert " ".join(piece.text for piece in spoken.pieces) == " ".join(text.split())
    assert all(count_phonemes(piece.phonemes) <= room for piece in spoken.pieces)
    if room >= 60:
        assert all(piece.text[-1] in ".?" for piece in spoken.pieces)
    assert all(piece.gap_after > 0 for piece in spoken.pieces[:-1])
    assert spoken.pieces[-1].gap_after == 0


def test_four_paragraphs_part_with_a_longer_gap() -> None:
    spoken = say("One is here.\n\nTwo is here.\n \nThree is here.\n\n\nFour.")
    assert [piece.text for piece in spoken.pieces] == [
        "One is here.",
        "Two is here.",
        "Three is here.",
        "Four.",
    ]
    assert len({piece.gap_after for piece in spoken.pieces[:-1]}) == 1
    assert spoken.pieces[0].gap_after > 0.3


def test_three_thousand_characters_lose_nothing() -> None:
    text = ENGLISH * 32
    spoken = say(text, room=150)
    assert spoken.normalised.split() == text.split()
    lengths = [count_phonemes(piece.phonemes) for piece in spoken.pieces]
    assert min(lengths) > 0.3 * max(lengths)


@pytest.mark.parametrize("text", ["Hi", "No.", "A", "Ok?"])
def test_short_lines_are_short_speech(text: str) -> None:
    assert 1 <= count_phonemes(say(text).phonemes) <= 6


@pytest.mark.parametrize(
    "text", ["...", "?!", "—", "()", "😀", "。", "* * *", "<br>", "[laughs]", "\u200b\ufeff"]
)
def test_marks_alone_have_a_stated_reason(text: str) -> None:
    error = failure(text)
    assert error.code == "no_phonemes"
    assert "nothing that can be spoken" in error.reason


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Line one\nLine two", "Line one. Line two"),
        ("Line one.\r\nLine two", "Line one. Line two"),
        ("wrapped\nin the middle", "wrapped in the middle"),
        ("a\u2028B\vC", "a. B. C"),
    ],
)
def test_inner_newlines_are_all_spoken(text: str, normalised: str) -> None:
    assert say(text).normalised == normalised


@pytest.mark.parametrize(
    ("entries", "text", "phonemes"),
    [
        ([Entry("gif", "[[dʒˈɪf]]")], "The GIF, a gif.", "ðə dʒˈɪf, ˈeɪ dʒˈɪf."),
        ([Entry("US", "you ess", match_case=True)], "US and us", phonemise("you ess and us", "en-us")),
        ([Entry("cat", "dog")], "cat concatenate", phonemise("dog concatenate", "en-us")),
        ([Entry("New York", "Nu Yok"), Entry("York", "Jork")], "New York", phonemise("Nu Yok", "en-us")),
        ([Entry("cat", "Katze", language="de")], "cat", phonemise("cat", "en-us")),
        ([Entry("cat", "feline", language="en")], "cat", phonemise("feline", "en-us")),
        ([Entry("a", "b"), Entry("b", "c")], "a", phonemise("b", "en-us")),
        ([Entry("cat", "dog"), Entry("cat", "cow")], "cat", phonemise("cow", "en-us")),
        ([Entry("3D", "three dee")], "3D", phonemise("three dee", "en-us")),
        ([Entry("C++", "see plus plus")], "C++ rocks", phonemise("see plus plus rocks", "en-us")),
    ],
)
def test_dictionary(entries: list[Entry], text: str, phonemes: str) -> None:
    assert say(text, dictionary=Dictionary(entries)).phonemes == phonemes


def test_dictionary_may_put_in_a_pause() -> None:
    spoken = say("One BEAT two", dictionary=Dictionary([Entry("BEAT", "[pause 1s]", match_case=True)]))
    assert [piece.gap_after for piece in spoken.pieces] == [1.0, 0.0]


def test_dictionary_inside_a_script_without_blanks() -> None:
    dictionary = Dictionary([Entry("海滩", "[[xai]]", language="zh")])
    assert "xai" in say("我去海滩了", "cmn", dictionary=dictionary).phonemes


def test_dictionary_leaves_given_phonemes_and_marks_alone() -> None:
    dictionary = Dictionary([Entry("pause", "stop"), Entry("cat", "dog")])
    spoken = say("[pause 1s] cat [[cat]]", dictionary=dictionary)
    assert spoken.pieces[0].gap_before == 1
    assert spoken.normalised == "dog [[cat]]"
