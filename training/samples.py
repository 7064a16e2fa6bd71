"""`python -m training samples`: a listening page, one sentence in every voice and every emotion."""

from __future__ import annotations

from pathlib import Path

import soundfile

from training.trial import EMOTIONS, Recording, Stage
from zonos.line import PRESETS, Line

SENTENCE = "Good evening, and welcome. Did you hear the rain on the roof last night?"


def run(model: str, voices: Path, folder: Path) -> None:
    """Write flac files and a README.md with their list into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(path.stem for path in voices.glob("*.wav"))
    first = next((name for name in names if name.lower() == "heart"), names[0])
    stage = Stage(model, [voices])
    try:
        by_voice = stage.speak([Line(text=SENTENCE, voice=name) for name in names])
        manners = ("neutral", *EMOTIONS)
        by_manner = stage.speak([Line(text=SENTENCE, voice=first, emotion=PRESETS[m]) for m in manners])
    finally:
        stage.close()
    rows = [_write(folder, f"voice-{n.lower()}", r) for n, r in zip(names, by_voice, strict=True)]
    rows += [_write(folder, f"emotion-{m}", r) for m, r in zip(manners, by_manner, strict=True)]
    text = (
        f'# The embedded voice, to listen to\n\n"{SENTENCE}" in every voice, and as {first} in every emotion; '
        "default settings, first seed, nothing picked.\n\n" + "\n".join(rows) + "\n"
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    print(f"samples: {len(rows)} in {folder}", flush=True)


def _write(folder: Path, name: str, recording: Recording | None) -> str:
    """One file; returns its line of the list."""
    if recording is None:
        return f"- {name}: could not be spoken"
    samples, rate = recording
    soundfile.write(folder / f"{name}.flac", samples, rate, subtype="PCM_16")
    return f"- [{name}]({name}.flac), {len(samples) / rate:.1f} s"
