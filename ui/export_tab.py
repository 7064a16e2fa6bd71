"""The tab that makes the zip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from pydantic import ValidationError

from ui import export, projects, takes
from ui.export_plan import Options, Plan, plan
from ui.script_file import KINDS
from ui.store import Store
from ui.words_for_faults import in_words
from zonos.audio.write import FORMATS
from zonos.names import DEFAULT_TEMPLATE, FIELDS
from zonos.words import count

DOWNLOAD = """async (token, made) => {
  if (!made) return;
  const studio = await window.studioReady;
  const link = document.createElement('a');
  link.href = studio.address(`studio/export/${encodeURIComponent(token)}/${made}.zip`);
  link.download = '';
  link.click();
}"""
SAVE = """async (token, kind) => {
  const studio = await window.studioReady;
  await studio.flush();
  const link = document.createElement('a');
  link.href = studio.address(`studio/script/${encodeURIComponent(token)}.${kind}`);
  link.download = '';
  link.click();
}"""
FLUSH = "async (...inputs) => { await (await window.studioReady).flush(); return inputs; }"
PARTS = {
    "files": "A file for each line",
    "joined": "One file of all lines, with gaps",
    "tracks": "One track for each voice, with labels (Audacity)",
    "subtitles": "Subtitles (srt)",
    "manifest": "Manifest (jsonl) and script (csv)",
}
FORMAT_CHOICES = [(FORMATS[name].title, name) for name in ("wav", "wav24", "wav32f", "flac", "mp3", "ogg")]


def create(store: Store, token: gr.BrowserState, tab: gr.Tab) -> None:
    """Put the tab's parts on the page."""
    with gr.Row():
        with gr.Column():
            parts = gr.CheckboxGroup(
                [(words, name) for name, words in PARTS.items()],
                value=["files", "manifest"],
                label="What goes in",
                elem_id="studio-export-parts",
            )
            kind = gr.Dropdown(FORMAT_CHOICES, value="wav", label="Format", elem_id="studio-export-format")
            ticked = gr.Checkbox(label="Ticked lines only")
        with gr.Column():
            template = gr.Textbox(
                DEFAULT_TEMPLATE,
                label="File names",
                info="Fields: " + " ".join(f"{{{field}}}" for field in FIELDS),
                elem_id="studio-export-template",
            )
            with gr.Row():
                gap = gr.Number(0.4, label="Gap, seconds", minimum=0, maximum=30, step=0.1)
                voice_gap = gr.Number(
                    0.8, label="Gap where the voice changes", minimum=0, maximum=30, step=0.1
                )
            with gr.Row():
                level = gr.Checkbox(label="Bring each line to a loudness of")
                loudness = gr.Number(-23, label="LUFS", minimum=-40, maximum=-8, step=1)
    shown = gr.Textbox(
        label="It will hold", lines=6, interactive=False, elem_id="studio-export-preview", max_lines=14
    )
    with gr.Row():
        look = gr.Button("Look again", size="md", elem_id="studio-export-look")
        make = gr.Button("Make the zip", variant="primary", size="md", elem_id="studio-export-make")
        said = gr.Markdown(elem_id="studio-export-said")
    with gr.Accordion("The script alone, to go on elsewhere or to import again", open=False), gr.Row():
        script_kind = gr.Dropdown(
            list(KINDS),
            value="csv",
            label="Kind of file",
            info="csv, tsv, xlsx and jsonl keep every setting; txt keeps the words, srt and vtt words and times.",
            elem_id="studio-script-kind",
        )
        save = gr.Button("Save the script", size="md", elem_id="studio-script-save")
    save.click(None, [token, script_kind], None, js=SAVE)
    made = gr.Textbox(visible=False)
    controls: list[Any] = [parts, kind, template, ticked, gap, voice_gap, level, loudness]
    inputs = [token, *controls]

    @in_words
    def preview(value: str, *given: Any) -> str:
        try:
            options = _options(*given)
        except ValidationError as error:
            return _words(error)
        with store.transaction() as db:
            project = projects.get(db, value)
            found = plan(db, project, options, takes.folder(store, project.token))
        return _list(found, options)

    @in_words
    def write(value: str, *given: Any) -> tuple[str, str, str]:
        try:
            options = _options(*given)
        except ValidationError as error:
            return "", _words(error), ""
        path, found = export.write(store, value, options)
        return Path(path).stem, _list(found, options), f"The zip holds {count(len(found.items), 'line')}."

    quiet: dict[str, Any] = {"show_progress": "hidden"}
    gr.on(
        [tab.select, look.click, *(control.change for control in controls)],
        preview,
        inputs,
        shown,
        js=FLUSH,
        trigger_mode="always_last",  # what is changed while a list is made is in the next one
        **quiet,
    )
    done = make.click(write, inputs, [made, shown, said], js=FLUSH)
    done.then(None, [token, made], None, js=DOWNLOAD)


def _options(
    parts: list[str],
    kind: str,
    template: str,
    ticked: bool,
    gap: float,
    voice_gap: float,
    level: bool,
    loudness: float,
) -> Options:
    return Options.model_validate(
        {name: name in parts for name in PARTS}
        | {"format": kind, "template": template, "ticked_only": ticked, "gap": gap or 0.0}
        | {"voice_gap": voice_gap or 0.0, "loudness": loudness if level else None}
    )


def _list(found: Plan, options: Options) -> str:
    """Number of lines, the first names, and what is left out or changed since."""
    names = export.names(found, options) if options.files else []
    more = len(found.items) - len(names)
    rest = [f"… and {more} more"] if names and more > 0 else []
    return "\n".join([f"{count(len(found.items), 'line')}.", *names, *rest, *found.notes])


def _words(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    reason = first.get("ctx", {}).get("error")
    return str(reason or f"{first['loc'][-1]}: {first['msg']}.")
