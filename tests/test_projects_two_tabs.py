"""Two tabs on one project: its name and its dictionary; for lines see the tests of edits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_support import Bench

from ui import projects, words
from ui.dictionary_tab import Saved, save_words
from ui.store import StorageError
from ui.word_merge import seen_now
from ui.words import Word

CAT, DOG, OWL = Word(word="cat", say="kat"), Word(word="dog", say="dawg"), Word(word="owl", say="")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    with made.store.transaction() as db:
        words.write(db, made.token, [CAT, DOG])
    yield made
    made.store.close()


def stored(bench: Bench) -> list[Word]:
    with bench.store.transaction() as db:
        return words.every(db, bench.token)


def test_what_two_tabs_change_in_a_dictionary_is_both_kept(bench: Bench) -> None:
    seen = [CAT, DOG]
    assert isinstance(save_words(bench.store, bench.token, seen, [CAT, DOG, OWL]), Saved)
    saved = save_words(bench.store, bench.token, seen, [Word(word="cat", say="cut")])
    assert isinstance(saved, Saved)
    assert str(saved) == "Saved 2 words. 0 lines are said otherwise now."
    assert saved.words == stored(bench) == [Word(word="cat", say="cut"), OWL]


def test_a_word_that_both_tabs_changed_is_told_before_it_is_overwritten(bench: Bench) -> None:
    seen = [CAT, DOG]
    theirs, mine = Word(word="cat", say="cut"), Word(word="cat", say="kate")
    save_words(bench.store, bench.token, seen, [theirs])
    clashes = save_words(bench.store, bench.token, seen, [mine, DOG.model_copy(update={"say": "dug"})])
    assert not isinstance(clashes, Saved)
    assert [str(clash) for clash in clashes] == [
        "Another tab has changed “cat” meanwhile: it is said as “cut” now.",
        "Another tab has removed “dog” meanwhile.",
    ]
    assert stored(bench) == [theirs]
    again = save_words(bench.store, bench.token, seen_now(seen, clashes), [mine])
    assert isinstance(again, Saved)
    assert stored(bench) == [mine]


def test_a_word_that_one_tab_removed_and_another_changed(bench: Bench) -> None:
    seen = [CAT, DOG]
    save_words(bench.store, bench.token, seen, [CAT, DOG.model_copy(update={"say": ""})])
    clashes = save_words(bench.store, bench.token, seen, [CAT])
    assert not isinstance(clashes, Saved)
    assert str(clashes[0]) == "Another tab has changed “dog” meanwhile: it is left out now."
    assert isinstance(save_words(bench.store, bench.token, seen_now(seen, clashes), [CAT]), Saved)
    assert stored(bench) == [CAT]


def test_a_name_given_in_another_tab_is_not_overwritten_unseen(bench: Bench) -> None:
    def rename(name: str, seen: str) -> str | None:
        with bench.store.transaction() as db:
            return projects.rename_seen(db, bench.token, name, seen)

    first = bench.since()["project"]["name"]
    assert rename(" Trailer ", first) is None
    assert rename("Film", first) == "Trailer"
    assert rename(first, first) is None  # a tab that was only clicked through
    assert bench.since()["project"]["name"] == "Trailer"
    assert rename("Film", "Trailer") is None
    assert bench.since()["project"]["name"] == "Film"


def test_two_tabs_together_have_no_more_words_than_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_WORDS", 2)
    with pytest.raises(StorageError, match=r"Nothing was saved\. .* Another tab has added some\."):
        save_words(bench.store, bench.token, [], [OWL])
    assert stored(bench) == [CAT, DOG]
