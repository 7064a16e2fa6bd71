"""Any text at all: an answer or a LineError, every word kept, ids within the table."""

from __future__ import annotations

import os
import re
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from zonos.errors import LineError
from zonos.text import Dictionary, Entry, Spoken, count_phonemes, normalise, phonemise, prepare
from zonos.text.languages import CODES
from zonos.text.split import atoms, pack
from zonos.text.tokens import BOS, EOS

QUICK = settings(
    max_examples=int(os.environ.get("TEXT_EXAMPLES", "150")),
    deadline=None,
    derandomize="TEXT_EXAMPLES" not in os.environ,
)
FRAGMENTS = st.sampled_from(
    [
        "[pause", "[pause 0.5s]", "[[", "]]", "[[həˈloʊ]]", "[", "]", "<speak>", "</", "<break time='", "&amp;", "&#0;",
        "https://", "me@x.org", "😀", ":-)", "$", "1.5", "1,234", "£12,500.75", "10:30", "2024-03-21", "50%", "-5", "21.",
        "½", "№", "…", "?!", "\n", "\n\n", "\u200d", "\u202e", "\x00", "\ud800", "﷽", "Dr.", "e.g.", " ", "日本", "你好。",
        "नमस्ते", "مرحبا", "`", "0", "'", "’", "—", "`${x}`", "{{y}}",
    ]
)  # fmt: skip
ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(FRAGMENTS, st.text(max_size=6)), max_size=12).map("".join),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=20),
)
LANGUAGES = st.sampled_from(
    ["en-us", "en-gb", "de", "fr-fr", "es", "ja", "cmn", "ar", "hi", "ru", "ko", "vi", "kl", "tr", "fa-latn"]
)


def _answer(text: str, language: str, room: int, dictionary: Dictionary | None = None) -> Spoken | LineError:
    try:
        return prepare(text, language, max_piece_phonemes=room, dictionary=dictionary)
    except LineError as error:
        return error


@QUICK
@given(text=ANY_TEXT, language=LANGUAGES, room=st.integers(1, 300))
def test_prepare_answers_or_raises_a_line_error(text: str, language: str, room: int) -> None:
    spoken = _answer(text, language, room)
    if isinstance(spoken, LineError):
        assert spoken.code in {"empty_text", "no_phonemes"}
        assert spoken.reason
        return
    assert spoken.language == language
    for piece in spoken.pieces:
        assert piece.ids[0] == BOS
        assert piece.ids[-1] == EOS
        assert all(1 <= token < 189 for token in piece.ids)
        assert len(piece.ids) == len(piece.phonemes) + 2
        assert count_phonemes(piece.phonemes) > 0
        assert 0 <= piece.gap_after <= 30 * 60
        assert "\n" not in piece.phonemes


@QUICK
@given(language=st.text(max_size=20))
def test_any_language_name_answers_or_raises_a_line_error(language: str) -> None:
    spoken = _answer("no", language, 9)
    if isinstance(spoken, LineError):
        assert spoken.code in {"unknown_language", "no_phonemes"}
    else:
        assert spoken.language in CODES


@settings(QUICK, max_examples=len(CODES))
@given(language=st.sampled_from(CODES), number=st.integers(0, 10**18), cents=st.integers(0, 99))
def test_numbers_are_read_in_every_language(language: str, number: int, cents: int) -> None:
    text = (
        f"{number} {number % 10000}.{cents:02d} {number % 24}:{cents % 60:02d} ${number}.{cents:02d} {cents}%"
    )
    normalised = normalise(text, language)
    assert "\ue000" not in normalised
    assert phonemise(normalised, language).strip()


WORD = st.text(alphabet="abcdefghij", min_size=1, max_size=12)
MARK = st.sampled_from(["", "", "", ",", ".", "?", "!", ";", " —", "…", ".”", ":"])


@QUICK
@given(words=st.lists(st.tuples(WORD, MARK), min_size=1, max_size=60), room=st.integers(3, 80))
def test_splitting_loses_and_repeats_no_word(words: list[tuple[str, str]], room: int) -> None:
    text = " ".join(word + mark for word, mark in words)
    spoken = prepare(text, "en-us", max_piece_phonemes=room)
    joined = "".join(piece.text for piece in spoken.pieces)
    assert re.sub(r"\W", "", joined) == re.sub(r"\W", "", text)


@QUICK
@given(words=st.lists(st.tuples(WORD, MARK), min_size=1, max_size=60), room=st.integers(1, 40))
def test_pieces_fit_and_keep_every_letter(words: list[tuple[str, str]], room: int) -> None:
    text = " ".join(word + mark for word, mark in words)
    found = atoms(text, len)
    pieces = pack(found, room + 3, len)
    assert all(sum(atom.count for atom in piece) <= room + 3 for piece in pieces)
    assert re.sub(r"\s", "", "".join(atom.text for piece in pieces for atom in piece)) == re.sub(
        r"\s", "", text
    )
    kept = [atom.text for piece in pieces for atom in piece]
    assert all(atom.text in kept for atom in found if atom.count <= room + 3)


@QUICK
@given(text=st.text(max_size=40), word=st.text(max_size=8), said=st.text(max_size=8), case=st.booleans())
def test_any_dictionary_entry_is_safe(text: str, word: str, said: str, case: bool) -> None:
    dictionary = Dictionary([Entry(word, said, match_case=case)])
    spoken = _answer(f"{text} {word}", "en-us", 50, dictionary)
    assert not isinstance(spoken, LineError) or spoken.code in {"empty_text", "no_phonemes"}


def test_threads_agree_with_one_thread() -> None:
    texts = [
        (f"Line {n} of many, number {n * 7}.", code) for n in range(30) for code in ("en-us", "de", "fr-fr")
    ]
    alone = [prepare(text, code, max_piece_phonemes=50).phonemes for text, code in texts]
    phonemise.cache_clear()
    together: list[str | None] = [None] * len(texts)

    def work(start: int) -> None:
        for index in range(start, len(texts), 4):
            text, code = texts[index]
            together[index] = prepare(text, code, max_piece_phonemes=50).phonemes

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
