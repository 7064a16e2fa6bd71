"""Hard inputs, "Batching, sampling, length": settings that nobody's model can follow.

Rows 'emotion given as named values' and 'speaking_rate 0 or 100, pitch_std -5, fmax 96000', with siblings.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from zonos.config import ZonosConfig
from zonos.defaults import Defaults
from zonos.hub import resolve
from zonos.line import EMOTIONS, Emotion, Line, explain
from zonos.request import make_request


def refused(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Line(**{"text": "Hi", **fields})
    ((_, sentence),) = explain(caught.value)
    return sentence


@pytest.mark.parametrize(
    ("name", "value", "span"),
    [
        ("speaking_rate", 0, "from 1 to 40"),
        ("speaking_rate", 100, "from 1 to 40"),
        ("pitch_std", -5, "from 0 to 400"),
        ("fmax", 96_000, "from 0 to 24000"),
        ("cfg_scale", 0, "from 1 to 5"),
        ("temperature", -0.1, "from 0 to 2"),
        ("takes", 0, "from 1 to 100"),
        ("top_k", 5000, "from 0 to 1024"),
        ("seed", 2**63, "from 0 to 9223372036854775807"),
        ("max_seconds", 0, "more than 0 and at most 3600"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name: str, value: float, span: str) -> None:
    said = refused(**{name: value})
    assert name in said
    assert str(value) in said
    if name != "max_seconds":
        assert span in said


@pytest.mark.parametrize("name", ["speaking_rate", "pitch_std", "temperature", "cfg_scale", "max_seconds"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), "nan", "1e400"])
def test_what_is_no_finite_number_is_refused(name: str, value: Any) -> None:
    assert name in refused(**{name: value})


@pytest.mark.parametrize(
    "given_as",
    [
        "happiness=0.8",
        "Happiness: 0.8",
        {"happiness": 0.8},
        [0.8, 0, 0, 0, 0, 0, 0, 0],
        (0.8, 0, 0, 0, 0, 0, 0, 0),
        Emotion(happiness=0.8),
    ],
)
def test_an_emotion_in_every_spelling(given_as: Any) -> None:
    """The original takes eight weights in a list; its users bring those along."""
    assert Line(text="Hi", emotion=given_as).emotion == Emotion(happiness=0.8)


@pytest.mark.parametrize("given_as", ["joy=0.8", {"joy": 0.8}, {"happiness": 0.8, "joy": 0.1}, "joy"])
def test_unknown_emotions_are_refused_by_name(given_as: Any) -> None:
    said = refused(emotion=given_as)
    assert "'joy'" in said
    assert "happiness" in said


@pytest.mark.parametrize("given_as", [0.8, True, [1, 0], [], {"happiness": "much"}, [2] * 8])
def test_what_is_no_emotion_is_refused_in_words(given_as: Any) -> None:
    said = refused(emotion=given_as)
    assert "Input should" not in said
    assert "happiness" in said


ANY_VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.just("auto"),
    st.lists(st.floats() | st.integers(-1, 2), max_size=9),
    st.dictionaries(st.sampled_from([*EMOTIONS, "joy"]), st.floats() | st.text(max_size=3), max_size=3),
)
FIELDS = [name for name in Line.model_fields if name not in {"text", "id", "name", "language", "voice"}]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(values=st.dictionaries(st.sampled_from(FIELDS), ANY_VALUE, max_size=4))
def test_any_settings_make_a_line_or_a_sentence_for_each_bad_one(values: dict[str, Any]) -> None:
    try:
        line = Line(text="Hi", **values)
    except ValidationError as error:
        found = explain(error)
        assert {field for field, _ in found} <= set(values)
        for _, sentence in found:
            assert sentence.endswith(".")
            assert "Input should" not in sentence
        return
    assert Line.model_validate_json(line.model_dump_json()) == line
    config = ZonosConfig.from_file(resolve("mini").config)
    request = make_request(line, Defaults(), config, 31.25)
    assert sum(request.values.get("emotion", (1.0,))) == pytest.approx(1)  # zeros would be NaN
    assert all(piece.limit >= 1 for piece in request.pieces)


@pytest.mark.parametrize("body", [[], "Hi.", 7, None, True])
def test_what_is_no_object_is_refused_in_words(body: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Line.model_validate(body)
    ((_, sentence),) = explain(caught.value)
    assert sentence == f"line is {body!r}; it must be an object of settings."
