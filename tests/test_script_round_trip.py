"""What is written is read back the same, whatever it is; no bytes make the reader crash."""

from __future__ import annotations

import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from zonos.errors import ScriptError
from zonos.line import EMOTIONS, MAX_SEED, PRESETS, Emotion, Line, limits
from zonos.script import FORMATS, read_script, write_script

TABLES = ["csv", "tsv", "xlsx"]
EXACT = ["jsonl", "json"]

letters = st.characters(exclude_categories=["Cc", "Cs", "Co", "Cn"], exclude_characters="\ufeff")
words = st.text(letters, min_size=1, max_size=30)
spoken = st.lists(words, min_size=1, max_size=3).map("\n".join)
tricky = st.sampled_from(
    [
        "=1+1",
        "'=1",
        "''",
        "+a",
        "-",
        "- Hi",
        "@x",
        'say "hi"',
        '"',
        ";",
        "a,b",
        "a;b",
        "auto",
        "NA",
        "1,5",
        "<b>",
    ]
)


def filled(text: str) -> bool:
    """Tables trim what stands around a text; only a trimmed one can come back the same."""
    return bool(text.strip()) and text == text.strip()


def number(name: str) -> st.SearchStrategy[float | str | None]:
    low, high = limits(name)
    assert low is not None
    assert high is not None
    exclude = name == "max_seconds"
    return st.none() | st.floats(low, high, exclude_min=exclude, allow_nan=False)


weights = st.floats(0, 1, allow_nan=False)
emotions = (
    st.none()
    | st.just("auto")
    | st.sampled_from(list(PRESETS.values()))
    | st.builds(Emotion, **dict.fromkeys(EMOTIONS, weights))
)
optional_text = st.none() | (words | tricky).filter(filled)
lines = st.builds(
    Line,
    text=(spoken | tricky).filter(filled),
    name=optional_text,
    voice=optional_text,
    language=st.sampled_from(["en-us", "de", "cmn"]),
    emotion=emotions,
    pitch_std=number("pitch_std") | st.just("auto"),
    speaking_rate=number("speaking_rate") | st.just("auto"),
    cfg_scale=number("cfg_scale"),
    conf=number("conf"),
    max_seconds=number("max_seconds"),
    vqscore_8=st.none() | st.just("auto") | st.lists(st.floats(0.5, 0.8), min_size=8, max_size=8).map(tuple),
    speaker_noised=st.none() | st.booleans() | st.just("auto"),
    seed=st.none() | st.integers(0, MAX_SEED),
    takes=st.integers(1, 100),
    keep_prefix=st.booleans(),
    prefix_text=optional_text,
)


@pytest.mark.parametrize("kind", EXACT + TABLES)
@given(content=st.lists(lines, min_size=1, max_size=5))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_lines_come_back_the_same(kind: str, content: list[Line]) -> None:
    script = read_script((f"a.{kind}", write_script(content, kind)))
    assert script.problems == []
    assert script.lines == content


@pytest.mark.parametrize("kind", ["srt", "vtt"])
@given(content=st.lists((spoken | tricky).filter(filled), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_texts_come_back_from_subtitles(kind: str, content: list[str]) -> None:
    def words_of(text: str) -> list[str]:
        return text.replace("\xa0", " ").split()

    script = read_script((f"a.{kind}", write_script([Line(text=text) for text in content], kind)))
    assert [words_of(line.text) for line in script.lines] == [words_of(text) for text in content]


@given(content=st.lists((spoken | tricky).filter(filled), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_texts_come_back_from_a_text_file(content: list[str]) -> None:
    script = read_script(("a.txt", write_script([Line(text=text) for text in content], "txt")))
    assert [line.text for line in script.lines] == [" ".join(text.split()) for text in content]


def test_times_of_subtitles_come_back() -> None:
    times = [(0.0, 1.25), (1.25, 3.999), (3725.5, 3726.001)]
    content = [Line(text=text) for text in ("one", "two --> three", "four\n\nfive")]
    for kind in ("srt", "vtt"):
        script = read_script((f"a.{kind}", write_script(content, kind, times=times)))
        assert [(row.start, row.end) for row in script.rows] == times
        assert [line.text for line in script.lines] == ["one", "two --> three", "four\nfive"]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1 degree", "@SUM(1)", "'=already"])
def test_a_spreadsheet_runs_no_formula_of_ours(text: str) -> None:
    content = [Line(text=text, voice="=x")]
    for kind in ("csv", "tsv"):
        cells = write_script(content, kind).decode("utf-8-sig").splitlines()[1]
        assert cells.lstrip('"').startswith("'")
    sheet = load_workbook(io.BytesIO(write_script(content, "xlsx"))).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value} == {"s"}


def test_only_columns_in_use_are_written() -> None:
    header = write_script([Line(text="Hi", seed=5)], "csv").decode("utf-8-sig").splitlines()[0]
    assert header == "text,language,voice,seed"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ScriptError, match="csv, tsv"):
        write_script([], "docx")


# --- fuzz ---------------------------------------------------------------------------------------

WHOLE = {
    kind: write_script([Line(text="Hi, you", seed=5), Line(text="Bye", emotion="happy")], kind)
    for kind in FORMATS
}


def reads_or_says(name: str, data: bytes) -> None:
    """The only failure there is: a sentence."""
    try:
        script = read_script((name, data))
    except ScriptError as error:
        sentence = str(error)
        assert len(sentence) < 2000
        return
    for row in script.rows:
        assert (row.line is not None) + bool(row.problems) + bool(row.skipped) == 1


@pytest.mark.parametrize("kind", [*FORMATS, ""])
@given(data=st.binary(max_size=400))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_bytes(kind: str, data: bytes) -> None:
    reads_or_says(f"a.{kind}", data)


@pytest.mark.parametrize("kind", FORMATS)
@given(where=st.floats(0, 0.999), junk=st.binary(max_size=8), cut=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_mangled_and_truncated_files(kind: str, where: float, junk: bytes, cut: bool) -> None:
    whole = WHOLE[kind]
    at = math.floor(where * len(whole))
    reads_or_says(f"a.{kind}", whole[:at] + (b"" if cut else junk + whole[at + len(junk) :]))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "srt", "vtt"])
@given(text=st.text(st.sampled_from("text,;\t|\"'\n\r=-0123:>{}[]<v a&voice"), max_size=120))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_text_made_of_what_formats_are_made_of(kind: str, text: str) -> None:
    reads_or_says(f"a.{kind}", text.encode())
    reads_or_says(f"a.{kind}", ("text;voice\n" + text).encode())


# --- settings -----------------------------------------------------------------------------------


@given(
    name=st.sampled_from([n for n in Line.model_fields if n not in {"text", "id"}]),
    cell=st.text(max_size=12) | st.floats().map(str) | st.integers().map(str),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_cell_is_a_setting_or_a_problem_of_its_column(name: str, cell: str) -> None:
    row = read_script(("a.jsonl", write_entry(name, cell))).rows[0]
    assert (row.line is None) == bool(row.problems)
    for problem in row.problems:
        assert problem.column == name
        assert problem.message.endswith(".")
        assert "Input should" not in problem.message  # a sentence for people, not a validator's


def write_entry(name: str, cell: str) -> bytes:
    return json.dumps({"text": "Hi", name: cell}).encode()
