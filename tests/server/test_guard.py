"""Who may come in: keys, sizes, foreign pages; one client never sees another's things."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from live_server import Running, Serve
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from zonos.api.admission import Pace
from zonos.engine import Engine
from zonos.server import Settings, main, mount, read_keys

SHORT = {"text": "Hi.", "max_seconds": 0.3, "voice": "Heart"}


def test_keys(serve: Serve) -> None:
    server = serve(keys={"ann": "a-secret", "bob": "b-secret"})
    for headers in ({}, {"authorization": "Bearer nonsense"}, {"authorization": "Basic a-secret"}):
        answer = server.client.get("/v1/audio/voices", headers=headers)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"
    assert server.client.get("/healthz").status_code == 200
    assert server.client.get("/metrics").status_code == 401
    ann, bob = ({"authorization": f"Bearer {key}"} for key in ("a-secret", "b-secret"))
    job = server.client.post("/v1/lines", json=[SHORT], headers=ann).json()["id"]
    for path in ("", "/events", "/audio/1", "/archive.zip"):
        assert server.client.get(f"/v1/jobs/{job}{path}", headers=bob).status_code == 404
    assert server.client.delete(f"/v1/jobs/{job}", headers=bob).status_code == 404
    assert server.client.get(f"/v1/jobs/{job}", headers=ann).status_code == 200
    assert server.client.get("/v1/jobs", headers=bob).json() == {"jobs": []}


def test_the_limit_of_one_client_leaves_room_for_others(serve: Serve, gate: threading.Event) -> None:
    server = serve(keys={"ann": "a", "bob": "b"}, client_lines=2, lines=3)
    ann, bob = ({"authorization": f"Bearer {key}"} for key in "ab")

    def submit(headers: dict[str, str], lines: int) -> httpx.Response:
        return server.client.post("/v1/lines", json=[SHORT] * lines, headers=headers)

    assert submit(ann, 2).status_code == 202
    assert submit(ann, 1).json()["error"]["code"] == "client_limit"
    assert submit(bob, 1).status_code == 202
    full = submit(bob, 1)
    assert (full.status_code, full.json()["error"]["code"]) == (429, "queue_full")
    assert int(full.headers["retry-after"]) >= 1
    gate.set()


def test_bodies_are_bounded_whether_they_say_their_length_or_not(serve: Serve) -> None:
    server = serve(body_bytes=1000, upload_bytes=2000)

    def unsaid(size: int) -> Iterator[bytes]:
        for _ in range(size // 100):
            yield b" " * 100

    for content in (b" " * 1001, unsaid(1100)):
        answer = server.client.post("/v1/audio/speech", content=content)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    upload = server.client.post(
        "/v1/voices", data={"name": "x", "consent": "true"}, files={"clip": ("x.wav", b"x" * 2000)}
    )
    assert upload.status_code == 413
    script = server.client.post("/v1/lines", files={"file": ("x.txt", b"Hi. " * 500)})
    assert script.status_code == 413


def test_scripts_of_foreign_pages_are_refused(serve: Serve) -> None:
    """A browser sends plain posts anywhere; without this any page could use a local server."""
    server = serve(origins=("https://studio.example",))
    evil = server.client.get("/v1/audio/voices", headers={"origin": "https://evil.example"})
    assert (evil.status_code, evil.json()["error"]["code"]) == (403, "origin_not_allowed")
    assert "access-control-allow-origin" not in evil.headers
    good = server.client.get("/v1/audio/voices", headers={"origin": "https://studio.example"})
    assert good.headers["access-control-allow-origin"] == "https://studio.example"
    assert server.client.get("/v1/audio/voices", headers={"origin": server.url}).status_code == 200


def test_cors_is_off(server: Running) -> None:
    preflight = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = server.client.options("/v1/audio/speech", headers=preflight)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ["http://[", "null", "https://evil.example", "http://[::1"])
def test_a_foreign_or_broken_origin_is_refused(server: Running, origin: str) -> None:
    answer = server.client.get("/v1/audio/voices", headers={"origin": origin})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")


def test_the_first_address_says_where_to_go_on(serve: Serve) -> None:
    """Case: curl of the bare address, before any documentation was read."""
    server = serve(keys={"ann": "a"})
    answer = server.client.get("/")
    assert answer.status_code == 200
    told = answer.json()
    known = server.client.get("/v1/openapi.json", headers={"authorization": "Bearer a"}).json()["paths"]
    for what in ("speak", "voices", "everything"):
        method, path = told[what].split()
        assert path == "/v1/openapi.json" or method.lower() in known[path]
    assert (Path(__file__).parents[2] / told["guide"].split(",")[0]).is_file()


def test_errors_are_json_everywhere(server: Running) -> None:
    for method, path, status in (
        ("GET", "/v1/nothing", 404),
        ("PUT", "/v1/lines", 405),
        ("GET", "/v1/jobs/x", 404),
    ):
        answer = server.client.request(method, path)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message", "type", "param"}
    wrong = server.client.post("/v1/lines?format=midi", json=[SHORT])
    assert wrong.status_code == 400
    assert wrong.json()["error"]["param"] == "format"
    template = server.client.post("/v1/lines?template={secret}", json=[SHORT])
    assert "{secret}" in template.json()["error"]["message"]


def test_an_answer_never_grows_with_what_was_wrong(server: Running) -> None:
    """Case: twenty thousand unknown settings, and one whose name is a megabyte."""
    for body in ({f"k{number}": 1 for number in range(20_000)}, {"x" * 1_000_000: 1}):
        for path, sent in (("/v1/audio/speech", body), ("/v1/lines", [body])):
            answer = server.client.post(path, json=sent)
            assert answer.status_code in (202, 400)
            assert len(answer.content) < 5000
            assert "is not a setting this studio knows" in answer.text


def test_a_mark_before_json_is_no_fault(server: Running) -> None:
    """As Windows' editors write it."""
    answer = server.client.post("/v1/audio/speech", content=b'\xef\xbb\xbf{"input": 5}')
    assert answer.json()["error"]["message"] == "input is 5; it must be text."


def test_what_is_wrong_with_a_form_is_said(server: Running) -> None:
    two = [("file", ("a.csv", b"text\na")), ("file", ("b.csv", b"text\nb"))]
    answer = server.client.post("/v1/lines", files=two)
    assert answer.status_code == 400
    assert "Too many files" in answer.json()["error"]["message"]


def test_the_routes_beside_a_page(engine: Engine, tmp_path: object) -> None:
    """Mounted, also under a prefix: the page keeps its addresses, both share the engine."""

    async def page(_: Request) -> PlainTextResponse:
        return PlainTextResponse("the page")

    app = Starlette(routes=[Route("/", page)])
    service = mount(app, engine, Settings(data=tmp_path / "data"))  # type: ignore[operator]
    try:
        for prefix, outer in (("", app), ("/studio", Starlette(routes=[Mount("/studio", app)]))):
            with TestClient(outer) as client:
                assert client.get(f"{prefix}/").text == "the page"
                assert client.get(f"{prefix}/readyz").json() == {"status": "ready"}
                body = {"input": "Hi.", "max_seconds": 0.3, "response_format": "pcm"}
                assert client.post(f"{prefix}/v1/audio/speech", json=body).content
                assert client.get(f"{prefix}/v1/nothing").json()["error"]["code"] == "not_found"
    finally:
        service.close()


def test_keys_and_limits_of_the_command_line(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZONOS_API_KEYS", "ann:one, bob:two")
    assert read_keys(None) == {"ann": "one", "bob": "two"}
    monkeypatch.setenv("ZONOS_API_KEYS", "one")
    assert main(["--port", "0"]) == 1
    assert "is not written as name:key" in capsys.readouterr().err


def test_the_time_to_wait_is_honest() -> None:
    pace = Pace()
    for _ in range(200):
        pace.record(4.0)
    assert pace.wait(ahead=16, at_once=8) in (8, 9)
    assert pace.wait(ahead=0, at_once=8) == 1
    assert pace.wait(ahead=10**6, at_once=8) == 60
