"""Text to phonemes with the eSpeak NG of the espeakng-loader wheel, never a system's own.

The settings are those the published checkpoints were trained with: every mark of the token table,
the space included, splits the text, so each word is phonemised alone. Language-switch flags such as
``(en)`` are removed (the model would speak them).
"""

from __future__ import annotations

import atexit
import logging
import re
import shutil
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from zonos.errors import LineError
from zonos.tokens import punctuation_marks

OLDEST_VERSION = (1, 52, 0)
CACHE_SIZE = 16_384
_LONGEST_DATA_PATH = 140  # eSpeak copies the path into a buffer of 160 bytes and adds file names

_INSTALL = "Run: pip install --force-reinstall espeakng-loader phonemizer"

# Texts on which eSpeak 1.52 reads past its tables and takes the whole process with it; found by
# giving every language every character. The zero is Greenlandic's own word.
_FATAL: dict[str, tuple[re.Pattern[str], str]] = {
    "kl": (re.compile(r"(?<!\d)0+(?!\d)"), "nuulu"),
    "vi": (re.compile("`"), " "),
    "vi-vn-x-central": (re.compile("`"), " "),
    "vi-vn-x-south": (re.compile("`"), " "),
}
# Braille and enclosed letters have names longer than its buffers in am, ar, bn, fi, gu and others.
_UNREADABLE = re.compile("[\u2460-\u24ff\u2800-\u28ff\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class _Phonemiser:
    """One phonemizer backend a language, behind one lock: eSpeak's state is global."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._backends: dict[str, Any] = {}
        self._ready = False

    def phonemise(self, text: str, language: str) -> str:
        with self._lock:
            found = self._backend(language).phonemize([text], strip=True)
        return str(found[0]) if found else ""

    def version(self) -> tuple[int, ...]:
        with self._lock:
            return tuple(self._backend("en-us").version())

    def _backend(self, language: str) -> Any:
        if not self._ready:
            _use_bundled_library()
            self._ready = True
        if language not in self._backends:
            self._backends[language] = _new_backend(language)
        return self._backends[language]


def _use_bundled_library() -> None:
    try:
        import espeakng_loader
        from phonemizer.backend.espeak.wrapper import EspeakWrapper
    except ImportError as error:
        raise LineError("no_espeak", f"The speech text library is missing ({error}). {_INSTALL}") from error
    EspeakWrapper.set_library(espeakng_loader.get_library_path())
    EspeakWrapper.set_data_path(_short_path(Path(espeakng_loader.get_data_path())))


def _short_path(data: Path) -> str:
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


def _new_backend(language: str) -> Any:
    from phonemizer.backend import EspeakBackend

    quiet = logging.getLogger("zonos.espeak.phonemizer")
    quiet.setLevel(logging.ERROR)  # it reports every removed flag
    try:
        backend = EspeakBackend(
            language,
            punctuation_marks=punctuation_marks(),
            preserve_punctuation=True,
            with_stress=True,
            language_switch="remove-flags",
            logger=quiet,
        )
    except (RuntimeError, OSError) as error:
        raise LineError(
            "no_espeak", f"eSpeak NG could not start for {language}: {error}. {_INSTALL}"
        ) from error
    check_version(tuple(backend.version()))
    return backend


def check_version(version: tuple[int, ...]) -> None:
    """Refuse libraries that spell Chinese tones in English and misplace stress.

    Raises:
        LineError: ``old_espeak``.
    """
    if version < OLDEST_VERSION:
        have = ".".join(map(str, version))
        need = ".".join(map(str, OLDEST_VERSION))
        raise LineError("old_espeak", f"eSpeak NG {have} is too old, {need} is needed. {_INSTALL}")


_PHONEMISER = _Phonemiser()


@lru_cache(maxsize=CACHE_SIZE)
def phonemise(normalised: str, language: str) -> str:
    """Phonemes of normalised text, punctuation and spaces kept; safe from any thread.

    Args:
        normalised: text as ``normalise`` gives it; may be empty.
        language: one of ``languages.CODES``.

    Raises:
        LineError: ``no_espeak``, ``old_espeak``.
    """
    readable = _UNREADABLE.sub("", normalised)
    if language in _FATAL:
        pattern, instead = _FATAL[language]
        readable = pattern.sub(instead, readable)
    return _PHONEMISER.phonemise(readable, language) if readable else ""


def espeak_version() -> tuple[int, ...]:
    """Version of the library in use, for example ``(1, 52, 0)``.

    Raises:
        LineError: ``no_espeak``, ``old_espeak``.
    """
    return _PHONEMISER.version()
