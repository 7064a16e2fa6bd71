"""The command line in this process, on the embedded checkpoint or on an engine that hums at once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zonos.cli import main
from zonos.errors import LineError
from zonos.events import Accepted, Done, Failed, Started
from zonos.events import Speech as Sound
from zonos.line import Line
from zonos.run import Run
from zonos.voices import VoiceSource

RATE, FRAME_RATE = 8000, 50.0


@dataclass(frozen=True)
class Outcome:
    """What one command left behind."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Of the manifest."""
        text = (self.folder / "manifest.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def files(self) -> list[str]:
        """Everything in the folder but the manifest."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != "manifest.jsonl")

    @property
    def events(self) -> list[dict[str, Any]]:
        """What --json printed."""
        return [json.loads(line) for line in self.out.splitlines()]


class CommandLine:
    """Runs commands in an empty folder of their own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capture = folder, capture

    def __call__(self, *arguments: str | Path, out: str = "out") -> Outcome:
        self._capture.readouterr()
        status = main([*map(str, arguments), "--out", out])
        told = self._capture.readouterr()
        return Outcome(status, told.out, told.err, self.folder / out)

    def write(self, name: str, content: str | bytes) -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def script(self, rows: Sequence[dict[str, Any]], name: str = "scene.jsonl") -> Path:
        """A script with these rows."""
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))


class HummingEngine:
    """Speaks each line at once: a hum of a tenth of a second a word. Voices are looked up as usual.

    Attributes:
        dumb: texts that it cannot speak, as a model may find none for a line.
        spoken: texts, in order.
        after: called with the number of takes that are done, after each.
    """

    def __init__(self) -> None:
        self.pipeline = SimpleNamespace(codec=SimpleNamespace(frame_rate=FRAME_RATE))
        self.dumb: set[str] = set()
        self.spoken: list[str] = []
        self.loads: list[dict[str, Any]] = []
        self.after: Callable[[int], object] = lambda done: None
        self._voices: VoiceSource | None = None

    def load(self, model: str, *, voices: VoiceSource, **options: Any) -> HummingEngine:
        """Stands in for ``zonos.load``."""
        self.loads.append({"model": model, **options})
        self._voices = voices
        return self

    def __enter__(self) -> HummingEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, lines: Iterable[Line]) -> Run:
        """A run that makes one line whenever it is asked for an event."""
        waiting = list(lines)
        run = Run("run", "local", waiting, False, pump=lambda: self._speak_one(run, waiting))
        run.on_cancel = run.close
        return run

    def _speak_one(self, run: Run, waiting: list[Line]) -> bool:
        if not waiting:
            return False
        line = waiting.pop(0)
        assert line.id is not None
        assert line.seed is not None
        assert line.takes == 1
        try:
            if line.text in self.dumb:
                raise LineError("silent", "The model was silent; try another voice or text.")
            if line.voice and self._voices:
                self._voices.clips(line.voice)
        except LineError as error:
            run.emit(Failed(run.id, line.id, 0, error.code, error.reason))
            return True
        run.emit(Accepted(run.id, line.id, 0, "hm", 0.1, 1))
        run.emit(Started(run.id, line.id, 0))
        run.emit(Done(run.id, line.id, 0, _hum(line)))
        self.spoken.append(line.text)
        self.after(len(self.spoken))
        return True


def _hum(line: Line) -> Sound:
    seconds = 0.1 * len(line.text.split())
    wave = 0.3 * np.sin(2 * np.pi * (100 + (line.seed or 0) % 400) * np.arange(round(seconds * RATE)) / RATE)
    codes = np.zeros((1, round(seconds * FRAME_RATE)), np.int16)
    recipe = {"line": line.model_dump(mode="json"), "model": "hum", "phonemes": "hm"}
    return Sound(wave.astype(np.float32), RATE, seconds, "eos", line.seed or 0, recipe, (codes,))


def interrupt_at(done: int, number: int = signal.SIGINT) -> Callable[[int], object]:
    """For ``HummingEngine.after``: the signal comes when so many takes are done."""
    return lambda so_far: signal.raise_signal(number) if so_far == done else None


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path, capsys)


@pytest.fixture
def hum(monkeypatch: pytest.MonkeyPatch) -> HummingEngine:
    """An engine in the place of the real one."""
    engine = HummingEngine()
    monkeypatch.setattr("zonos.engine.load", engine.load)
    return engine


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded checkpoint, loaded once for all tests."""
    from engines import mini

    monkeypatch.setattr("zonos.engine.load_pipeline", lambda *_, **__: mini())
