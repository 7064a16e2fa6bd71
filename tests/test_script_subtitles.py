"""Case: "srt with BOM, leading blank lines, overlapping cues": all cues kept, overlaps flagged."""

from __future__ import annotations

import pytest

from zonos.script import Script, read_script

SRT = """\ufeff


1
00:00:01,000 --> 00:00:03,000
<i>Hello</i> {\\an8}there
{b} world

2
00:00:02,500 --> 00:00:04,250 X1:40
Tom &amp; Ann: a < b

3
00:00:05,000 --> 00:00:06,000
Bye
"""


def read(name: str, content: str) -> Script:
    return read_script((name, content.encode()))


def test_case_srt_with_bom_leading_blank_lines_and_overlaps() -> None:
    script = read("a.srt", SRT)
    assert [line.text for line in script.lines] == ["Hello there\n{b} world", "Tom & Ann: a < b", "Bye"]
    assert [(row.number, row.start, row.end) for row in script.rows] == [(1, 1, 3), (2, 2.5, 4.25), (3, 5, 6)]
    assert script.warnings == ("A subtitle starts before an earlier one ends; both are kept (row 2).",)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_endings(ending: str) -> None:
    assert read("a.srt", SRT.replace("\n", ending)).lines == read("a.srt", SRT).lines


def test_utf_16_subtitles() -> None:
    assert (
        read_script(("a.srt", SRT.removeprefix("\ufeff").encode("utf-16"))).lines == read("a.srt", SRT).lines
    )


def test_cues_out_of_order_keep_the_files_order() -> None:
    content = "1\n00:00:05,000 --> 00:00:06,000\nlate\n\n2\n00:00:01,000 --> 00:00:02,000\nearly\n"
    script = read("a.srt", content)
    assert [line.text for line in script.lines] == ["late", "early"]
    assert "not in order" in script.warnings[0]


def test_an_overlap_with_an_earlier_long_cue_is_seen() -> None:
    cues = ["00:00:01,000 --> 00:00:09,000", "00:00:02,000 --> 00:00:03,000", "00:00:04,000 --> 00:00:05,000"]
    content = "\n\n".join(f"{n}\n{times}\ntext" for n, times in enumerate(cues, start=1))
    assert "rows 2, 3" in read("a.srt", content).warnings[0]


@pytest.mark.parametrize(
    "times", ["0:0:5.5 --> soon", "00:00:05,000 --> 00:00:", "5 --> 6", "soon --> 00:00:09"]
)
def test_times_that_cannot_be_read_are_named_not_spoken(times: str) -> None:
    content = (
        f"1\n00:00:01,000 --> 00:00:02,000\ngood\n\n2\n{times}\nbad\n\n3\n00:00:08,000 --> 00:00:09,000\nok\n"
    )
    script = read("a.srt", content)
    assert [line.text for line in script.lines] == ["good", "ok"]
    (problem,) = script.problems
    assert problem.row == 2
    assert times in problem.message


@pytest.mark.parametrize(
    "text", ["In the year\n2026", "2026", "10\n9\n8", "Gate\n\n7", "A --> B", "see 3 -> 4 there"]
)
@pytest.mark.parametrize("number", ["2\n", "2\n\n", ""])
def test_numbers_and_arrows_in_a_text_are_spoken(text: str, number: str) -> None:
    content = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n\n{number}00:00:03,000 --> 00:00:04,000\nok\n"
    if number or not text[-1].isdigit():  # without a number of its own the next cue takes the digits
        assert [line.text for line in read("a.srt", content).lines] == [text, "ok"]


def test_times_in_other_spellings() -> None:
    content = "0:00:01.5 --> 00:00:02,25\na\n\n00:03,000 -> 00:04,000\nb\n"
    rows = read("a.srt", content).rows
    assert [(row.start, row.end) for row in rows] == [(1.5, 2.25), (3, 4)]


def test_a_cue_without_text_is_skipped_with_a_reason() -> None:
    content = "1\n00:00:01,000 --> 00:00:02,000\n\n2\n00:00:03,000 --> 00:00:04,000\nHi\n"
    script = read("a.srt", content)
    assert [line.text for line in script.lines] == ["Hi"]
    assert "skipped" in script.warnings[0]


def test_a_cue_that_ends_before_it_starts() -> None:
    script = read("a.srt", "1\n00:00:02,000 --> 00:00:01,000\nHi\n")
    assert [line.text for line in script.lines] == ["Hi"]
    assert "ends before it starts" in script.warnings[0]


def test_vtt_with_notes_styles_voices_and_tags() -> None:
    content = """WEBVTT - title

STYLE
::cue { color: red }

NOTE nobody says this
nor this

id-1
00:01.000 --> 00:03.000 align:start
<v Roger Bing>Hi &amp; bye &lt;3</v>

01:00:02.500 --> 01:00:04.000
- a
- <c.yellow>b</c> <00:00:03.000>x

NOTE nor this
in the middle

scene 2, take 1
01:00:05.000 --> 01:00:06.000
<v A>one</v> <v B>two</v>
"""
    script = read("a.vtt", content)
    assert [(line.text, line.voice) for line in script.lines] == [
        ("Hi & bye <3", "Roger Bing"),
        ("- a\n- b x", None),
        ("one two", None),
    ]
    assert script.rows[1].start == 3602.5
    assert "taken as its voice (row 1)" in script.warnings[0]
    assert "several speakers" in script.warnings[1]
