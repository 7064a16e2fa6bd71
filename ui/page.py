"""The page: Gradio's parts around the table, and the routes that the table talks to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui import client_api, dictionary_tab, export_tab, models, project_tab, projects, voice_tab, words
from ui import help as help_tab
from ui.api import Api
from ui.beside import BesideApi
from ui.cleanup import clean
from ui.engines import Engines, load_engine
from ui.guests import ShelfGuests
from ui.limits import Limits
from ui.runs import Runs
from ui.store import StorageError, Store, data_folder
from ui.table import HEAD, OPEN, REFRESH, create_table
from ui.words_for_faults import in_words
from zonos.voices import SAMPLE_VOICES

HANDLERS_AT_ONCE = 8
STORAGE_KEY = "zonos-studio-project"
# Not for secrecy (the browser is its owner's): the same value opens the state again after a restart.
STORAGE_SECRET = "zonos-studio-1"


@dataclass(frozen=True, slots=True)
class Studio:
    """Everything that lives as long as the process."""

    store: Store
    engines: Engines
    runs: Runs
    api: Api
    limits: Limits
    beside: BesideApi

    @classmethod
    def open(cls) -> Studio:
        """Open the data folder and put right what a crash left.

        Raises:
            StorageError: the folder cannot be used.
        """
        limits = Limits.from_environment()
        store = Store(data_folder())
        engines = Engines(load_engine)
        runs = Runs(store, engines, limits)
        alone = store.own()
        if alone:
            runs.recover()
            clean(store)
        else:
            print(f"Another studio works in {store.folder} already; ZONOS_DATA names another folder.")
        beside = BesideApi(store.folder / "api", SAMPLE_VOICES, engines, ShelfGuests(store), alone=alone)
        return cls(store, engines, runs, Api(store, runs, limits), limits, beside)

    def close(self) -> None:
        """Let go of model and database."""
        self.beside.close()
        self.engines.close()
        self.store.close()


def build(studio: Studio) -> gr.Blocks:
    """The whole page."""
    page = gr.Blocks(title="Zonos Studio", analytics_enabled=False, fill_width=True)
    with page:
        token = gr.BrowserState("", storage_key=STORAGE_KEY, secret=STORAGE_SECRET)
        top = _top()

        with gr.Tabs():
            with gr.Tab("Script"):
                create_table()
            with gr.Tab("Voices"):
                voice_tab.create(studio.store, token)
            with gr.Tab("Dictionary"):
                spellings, seen_words = dictionary_tab.create(studio.store, token)
            with gr.Tab("Export") as tab:
                export_tab.create(studio.store, token, tab)
            with gr.Tab("Projects"):
                listed, switches = project_tab.create(studio.store, studio.limits, token)
            with gr.Tab("Help"):
                help_tab.create()
        shown = [token, top.name, top.seen_name, top.model, top.note, listed, spellings, seen_words]
        arrive = _open(studio.store)
        events = [page.load(arrive, token, shown, show_progress="hidden")]
        events += [switch.then(arrive, token, shown, show_progress="hidden") for switch in switches]
        for event in events:
            event.then(None, token, None, js=OPEN)
        _wire_top(studio.store, token, top)
        client_api.create(studio.engines, studio.limits)
    page.queue(default_concurrency_limit=HANDLERS_AT_ONCE)
    return page


@dataclass(frozen=True, slots=True)
class _Top:
    name: gr.Textbox
    seen_name: gr.State  # the project's name as this tab has seen it
    model: gr.Dropdown
    note: gr.Markdown


def _top() -> _Top:
    plain: dict[str, Any] = {"show_label": False, "container": False}
    with gr.Row(elem_id="studio-top"):
        gr.HTML('<h1 class="st-brand">Zonos Studio</h1>', elem_id="studio-brand")
        name = gr.Textbox(label="Name of the project", elem_id="studio-name", max_lines=1, **plain)
        model = gr.Dropdown(models.choices(), label="Model", elem_id="studio-model", **plain)
        note = gr.Markdown(elem_id="studio-model-note")
    return _Top(name, gr.State(""), model, note)


def _wire_top(store: Store, token: gr.BrowserState, top: _Top) -> None:
    @in_words
    def renamed(value: str, new_name: str, seen: str) -> tuple[Any, str]:
        with store.transaction() as db:
            now = projects.rename_seen(db, value, new_name, seen)
        if now is None:
            return gr.update(), projects.clean_name(new_name)
        gr.Warning(
            f"Another tab has called this project “{now}” meanwhile, and so it is called now. "
            f"Write “{new_name}” again to call it that."
        )
        return now, now

    @in_words
    def picked(value: str, chosen: str) -> str:
        if sentence := models.refusal(chosen):
            raise gr.Error(sentence, print_exception=False)
        with store.transaction() as db:
            settings = projects.get(db, value).settings.model_copy(update={"model": chosen})
            projects.save_settings(db, value, settings)
        return models.note(chosen)

    quiet: dict[str, Any] = {"show_progress": "hidden"}
    for left in (top.name.blur, top.name.submit):
        left(renamed, [token, top.name, top.seen_name], [top.name, top.seen_name], **quiet)
    changed = top.model.input(picked, [token, top.model], top.note, **quiet)
    changed.then(None, None, None, js=REFRESH)


def _open(store: Store) -> Callable[[str], tuple[Any, ...]]:
    @in_words
    def opened(value: str) -> tuple[Any, ...]:
        try:
            project = project_tab.open_or_sample(store, value)
        except StorageError as error:
            raise gr.Error(str(error), duration=None) from error
        with store.transaction() as db:
            listed = projects.siblings(db, project)
            spellings = words.every(db, project.token)
        chosen = project.settings.model
        return (
            project.token,
            project.name,
            project.name,
            chosen,
            models.note(chosen),
            gr.update(choices=listed, value=project.token),
            dictionary_tab.cells(spellings),
            spellings,
        )

    return opened


def launch_options(studio: Studio) -> dict[str, Any]:
    """Arguments of ``Blocks.launch`` that make the page ours."""
    return {
        "app_kwargs": {"routes": [studio.beside, *studio.api.routes()]},
        "theme": _theme(),
        "head": HEAD,
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "max_file_size": studio.limits.upload_bytes,
        "quiet": True,
    }


def _theme() -> gr.themes.Base:
    theme = gr.themes.Default(
        primary_hue="blue",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
        text_size="sm",
        spacing_size="sm",
    )
    # Gradio's own quiet colour has a contrast of 2.6; small words need 4.5.
    return theme.set(body_text_color_subdued="*neutral_600", body_text_color_subdued_dark="*neutral_400")
