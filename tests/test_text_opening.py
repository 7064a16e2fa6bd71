"""A prefix clip's words: the model gets them before the first piece, and nothing says them again."""

from __future__ import annotations

from typing import Any

import pytest
from engines import mini

from zonos.defaults import Defaults
from zonos.errors import LineError
from zonos.line import Line
from zonos.plan import row_costs
from zonos.request import Request, make_request
from zonos.text import Dictionary, Entry, count_phonemes, phonemise, prepare

CLIP = (
    "Every evening the ferry brings a handful of visitors to our small harbor. They ask for directions, and I am "
    "always glad to help. Later we share a pot of tea and talk about the weather."
)
TEXT = "Nobody had told them that the last boat leaves at nine, so they slept on the pier under an old sail."


def test_words_stand_before_the_text_as_if_written_there() -> None:
    spoken = prepare("the ferry brings visitors.", "en-us", max_piece_phonemes=72, opening="Every evening")
    whole = prepare("Every evening the ferry brings visitors.", "en-us", max_piece_phonemes=72)
    assert spoken.pieces[0].ids == whole.pieces[0].ids
    assert spoken.pieces[0].text == "the ferry brings visitors."
    assert spoken.pieces[0].opening == count_phonemes(phonemise("Every evening", "en-us"))
    assert [piece.opening for piece in whole.pieces] == [0]


@pytest.mark.parametrize("room", [30, 72, 180])
def test_a_long_opening_is_whole_in_the_first_piece_and_in_no_other(room: int) -> None:
    spoken = prepare(TEXT, "en-us", max_piece_phonemes=room, opening=CLIP)
    first, *others = spoken.pieces
    clip = prepare(CLIP, "en-us", max_piece_phonemes=1000).phonemes
    assert first.phonemes.startswith(clip)
    assert count_phonemes(first.phonemes) > first.opening >= count_phonemes(clip) - 2
    assert not any("hˈɑːɹ" in piece.phonemes for piece in others)  # harbor
    assert " ".join(piece.text for piece in spoken.pieces) == TEXT
    assert all(count_phonemes(piece.phonemes) <= room for piece in others)


def test_a_short_opening_leaves_the_pieces_as_they_are() -> None:
    alone = prepare(TEXT, "en-us", max_piece_phonemes=40)
    opened = prepare(TEXT, "en-us", max_piece_phonemes=40, opening="Well,")
    assert [piece.text for piece in opened.pieces] == [piece.text for piece in alone.pieces]
    assert opened.pieces[1:] == alone.pieces[1:]


def test_a_long_opening_shortens_the_first_piece_only() -> None:
    first, *others = prepare(TEXT, "en-us", max_piece_phonemes=72, opening=CLIP).pieces
    assert 0 < count_phonemes(first.phonemes) - first.opening <= 36
    rest = prepare(TEXT.removeprefix(first.text), "en-us", max_piece_phonemes=72).pieces
    assert [piece.text for piece in others] == [piece.text for piece in rest]


def test_a_text_that_fits_behind_its_opening_stays_in_one_piece() -> None:
    opening = "Every evening the ferry brings a handful of visitors to our small harbor."
    (piece,) = prepare("They ask for directions.", "en-us", max_piece_phonemes=72, opening=opening).pieces
    assert piece.opening > 36


def test_markup_pauses_and_dictionary_hold_in_an_opening() -> None:
    words = Dictionary([Entry("Zyphra", "ziffra")])
    opening = "Dear Zyphra, [pause 2s] {smiles}"
    spoken = prepare("go on.", "en-us", max_piece_phonemes=72, opening=opening, dictionary=words)
    assert "zˈɪfɹə" in spoken.phonemes
    assert [piece.gap_before + piece.gap_after for piece in spoken.pieces] == [0.0]


@pytest.mark.parametrize("opening", ["", "  ", "...", "[pause 1s]"])
def test_an_opening_without_words_is_none(opening: str) -> None:
    spoken = prepare("Hello.", "en-us", max_piece_phonemes=72, opening=opening)
    assert spoken.pieces == prepare("Hello.", "en-us", max_piece_phonemes=72).pieces


def test_what_is_said_of_a_text_is_said_of_its_opening() -> None:
    (warning,) = prepare("Hello.", "en-us", max_piece_phonemes=72, opening="Привет мир").warnings
    assert "Cyrillic" in warning or "script" in warning
    assert prepare("Hello.", "en-us", max_piece_phonemes=72, opening="Hi [pause 99s]").warnings == ()


def test_an_opening_that_no_clip_can_hold_is_refused() -> None:
    with pytest.raises(LineError, match="prefix_text is longer") as caught:
        request(prefix_audio="Heart", prefix_text=CLIP * 8)
    assert caught.value.code == "long_prefix_text"


def test_a_kept_clip_counts_in_the_length_and_any_clip_in_the_memory() -> None:
    alone = request()
    cut = request(prefix_audio="Heart", prefix_text=CLIP)
    kept = request(prefix_audio="Heart", prefix_text=CLIP, keep_prefix=True)
    rate = mini().codec.frame_rate
    said = cut.pieces[0].prefix_frames / rate
    assert 8 < said < 14
    assert kept.expected_seconds(rate) - cut.expected_seconds(rate) == pytest.approx(said)
    costs = [row_costs(mini().config, [one])[0].prefix for one in (alone, cut)]
    assert costs[1] - costs[0] > cut.pieces[0].prefix_frames


def request(**fields: Any) -> Request:
    line = Line(text=TEXT, voice="Heart", **fields)
    return make_request(line, Defaults(), mini().config, mini().codec.frame_rate)


def test_length_and_limit_are_those_of_the_text_alone() -> None:
    alone, opened = request(), request(prefix_audio="Heart", prefix_text="Every evening,")
    assert opened.expected_frames == alone.expected_frames
    assert [piece.limit for piece in opened.pieces] == [piece.limit for piece in alone.pieces]
    assert request(prefix_text=CLIP).phonemes == alone.phonemes  # no clip, no opening
