"""The page's routes: every answer that is not 200 is a sentence, and no path leads out."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from starlette.applications import Starlette
from starlette.testclient import TestClient
from studio_support import Bench

from ui import sample
from ui.api import Api
from ui.engines import Engines
from ui.http import TOKEN_HEADER
from ui.limits import Limits
from ui.runs import Runs
from ui.script_file import KINDS


class Visitor(Bench):
    """A bench with a client that speaks HTTP."""

    def __init__(self, folder: Path, **limits: int) -> None:
        super().__init__(folder)
        self.limits = Limits(**{"upload_bytes": 2**20} | limits)

        def no_model(name: str) -> Any:
            raise AssertionError(f"no model is needed here: {name}")

        runs = Runs(self.store, Engines(no_model), self.limits)
        self.http = TestClient(Starlette(routes=Api(self.store, runs, self.limits).routes()))
        self.http.headers[TOKEN_HEADER] = self.token


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    made = Visitor(tmp_path)
    yield made
    made.store.close()


def wav(samples: np.ndarray, rate: int = 24_000) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format="WAV")
    return buffer.getvalue()


def tone(seconds: float, level: float = 0.3) -> np.ndarray:
    return level * np.sin(np.arange(int(24_000 * seconds)) / 15)


@pytest.mark.parametrize("token", ["", "x", "x" * 5000, "../../etc", "%00"])
def test_without_a_good_token_nothing_is_given(visitor: Visitor, token: str) -> None:
    visitor.http.headers[TOKEN_HEADER] = token
    for method, path in (("GET", "/studio/changes"), ("POST", "/studio/run"), ("POST", "/studio/edits")):
        body = {"after": 0, "edits": []} if path.endswith("edits") else {"which": "pending"}
        answer = visitor.http.request(method, path, json=body)
        assert answer.status_code == 404
        assert "Reload the page" in answer.json()["error"]


@pytest.mark.parametrize("after", ["-1", "x", "1e3", "9" * 30])
def test_a_bad_number_is_refused(visitor: Visitor, after: str) -> None:
    answer = visitor.http.get(f"/studio/changes?after={after}")
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b'{"after": 0}',
        b'{"after": 0, "edits": 5}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_bad_body_is_refused(visitor: Visitor, content: bytes) -> None:
    answer = visitor.http.post("/studio/edits", content=content)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")
    assert answer.json()["studio"]  # the page tells it from the answer of a proxy in between


def test_a_huge_body_is_not_read(visitor: Visitor) -> None:
    answer = visitor.http.post("/studio/edits", content=b" " * (9 * 2**20))
    assert answer.status_code == 413
    answer = visitor.http.post("/studio/edits", content=iter([b"{}"]))
    assert answer.status_code == 411


def test_edits_answer_with_what_changed(visitor: Visitor) -> None:
    first = visitor.ids()[0]
    now = visitor.since()["revision"]
    edits = [{"op": "set", "id": first, "fields": {"text": "x", "pitch_std": 5000}}]
    answer = visitor.http.post("/studio/edits", json={"after": now, "edits": edits}).json()
    assert [line["text"] for line in answer["lines"]] == ["x"]
    assert answer["refused"][0]["field"] == "pitch_std"
    assert answer["run"] == {"on": False}


def test_audio_is_served_with_ranges_to_its_owner_only(visitor: Visitor) -> None:
    take = visitor.give_take(visitor.ids()[0], seconds=0.5)
    address = f"/studio/take/{visitor.token}/{take}.wav"
    whole = visitor.http.get(address)
    assert soundfile.info(io.BytesIO(whole.content)).duration == 0.5
    part = visitor.http.get(address, headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, whole.content[:10])
    stranger = sample.first_project(visitor.store)
    assert visitor.http.get(f"/studio/take/{stranger.token}/{take}.wav").status_code == 404
    for path in ("../studio.sqlite", "..%2f..%2fstudio.sqlite", "%2e%2e/studio.sqlite"):
        assert visitor.http.get(f"/studio/take/{visitor.token}/{path}.wav").status_code == 404
    assert len(visitor.http.get(f"/studio/peaks/{take}").content) == 200


def test_a_take_whose_file_is_gone_is_said(visitor: Visitor) -> None:
    take = visitor.give_take(visitor.ids()[0])
    for file in (visitor.store.takes / visitor.token).iterdir():
        file.unlink()
    answer = visitor.http.get(f"/studio/take/{visitor.token}/{take}.wav")
    assert answer.status_code == 404
    assert "generate the line again" in answer.json()["error"]


def upload(visitor: Visitor, content: bytes, title: str = "clip.wav", consent: str = "yes") -> Any:
    files = {"clip": (title, content, "audio/wav")}
    return visitor.http.post("/studio/voices", files=files, data={"consent": consent})


def test_a_clip_becomes_a_voice_with_a_report(visitor: Visitor) -> None:
    answer = upload(visitor, wav(tone(4.0)), "../../My  aunt.wav")
    assert answer.json()["name"] == "My aunt"
    voice = next(v for v in visitor.since()["project"]["voices"] if v["name"] == "My aunt")
    assert voice["consent"]
    assert voice["clips"][0]["seconds"] == 4.0
    assert upload(visitor, wav(tone(4.0)), "my aunt.wav").json()["name"] == "my aunt 2"
    assert list(visitor.store.scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "title", "says"),
    [
        (b"", "empty.wav", "empty"),
        (b"hello, I am a letter\n" * 40, "letter.wav", "letter.wav"),
        (wav(tone(0.05)), "short.wav", "at least 0.5 s"),
        (wav(np.zeros(48_000)), "silence.wav", "0.0 s of sound"),
    ],
)
def test_a_bad_clip_is_refused_and_leaves_nothing(
    visitor: Visitor, content: bytes, title: str, says: str
) -> None:
    before = visitor.since()["project"]["voices"]
    answer = upload(visitor, content, title)
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert visitor.since()["project"]["voices"] == before
    assert list(visitor.store.scratch.iterdir()) == []


def test_a_clip_too_large_or_without_consent_is_refused(visitor: Visitor) -> None:
    assert upload(visitor, wav(tone(30.0))).status_code == 413
    assert "may use this voice" in upload(visitor, wav(tone(4.0)), consent="no").json()["error"]


def test_name_and_settings(visitor: Visitor) -> None:
    answer = visitor.http.post("/studio/project", json={"name": " A\n${b} ", "settings": {"model": "mini"}})
    assert answer.status_code == 200
    assert visitor.since()["project"]["name"] == "A ${b}"
    assert visitor.http.post("/studio/project", json={"settings": {"shelf": "x"}}).status_code == 400
    # One tab sets the look of new rows, another one has picked a model meanwhile.
    visitor.http.post("/studio/project", json={"settings": {"model": "transformer"}})
    visitor.http.post("/studio/project", json={"settings": {"new_row": {"voice": "Vera"}}})
    settings = visitor.since()["project"]["settings"]
    assert (settings["model"], settings["new_row"]) == ("transformer", {"voice": "Vera"})


def test_the_page_is_ready_before_torch_is_imported() -> None:
    import subprocess
    import sys

    code = "import sys, ui.page; sys.exit(bool({'torch', 'av', 'sudachipy'} & set(sys.modules)))"
    root = Path(__file__).resolve().parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "txt", "srt", "vtt", "xlsx"])
def test_every_kind_of_script_comes_in_as_it_went_out(visitor: Visitor, kind: str) -> None:
    from zonos.line import Emotion, Line
    from zonos.script.write import write_script

    rich = kind not in ("txt", "srt", "vtt")
    lines = [
        Line(
            text="=1+1; “Größe”, \u0645\u0631\u062d\u0628\u0627",
            voice="Vera",
            emotion=Emotion(fear=0.5),
            seed=7,
        ),
        Line(text="Second.", language="de", speaking_rate=12.5),
    ]
    files = {"script": (f"script.{kind}", write_script(lines, kind), "application/octet-stream")}
    answer = visitor.http.post("/studio/script", files=files).json()
    fields = [row["fields"] for row in answer["rows"]]
    assert [entry["text"] for entry in fields] == [line.text for line in lines]
    if rich:
        assert (fields[0]["voice"], fields[0]["emotion"], fields[0]["seed"]) == ("Vera", {"fear": 0.5}, "7")
        assert (fields[1]["language"], fields[1]["speaking_rate"]) == ("de", 12.5)
    if kind in ("srt", "vtt"):
        assert answer["rows"][0]["slot"][0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_is_saved_in_every_kind_and_reads_back(visitor: Visitor, kind: str) -> None:
    visitor.http.post("/studio/project", json={"name": "A/B “ü”"})
    first, second, *rest = visitor.ids()
    visitor.edit({"op": "delete", "ids": rest})
    visitor.give_take(first, seconds=2.5)
    answer = visitor.http.get(f"/studio/script/{visitor.token}.{kind}")
    assert answer.headers["content-disposition"].endswith(f"A%20B%20%E2%80%9C%C3%BC%E2%80%9D.{kind}")
    files = {"script": (f"script.{kind}", answer.content, "application/octet-stream")}
    rows = visitor.http.post("/studio/script", files=files).json()["rows"]
    kept = [
        {name: visitor.line(line_id).get(name) for name in ("text", "voice")} for line_id in (first, second)
    ]
    if kind in ("txt", "srt", "vtt"):
        assert [row["fields"]["text"] for row in rows] == [line["text"] for line in kept]
    else:
        assert [{name: row["fields"].get(name) for name in ("text", "voice")} for row in rows] == kept
    if kind in ("srt", "vtt"):
        assert rows[0]["slot"] == [0, 2.5]
        assert rows[1]["slot"][0] == 2.5


def test_a_script_of_no_known_kind_is_not_saved(visitor: Visitor) -> None:
    answer = visitor.http.get(f"/studio/script/{visitor.token}.exe")
    assert answer.status_code == 404
    assert "csv, tsv, xlsx" in answer.json()["error"]
    assert visitor.http.get("/studio/script/nobody.csv").status_code == 404


def test_unknown_voices_are_named_with_their_column(visitor: Visitor) -> None:
    content = b"Voice;TEXT;Prefix audio;Language\nNobody;One.;;klingon\nheart;Two.;Ghost;en\n"
    rows = visitor.http.post("/studio/script", files={"script": ("x.csv", content, "text/csv")}).json()[
        "rows"
    ]
    assert rows[0]["missing"] == [{"name": "Nobody", "column": "Voice"}]
    assert rows[0]["problems"][0]["column"] == "Language"
    assert "It speaks en-us" in rows[0]["problems"][0]["message"]
    assert rows[1]["missing"] == [{"name": "Ghost", "column": "Prefix audio"}]


def test_a_text_over_the_limit_is_marked_in_the_preview(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path, characters=10)
    files = {"script": ("x.csv", b"Text,Voice\nShort.,Heart\nMuch too long.,Heart\n", "text/csv")}
    good, bad = visitor.http.post("/studio/script", files=files).json()["rows"]
    visitor.store.close()
    assert (good["fields"]["text"], good["problems"]) == ("Short.", [])
    assert "fields" not in bad
    assert "at most 10 characters" in bad["problems"][0]["message"]
    facts = visitor.http.get("/studio/about").json()
    assert (facts["limits"]["characters"], facts["limits"]["note"]) == (10, 2000)


def test_a_script_that_cannot_be_read_is_said(visitor: Visitor) -> None:
    for content in (b"", b"\x00\x01\x02" * 400, b"PK\x03\x04broken"):
        answer = visitor.http.post("/studio/script", files={"script": ("x.csv", content, "text/csv")})
        assert answer.status_code == 400 or answer.json()["rows"] == [] or answer.json()["warnings"]


def test_the_limit_of_characters_is_said(visitor: Visitor) -> None:
    visitor.limits = Limits(characters=10)
    first = visitor.ids()[0]
    refused = visitor.edit({"op": "set", "id": first, "fields": {"text": "x" * 11, "voice": "Vera"}})
    assert refused == [
        {"id": first, "field": "text", "reason": "A line holds at most 10 characters here; split it."}
    ]
    assert visitor.line(first)["voice"] == "Vera"


@pytest.mark.parametrize("model", ["/", "Someone/something", "../mini", ""])
def test_a_model_that_is_not_offered_is_refused(visitor: Visitor, model: str) -> None:
    answer = visitor.http.post("/studio/project", json={"name": "X", "settings": {"model": model}})
    assert answer.status_code == 400
    assert "pick one of: mini, transformer, hybrid" in answer.json()["error"]
    project = visitor.since()["project"]
    assert (project["settings"]["model"], project["name"]) == ("mini", "My first script")


def test_an_operators_own_model_can_be_picked(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "models" / "own"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    monkeypatch.setenv("ZONOS_MODELS", str(folder.parent))
    assert visitor.http.post("/studio/project", json={"settings": {"model": "own"}}).status_code == 200
    assert visitor.since()["project"]["settings"]["model"] == "own"


def test_an_export_is_fetched_once_and_by_its_own_project_only(visitor: Visitor) -> None:
    from ui import export
    from ui.export_plan import Options

    visitor.give_take(visitor.ids()[0])
    path, _ = export.write(visitor.store, visitor.token, Options())
    stranger = sample.first_project(visitor.store)
    assert visitor.http.get(f"/studio/export/{stranger.token}/{path.stem}.zip").status_code == 404
    assert visitor.http.get(f"/studio/export/{visitor.token}/{path.stem}.zip").status_code == 200
    assert (
        "make it again" in visitor.http.get(f"/studio/export/{visitor.token}/{path.stem}.zip").json()["error"]
    )
