"""The tab that opens, copies, exports and deletes projects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from ui import archive, library, projects, sample
from ui.duplicate import duplicate
from ui.limits import Limits
from ui.store import Store
from ui.voice_archive import ArchiveError
from ui.words_for_faults import in_words

DOWNLOAD = """async (token) => {
  const studio = await window.studioReady;
  await studio.flush();
  const link = document.createElement('a');
  link.href = studio.address(`studio/project/${encodeURIComponent(token)}.zip`);
  link.download = '';
  link.click();
}"""


def create(store: Store, limits: Limits, token: gr.BrowserState) -> tuple[gr.Dropdown, list[Any]]:
    """Put the tab's parts on the page.

    Args:
        store: where projects live.
        limits: rows and bytes of an import.
        token: of the open project; the handlers write another one into it.

    Returns:
        The list of projects, for the page to fill when it opens one, and the events after which it
        has another one to open.
    """
    deleted = gr.State("")
    with gr.Row():
        listed = gr.Dropdown([], label="Open a project", elem_id="studio-projects", scale=2)
        with gr.Column(scale=3), gr.Row():
            new = gr.Button("New project", size="md", elem_id="studio-new")
            copy = gr.Button("Duplicate this project", size="md", elem_id="studio-duplicate")
            delete = gr.Button("Delete this project", size="md", elem_id="studio-delete")
            undo = gr.Button("Undo delete", size="md", visible=False, elem_id="studio-undelete")
    with gr.Row():
        export = gr.Button("Save the whole project as a zip", size="md", elem_id="studio-export")
        load = gr.UploadButton(
            "Open a project's zip", size="md", file_types=[".zip"], elem_id="studio-import"
        )

    @in_words
    def open_new(value: str) -> str:
        with store.transaction() as db:
            shelf = projects.get(db, value).shelf
        return projects.create(store, "New script", shelf).token

    @in_words
    def remove(value: str) -> tuple[str, str, Any]:
        with store.transaction() as db:
            project = projects.get(db, value)
            projects.set_deleted(db, value, True)
            rest = projects.siblings(db, project)
        if rest:
            return rest[0][1], value, gr.update(visible=True)
        return projects.create(store, "New script", project.shelf).token, value, gr.update(visible=True)

    @in_words
    def bring_back(value: str) -> tuple[str, Any]:
        with store.transaction() as db:
            projects.set_deleted(db, value, False)
        return value, gr.update(visible=False)

    @in_words
    def copied(value: str) -> str:
        return duplicate(store, value).token

    @in_words
    def unpack(value: str, path: str) -> str:
        with store.transaction() as db:
            shelf = projects.get(db, value).shelf
        try:
            return archive.read_archive(store, Path(path), shelf, limits).token
        except (ArchiveError, library.VoiceError) as error:
            gr.Warning(str(error))
            return value
        finally:
            Path(path).unlink(missing_ok=True)  # Gradio's copy of the upload

    quiet: dict[str, Any] = {"show_progress": "hidden"}
    switches = [
        listed.input(lambda chosen: chosen, listed, token, **quiet),
        new.click(open_new, token, token, **quiet),
        copy.click(copied, token, token, **quiet),
        delete.click(remove, token, [token, deleted, undo], **quiet),
        undo.click(bring_back, deleted, [token, undo], **quiet),
        load.upload(unpack, [token, load], token, **quiet),
    ]
    export.click(None, token, None, js=DOWNLOAD)
    return listed, switches


def open_or_sample(store: Store, token: str) -> projects.Project:
    """The project of a token; a new visitor, or one whose project is gone, gets the sample."""
    try:
        return projects.touch(store, token)
    except projects.UnknownProject:
        return sample.first_project(store)
