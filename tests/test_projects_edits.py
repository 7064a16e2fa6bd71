"""What the browser may change, and what is refused; cases 'Page, server, machine'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_support import Bench

from ui import library, projects, sample
from ui.limits import Limits
from zonos.errors import LineError
from zonos.line import Line
from zonos.voices import SAMPLE_VOICES

NASTY = [
    "`x`",
    "${alert(1)}",
    "{{constructor}}",
    "<img src=x onerror=alert(1)>",
    "\u202eabc\u202c",
    "مرحبا Hi",
]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.store.close()


def test_first_visit_has_four_lines_in_different_voices_and_emotions(bench: Bench) -> None:
    lines = bench.lines()
    assert len({line["voice"] for line in lines}) == 4
    assert len({json.dumps(line.get("emotion")) for line in lines}) == 4
    voices = {voice["name"] for voice in bench.since()["project"]["voices"]}
    assert {line["voice"] for line in lines} <= voices


@pytest.mark.parametrize("text", NASTY)
def test_text_is_kept_as_typed(bench: Bench, text: str) -> None:
    first = bench.ids()[0]
    assert bench.edit({"op": "set", "id": first, "fields": {"text": text}}) == []
    assert bench.line(first)["text"] == text


def test_only_what_changed_is_told(bench: Bench) -> None:
    before = bench.since()["revision"]
    second = bench.ids()[1]
    bench.edit({"op": "set", "id": second, "fields": {"voice": "Vera"}})
    answer = bench.since(before)
    assert [line["id"] for line in answer["lines"]] == [second]
    assert "project" not in answer
    assert "lines" not in bench.since(answer["revision"])


def test_a_number_from_the_future_gets_everything(bench: Bench) -> None:
    answer = bench.since(10_000)
    assert answer["all"]
    assert len(answer["lines"]) == 4


def test_one_bad_field_costs_no_other(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    refused = bench.edit(
        {"op": "set", "id": first, "fields": {"speaking_rate": 0, "voice": "Marcus"}},
        {"op": "set", "id": second, "fields": {"text": "Still written."}},
    )
    assert [(item["id"], item["field"]) for item in refused] == [(first, "speaking_rate")]
    assert "from 1 to 40" in refused[0]["reason"]
    assert bench.line(first)["voice"] == "Marcus"
    assert bench.line(second)["text"] == "Still written."


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "set", "id": "../../etc/passwd", "fields": {"text": "x"}},
        {"op": "set", "id": "abcdef123456", "fields": {"text": "x"}},
        {"op": "set", "fields": {}},
        {"op": "launch", "id": "abcdef123456"},
        {"op": "delete", "ids": []},
        {"op": "star", "take": "0123456789abcdef0123"},
        "nonsense",
        None,
    ],
)
def test_bad_edits_are_refused_in_words(bench: Bench, edit: object) -> None:
    before = bench.lines()
    refused = bench.edit(edit)  # type: ignore[arg-type]
    assert len(refused) == 1
    assert refused[0]["reason"].endswith(".")
    assert bench.lines() == before


def test_no_path_comes_from_a_browser(bench: Bench) -> None:
    first = bench.ids()[0]
    assert bench.edit({"op": "set", "id": first, "fields": {"id": "x"}})[0]["field"] == "id"
    voices = library.ShelfVoices(bench.store, bench.project.shelf)
    for path in ("/etc/passwd", "../studio.sqlite", str(SAMPLE_VOICES / "Heart.wav")):
        with pytest.raises(LineError, match="There is no voice"):
            voices.clips(path)


def test_another_persons_rows_and_takes_are_out_of_reach(bench: Bench) -> None:
    stranger = sample.first_project(bench.store)
    first = bench.ids()[0]
    take = bench.give_take(first)
    mine, bench.project = bench.project, stranger
    assert bench.edit({"op": "set", "id": first, "fields": {"text": "stolen"}})[0]["id"] == first
    for op in ("star", "drop-take", "use-take"):
        assert "not in this project" in bench.edit({"op": op, "take": take})[0]["reason"]
    bench.edit({"op": "delete", "ids": [first]})
    bench.project = mine
    assert bench.line(first)["text"] == sample.SAMPLE[0].text


def test_rows_add_move_delete_and_come_back(bench: Bench) -> None:
    a, b, c, d = bench.ids()
    bench.edit({"op": "add", "id": "abcabcabcabc", "after": a, "fields": {"text": "new"}})
    assert bench.ids() == [a, "abcabcabcabc", b, c, d]
    bench.edit({"op": "move", "ids": [d, b], "after": None})
    assert bench.ids() == [d, b, a, "abcabcabcabc", c]
    take = bench.give_take(a)
    bench.edit({"op": "delete", "ids": [a]})
    assert a not in bench.ids()
    bench.edit({"op": "restore", "ids": [a]})
    assert bench.ids() == [d, b, a, "abcabcabcabc", c]
    assert bench.line(a)["made"][0]["id"] == take
    bench.edit({"op": "add", "id": "abcabcabcabc", "after": a, "fields": {"text": "sent twice"}})
    assert bench.line("abcabcabcabc")["text"] == "new"


def test_many_rows_between_two_neighbours_stay_in_order(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    expected = []
    for n in range(80):  # halving a gap of 1 024 each time runs out of room on the way
        line_id = f"row{n:09d}"
        bench.edit({"op": "add", "id": line_id, "after": first})
        expected.insert(0, line_id)
    assert bench.ids()[: 80 + 2] == [first, *expected, second]


def test_changed_since_follows_the_recipe_and_nothing_else(bench: Bench) -> None:
    first = bench.ids()[0]
    bench.give_take(first)
    text = bench.line(first)["text"]
    assert "old" not in bench.line(first)["made"][0]
    bench.edit({"op": "set", "id": first, "fields": {"seed": 5, "name": "intro", "takes": 3}})
    assert "old" not in bench.line(first)["made"][0]
    assert bench.line(first)["takes"] == 3
    bench.edit({"op": "set", "id": first, "fields": {"text": "Other words."}})
    assert bench.line(first)["made"][0]["old"] == 1
    bench.edit({"op": "set", "id": first, "fields": {"text": text}})
    assert "old" not in bench.line(first)["made"][0]


def test_a_takes_line_can_be_restored(bench: Bench) -> None:
    third = bench.ids()[2]
    take = bench.give_take(third)
    before = bench.line(third)
    bench.edit({"op": "set", "id": third, "fields": {"text": "x", "emotion": "happy", "voice": None}})
    bench.edit({"op": "use-take", "take": take})
    after = bench.line(third)
    assert {k: after[k] for k in ("text", "emotion", "voice")} == {
        k: before[k] for k in ("text", "emotion", "voice")
    }


def test_one_star_a_line(bench: Bench) -> None:
    first = bench.ids()[0]
    one, two = bench.give_take(first), bench.give_take(first)
    bench.edit({"op": "star", "take": one})
    bench.edit({"op": "star", "take": two})
    assert [take.get("star", 0) for take in bench.line(first)["made"]] == [0, 1]
    bench.edit({"op": "unstar", "take": two})
    assert not any("star" in take for take in bench.line(first)["made"])


def test_a_replaced_voice_marks_its_lines_and_a_removed_one_is_gone(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    bench.give_take(first)
    bench.give_take(second)
    other = library.Clip(SAMPLE_VOICES / "Marcus.wav", "Heart.wav", {})
    library.add(bench.store, bench.project.shelf, "heart", [other], consent=True, replace=True)
    assert bench.line(first)["made"][0]["old"] == 1
    assert "old" not in bench.line(second)["made"][0]
    library.remove(bench.store, bench.project.shelf, "Heart")
    with pytest.raises(Exception, match="pick one of: June, Marcus, Otto, Rowan, Vera"):
        library.ShelfVoices(bench.store, bench.project.shelf).clips("Heart")


def test_row_limit_says_so(bench: Bench) -> None:
    bench.limits = Limits(rows=5)
    assert bench.edit({"op": "add", "id": "aaaaaa000001"}) == []
    (refused,) = bench.edit({"op": "add", "id": "aaaaaa000002"})
    assert "at most 5 rows" in refused["reason"]
    assert refused["unmade"]


def test_a_note_that_is_too_long_is_refused_by_its_field(bench: Bench) -> None:
    first = bench.ids()[0]
    (refused,) = bench.edit({"op": "note", "id": first, "note": "x" * 2001})
    assert refused == {"id": first, "field": "note", "reason": "A note holds at most 2000 characters."}
    (unmade,) = bench.edit({"op": "add", "id": "aaaaaa000001", "note": "x" * 2001})
    assert unmade["unmade"]


def test_a_seed_keeps_all_its_digits_on_the_way_to_the_page_and_back(bench: Bench) -> None:
    first = bench.ids()[0]
    most = str(2**63 - 1)
    assert bench.edit({"op": "set", "id": first, "fields": {"seed": most}, "base": {"seed": None}}) == []
    assert bench.line(first)["seed"] == most
    assert bench.edit({"op": "set", "id": first, "fields": {"seed": "12"}, "base": {"seed": most}}) == []
    for seed, words in (("twelve", "must be a whole number"), (str(2**63), "must be from 0 to")):
        (refused,) = bench.edit({"op": "set", "id": first, "fields": {"seed": seed}})
        assert refused["field"] == "seed"
        assert words in refused["reason"]
    assert bench.line(first)["seed"] == "12"


def test_a_row_is_under_300_bytes(bench: Bench) -> None:
    text = "A line of about ninety characters, as they stand in scripts for games and for adverts too."
    for n in range(100):
        fields = {"text": text, "voice": "Heart", "emotion": "cheerful"}
        bench.edit({"op": "add", "id": f"row{n:09d}", "fields": fields})
    rows = [line for line in bench.lines() if line["id"].startswith("row")]
    assert len(json.dumps(rows, ensure_ascii=False, separators=(",", ":"))) / len(rows) < 300


def test_deleted_project_cannot_be_opened(bench: Bench) -> None:
    with bench.store.transaction() as db:
        projects.set_deleted(db, bench.token, True)
    with pytest.raises(projects.UnknownProject):
        bench.since()
    with bench.store.transaction() as db:
        projects.set_deleted(db, bench.token, False)
    assert len(bench.lines()) == 4


def test_every_sample_line_is_whole() -> None:
    for line in sample.SAMPLE:
        assert isinstance(line, Line)
        assert (SAMPLE_VOICES / f"{line.voice}.wav").is_file()


def set_from(line_id: str, base: object, **fields: object) -> dict[str, object]:
    """A patch of a page that showed ``base`` in each of the fields."""
    return {"op": "set", "id": line_id, "fields": fields, "base": dict.fromkeys(fields, base)}


def test_a_newer_write_of_the_same_field_is_never_overwritten_without_a_word(bench: Bench) -> None:
    first = bench.ids()[0]
    seen = bench.line(first)["text"]
    assert bench.edit(set_from(first, seen, text="from one tab")) == []
    before = bench.since()["revision"]
    (refused,) = bench.edit(set_from(first, seen, text="from the other"))
    assert (refused["id"], refused["field"], refused["newer"]) == (first, "text", True)
    assert "Another tab changed the text of this line meanwhile" in refused["reason"]
    assert bench.line(first)["text"] == "from one tab"
    # The page hears of the row even where it knew the newer words already.
    assert [line["id"] for line in bench.since(before)["lines"]] == [first]
    assert bench.edit(set_from(first, "from one tab", text="from the other")) == []


def test_other_fields_other_lines_and_a_patch_sent_twice_merge_silently(bench: Bench) -> None:
    first, second = bench.ids()[:2]
    seen = bench.line(first)
    bench.edit(set_from(first, seen["text"], text="words"))
    assert bench.edit(set_from(first, seen["voice"], voice="Marcus")) == []
    assert bench.edit(set_from(second, bench.line(second)["text"], text="others")) == []
    assert bench.edit(set_from(first, seen["text"], text="words")) == []  # after a broken connection
    assert (bench.line(first)["text"], bench.line(first)["voice"]) == ("words", "Marcus")
    mixed = {"op": "set", "id": first, "fields": {"text": "late", "seed": 4}}
    (refused,) = bench.edit(mixed | {"base": {"text": seen["text"], "seed": None}})
    assert refused["field"] == "text"
    assert (bench.line(first)["text"], bench.line(first)["seed"]) == ("words", "4")


def test_what_a_page_saw_is_read_as_the_row_reads_it(bench: Bench) -> None:
    first = bench.ids()[0]
    bench.edit(set_from(first, "en-us", language="en"))
    assert bench.edit(set_from(first, "en", language="de")) == []
    bench.edit(set_from(first, None, emotion="happy"))
    assert bench.edit(set_from(first, "happy", emotion="auto")) == []
    bench.edit(set_from(first, None, speaking_rate=0))  # refused, and still in the page's field
    assert bench.edit(set_from(first, 0, speaking_rate=12)) == []
    bench.limits = Limits(characters=10)
    bench.edit(set_from(first, bench.line(first)["text"], text="x" * 11))
    assert bench.edit(set_from(first, "x" * 11, text="x" * 10)) == []


def test_notes_and_restored_takes_are_no_way_around_it(bench: Bench) -> None:
    first = bench.ids()[0]
    note = {"op": "note", "id": first, "base": ""}
    assert bench.edit(note | {"note": "louder"}) == []
    assert bench.edit(note | {"note": "softer"})[0]["field"] == "note"
    assert bench.line(first)["note"] == "louder"
    take = bench.give_take(first)
    seen = {"text": bench.line(first)["text"], "emotion": None}
    bench.edit({"op": "set", "id": first, "fields": {"text": "newer words"}})
    restore = {"op": "use-take", "take": take}
    assert "Another tab" in bench.edit(restore | {"base": seen})[0]["reason"]
    assert bench.line(first)["text"] == "newer words"
    assert bench.edit(restore | {"base": seen | {"text": "newer words"}}) == []
    assert bench.line(first)["text"] == seen["text"]


def test_an_edit_of_a_row_that_was_deleted_meanwhile_says_so(bench: Bench) -> None:
    first = bench.ids()[0]
    bench.edit({"op": "delete", "ids": [first]})
    assert bench.edit(set_from(first, "x", text="typed for nothing"))[0]["gone"]
