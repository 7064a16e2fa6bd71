"""Case: "output names with / \\ : * ?, quotes, newline, 200 characters, unicode"."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonos.names import DEFAULT_TEMPLATE, FIELDS, check_template, file_name, fill, key, safe_name

RESERVED = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
REPEATABLE = settings(deadline=None, derandomize=True)
ANY_TEXT = st.text(st.characters(), max_size=400)


@pytest.mark.parametrize(
    ("given_name", "wanted"),
    [
        ("a/b", "a b"),
        ("a\\b", "a b"),
        ("a:b*c?d", "a b c d"),
        ("\"quoted\" and 'single'", "quoted and 'single'"),
        ("two\nlines\r\nthree", "two lines three"),
        ("日本語の声", "日本語の声"),
        ("Crème brûlée – №1", "Crème brûlée – №1"),
        ("Cre\u0300me", "Crème"),
        # siblings
        ("../../etc/passwd", "etc passwd"),
        ("a<b>|c", "a b c"),
        ("tab\there\x00\x07", "tab here"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (".hidden", "hidden"),
        ("the end...", "the end"),
        ("lone\ud800", "lone"),
        ("🙂 smile", "🙂 smile"),
    ],
)
def test_names_are_safe_and_readable(given_name: str, wanted: str) -> None:
    assert safe_name(given_name) == wanted


@pytest.mark.parametrize("name", ["CON", "con", "nul.txt", "COM1", "lpt9.tar.gz", "Aux", "COM¹", "conin$"])
def test_names_that_windows_keeps_for_devices(name: str) -> None:
    assert safe_name(name) == f"_{name}"


@pytest.mark.parametrize("name", ["", "   ", "...", "???", "\n", "\u202e", "\ud800"])
def test_nothing_left_gets_the_fallback(name: str) -> None:
    assert safe_name(name, fallback="line 7") == "line 7"


@pytest.mark.parametrize("name", ["x" * 200, "word " * 60, "声" * 200, "🙂" * 200, "e\u0323\u0301" * 200])
def test_200_characters_are_cut_to_what_every_file_system_takes(name: str, tmp_path: Path) -> None:
    made = file_name(name, set(), suffix=".wav")
    assert len(made.encode()) <= 255
    (tmp_path / made).write_bytes(b"x")
    assert [path.name for path in tmp_path.iterdir()] == [made]


def test_a_long_name_is_cut_at_a_word() -> None:
    assert safe_name("word " * 60).endswith(" word")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Take", "take"), ("é", "e\u0301"), ("straße", "STRASSE"), ("a/b", "a:b"), ("x" * 150, "x" * 160)],
)
def test_names_that_one_file_system_would_confuse_stay_apart(one: str, other: str) -> None:
    taken: set[str] = set()
    first, second = file_name(one, taken, suffix=".wav"), file_name(other, taken, suffix=".wav")
    assert key(first) != key(second)
    assert second.endswith(" (2).wav")


def test_ten_thousand_lines_may_share_one_name() -> None:
    taken: set[str] = set()
    made = [file_name("Hello", taken, suffix=".wav") for _ in range(10_000)]
    assert len({key(name) for name in made}) == len(made)
    assert made[:3] == ["Hello.wav", "Hello (2).wav", "Hello (3).wav"]


@REPEATABLE
@given(st.lists(ANY_TEXT, min_size=1, max_size=12))
def test_any_names_are_safe_and_unique(names: list[str]) -> None:
    taken: set[str] = set()
    made = [file_name(name, taken, suffix=".flac") for name in names]
    assert len({key(name) for name in made}) == len(names)
    for name in made:
        assert not set(name) & set('/\\:*?"<>|\n\r\t\0')
        assert name == unicodedata.normalize("NFC", name)
        assert len(name.encode("utf-8")) <= 255
        assert name.split(".")[0].rstrip().casefold() not in RESERVED
        assert not name.startswith((".", " "))
        assert not name.removesuffix(".flac").endswith((".", " "))


@REPEATABLE
@given(ANY_TEXT)
def test_a_safe_name_is_left_alone(name: str) -> None:
    once = safe_name(name)
    assert safe_name(once) == once


def test_every_field_of_a_template() -> None:
    values = {"n": 7, "name": "Intro", "voice": "Vera", "take": 2, "seed": 12, "project": "Ad", "text": "Hi"}
    values |= {"language": "de", "emotion": "happy"}
    template = "{n:03} {n} {name} {voice} {language} {emotion} {text} {take} {seed} {project}"
    assert fill(template, values) == "007 7 Intro Vera de happy Hi 2 12 Ad"
    assert fill("{{n}} {n:4}|", values) == "{n}    7|"
    assert fill("{name}-{voice}", {"name": None}) == "-"
    assert fill(DEFAULT_TEMPLATE, values) == "007 Intro"


@pytest.mark.parametrize(
    "template",
    [
        "{nmae}",
        "{}",
        "{0}",
        "{N}",
        "{n.__class__}",
        "{n!r}",
        "{text.__init__.__globals__}",
        "{n[0]}",
        "{n:>9999}",
    ],
)
def test_an_unknown_field_is_named_with_those_there_are(template: str) -> None:
    with pytest.raises(ValueError, match=r"has no field .*\{n\} \{name\} \{voice\}"):
        check_template(template)


@pytest.mark.parametrize("template", ["{", "}", "{n", "n}", "{n:{take}}"])
def test_a_lone_brace_is_said(template: str) -> None:
    with pytest.raises(ValueError, match="lone brace"):
        check_template(template)


def test_a_width_on_a_text_is_said() -> None:
    with pytest.raises(ValueError, match="takes no width"):
        check_template("{text:03}")


@REPEATABLE
@given(st.text(st.sampled_from("{}n:03name. !"), max_size=20))
def test_any_template_is_filled_or_refused_in_words(template: str) -> None:
    refusal, made = "", ""
    try:
        made = fill(template, {})
    except ValueError as error:
        refusal = str(error)
    assert not refusal or refusal.startswith(("The name template", "The field"))
    # With no value at all, what is left is the template's own words.
    assert set(made) <= set(template)
    assert refusal or made == template or "{" in template or "}" in template


@REPEATABLE
@given(st.dictionaries(st.sampled_from(FIELDS), ANY_TEXT))
def test_values_with_braces_are_not_filled_again(values: dict[str, str]) -> None:
    template = " ".join(f"{{{name}}}" for name in values)
    assert fill(template, values) == " ".join(values.values())
