"""A real server on a real socket around the real engine and the embedded checkpoint."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from waiting import until

from zonos.engine import Engine
from zonos.server import Server, Service, Settings, create_app

VOICES = Path(__file__).parents[2] / "examples" / "voices"


@dataclass
class Running:
    """A server that listens."""

    url: str
    service: Service
    engine: Engine
    client: httpx.Client

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def speak(self, text: str, **fields: Any) -> httpx.Response:
        body = {"input": text, "voice": "Heart", "seed": 5, "response_format": "wav", **fields}
        return self.client.post("/v1/audio/speech", json=body)

    def job(self, lines: list[dict[str, Any]], **query: Any) -> dict[str, Any]:
        answer = self.client.post("/v1/lines", json=lines, params=query)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def finished(self, job: str) -> dict[str, Any]:
        """Wait by the job's own events."""
        with self.client.stream("GET", f"/v1/jobs/{job}/events") as events:
            assert any(line == "event: end" for line in events.iter_lines())
        return self.client.get(f"/v1/jobs/{job}").json()


Serve = Callable[..., Running]


@contextmanager
def listening(engine: Engine, settings: Settings, send_buffer: int | None = None) -> Iterator[Running]:
    app = create_app(engine, settings)
    server = Server(app.state.service, uvicorn.Config(app, log_level="warning"))
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    if send_buffer:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started, "the server listens")
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=120) as client:
            yield Running(url, app.state.service, engine, client)
    finally:
        server.should_exit = True
        thread.join()
