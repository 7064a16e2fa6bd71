"""The tab of the voice library: a clip comes in through Gradio's recorder, the rest is a list like the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from ui import library, projects, uploads
from ui.guests import api_key
from ui.store import Store
from ui.table import REFRESH
from ui.words_for_faults import in_words

PROGRAMS = """The HTTP API at this address (`/v1/audio/speech`, `/v1/audio/voices`, jobs) knows your voices by
name when it is asked with your key: `api_key` of the `openai` client, or the header `Authorization: Bearer …`.
Whoever has the key can speak with your voices; without it nobody sees them."""
TEMPLATE = '<div class="st-mount"></div>'
LOADER = "window.studioReady.then((studio) => studio.showVoices(element.querySelector('.st-mount')));"


def create(store: Store, token: gr.BrowserState) -> None:
    """Put the tab's parts on the page."""
    gr.HTML(
        value="", html_template=TEMPLATE, js_on_load=LOADER, apply_default_css=False, elem_id="studio-voices"
    )
    with gr.Accordion("Add a voice", open=True, elem_id="studio-add-voice"), gr.Row():
        clip = gr.Audio(
            sources=["upload", "microphone"], type="filepath", label="Clip: 10 to 30 seconds of clean speech"
        )
        with gr.Column():
            name = gr.Textbox(
                label="Name",
                info="A name that exists already gets this clip as one more; several clips are averaged.",
                elem_id="studio-voice-name",
                max_lines=1,
            )
            consent = gr.Checkbox(
                label="I may use this voice: it is mine, or its owner agreed.", elem_id="studio-consent"
            )
            add = gr.Button("Add", variant="primary", size="md", elem_id="studio-voice-add")
            said = gr.Markdown(elem_id="studio-voice-said")

    with gr.Accordion("Use these voices from a program", open=False):
        gr.Markdown(PROGRAMS)
        with gr.Row():
            show = gr.Button("Show the key", size="md", elem_id="studio-key-show")
            key = gr.Textbox(label="Key", interactive=False, buttons=["copy"], elem_id="studio-key")

    @in_words
    def key_of(value: str) -> str:
        with store.transaction() as db:
            return api_key(projects.get(db, value).shelf)

    show.click(key_of, token, key, show_progress="hidden")

    @in_words
    def take(value: str, path: str | None, wanted: str, may: bool) -> tuple[Any, ...]:
        kept = gr.update(), gr.update(), gr.update()
        if not path:
            return *kept, "Choose or record a clip first."
        try:
            with Path(path).open("rb") as file:
                _, sentence = uploads.add_clip(
                    store, value, file, Path(path).name, wanted, consent=may, join=bool(wanted.strip())
                )
        except library.VoiceError as error:
            return *kept, str(error)
        Path(path).unlink(missing_ok=True)  # our own copy is in the library
        return None, "", False, sentence

    @in_words
    def look(path: str | None) -> tuple[Any, str]:
        if not path:
            return gr.update(), ""
        try:
            found = uploads.examined(Path(path), Path(path).name)
        except library.VoiceError as error:
            return None, str(error)
        words = [f"{found.report['seconds']:.1f} s of sound.", *found.report["advice"]]
        return gr.update(), " ".join(words)

    # A file that is no sound is refused at once; what was said of the one before is gone with it.
    gr.on([clip.upload, clip.stop_recording], look, clip, [clip, said], show_progress="hidden")
    clip.clear(lambda: "", None, said, show_progress="hidden")
    inputs, outputs = [token, clip, name, consent], [clip, name, consent, said]
    added = add.click(take, inputs, outputs, show_progress="hidden")
    added.then(None, None, None, js=REFRESH)
