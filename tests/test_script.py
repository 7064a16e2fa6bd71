"""Cases: "csv with BOM, ;, tabs, line breaks in quotes, cp1252" and its siblings; bad cells are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from script_support import TABLE, read, texts, workbook

from zonos.errors import ScriptError
from zonos.line import PRESETS, Emotion
from zonos.script import MAX_FILE_BYTES, MAX_ROWS, read_script

# --- how a table is written ---------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_case_csv_with_bom_semicolons_tabs_and_cp1252(delimiter: str, ending: str, encoding: str) -> None:
    data = TABLE.replace(";", delimiter).replace("\n", ending).encode(encoding)
    script = read("lines.csv", data)
    assert [(line.text, line.voice) for line in script.lines] == [
        ("Über die Straße", "Anna"),
        ("Fünf Äpfel", "Ben"),
    ]
    assert [row.number for row in script.rows] == [2, 3]
    assert script.columns == ("text", "voice")
    assert bool(script.warnings) == (encoding == "cp1252")


def test_case_line_breaks_in_quotes() -> None:
    script = read("a.csv", 'text,voice\r\n"One\r\ntwo, three\n""four""",Anna\r\nFive,Ben\r\n')
    assert texts(script) == ['One\ntwo, three\n"four"', "Five"]
    assert [row.number for row in script.rows] == [2, 3]  # as a spreadsheet counts


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Привет, как дела сегодня"),
        ("cp932", "今日はいい天気ですね"),
        ("gb18030", "我昨天跟朋友去海滩了，天气很好"),
        ("cp949", "안녕하세요 오늘 날씨가 좋습니다"),
        ("cp1252", "It’s “fine” – 5 € à côté"),
    ],
)
def test_old_encodings_are_told_apart_and_said(encoding: str, text: str) -> None:
    script = read("a.csv", f"text|voice\n{text}|x\n".encode(encoding))
    assert texts(script) == [text]
    assert "not UTF-8" in script.warnings[0]


def test_an_encoding_may_be_given() -> None:
    assert texts(read("a.csv", "text\nZażółć gęślą\n".encode("cp1250"), encoding="cp1250")) == [
        "Zażółć gęślą"
    ]
    with pytest.raises(ScriptError, match="cannot be decoded"):
        read("a.csv", "text\nx\n", encoding="no-such-encoding")


def test_excels_separator_line() -> None:
    assert texts(read("a.csv", "sep=|\r\ntext|voice\r\nx, y; z|Anna\r\n")) == ["x, y; z"]


@pytest.mark.parametrize(
    "header",
    ["Text,Speaking Rate,Vqscore 8", " TEXT , speaking_rate,vqscore_8", "text,SpeakingRate,VQScore-8"],
)
def test_headers_do_not_mind_case_and_spaces(header: str) -> None:
    (line,) = read("a.csv", f"{header}\nHi,12,0.7\n").lines
    assert (line.speaking_rate, line.vqscore_8) == (12, (0.7,) * 8)


def test_an_unknown_column_is_named_in_a_warning() -> None:
    script = read("a.csv", "text,speeking_rate,Notes\nHi,12,loud\n")
    assert texts(script) == ["Hi"]
    assert "'speeking_rate' is not known and is left out; did you mean speaking_rate" in script.warnings[0]
    assert "'Notes'" in script.warnings[1]
    assert script.rows[0].raw == {"text": "Hi", "speeking_rate": "12", "Notes": "loud"}


def test_a_column_that_stands_twice() -> None:
    script = read("a.csv", "text,Text\nfirst,second\n")
    assert texts(script) == ["first"]
    assert "twice" in script.warnings[0]


def test_every_column_of_the_format() -> None:
    header = [
        "id",
        "name",
        "text",
        "language",
        "voice",
        "emotion",
        "pitch_std",
        "speaking_rate",
        "fmax",
        "vqscore_8",
        "ctc_loss",
        "dnsmos_ovrl",
        "speaker_noised",
        "cfg_scale",
        "seed",
        "takes",
        "prefix_audio",
        "prefix_text",
        "max_seconds",
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "linear",
        "conf",
        "quad",
        "repetition_penalty",
        "repetition_window",
    ]
    values = [
        "a1",
        "Intro",
        "Hi",
        "de",
        "Anna",
        "happy",
        "20",
        "12.5",
        "22050",
        "0.7",
        "0",
        "4",
        "yes",
        "2",
        "77",
        "3",
        "p.wav",
        "hey",
        "9",
        "0.5",
        "0.9",
        "5",
        "0.1",
        "0.5",
        "0.4",
        "0",
        "2",
        "3",
    ]
    script = read("a.tsv", "\t".join(header) + "\n" + "\t".join(values))
    assert script.warnings == ()
    (line,) = script.lines
    assert (line.id, line.language, line.emotion, line.seed, line.takes) == (
        "a1",
        "de",
        PRESETS["happy"],
        77,
        3,
    )
    assert (line.speaker_noised, line.top_k, line.repetition_window) == (True, 5, 3)


def test_an_empty_cell_is_the_default_and_words_stay_words() -> None:
    script = read("a.csv", "text,voice,fmax,name\nNA,null,,None\nnan,,auto,\n")
    first, second = script.lines
    assert (first.text, first.voice, first.fmax, first.name) == ("NA", "null", None, "None")
    assert (second.text, second.voice, second.fmax) == ("nan", None, "auto")


@pytest.mark.parametrize("text", ["=SUM(A1:A9)", "+49 30 1234", "-5 degrees", "@home", '=HYPERLINK("x")'])
def test_cells_that_look_like_formulas_are_plain_text(text: str) -> None:
    quoted = '"' + text.replace('"', '""') + '"'
    assert texts(read("a.csv", f"text\n{quoted}\n")) == [text]
    assert texts(read("a.csv", f"text,voice\n{quoted},x\n")) == [text]


def test_a_table_of_one_column_keeps_its_commas() -> None:
    assert texts(read("a.csv", "text\nHello, you; there\nAnd, then\n")) == ["Hello, you; there", "And, then"]


def test_a_column_of_text_without_a_name() -> None:
    script = read("paste.tsv", "First, one.\nSecond; two.\n")
    assert texts(script) == ["First, one.", "Second; two."]
    assert "every row is taken as text" in script.warnings[0]


# --- paste --------------------------------------------------------------------------------------


def test_paste_from_a_spreadsheet() -> None:
    script = read("paste.tsv", 'Text\tVoice\r\n"two\r\nlines"\tAnna\r\nplain\tBen')
    assert [(line.text, line.voice) for line in script.lines] == [("two\nlines", "Anna"), ("plain", "Ben")]


@pytest.mark.parametrize("cell", ['"Hello" he said', '"open', 'a 5" pipe', '""', '"a" and "b"', '"'])
def test_pasted_quotation_marks_stay_and_swallow_no_row(cell: str) -> None:
    script = read("paste.tsv", f'text\tvoice\n{cell}x\tA\n5" pipe\tB\n')
    assert [line.voice for line in script.lines] == ["A", "B"]
    assert script.lines[0].text == f"{cell}x"


# --- files that cannot be read at all -----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n  \n", "is empty"),
        ("a.csv", b"text\n", "not one line"),
        ("a.csv", b"name,voice\nx,y\n", "no column named text.*name, voice"),
        ("a.csv", b"Hello, you\nAnd, then\n", "no column named text"),
        ("a.csv", b'text,voice\n"open,Anna\nb,Ben\n', "Row 2 opens a quotation mark"),
        ("a.csv", ("text" + "," * 300 + "\nx").encode(), "more than 200 columns"),
        (
            "a.csv",
            ("text,voice\nx" + "," * 150 + "y" * 60 + "," * 149 + "\n").encode(),
            "more than 200 columns",
        ),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 9, "no text file"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "old Excel"),
        ("a.docx", b"PK\x03\x04 and not much more", "no xlsx workbook"),
        ("a.xlsx", b"not a zip at all", "no xlsx workbook"),
        ("a.json", b'[{"text": "a"},\n {"text": }]', r"not valid JSON.*line 2"),
        ("a.csv", b"," * 10_000_000, "more than 200 columns"),
        ("a.csv", b'"' + b"x" * 200_000 + b'",' * 300, "quotation mark"),
        ("a.json", b"[]", "not one line"),
        ("a.srt", b"no times here", "no subtitle with times"),
        ("a.vtt", b"WEBVTT\n\n", "no subtitle with times"),
        ("a.txt", b"x\n" * (MAX_ROWS + 1), f"more than {MAX_ROWS} rows"),
        ("a.csv", b"text,voice\n" + b"x,y\n" * (MAX_ROWS + 1), f"more than {MAX_ROWS} rows"),
        ("a.txt", b"x" * (MAX_FILE_BYTES + 1), "larger than 20 MB"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, content: bytes, said: str) -> None:
    with pytest.raises(ScriptError, match=said) as caught:
        read(name, content)
    assert str(caught.value).startswith(name)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read"):
        read_script(tmp_path / "gone.csv")
    with pytest.raises(ScriptError, match="is a folder"):
        read_script(tmp_path)


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nHi\n")
    assert texts(read_script(tmp_path / "a.csv")) == texts(read_script(str(tmp_path / "a.csv"))) == ["Hi"]


# --- jsonl and json -----------------------------------------------------------------------------


def test_jsonl_with_bad_lines_among_good_ones() -> None:
    content = "\n".join(
        [
            '{"text": "a", "emotion": {"happiness": 0.8}, "speaking_rate": 12, "seed": null}',
            "",
            '{"text": ',
            '{"text": "b", "fmax": 96000}',
            '"just text"',
            "[1]",
            '{"text": "c", "cfg_scale": true}',
            '{"text": 42}',
            '{"Text": "d", "Speaking Rate": "13"}',
            '{"text": "e", "nope": 1, "speaking_rate": NaN}',
        ]
    )
    script = read("a.jsonl", content)
    assert texts(script) == ["a", "just text", "d"]
    assert script.lines[0].emotion == Emotion(happiness=0.8)
    assert {problem.row for problem in script.problems} == {3, 4, 6, 7, 8, 10}
    assert "at character" in script.problems[0].message
    assert any("'nope'" in warning for warning in script.warnings)


@pytest.mark.parametrize(
    "content",
    ['[{"text": "a"}, {"text": "b"}]', '{"lines": [{"text": "a"}, "b"]}', '{"text":"a"}\n{"text":"b"}'],
)
def test_json_in_its_shapes(content: str) -> None:
    for name in ("a.json", "a"):
        assert texts(read(name, content)) == ["a", "b"]


@pytest.mark.parametrize("content", ["[" * 100_000, '{"text": ' + "9" * 5000 + "}", '{"a":' * 5000])
def test_json_made_to_hurt(content: str) -> None:
    script = read("a.jsonl", content + '\n{"text": "ok"}')
    assert texts(script) == ["ok"]
    assert len(script.problems) == 1


# --- xlsx ---------------------------------------------------------------------------------------


def test_a_workbook() -> None:
    data = workbook(
        ["Text", "Voice", "speaking rate", "takes", "keep prefix", "seed"],
        ["Hello", "Anna", 12.5, 2, True, 12.0],
        ["two\nlines", None, "12,5", None, None, None],
        [],
        [2026, None, None, None, None, None],
        ["bad", None, 99, 2.5, None, None],
    )
    script = read("a.xlsx", data)
    assert texts(script) == ["Hello", "two\nlines", "2026"]
    first = script.lines[0]
    assert (first.speaking_rate, first.takes, first.keep_prefix, first.seed) == (12.5, 2, True, 12)
    assert [(problem.row, problem.column) for problem in script.problems] == [
        (6, "speaking rate"),
        (6, "takes"),
    ]
    assert "A blank row is skipped (row 4)." in script.warnings


def test_a_workbook_that_calls_itself_csv() -> None:
    assert texts(read("a.csv", workbook(["text"], ["Hi"]))) == ["Hi"]


def test_the_sheet_with_a_text_column_is_read_and_said() -> None:
    script = read("a.xlsx", workbook(["budget"], [5], Lines=[[], ["Text"], ["Hi"]]))
    assert texts(script) == ["Hi"]
    assert script.rows[0].number == 3
    assert "only 'Lines' is read" in script.warnings[0]


def test_formulas_without_a_result_and_errors_are_said() -> None:
    script = read("a.xlsx", workbook(["text", "voice"], ["=A1&B1", "x"], ["ok", "#REF!"], ["=1+1"]))
    assert texts(script) == ["ok"]
    assert any("formula" in warning and "rows 2, 4" in warning for warning in script.warnings)
    assert any("#REF!" in warning and "row 3" in warning for warning in script.warnings)


def test_a_workbook_made_to_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zonos.script.tables.MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(ScriptError, match="larger unpacked"):
        read("a.xlsx", workbook(["text"], ["Hi"]))


def test_a_manifest_of_a_run_is_a_script_too() -> None:
    entry = {"text": "Hi", "seed": 5, "voice": None, "file": "a.wav", "seconds": 1.2}
    script = read("manifest.jsonl", json.dumps(entry))
    assert (script.lines[0].text, script.lines[0].seed) == ("Hi", 5)


# --- no ending ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("text,voice\nHi,x\n", ["Hi"]),
        ("Text\tVoice\nHi\tx\n", ["Hi"]),
        ("Hi there, you.\nBye.\n", ["Hi there, you.", "Bye."]),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", ["Hi"]),
        ("1\n00:00:01,000 --> 00:00:02,000\nHi\n", ["Hi"]),
        ("[pause 0.5s] Hi\n[[həlˈoʊ]] you", ["[pause 0.5s] Hi", "[[həlˈoʊ]] you"]),
    ],
)
def test_the_content_tells_where_the_name_does_not(content: str, wanted: list[str]) -> None:
    assert texts(read("script", content)) == wanted
