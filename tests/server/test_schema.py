"""The OpenAPI document: true to what a line is, and no request that it allows breaks the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from live_server import VOICES, listening

from zonos.engine import Engine
from zonos.line import Line
from zonos.server import Settings

EXAMPLES = 12


@pytest.fixture(scope="module")
def document_url(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    # Few characters and lines, so that what is valid is spoken soon.
    limits = Settings(
        data=tmp_path_factory.mktemp("schema"), voices=(VOICES,), characters=12, client_lines=20, lines=20
    )
    with listening(engine, limits) as server:
        yield f"{server.url}/v1/openapi.json"


@pytest.fixture
def document(document_url: str) -> Any:
    return schemathesis.openapi.from_url(document_url)


def shortened(body: Any) -> Any:
    """What is generated may be anything, but not long."""
    if isinstance(body, dict) and ("input" in body or "text" in body):
        return {**body, "max_seconds": 0.1}
    return [shortened(item) for item in body] if isinstance(body, list) else body


def call(case: schemathesis.Case) -> None:
    case.body = shortened(case.body)
    answer = case.call(timeout=60)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        error = answer.json()["error"]
        assert error["code"]
        assert error["message"]


def test_nothing_breaks_the_server(document: Any) -> None:
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) > 12
    for operation in operations:
        # Not the plugin for pytest, which does not know every version of pytest.
        settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(case=operation.as_strategy())(call))()


def test_a_line_is_the_schema(document: Any) -> None:
    raw = document.raw_schema
    own = Line.model_json_schema()
    stated = raw["components"]["schemas"]["Line"]
    assert set(stated["properties"]) == set(own["properties"])
    assert stated["properties"]["cfg_scale"] == own["properties"]["cfg_scale"]
    body = raw["paths"]["/v1/lines"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["items"] == {"$ref": "#/components/schemas/Line"}
    assert (
        Path(
            raw["paths"]["/v1/audio/speech"]["post"]["requestBody"]["content"]["application/json"]["schema"][
                "$ref"
            ]
        ).name
        == "SpeechBody"
    )
