"""Cells of a script: what is taken, what is wrong and where, in a sentence."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError
from script_support import read, texts

from zonos.line import PRESETS, Emotion, Line, explain


@pytest.mark.parametrize("value", ["x" * 100_000, "[" + "1," * 50_000 + "1]", '"' + "9" * 5000 + '"', "NaN"])
@pytest.mark.parametrize("name", ["seed", "emotion", "speaking_rate", "top_p", "vqscore_8"])
def test_a_wrong_value_of_any_size_is_a_short_sentence(name: str, value: str) -> None:
    """Case: a sentence of a megabyte, and a fault of the server, for a number of 5000 digits."""
    given = json.dumps(value) if value.startswith("x") else value
    (problem,) = read("a.json", f'[{{"text": "Hi.", "{name}": {given}}}]').problems
    assert problem.column == name
    assert len(problem.message) < 400
    assert "Input should be" not in problem.message


def test_numbers_of_thousands_of_digits_are_refused_in_words() -> None:
    with pytest.raises(ValidationError) as caught:
        Line.model_validate({"text": "Hi.", "takes": 10**5000, "emotion": {"happiness": 10**5000}})
    said = dict(explain(caught.value))
    assert said["takes"] == "takes is a number of thousands of digits; it must be from 1 to 100."
    assert "happiness" in said["emotion"]


def test_a_delimiter_beyond_ascii(recwarn: pytest.WarningsRecorder) -> None:
    assert texts(read("a.csv", "sep=¦\ntext¦voice\nHi¦Heart\n")) == ["Hi"]
    assert not list(recwarn)


def test_bad_cells_name_row_and_column_and_cost_no_other_row() -> None:
    table = "text;Speaking Rate;fmax;seed;emotion\na;200;;;\nb;;96000;x;\nc;;;;\nd;;;;furious\ne;fast;;1.5;happy\n"
    script = read("a.csv", table)
    assert texts(script) == ["c"]
    said = [str(problem) for problem in script.problems]
    assert said[0] == "Row 2, column Speaking Rate: It is 200; it must be from 1 to 40."
    assert said[1] == "Row 3, column fmax: It is 96000; it must be from 0 to 24000."
    assert said[2] == "Row 3, column seed: It is 'x'; it must be a whole number."
    assert said[3].startswith("Row 5, column emotion: Unknown emotion 'furious'; use auto, a preset (")
    assert [(problem.row, problem.column) for problem in script.problems[4:]] == [
        (6, "Speaking Rate"),
        (6, "seed"),
    ]


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        ("speaking_rate", "12,5", 12.5),
        ("cfg_scale", "2,0", 2),
        ("fmax", "22050,5", 22050.5),
        ("fmax", "0,308", 0.308),
        ("speaking_rate", "12,345", 12.345),
        ("conf", "-0,4", -0.4),
        ("vqscore_8", "0,78", (0.78,) * 8),
        ("vqscore_8", "0,7 0,7 0,7 0,7 0,7 0,7 0,7 0,8", (0.7,) * 7 + (0.8,)),
        ("emotion", "happiness=0,8 surprise=0,2", Emotion(happiness=0.8, surprise=0.2)),
    ],
)
def test_decimal_commas_are_read_and_said(column: str, cell: str, value: object) -> None:
    script = read("a.csv", f"text;{column}\nHi;{cell}\n")
    assert getattr(script.lines[0], column) == value
    assert "decimal comma" in script.warnings[0]
    assert "row 2" in script.warnings[0]


@pytest.mark.parametrize(
    ("column", "cell"), [("fmax", "22,050"), ("ctc_loss", "1,000"), ("max_seconds", "1,500")]
)
def test_a_number_that_reads_in_two_ways_is_refused(column: str, cell: str) -> None:
    (problem,) = read("a.csv", f"text;{column}\nHi;{cell}\n").problems
    assert "two ways" in problem.message
    assert cell.replace(",", "") in problem.message


@pytest.mark.parametrize(
    ("cells", "emotion"),
    [
        ("happiness=0.8 surprise=0.2", Emotion(happiness=0.8, surprise=0.2)),
        ("happiness: 0.8, surprise: 0.2", Emotion(happiness=0.8, surprise=0.2)),
        ("Happy", PRESETS["happy"]),
        ("AUTO", "auto"),
        ("", None),
    ],
)
def test_case_emotion_given_as_named_values(cells: str, emotion: object) -> None:
    assert read("a.csv", f"text;emotion\nHi;{cells}\n").lines[0].emotion == emotion


@pytest.mark.parametrize(
    "cell",
    ["joy=0.5", "happiness=3", "happiness=", "happiness 0.8, surprise=0.2", "0.5", "happiness=0.8!x, very"],
)
def test_case_unknown_emotions_are_refused_by_name(cell: str) -> None:
    (problem,) = read("a.csv", f"text|emotion\nHi|{cell}\n").problems
    assert problem.column == "emotion"


def test_eight_columns_become_one_emotion() -> None:
    script = read("a.csv", "text,happiness,Sadness,neutral\na,0.5,,0.5\nb,,,\nc,0,0,0\nd,2,,\n")
    assert [line.emotion for line in script.lines] == [Emotion(happiness=0.5, neutral=0.5), None, Emotion()]
    (problem,) = script.problems
    assert str(problem) == "Row 5, column happiness: It is 2; it must be from 0 to 1."


def test_an_emotion_given_twice_is_refused() -> None:
    (problem,) = read("a.csv", "text,emotion,anger\nHi,happy,0.5\n").problems
    assert "again in anger" in problem.message


@pytest.mark.parametrize(("cell", "value"), [("yes", True), ("No", False), ("TRUE", True), ("0", False)])
def test_switches(cell: str, value: bool) -> None:
    assert read("a.csv", f"text,speaker_noised\nHi,{cell}\n").lines[0].speaker_noised is value


def test_a_row_with_too_many_cells_is_named() -> None:
    script = read("a.csv", "text,voice\nHello, you,Anna\nBye,Ben\n")
    assert texts(script) == ["Bye"]
    assert "3 cells where the first row names 2 columns" in str(script.problems[0])


def test_rows_that_are_short_or_blank_are_no_fault() -> None:
    script = read("a.csv", "text,voice,fmax\nHi\n\n,,\n ,Anna,\nBye,Ben\n")
    assert texts(script) == ["Hi", "Bye"]
    assert script.problems == []
    assert "A blank row is skipped (rows 3, 4)." in script.warnings
    assert [row.skipped for row in script.rows if row.line is None] == [
        "There is no text, so the row is skipped."
    ]


def test_case_blank_lines_are_skipped_with_a_reason() -> None:
    script = read("a.txt", "Hi\n\n   \nBye\n")
    assert texts(script) == ["Hi", "Bye"]
    assert [row.number for row in script.rows] == [1, 4]
    assert script.warnings == ("A blank line is skipped (rows 2, 3).",)


def test_the_same_warning_on_many_rows_is_said_once() -> None:
    script = read("a.csv", "text;fmax\n" + "Hi;0,5\n" * 30)
    assert script.warnings == (
        "Column fmax: a decimal comma is read as a point (rows 2, 3, 4, 5, 6 and 25 more).",
    )


def test_an_id_names_one_line_only() -> None:
    script = read("a.csv", "id,text\na,one\nb,two\na,three\n")
    assert texts(script) == ["one", "two"]
    assert "stands in row 2 already" in str(script.problems[0])


def test_a_text_that_is_too_long_is_said() -> None:
    assert "split it" in str(read("a.txt", "x" * 20_001 + "\nok").problems[0])
