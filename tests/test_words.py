"""Sentences that count: nobody reads "1 lines"."""

from __future__ import annotations

import pytest

from zonos.api.admission import Limit, Pace
from zonos.api.errors import ApiError
from zonos.script import read_script
from zonos.words import count


def test_count() -> None:
    assert [count(number, "line") for number in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]


def test_limits() -> None:
    limit = Limit("line", 1, 1, Pace(), lambda: 1)
    with pytest.raises(ApiError) as mine:
        limit.check(1, 1, 1)
    assert mine.value.message.startswith("You have 1 line open, and 1 is the most;")
    with pytest.raises(ApiError) as everybody:
        limit.check(1, 0, 1)
    assert everybody.value.message.startswith("All clients together have 1 line open,")


def test_a_table_of_one_column() -> None:
    (problem,) = read_script(("a.csv", b"text,\na,b,c\n")).problems
    assert "It has 3 cells where the first row names 1 column;" in problem.message
