"""SIGTERM lets open speech end; jobs outlive the process."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import httpx
import pytest
from live_server import VOICES, Serve
from test_jobs import SHORT
from waiting import until

from benchmarks.server_process import server_process
from zonos.api.store import Store, StoreError


def test_sigterm_drains_and_the_next_start_goes_on(serve: Serve, tmp_path: Path) -> None:
    options = ["--slots", "2", "--data", str(tmp_path / "server"), "--voices", str(VOICES)]
    with server_process(*options) as (url, process):
        with httpx.Client(base_url=url, timeout=120) as client:
            # Two slots: before the first sound of the speech at most four of these can be through.
            lines = [{"text": "We left the harbour.", "max_seconds": 0.5, "seed": n} for n in range(6)]
            job = client.post("/v1/lines", json=lines).json()["id"]
            body = {"input": "Can you hear me?", "voice": "Heart", "seed": 5, "response_format": "pcm"}
            with client.stream("POST", "/v1/audio/speech", json=body) as speech:
                pieces = speech.iter_raw()
                heard = next(pieces)
                process.send_signal(signal.SIGTERM)
                heard += b"".join(pieces)  # raises where the end is missing
        assert process.wait(60) == 0
    store = Store(tmp_path / "server")
    with store.transaction() as db:
        left = db.execute("SELECT state FROM takes WHERE state != 'done'").fetchall()
    store.close()
    assert {row["state"] for row in left} == {"waiting"}
    server = serve()
    assert server.speak("Can you hear me?", response_format="pcm").content == heard
    assert server.finished(job)["counts"] == {"done": 6}


def test_a_restart_in_the_middle_changes_no_audio(
    serve: Serve, gate: threading.Event, tmp_path: Path
) -> None:
    first = serve()
    lines = [
        {"text": "One.", **SHORT},
        {"text": "Two.", **SHORT, "seed": None},
        {"text": "x", "voice": "nobody"},
    ]
    job = first.job(lines)["id"]
    until(lambda: first.engine.loop.has_work(), "the engine has the lines")
    followed = threading.Thread(target=first.client.get, args=(f"/v1/jobs/{job}/events",))
    followed.start()
    first.service.drain()
    followed.join()  # whoever follows is sent home, to ask the next server
    for answer in (
        first.client.get("/readyz"),
        first.speak("Hi."),
        first.client.post("/v1/lines", json=lines),
    ):
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
    gate.set()
    first.service.close()
    second = serve()
    done = second.finished(job)
    assert [line["state"] for line in done["lines"]] == ["done", "done", "failed"]
    spoken = second.speak("One.", response_format="flac", stream=False, seed=7, max_seconds=0.3).content
    again = second.job([{"text": "One.", **SHORT}], format="flac")["id"]
    second.finished(again)
    assert second.client.get(f"/v1/jobs/{again}/audio/1").content == spoken


def test_two_servers_never_share_a_folder(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match="Another server uses the data folder"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


def test_old_jobs_are_forgotten(serve: Serve, tmp_path: Path) -> None:
    first = serve()
    job = first.job([{"text": "One.", **SHORT}])["id"]
    first.finished(job)
    first.service.close()
    second = serve(keep_days=0.0)
    assert second.client.get(f"/v1/jobs/{job}").status_code == 404
    assert not list((tmp_path / "server" / "jobs").iterdir())


def test_a_data_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    with pytest.raises(StoreError, match=r"file is a file, where a folder is needed\. Choose another"):
        Store(tmp_path / "file")
