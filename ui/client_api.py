"""Endpoints for ``gradio_client``, under fixed names: ``/speak`` and ``/voices``."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import gradio as gr

from ui.engines import Engines
from ui.limits import Limits
from zonos.errors import CheckpointError, LineError
from zonos.voices import SAMPLE_VOICES, VoiceFolder
from zonos.words import count

FILES_KEPT = 64  # Gradio copies a file before it is written again


def create(engines: Engines, limits: Limits) -> None:
    """Add them to the page that is being built; they show nothing."""
    # A folder that goes with the process: Gradio hands out only what lies in the system's own.
    folder = tempfile.TemporaryDirectory(prefix="zonos-")
    numbers = itertools.count()
    text = gr.Textbox(visible=False)
    voice = gr.Textbox("Heart", visible=False)
    language = gr.Textbox("en-us", visible=False)
    emotion = gr.Textbox("", visible=False)
    seed = gr.Number(None, precision=0, visible=False)
    sound = gr.File(visible=False)
    names = gr.JSON(visible=False)
    trigger = gr.Button(visible=False)

    def speak(text: str, voice: str, language: str, emotion: str, seed: float | None) -> str:
        if len(text) > limits.characters:
            length = count(len(text), "character")
            raise gr.Error(f"The text has {length}; at most {limits.characters} may be here.")
        path = Path(folder.name) / f"{next(numbers) % FILES_KEPT}.wav"
        path.write_bytes(_speak(engines, text, voice, language, emotion, seed))
        return str(path)

    trigger.click(speak, [text, voice, language, emotion, seed], sound, api_name="speak")
    trigger.click(lambda: VoiceFolder([SAMPLE_VOICES]).names(), None, names, api_name="voices")


def _speak(engines: Engines, text: str, voice: str, language: str, emotion: str, seed: float | None) -> bytes:
    """One line in a sample voice, as a wav file.

    Raises:
        gr.Error: what is wrong, in words.
    """
    from pydantic import ValidationError

    from zonos.audio.write import encode_audio
    from zonos.events import Done, Failed
    from zonos.line import Line, explain

    try:
        line = Line(
            text=text,
            voice=voice or None,
            language=language,
            emotion=emotion or None,
            seed=None if seed is None else int(seed),
        )
        with engines.use(engines.model or "mini") as engine:
            run = engine.submit([line], owner="gradio_client", voices=VoiceFolder([SAMPLE_VOICES]))
            final = [event for event in run if isinstance(event, (Done, Failed))][-1]
    except ValidationError as error:
        raise gr.Error(" ".join(sentence for _, sentence in explain(error))) from error
    except (LineError, CheckpointError) as error:
        raise gr.Error(str(error)) from error
    if isinstance(final, Failed):
        raise gr.Error(final.reason)
    return encode_audio(final.speech.samples, final.speech.sample_rate)
