"""The published model's text path: normalised -> phonemes -> ids for every recorded pair."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from zonos.text import normalise, phonemise, tokenise
from zonos.text.espeak import espeak_version
from zonos.text.languages import CODES, language_id
from zonos.text.tokens import punctuation_marks

DATA = Path(__file__).parent / "data"
GOLDEN: dict[str, Any] = json.loads((DATA / "phonemes.json").read_text(encoding="utf-8"))
SYMBOLS: dict[str, Any] = json.loads((DATA / "symbol_ids.json").read_text(encoding="utf-8"))
PAIRS = [pair for pair in GOLDEN["pairs"] if pair.get("phonemes") is not None]
FLAG = re.compile(r"\([a-z]{2,3}(?:-[a-z0-9]+)*\)")

# The recorded phonemes keep eSpeak's language-switch flags; the model page says ours never do.
FLAGGED = [pair for pair in PAIRS if FLAG.search(pair["phonemes"])]
# Here the recorded path reads blanks and brackets aloud as the Japanese word for "symbol".
READS_SYMBOLS = {"   ", "笑った(笑)"}


def _name(pair: dict[str, Any]) -> str:
    return f"{pair['language']}-{pair['text'][:20]!r}"


def test_bundled_espeak_is_the_reference_version() -> None:
    assert espeak_version() == (1, 52, 0)


def test_language_codes_in_the_models_order() -> None:
    assert list(CODES) == GOLDEN["languages"]["codes"]
    assert [language_id(code) for code in CODES] == list(range(109))


def test_punctuation_marks_are_the_models() -> None:
    assert punctuation_marks() == SYMBOLS["punctuation"]


@pytest.mark.parametrize("pair", PAIRS, ids=_name)
def test_ids_equal(pair: dict[str, Any]) -> None:
    assert tokenise(pair["phonemes"]) == pair["ids"]


@pytest.mark.parametrize("pair", PAIRS, ids=_name)
def test_phonemes_equal(pair: dict[str, Any]) -> None:
    found = phonemise(pair["normalized"], pair["language"])
    expected = FLAG.sub("", pair["phonemes"]) if pair in FLAGGED else pair["phonemes"]
    assert found == expected
    if pair not in FLAGGED:
        assert tokenise(found) == pair["ids"]


def test_flagged_pairs_are_the_eight_with_foreign_words() -> None:
    assert [pair["language"] for pair in FLAGGED] == ["de", "de", "de", "fr-fr", "ru", "ru", "hi", "cmn"]


def _plain(pair: dict[str, Any]) -> bool:
    # The original leaves "&" to a model that was never told how it sounds; here it is a word.
    return not re.search(r"[\d$£€¥₹&]", pair["text"]) and pair["text"] not in READS_SYMBOLS


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if _plain(pair)], ids=_name)
def test_normalised_equal_without_digits(pair: dict[str, Any]) -> None:
    assert normalise(pair["text"], pair["language"]) == pair["normalized"]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [("   ", ""), ("笑った(笑)", "ワラッ タ ( ワライ )"), ("a  b（c）", None), ("〈あ〉 い", None)],
)
def test_japanese_marks_are_not_read_as_the_word_symbol(text: str, spoken: str | None) -> None:
    found = normalise(text, "ja")
    assert "キゴウ" not in found
    assert spoken in (None, found)


@pytest.mark.parametrize("text", [pair["text"] for pair in GOLDEN["pairs"] if pair.get("phonemes") is None])
def test_texts_that_end_the_original_do_not_raise_here(text: str) -> None:
    assert isinstance(phonemise(normalise(text, "en-us"), "en-us"), str)
