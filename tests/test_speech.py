"""Real speech, heard: all sample voices mixed in one batch at the checkpoint's defaults.

The lines were written before the first run and are in nobody's training data; seeds are fixed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from engines import VOICES, engine, finals
from hearing import heard, voice_print, word_errors, words

from zonos.audio.read import read_clip
from zonos.events import Done, Speech
from zonos.line import Line

LINES = (Path(__file__).parent / "data" / "speech_lines.txt").read_text().splitlines()
MOST_ERRORS = 0.10  # of the checkpoint in place, when it came in: 0.070


@pytest.fixture(scope="module")
def spoken() -> dict[tuple[str, str], Speech]:
    """Speech by voice and text, all in one run of mixed rows: every voice speaks every other line."""
    lines = [
        Line(id=f"{voice}|{text}", text=text, voice=voice, seed=100 * v + i)
        for i, text in enumerate(LINES)
        for v, voice in enumerate(VOICES.names())
        if (i + v) % 2 == 0
    ]
    with engine(slots=16) as running:
        found = finals(running.submit(lines))
    speeches = {}
    for (line, _), event in found.items():
        assert isinstance(event, Done), event
        voice, text = line.split("|", 1)
        speeches[voice, text] = event.speech
    return speeches


@pytest.mark.speech
def test_words_are_understood(spoken: dict[tuple[str, str], Speech]) -> None:
    assert len(LINES) >= 24
    assert len(VOICES.names()) == 6
    assert len(spoken) == 3 * len(LINES)
    errors = {
        key: word_errors(key[1], heard(speech.samples, speech.sample_rate)) for key, speech in spoken.items()
    }
    total = sum(len(words(text)) for _, text in spoken)
    by_voice = {
        voice: sum(n for (v, _), n in errors.items() if v == voice)
        / sum(len(words(text)) for v, text in spoken if v == voice)
        for voice in VOICES.names()
    }
    pooled = sum(errors.values()) / total
    print(f"word error rate {pooled:.3f}; by voice {by_voice}")
    assert pooled <= MOST_ERRORS, by_voice


@pytest.mark.speech
def test_every_voice_is_nearest_to_itself(spoken: dict[tuple[str, str], Speech]) -> None:
    clips = {}
    for voice in VOICES.names():
        clip = read_clip(VOICES.clips(voice)[0])
        clips[voice] = voice_print(clip.samples.mean(0), clip.sample_rate)
    for voice in VOICES.names():
        own = [speech for (name, _), speech in spoken.items() if name == voice]
        # One print of all that was said in this voice: single short lines are too little for one.
        print_ = voice_print(np.concatenate([speech.samples for speech in own]), own[0].sample_rate)
        nearness = {name: float(print_ @ clip) for name, clip in clips.items()}
        assert max(nearness, key=lambda name: nearness[name]) == voice, nearness
