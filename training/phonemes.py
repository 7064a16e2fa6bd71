"""Text to phonemes for the data: exactly what `zonos` does at run time."""

from __future__ import annotations

from collections.abc import Sequence

from zonos.text import normalise, phonemise

LANGUAGE = "en-us"


def phonemes_of(texts: Sequence[str]) -> list[str]:
    """Phonemes of English texts; empty where nothing can be spoken."""
    return [phonemise(normalise(text, LANGUAGE), LANGUAGE) for text in texts]
