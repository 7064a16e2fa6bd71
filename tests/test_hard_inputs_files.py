"""Hard inputs, "Clips and files": script files of other kinds, and paths that cannot be.

The rows themselves are in ``test_script.py``, ``test_script_subtitles.py`` and ``test_names.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import CommandLine, HummingEngine, cli, hum
from hypothesis import given, settings
from hypothesis import strategies as st

from zonos.errors import LineError, ScriptError
from zonos.script import read_script
from zonos.voices import VoiceFolder

__all__ = ["cli", "hum"]


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


IMPOSSIBLE = ["x" * 3000, f"a/{'x' * 3000}.wav", "a\0b.wav", "~nobody-here/a.wav", "/dev/null", ".", "\ud800"]


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_voice_that_cannot_be_a_path(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row '0-byte file': one name too long, or of nobody's home, once ended the whole command."""
    monkeypatch.chdir(tmp_path)  # no clip lies in "."
    for allowed in (True, False):
        with pytest.raises(LineError) as caught:
            VoiceFolder([tmp_path], allow_paths=allowed).clips(name)
        assert caught.value.code in {"unknown_voice", "unreadable_clip"}
        assert len(caught.value.reason) < 300


def test_lines_with_such_voices_fail_alone(cli: CommandLine, hum: HummingEngine) -> None:
    rows = [{"text": "Hi.", "voice": name} for name in IMPOSSIBLE if name.isprintable()]
    cli.script([{"text": "Good."}, *rows, {"text": "Good too."}])
    found = cli("scene.jsonl", "--skip-bad")
    assert found.status == 1
    assert hum.spoken == ["Good.", "Good too."]
    assert sum(entry["status"] == "failed" for entry in found.entries) == len(rows)


def answer(name: str) -> str:
    try:
        return f"{len(VoiceFolder([], allow_paths=True).clips(name))} clips."
    except LineError as error:
        return error.reason


@settings(max_examples=150, deadline=None, derandomize=True)
@given(name=st.text(max_size=300) | st.text("./~\\0:*xA", max_size=300))
def test_any_name_is_a_voice_or_a_reason(name: str) -> None:
    assert answer(name).endswith(".")
