"""eSpeak NG in a process of its own: ``python -m zonos.text.espeak_worker``, driven by ``zonos.text.espeak``.

eSpeak 1.52 writes past its buffers on some texts (numbers in Greenlandic, words of 200 letters in
Danish and Romanian, Braille in Arabic) and then takes its whole process with it. Here that process
is this one, and the studio only has to start another.

One JSON object a line on standard input, one on standard output: ``{"text", "language", "marks"}``
gives ``{"phonemes"}``, ``{"version": true, "marks"}`` gives ``{"version"}``, and what goes wrong
gives ``{"code", "reason"}``.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from zonos.commands import pip_install

OLDEST_VERSION = (1, 52, 0)
_LONGEST_DATA_PATH = 140  # eSpeak copies the path into a buffer of 160 bytes and adds file names


class Refused(Exception):
    """What the other side raises as a LineError."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def _install() -> str:
    return f"Run: {pip_install('--force-reinstall', 'espeakng-loader', 'phonemizer')}"


@cache
def _use_bundled_library() -> None:
    try:
        import espeakng_loader
        from phonemizer.backend.espeak.wrapper import EspeakWrapper
    except ImportError as error:
        raise Refused("no_espeak", f"The speech text library is missing ({error}). {_install()}") from error
    EspeakWrapper.set_library(espeakng_loader.get_library_path())
    EspeakWrapper.set_data_path(short_path(Path(espeakng_loader.get_data_path())))


def short_path(data: Path) -> str:
    """The data folder, through a link where its own path is too long for eSpeak."""
    if len(str(data)) <= _LONGEST_DATA_PATH:
        return str(data)
    folder = Path(tempfile.mkdtemp(prefix="espeak-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = folder / data.name
    try:
        link.symlink_to(data, target_is_directory=True)
    except OSError:  # Windows without the right to make links
        shutil.copytree(data, link)
    return str(link)


@cache
def _backend(language: str, marks: str) -> Any:
    _use_bundled_library()
    from phonemizer.backend import EspeakBackend

    quiet = logging.getLogger("zonos.text.espeak.phonemizer")
    quiet.setLevel(logging.ERROR)  # it reports every removed flag
    try:
        backend = EspeakBackend(
            language,
            punctuation_marks=marks,
            preserve_punctuation=True,
            with_stress=True,
            language_switch="remove-flags",
            logger=quiet,
        )
    except (RuntimeError, OSError) as error:
        raise Refused(
            "no_espeak", f"eSpeak NG could not start for {language}: {error}. {_install()}"
        ) from error
    check_version(tuple(backend.version()))
    return backend


def check_version(version: tuple[int, ...]) -> None:
    """Refuse libraries that spell Chinese tones in English and misplace stress.

    Raises:
        Refused: ``old_espeak``.
    """
    if version < OLDEST_VERSION:
        have, need = (".".join(map(str, numbers)) for numbers in (version, OLDEST_VERSION))
        raise Refused("old_espeak", f"eSpeak NG {have} is too old, {need} is needed. {_install()}")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """One request's answer; never raises."""
    try:
        if "version" in request:
            return {"version": list(_backend("en-us", request["marks"]).version())}
        backend = _backend(request["language"], request["marks"])
        found = backend.phonemize([request["text"]], strip=True)
        return {"phonemes": found[0] if found else ""}
    except Refused as refused:
        return {"code": refused.code, "reason": refused.reason}
    except Exception as error:  # noqa: BLE001 - one text must not end the worker of all
        return {"code": "no_phonemes", "reason": f"The text cannot be turned into phonemes ({error!r})."}


def main() -> None:
    """Answer until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
