"""A sentence spoken to hear a voice, kept nowhere."""

from __future__ import annotations

from ui import library, projects
from ui.engines import Engines
from ui.store import Store
from zonos.errors import LineError
from zonos.events import Done, Failed
from zonos.line import Line

SENTENCE = "Hello. This is how I sound when I read your lines."
SEED = 1


def speak_once(store: Store, engines: Engines, token: str, voice: str, text: str = SENTENCE) -> bytes:
    """Speak a sentence with a voice of the project's shelf; gives a wav file.

    Raises:
        LineError: the sentence cannot be spoken, in words.
        CheckpointError: the project's model cannot be loaded.
        UnknownProject: no such project.
    """
    from zonos.audio.write import encode_audio

    with store.transaction() as db:
        project = projects.get(db, token)
    source = library.ShelfVoices(store, project.shelf)
    source.clips(voice)
    with engines.use(project.settings.model) as engine:
        run = engine.submit([Line(text=text, voice=voice, seed=SEED)], owner=token, voices=source)
        for event in run:
            if isinstance(event, Failed):
                raise LineError(event.code, event.reason)
            if isinstance(event, Done):
                return encode_audio(event.speech.samples, event.speech.sample_rate)
    raise LineError("cancelled", "The test sentence was stopped.")
