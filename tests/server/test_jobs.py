"""Jobs: lines in, events, files and a zip out; what is wrong with a line stays its own."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_server import VOICES, Running, Serve
from starlette.testclient import TestClient
from waiting import until

from zonos.audio import read_clip
from zonos.engine import Engine
from zonos.errors import CheckpointError
from zonos.server import Settings, create_app

SHORT = {"max_seconds": 0.3, "voice": "Heart", "seed": 7}
MIXED: list[Any] = [
    {"text": "One.", "id": "a/b?.wav", **SHORT},
    {"text": "Two.", "takes": 2, **SHORT},
    {"text": "Hi.", "voice": "nobody"},
    {"text": "   "},
    {"txt": "Hi."},
    "Hi.",
    {"text": "Three.", "id": "a/b?.wav"},
    {"text": "x" * 5000},
]


def events_of(server: Running, job: str, **headers: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Kind, number and data of every event until the end."""
    text = server.client.get(f"/v1/jobs/{job}/events", headers=headers).text
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] not in ("", ":"))
        if "event" in fields:
            found.append((fields["event"], fields.get("id", ""), json.loads(fields["data"])))
    return found


def test_bad_lines_fail_alone(server: Running) -> None:
    job = server.job(MIXED)
    done = server.finished(job["id"])
    found = [(line["line"], line["state"], line["code"]) for line in done["lines"]]
    assert found == [
        ("a/b?.wav", "done", None),
        ("2", "done", None),
        ("2", "done", None),
        ("3", "failed", "unknown_voice"),
        ("4", "failed", "empty_text"),
        ("5", "failed", "invalid_line"),
        ("6", "failed", "invalid_line"),
        ("a/b?.wav (7)", "failed", "duplicate_id"),
        ("8", "failed", "too_long"),
    ]
    assert all(line["reason"] for line in done["lines"] if line["state"] == "failed")
    assert done["lines"][1]["seed"] == 7 != done["lines"][2]["seed"]
    assert done["state"] == "done"


def test_audio_is_what_the_speech_route_gives(server: Running) -> None:
    job = server.job([{"text": "One.", "id": "a/b?.wav", **SHORT}], format="flac")
    server.finished(job["id"])
    answer = server.client.get(f"/v1/jobs/{job['id']}/audio/a%2Fb%3F.wav")
    assert answer.headers["content-type"] == "audio/flac"
    spoken = server.speak("One.", response_format="flac", stream=False, seed=7, max_seconds=0.3)
    assert answer.content == spoken.content
    missing = server.client.get(f"/v1/jobs/{job['id']}/audio/other")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "unknown_line")


def test_the_archive_names_what_is_missing_too(server: Running) -> None:
    job = server.job(MIXED, template="{n:02} {text}")
    server.finished(job["id"])
    answer = server.client.get(f"/v1/jobs/{job['id']}/archive.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["01 One.wav", "02 Two.wav", "02 Two (2).wav", "manifest.jsonl"]
        assert read_clip(archive.read("01 One.wav")).seconds == pytest.approx(0.3, abs=0.02)
        manifest = [json.loads(row) for row in archive.read("manifest.jsonl").splitlines()]
    assert [row["state"] for row in manifest] == ["done"] * 3 + ["failed"] * 6
    # What the manifest says is enough to make a take again, alone.
    recipe = manifest[2]["recipe"]["line"]
    again = server.job([{**recipe, "id": "again"}])
    server.finished(again["id"])
    audio = server.client.get(f"/v1/jobs/{again['id']}/audio/again").content
    assert audio == server.client.get(f"/v1/jobs/{job['id']}/audio/2?take=1").content


def test_events_can_be_taken_up_again(server: Running) -> None:
    job = server.job([{"text": "One.", **SHORT}, {"text": "Two.", **SHORT}])["id"]
    everything = events_of(server, job)
    assert everything[-1][0] == "end"
    lines = [event for event in everything if event[0] == "line"]
    assert {data["state"] for _, _, data in lines} == {"waiting", "running", "done"} & {
        data["state"] for _, _, data in lines
    }
    numbers = [int(number) for _, number, _ in lines if number]
    assert numbers == sorted(numbers)
    late = events_of(server, job, **{"last-event-id": str(numbers[-1] - 1)})
    assert [(kind, data.get("n")) for kind, _, data in late][:1] == [("line", lines[-1][2]["n"])]
    over = server.client.get(f"/v1/jobs/{job}/events", headers={"last-event-id": str(numbers[-1])})
    assert over.status_code == 204


def test_a_script_file(server: Running) -> None:
    """A spreadsheet's csv: bad cells are named, good rows spoken."""
    script = "\ufeffText;Voice;max_seconds;happiness\nOne.;Heart;0.3;0.8\n;Heart;0.3;\nTwo.;Heart;soon;\n"
    answer = server.client.post("/v1/lines", files={"file": ("script.csv", script.encode())})
    assert answer.status_code == 202, answer.text
    done = server.finished(answer.json()["id"])
    assert [line["state"] for line in done["lines"]] == ["done", "skipped", "failed"]
    assert "Row 4, column max_seconds" in done["lines"][2]["reason"]
    broken = server.client.post("/v1/lines", files={"file": ("script.xlsx", b"PK\x03\x04 no")})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "unreadable_script")


def test_cancel_keeps_what_is_done_and_delete_removes_all(
    serve: Serve, gate: threading.Event, tmp_path: Path
) -> None:
    server = serve()
    job = server.job([{"text": "One.", **SHORT}] * 3)["id"]
    until(lambda: server.engine.loop.has_work(), "the engine has the lines")
    stopped = server.client.post(f"/v1/jobs/{job}/cancel").json()
    assert (stopped["state"], stopped["counts"]) == ("cancelled", {"cancelled": 3})
    gate.set()
    assert server.finished(job)["counts"] == {"cancelled": 3}
    second = server.job([{"text": "One.", **SHORT}])["id"]
    server.finished(second)
    assert server.client.post(f"/v1/jobs/{second}/cancel").json()["counts"] == {"done": 1}
    assert {row["id"] for row in server.client.get("/v1/jobs").json()["jobs"]} == {job, second}
    for one in (job, second):
        assert server.client.delete(f"/v1/jobs/{one}").status_code == 204
        assert server.client.get(f"/v1/jobs/{one}").status_code == 404
    until(lambda: not any((tmp_path / "server" / "jobs").iterdir()), "its files are gone")


def test_delete_while_it_is_spoken(server: Running, gate: threading.Event, tmp_path: Path) -> None:
    job = server.job([{"text": "One.", **SHORT}] * 2)["id"]
    until(lambda: server.engine.loop.has_work(), "the engine has the lines")
    assert server.client.delete(f"/v1/jobs/{job}").status_code == 204
    gate.set()
    until(lambda: server.engine.status().running == 0, "its slots are free")
    assert server.client.get("/v1/jobs").json() == {"jobs": []}
    assert server.client.get(f"/v1/jobs/{job}/events").status_code == 404


def test_a_full_disk_is_said_and_nothing_half_is_offered(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "The disk is full: '000001-000.wav' was not written.")

    monkeypatch.setattr("zonos.api.worker.write_audio", full)
    done = server.finished(server.job([{"text": "One.", **SHORT}])["id"])
    assert (done["lines"][0]["state"], done["lines"][0]["code"]) == ("failed", "storage")
    assert "disk is full" in done["lines"][0]["reason"]
    assert server.client.get(f"/v1/jobs/{done['id']}/audio/1").status_code == 409


def test_a_job_larger_than_what_the_engine_holds_at_once(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines go to the engine a few at a time; all of them come back."""
    monkeypatch.setattr("zonos.api.worker.AT_ONCE", 4)
    monkeypatch.setattr("zonos.api.worker.REFILL", 2)
    held: list[int] = []
    submit = server.engine.submit

    def counting(lines: list, **options: Any) -> Any:
        held.append(len(lines))
        return submit(lines, **options)

    monkeypatch.setattr(server.engine, "submit", counting)
    done = server.finished(server.job([{"text": "Hi.", **SHORT, "max_seconds": 0.1}] * 11)["id"])
    assert done["counts"] == {"done": 11}
    assert max(held) <= 4
    assert sum(held) == 11


def test_a_voice_of_ones_own(server: Running) -> None:
    clip = (VOICES / "Marcus.wav").read_bytes()

    def make(name: str, content: bytes, consent: str = "true") -> Any:
        return server.client.post(
            "/v1/voices", data={"name": name, "consent": consent}, files={"clip": ("../../x.wav", content)}
        )

    made = make("Me", clip)
    assert made.status_code == 201
    assert made.json()["clips"][0]["title"] == "x.wav"
    voice = made.json()["id"]
    listed = server.client.get("/v1/audio/voices").json()["voices"]
    assert [v["name"] for v in listed] == ["Me", "Heart", "June", "Marcus", "Otto", "Rowan", "Vera"]
    by_id, by_name, original = (
        server.speak("Hi.", voice=v, max_seconds=0.3) for v in (voice, "me", "Marcus")
    )
    assert by_id.content == by_name.content == original.content
    assert make("ME", clip).json()["error"]["code"] == "voice_exists"
    assert make("heart", clip).json()["error"]["code"] == "voice_exists"
    assert make("You", clip, "false").json()["error"]["code"] == "no_consent"
    # Cases: a 0-byte file, a text file named .wav, pure silence: refused, never another voice.
    for content in (b"", b"I am a text file, not a clip.", b"RIFF" + clip[4:44] + bytes(48_000)):
        answer = make("You", content)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["message"]
    assert len(server.client.get("/v1/audio/voices").json()["voices"]) == 7
    assert server.client.delete(f"/v1/voices/{voice}").status_code == 204
    assert server.speak("Hi.", voice=voice).json()["error"]["code"] == "unknown_voice"
    assert server.client.delete("/v1/voices/Heart").status_code == 404
    assert not list((server.service.store.voices).iterdir())


def test_audio_that_somebody_deleted_is_not_there(server: Running) -> None:
    job = server.job([{"text": "One.", **SHORT}])["id"]
    server.finished(job)
    for file in (server.service.store.jobs / job).iterdir():
        file.unlink()
    answer = server.client.get(f"/v1/jobs/{job}/audio/1")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_audio")


def test_a_model_that_is_not_there_is_told_once_a_job(tmp_path: Path) -> None:
    """Case: a page of text about a download, on each of a thousand lines."""

    @contextmanager
    def lend() -> Iterator[Engine]:
        raise CheckpointError("The model x cannot be loaded. With a network, run: hf download x")
        yield

    with TestClient(create_app(lend, Settings(data=tmp_path))) as client:
        job = client.post("/v1/lines", json=[{"text": "One."}, {"text": "Two."}]).json()["id"]
        assert "event: end" in client.get(f"/v1/jobs/{job}/events").text
        told = client.get(f"/v1/jobs/{job}").json()
    assert told["warnings"] == ["The model x cannot be loaded. With a network, run: hf download x"]
    assert [(line["code"], line["reason"]) for line in told["lines"]] == [
        ("model_not_available", "The model is not there; the job's warnings say why.")
    ] * 2
