"""Many clients at once: nobody hears of the others; those who leave or dawdle cost only themselves."""

from __future__ import annotations

import io
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
import soundfile
from live_server import VOICES, Running, Serve
from waiting import until

from zonos.engine import Engine
from zonos.run import Run

LANGUAGES = [
    "en-us",
    "de",
    "fr-fr",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "sv",
    "cs",
    "fi",
    "tr",
    "ro",
    "hu",
    "da",
    "en-gb",
]
LONG = "We left the old harbour at first light, and nobody told the captain that the storm was coming."


def clip(number: int) -> bytes:
    """Sixteen voices of four recordings: another part of it, at another speed."""
    samples, rate = soundfile.read(sorted(VOICES.glob("*.wav"))[number % 4])
    start = (number // 4) * rate
    file = io.BytesIO()
    soundfile.write(
        file, samples[start : start + 2 * rate], int(rate * (0.9 + 0.05 * (number // 4))), format="WAV"
    )
    return file.getvalue()


def test_sixteen_clients_hear_what_they_would_hear_alone(serve: Serve) -> None:
    """Case: the first request's voice for all (zonos-api-docker); fp32 on the CPU, byte for byte."""
    server = serve()
    voices = []
    for number in range(16):
        files = [("clip", (f"{number}.wav", clip(number)))]
        answer = server.client.post("/v1/voices", data={"name": f"v{number}", "consent": "true"}, files=files)
        assert answer.status_code == 201, answer.text
        voices.append(answer.json()["id"])
    start = threading.Barrier(16)

    def ask(number: int, together: bool) -> bytes:
        fields = {"voice": voices[number], "language": LANGUAGES[number], "seed": 40 + number}
        if together:
            start.wait(60)
        answer = server.speak("Kilo, lima, metro.", max_seconds=0.4, response_format="pcm", **fields)
        assert answer.status_code == 200, answer.text
        return answer.content

    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda number: ask(number, True), range(16)))
    alone = [ask(number, False) for number in range(16)]
    assert [a == b for a, b in zip(together, alone, strict=True)] == [True] * 16
    assert len(set(together)) == 16


def test_a_client_that_hangs_up_frees_its_slot_within_a_frame(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps_at_cancel: list[int] = []
    cancel = Run.cancel

    def noted(run: Run, *args: object) -> None:
        cancel(run, *args)
        steps_at_cancel.append(server.engine.status().row_steps)

    monkeypatch.setattr(Run, "cancel", noted)
    body = {"input": LONG, "voice": "Heart", "seed": 1, "response_format": "pcm"}
    with server.client.stream("POST", "/v1/audio/speech", json=body) as answer:
        assert next(answer.iter_raw())
        assert server.engine.status().running == 1
    until(lambda: steps_at_cancel, "the server notices")
    until(lambda: server.engine.status().running == 0, "the slot is free")
    # One frame may be on its way at the moment of the cancel.
    assert server.engine.status().row_steps - steps_at_cancel[0] <= 1
    until(lambda: server.service.requests.open == 0, "the client's place is free")


def test_a_client_that_hangs_up_before_the_first_sound(server: Running, gate: threading.Event) -> None:
    sender = socket.create_connection(("127.0.0.1", server.port))
    sender.sendall(request(server, '{"input": "Hello.", "voice": "Heart"}'))
    until(lambda: server.service.requests.open == 1, "the request is open")
    sender.close()
    until(lambda: server.service.requests.open == 0, "the client's place is free")
    gate.set()
    until(lambda: server.engine.status().waiting == server.engine.status().running == 0, "nothing is left")


def test_a_slow_reader_costs_only_itself(serve: Serve) -> None:
    """It holds no slot, others are served, and it is let go when it takes nothing."""
    server = serve(send_buffer=8192, stall_seconds=1.0)
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", server.port))
    with slow:
        slow.sendall(
            request(server, f'{{"input": "{LONG}", "voice": "Heart", "seed": 1, "response_format": "pcm"}}')
        )
        until(lambda: server.engine.status().running == 1, "its line is spoken")
        assert len(server.speak("Hi.", max_seconds=0.3).content) > 44
        until(lambda: server.engine.status().running == 0, "its slot is free although it reads nothing")
        until(lambda: server.service.requests.open == 0, "it is let go")
        assert server.speak("Hi.", max_seconds=0.3).status_code == 200
        received = b"".join(iter(lambda: slow.recv(65536), b""))
    # The end of a chunked body never came: nobody takes this for the whole.
    assert received.startswith(b"HTTP/1.1 200")
    assert not received.endswith(b"0\r\n\r\n")


def test_past_the_queue_there_is_a_time_to_wait(serve: Serve, gate: threading.Event) -> None:
    server = serve(client_requests=2, client_lines=3)
    with ThreadPoolExecutor(2) as pool:
        first = [pool.submit(server.speak, "Hi.", max_seconds=0.3) for _ in range(2)]
        until(lambda: server.service.requests.open == 2, "two are open")
        refused = server.speak("Hi.")
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.json()["error"]["code"] == "client_limit"
        assert server.client.post("/v1/lines", json=[{"text": "a"}] * 4).status_code == 413
        job = server.job([{"text": "One.", "max_seconds": 0.3}, {"text": "Two.", "max_seconds": 0.3}])
        assert server.client.post("/v1/lines", json=[{"text": "a"}] * 2).status_code == 429
        gate.set()
        assert [answer.result().status_code for answer in first] == [200, 200]
    assert server.finished(job["id"])["counts"] == {"done": 2}
    assert server.client.post("/v1/lines", json=[{"text": " "}] * 2).status_code == 202
    assert 'zonos_refused_total{code="client_limit"} 2.0' in server.client.get("/metrics").text


def test_a_stream_that_fails_in_the_middle_breaks_off(
    server: Running, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never half a file that looks whole; as server-sent events it is an event."""
    from zonos.finish import TakeAudio

    hear = TakeAudio.hear

    def fails_later(audio: TakeAudio, index: int, codes: np.ndarray, seed: int) -> np.ndarray:
        if audio._length:
            raise RuntimeError("a fault in the middle")
        return hear(audio, index, codes, seed)

    monkeypatch.setattr(TakeAudio, "hear", fails_later)
    with pytest.raises(httpx.RemoteProtocolError):
        server.speak(LONG, response_format="pcm")
    events = server.speak(LONG, stream_format="sse", response_format="pcm").text
    assert '"type": "error"' in events
    assert "speech.audio.done" not in events
    assert 'zonos_failures_total{code="internal"} 2.0' in server.client.get("/metrics").text


def test_metrics_tell_of_the_engine(server: Running) -> None:
    server.speak("Hi.", max_seconds=0.3)
    text = server.client.get("/metrics").text
    for name in (
        "queue_length",
        "slots",
        "occupancy",
        "frames_total",
        "first_chunk_seconds_count",
        "real_time_factor_count",
    ):
        assert f"zonos_{name} " in text


def request(server: Running, body: str) -> bytes:
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
