"""Texts as tests of several concerns say them."""

from __future__ import annotations

import pytest

from zonos.errors import LineError
from zonos.text import Dictionary, Spoken, prepare

ROOM = 200


def say(text: str, language: str = "en-us", room: int = ROOM, dictionary: Dictionary | None = None) -> Spoken:
    return prepare(text, language, max_piece_phonemes=room, dictionary=dictionary)


def failure(text: str, language: str = "en-us") -> LineError:
    with pytest.raises(LineError) as caught:
        say(text, language)
    return caught.value
