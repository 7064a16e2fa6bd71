"""The HTTP API beside the page: one engine, made when it is first needed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from engines import VOICES, mini
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui import library, sample
from ui.beside import BesideApi
from ui.engines import Engines
from ui.guests import ShelfGuests, api_key
from ui.store import Store
from zonos.engine import Engine
from zonos.voices import SAMPLE_VOICES


def page(_: object) -> PlainTextResponse:
    return PlainTextResponse("the page")


@pytest.fixture
def engines() -> Iterator[Engines]:
    engines = Engines(lambda name: Engine(mini(), voices=VOICES))
    yield engines
    engines.close()


@pytest.fixture
def client(tmp_path: Path, engines: Engines) -> Iterator[TestClient]:
    beside = BesideApi(tmp_path / "api", SAMPLE_VOICES, engines)
    with TestClient(Starlette(routes=[beside, Route("/{rest:path}", page)])) as client:
        yield client
    beside.close()


def test_api_and_page_share_the_engine(client: TestClient, engines: Engines) -> None:
    assert engines.model is None  # nothing is loaded for whoever only looks
    body = {"model": "mini", "input": "Good morning.", "voice": "Heart", "response_format": "wav"}
    answer = client.post("/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    samples, rate = soundfile.read(io.BytesIO(answer.content))
    assert rate == mini().codec.sample_rate
    assert len(samples) > rate / 4
    assert engines.model == "mini"


def test_other_addresses_are_the_pages(client: TestClient) -> None:
    assert client.get("/").text == "the page"
    assert client.get("/v2/anything").text == "the page"
    assert client.get("/healthz").status_code == 200


def test_switched_off(tmp_path: Path, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONOS_API", "0")
    beside = BesideApi(tmp_path / "api", SAMPLE_VOICES, engines)
    with TestClient(Starlette(routes=[beside, Route("/{rest:path}", page)])) as client:
        assert client.get("/v1/models").text == "the page"


def test_voices_of_the_page_are_there_for_whoever_has_their_key(tmp_path: Path, engines: Engines) -> None:
    store = Store(tmp_path / "data")
    mine, other = sample.first_project(store), sample.first_project(store)
    for project, name in ((mine, "Aunt"), (other, "Uncle")):
        clip = library.Clip(SAMPLE_VOICES / "Vera.wav", "clip.wav", {})
        library.add(store, project.shelf, name, [clip], consent=True)
    beside = BesideApi(tmp_path / "api", SAMPLE_VOICES, engines, ShelfGuests(store))
    with TestClient(Starlette(routes=[beside])) as client:

        def names(key: str) -> list[str]:
            listed = client.get("/v1/audio/voices", headers={"authorization": f"Bearer {key}"}).json()
            return [voice["name"] for voice in listed["voices"]]

        def spoken(key: str) -> int:
            body = {"model": "mini", "input": "Good morning.", "voice": "aunt", "response_format": "wav"}
            headers = {"authorization": f"Bearer {key}"}
            return client.post("/v1/audio/speech", json=body, headers=headers).status_code

        everybody = ["Heart", "June", "Marcus", "Otto", "Rowan", "Vera"]
        assert names(api_key(mine.shelf)) == ["Aunt", *everybody]
        assert names(api_key(other.shelf)) == ["Uncle", *everybody]
        for stranger in ("", "sk-anything", "studio-", "studio-" + "0" * 40, mine.token, mine.shelf):
            assert names(stranger) == everybody
        assert (spoken(api_key(mine.shelf)), spoken(api_key(other.shelf)), spoken("")) == (200, 400, 400)
    beside.close()
    store.close()
