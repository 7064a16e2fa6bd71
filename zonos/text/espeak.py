"""Text to phonemes with the eSpeak NG of the espeakng-loader wheel, never a system's own.

The settings are those the published checkpoints were trained with: every mark of the token table,
the space included, splits the text, so each word is phonemised alone. Language-switch flags such as
``(en)`` are removed (the model would speak them).

eSpeak runs in a process of its own (``zonos.text.espeak_worker``), because some texts crash it; such a
text fails alone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from functools import lru_cache
from typing import Any

from zonos.errors import LineError
from zonos.text.tokens import punctuation_marks

CACHE_SIZE = 16_384
_TRIES = 2  # a crash can be the late effect of an earlier text, which a fresh process does not feel

# What eSpeak 1.52 crashes on and nobody hears: control characters, Braille and enclosed letters (in
# am, ar, bn, fi, gu and others), the backtick (in vi). Found by giving every voice every character.
_UNREADABLE = re.compile("[\u2460-\u24ff\u2800-\u28ff\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST_WORD = 60  # letters; da and ro crash somewhere above 120
_LONG_WORD = re.compile(rf"(\w{{{_LONGEST_WORD}}})(?=\w)")
_UNSPACED = frozenset({"cmn", "hak", "ja", "my", "shn", "yue"})


class _Worker:
    """The other process; one question at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0  # process id: a fork must not share the pipes

    def ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The answer, or None where the question ended the other process."""
        with self._lock:
            process = self._running()
            line = self._exchange(process, json.dumps(question))
            if not line:
                self._end(process)
                return None
        return dict(json.loads(line))

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self._process, self._owner = _start(), os.getpid()
        return self._process

    @staticmethod
    def _exchange(process: subprocess.Popen[str], line: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return process.stdout.readline()
        except (BrokenPipeError, OSError):
            return ""

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)
        self._process = None


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:  # what was not sent cannot be sent any more
        return


def _start() -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "zonos.text.espeak_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,  # Ctrl+C is for the studio, which closes the pipe when it goes
        )
    except OSError as error:
        raise LineError("no_espeak", f"The speech text process could not start: {error}.") from error


_WORKER = _Worker()


def _ask(question: dict[str, Any]) -> dict[str, Any]:
    for _ in range(_TRIES):
        found = _WORKER.ask(question | {"marks": punctuation_marks()})
        if found is None:
            continue
        if "code" in found:
            raise LineError(found["code"], found["reason"])
        return found
    shown = str(question.get("text", ""))[:40]
    raise LineError(
        "espeak_crashed",
        f"eSpeak cannot read {shown!r} in {question.get('language', 'any language')}. "
        "Spell it another way, or give its phonemes in [[double brackets]].",
    )


@lru_cache(maxsize=CACHE_SIZE)
def phonemise(normalised: str, language: str) -> str:
    """Phonemes of normalised text, punctuation and spaces kept; safe from any thread.

    Args:
        normalised: text as ``normalise`` gives it; may be empty.
        language: one of ``languages.CODES``.

    Raises:
        LineError: ``no_espeak``, ``old_espeak``, ``espeak_crashed``.
    """
    readable = _UNREADABLE.sub("", normalised).replace("`", " " if language.startswith("vi") else "`")
    if language not in _UNSPACED:
        readable = _LONG_WORD.sub(r"\1 ", readable)
    return str(_ask({"text": readable, "language": language})["phonemes"]) if readable else ""


def espeak_version() -> tuple[int, ...]:
    """Version of the library in use, for example ``(1, 52, 0)``.

    Raises:
        LineError: ``no_espeak``, ``old_espeak``, ``espeak_crashed``.
    """
    return tuple(_ask({"version": True})["version"])
