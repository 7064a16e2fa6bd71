"""Hard inputs, "Clips and files": script files of other kinds, siblings of the csv and srt rows.

The rows themselves are in ``test_script.py``, ``test_script_subtitles.py`` and ``test_names.py``.
"""

from __future__ import annotations

import pytest

from zonos.errors import ScriptError
from zonos.script import read_script


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"%PDF-1.4\n1 0 obj\n", "a PDF"),
        (rb"{\rtf1\ansi Hello}", "an RTF document"),
        (b"\xef\xbb\xbf\n<!DOCTYPE HTML><title>x</title>", "a web page"),
        (b"<html><body>Hi</body></html>", "a web page"),
        (b"RIFF\x24\x10\x20\x30WAVEfmt data", "a sound"),
        (b"ID3\x03" + b"abcdef" * 9, "a sound"),
    ],
    ids=["pdf", "rtf", "html with BOM", "html", "wav", "mp3"],
)
def test_files_of_another_kind_are_named(name: str, content: bytes, said: str) -> None:
    """Row 'csv with BOM ...': a PDF without a zero byte was once spoken line by line."""
    with pytest.raises(ScriptError, match=said) as caught:
        read_script((name, content))
    assert "csv" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["RIFF is a format.", "%PDF is a mark.", "ID3 tags", "<b>Hi</b>", "fLaC, OggS"]
)
def test_words_about_files_are_words(text: str) -> None:
    assert [line.text for line in read_script(("a.txt", text.encode())).lines] == [text]


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.csv", "text\tvoice\nHé\tB\n".encode("utf-16"), ["Hé"]),
        ("a.csv", b"text;speaking_rate\rHi;12,5\rYo;1.5\r", ["Hi", "Yo"]),
        ("a.csv", b'text,voice\nHe said "hi" to me,A\n', ['He said "hi" to me']),
        ("a.csv", b"\n\ntext,voice;\n\nHi,A\n,,\n", ["Hi"]),
        ("a.srt", b"1\n00:00:01,000-->00:00:02,000\n<i>Hi</i> {\\an8}there\n", ["Hi there"]),
        ("a.srt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", ["Hi"]),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nA\n2\n00:00:02,000 --> 00:00:03,000\nB\n", ["A", "B"]),
        ("a.vtt", b"\xef\xbb\xbfWEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\nHi &amp; you\r\n", ["Hi & you"]),
    ],
)
def test_tables_and_subtitles_as_other_programs_write_them(
    name: str, content: bytes, texts: list[str]
) -> None:
    """Rows 'csv with BOM, ;, tabs ...' and 'srt with BOM, leading blank lines, overlapping cues'."""
    assert [line.text for line in read_script((name, content)).lines] == texts
