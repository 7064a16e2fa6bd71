"""``python -m zonos doctor``: every finding says what to do. Case: "no eSpeak on the system"."""

from __future__ import annotations

import io
import json
import socket
from pathlib import Path

import pytest

from zonos import doctor
from zonos.doctor import Finding, examine, main
from zonos.errors import LineError
from zonos.hub.download import Hub


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("ZONOS_MODELS", raising=False)


def found(findings: list[Finding], check: str) -> Finding:
    return next(finding for finding in findings if finding.check == check)


def test_this_machine_can_speak(tmp_path: Path) -> None:
    out = io.StringIO()
    assert main(["--out", str(tmp_path)], out=out) == 0
    text = out.getvalue()
    for check in ("eSpeak", "CPU", "GPU", "memory", "output folder", "model mini", "model hybrid", "network"):
        assert f"{check}" in text
    assert text.rstrip().splitlines()[-1].startswith("Speech can be made")


def test_json_holds_every_finding(tmp_path: Path) -> None:
    out = io.StringIO()
    assert main(["--json", "--out", str(tmp_path)], out=out) == 0
    report = json.loads(out.getvalue())
    assert report["ok"] is True
    assert {"check", "level", "message", "action"} == set(report["findings"][0])
    assert {finding["level"] for finding in report["findings"]} <= {"ok", "note", "warning", "fault"}


def test_the_wheels_espeak_is_used_and_its_version_named(tmp_path: Path) -> None:
    espeak = found(list(examine(tmp_path)), "eSpeak")
    assert espeak.level == "ok"
    assert "1.52" in espeak.message


@pytest.mark.parametrize(
    "reason",
    [
        "The speech text library is missing (No module named 'espeakng_loader'). Run: pip install x",
        "eSpeak NG 1.51.0 is too old, 1.52.0 is needed. Run: pip install x",
        "eSpeak NG could not start for en-us: no data. Run: pip install x",
    ],
)
def test_espeak_that_is_missing_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    def broken() -> tuple[int, ...]:
        raise LineError("no_espeak", reason)

    monkeypatch.setattr("zonos.text.espeak.espeak_version", broken)
    out = io.StringIO()
    assert main(["--out", str(tmp_path)], out=out) == 1
    assert "FAULT eSpeak" in out.getvalue()
    assert "-> Run: pip install x" in out.getvalue()


def test_espeak_without_the_data_of_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "zonos.text.espeak.phonemise", lambda text, language: "" if language == "cmn" else "x"
    )
    espeak = found(list(examine(tmp_path)), "eSpeak")
    assert espeak.level == "fault"
    assert "cmn" in espeak.message
    assert espeak.action


def test_missing_japanese_is_a_note_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(text: str) -> str:
        raise LineError(
            "missing_japanese", "SudachiPy is not installed. Run: pip install -r requirements-ja.txt"
        )

    monkeypatch.setattr("zonos.text.japanese.readings", missing)
    finding = found(list(examine(tmp_path)), "Japanese")
    assert finding.level == "note"
    assert "requirements-ja.txt" in finding.action


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PACKAGES", {"no_such_package_at_all": "does nothing"})
    (finding,) = doctor._packages()
    assert finding.level == "fault"
    assert "pip install" in finding.action


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a file where a folder should be")
    out = io.StringIO()
    assert main(["--out", str(file / "deeper")], out=out) == 1
    assert f"{file} is a file, where a folder is needed." in out.getvalue()
    assert "--out" in out.getvalue()


def test_a_full_disk_and_little_memory_are_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_NEEDED_DISK_BYTES", 1e30)
    monkeypatch.setattr(doctor, "_NEEDED_MEMORY_BYTES", 1e30)
    findings = list(examine(tmp_path))
    assert found(findings, "output folder").level == "warning"
    assert found(findings, "memory").level == "warning"
    out = io.StringIO()
    assert main(["--out", str(tmp_path)], out=out) == 0
    assert "to look at" in out.getvalue()


@pytest.mark.parametrize(
    ("files", "room"),
    [
        ({"memory.max": "max\n", "memory.current": "5\n"}, None),
        ({"memory.max": "1000\n", "memory.current": "400\n"}, 600),
        ({"memory.max": "1000\n", "memory.current": "4000\n"}, 0),
        ({"memory.max": "1000\n"}, None),
        ({}, None),
    ],
)
def test_a_containers_own_limit_counts(tmp_path: Path, files: dict[str, str], room: int | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert doctor._container_room(tmp_path) == room


def test_broken_and_missing_models_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text("{}")
    monkeypatch.setenv("ZONOS_MODELS", str(tmp_path))
    findings = list(examine(tmp_path))
    broken = found(findings, "model mine")
    assert broken.level == "warning"
    assert "model.safetensors is missing" in broken.message
    assert "to download" in found(findings, "model transformer").message
    assert found(findings, "model transformer").action


def test_an_nvidia_card_that_pytorch_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    gpu = found(list(doctor._devices()), "GPU")
    assert gpu.level == "warning"
    assert "pytorch.org" in gpu.action


def test_a_card_whose_driver_fails_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(index: int) -> tuple[int, int]:
        raise RuntimeError("CUDA error: unknown error\nmore")

    monkeypatch.setattr("torch.cuda.get_device_name", lambda index: "Card")
    monkeypatch.setattr("torch.cuda.mem_get_info", fail)
    finding = doctor._cuda(0)
    assert finding.level == "warning"
    assert "CUDA error: unknown error" in finding.message


@pytest.mark.parametrize(("free", "level"), [(20e9, "ok"), (1e9, "warning")])
def test_a_card_that_another_program_fills(monkeypatch: pytest.MonkeyPatch, free: float, level: str) -> None:
    monkeypatch.setattr("torch.cuda.get_device_name", lambda index: "Card")
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda index: (free, 24e9))
    monkeypatch.setattr(doctor, "_working_types", lambda device: ["float32"])
    assert doctor._cuda(0).level == level


def test_offline_unreachable_and_reachable(tmp_path: Path) -> None:
    assert "HF_HUB_OFFLINE" in next(doctor._network(Hub("https://x.y", tmp_path, offline=True))).message
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    hub = Hub(f"http://127.0.0.1:{port}", tmp_path, offline=False)
    assert next(doctor._network(hub)).level == "ok"
    server.close()
    refused = next(doctor._network(hub))
    assert refused.level == "note"
    assert "cannot be reached" in refused.message
    assert refused.action
