"""Hard inputs of languages: what each is spoken with, what it is called, what is said when it cannot be."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import pytest
from text_support import failure, say

from zonos.errors import LineError
from zonos.text import (
    check_script,
    count_phonemes,
    japanese,
    normalise,
    resolve_language,
)
from zonos.text.espeak_worker import Refused, check_version


@pytest.mark.parametrize("text", ["我昨天跟朋友去海滩了。", "你好", "三個", "今天天气很好，我们去公园吧。"])
def test_mandarin_has_real_phonemes(text: str) -> None:
    spoken = say(text, "cmn").phonemes
    assert "lˈɛɾɚ" not in spoken
    assert "(" not in spoken
    assert count_phonemes(spoken) >= 3


@pytest.mark.parametrize("version", [(1, 51, 0), (1, 50), (1, 49, 2), (0, 9)])
def test_an_older_espeak_is_refused_in_words(version: tuple[int, ...]) -> None:
    with pytest.raises(Refused, match="too old") as caught:
        check_version(version)
    assert caught.value.code == "old_espeak"
    assert "pip install" in caught.value.reason
    check_version((1, 52, 0))


@pytest.mark.parametrize(
    "text", ["今日はいい天気です", "シュヴァイツァー", "東京(とうきょう)へ 行く", "Hello、世界"]
)
def test_japanese_reading_form_first(text: str) -> None:
    spoken = say(text, "ja")
    assert "(en)" not in spoken.phonemes
    assert "キゴウ" not in spoken.normalised
    assert "kiɡˈo̞ɯᵝ" not in spoken.phonemes
    assert "tʃˈaɪniːz" not in spoken.phonemes


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Das Meeting im Office war cool."),
        ("hi", "यह software अच्छा है"),
        ("fr-fr", "Le weekend, un job cool."),
        ("ru", "Hello по-русски"),
        ("ta", "hello வணக்கம்"),
    ],
)
def test_flags_never_reach_the_tokens(language: str, text: str) -> None:
    spoken = say(text, language)
    assert not any(mark in spoken.phonemes for mark in "()")
    assert 19 not in spoken.pieces[0].ids  # "("


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en-us", "Привет, как дела?"),
        ("de", "你好"),
        ("ru", "This is English."),
        ("ja", "Привет"),
        ("cmn", "Good morning"),
        ("hi", "مرحبا"),
        ("en-us", "He said 你好 to me."),
    ],
)
def test_a_script_that_does_not_fit_is_warned_about(language: str, text: str) -> None:
    warning = check_script(text, language)
    assert warning
    assert warning in say(text, language).warnings


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en-us", "Café naïve, 5 µm, x²"),
        ("ja", "今日はABCです"),
        ("ru", "Я люблю Python и Java очень"),
        ("sr", "Dobar dan"),
        ("sr", "Добар дан"),
        ("ko", "안녕"),
        ("de", "123 ..."),
    ],
)
def test_a_script_that_fits_is_not(language: str, text: str) -> None:
    assert check_script(text, language) is None


@pytest.mark.parametrize(
    ("alias", "code"),
    [
        ("en", "en-us"), ("fr", "fr-fr"), ("zh", "cmn"), ("zh-cn", "cmn"), ("pt-PT", "pt"), ("en-US", "en-us"),
        ("german", "de"), ("Deutsch", "de"), ("EN_GB", "en-gb"), ("en-AU", "en-gb"), ("es-MX", "es-419"),
        ("ja-JP", "ja"), ("no", "nb"), ("jp", "ja"), ("zh-HK", "yue"), ("pt-BR", "pt-br"), ("English", "en-us"),
        (" de ", "de"), ("Français", "fr-fr"), ("fra", "fr-fr"), ("German · Deutsch", "de"),
    ],
)  # fmt: skip
def test_obvious_aliases_are_accepted_and_the_code_shown(alias: str, code: str) -> None:
    assert resolve_language(alias) == code
    text = {"cmn": "你好", "yue": "你好", "ja": "はい"}.get(code, "no")
    assert say(text, alias).language == code


def test_another_regions_variety_is_said() -> None:
    assert any("en-gb" in warning for warning in say("Hello", "en-AU").warnings)
    assert not say("Hello", "en").warnings
    assert not say("Hallo", "de-AT").warnings


@pytest.mark.parametrize("language", ["xx", "", "klingon", "e n", "de-de-de-de-de-de-de", "germn", "🙂"])
def test_an_unknown_language_names_what_to_use(language: str) -> None:
    error = failure("Hello", language)
    assert error.code == "unknown_language"
    assert "Nearest:" in error.reason or "Use a code" in error.reason


def test_the_nearest_code_is_offered() -> None:
    assert "de (German)" in failure("Hello", "germn").reason


@pytest.fixture
def without_sudachi(monkeypatch: pytest.MonkeyPatch) -> Any:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith(("sudachipy", "kanjize")):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for cached in (japanese._kanjize, japanese._tokenizer):
        cached.cache_clear()
    yield
    for cached in (japanese._kanjize, japanese._tokenizer):
        cached.cache_clear()


def test_japanese_extra_missing_says_what_to_install(without_sudachi: None) -> None:
    normalise.cache_clear()
    error = failure("今日は良い日", "ja")
    assert error.code == "missing_japanese"
    assert "requirements-ja.txt" in error.reason
    assert say("An English line is not disturbed.").phonemes


def test_only_the_small_dictionary_is_enough() -> None:
    class OnlySmall:
        def __init__(self, dict: str) -> None:
            if dict != "small":
                raise ModuleNotFoundError(dict)

    assert isinstance(japanese._dictionary(OnlySmall), OnlySmall)


def test_no_dictionary_at_all_is_a_line_error() -> None:
    def none(dict: str) -> None:
        raise ModuleNotFoundError(f"Package `SudachiDict_{dict}` does not exist")

    with pytest.raises(LineError, match=r"requirements-ja\.txt"):
        japanese._dictionary(none)


def test_an_english_line_does_not_load_sudachi() -> None:
    code = (
        "import sys; from zonos.text import prepare; prepare('Hi', 'en', max_piece_phonemes=99);"
        "sys.exit(any(name.startswith(('sudachipy', 'kanjize')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
