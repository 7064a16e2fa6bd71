"""Texts and phonemes of the training data: nothing of the evaluation gets in."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("hibari", reason="needs requirements-training.txt")
pytest.importorskip("wordfreq", reason="needs requirements-training.txt")

from training.pronounce import to_teacher
from training.texts import SENTENCES, WORDS, Guard, Writer, number, plain, read_lines


@pytest.fixture(scope="module")
def drawn() -> list[str]:
    writer, rng = Writer(), np.random.default_rng(3)
    return [writer.draw(rng) for _ in range(1500)]


def test_evaluation_has_the_agreed_size_and_no_repeats() -> None:
    assert len(set(read_lines(SENTENCES))) == 100
    assert len(set(read_lines(WORDS))) == 50


def test_guard_refuses_evaluation_texts_however_written() -> None:
    guard = Guard()
    assert not guard.allows("yes!")
    assert not guard.allows("Tomorrow")
    assert guard.allows("Tomorrow we leave.")
    assert not guard.allows("Well, NOBODY could explain why the lighthouse was dark.")
    assert guard.allows("Nobody could explain the lighthouse.")


def test_no_drawn_text_is_an_evaluation_text(drawn: list[str]) -> None:
    known = {" ".join(plain(t)) for t in read_lines(SENTENCES) + read_lines(WORDS)}
    assert not known & {" ".join(plain(t)) for t in drawn}


def test_draws_are_many_kinds_and_repeatable(drawn: list[str]) -> None:
    again = np.random.default_rng(3)
    writer = Writer()
    assert [writer.draw(again) for _ in range(20)] == drawn[:20]
    assert sum(len(t.split()) == 1 for t in drawn) > 50
    assert sum(t.endswith("?") for t in drawn) > 100
    assert sum(t.endswith("!") for t in drawn) > 100
    assert not any(character.isdigit() for text in drawn for character in text)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "zero"), (17, "seventeen"), (40, "forty"), (99, "ninety nine"), (205, "two hundred and five"),
     (3010, "three thousand ten"), (999_999, "nine hundred and ninety nine thousand nine hundred and ninety nine")],
)  # fmt: skip
def test_numbers_in_words(value: int, words: str) -> None:
    assert number(value) == words


def test_teacher_letters_keep_their_origin() -> None:
    phonemes = "ðə bˈɜːd ɪz ˈeɪ tʃˈaɪld."
    letters, origin = to_teacher(phonemes)
    assert letters == "ðə bˈɜɹd ɪz ɐ ʧˈIld."
    assert len(origin) == len(letters)
    assert origin == sorted(origin)
    assert [phonemes[i] for i in (origin[letters.index("ʧ")], origin[letters.index("I")])] == ["t", "a"]


def test_a_word_alone_is_not_weakened() -> None:
    assert to_teacher("ˈeɪ.")[0] == "ˈA."
