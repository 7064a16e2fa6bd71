"""What a first visitor finds: the sample voices and four lines that show what the table can do."""

from __future__ import annotations

import secrets

from ui import library, lines, projects, sample_audio
from ui.limits import on_space
from ui.projects import Project
from ui.recipes import Recipes
from ui.store import Store
from zonos.line import PRESETS, Line
from zonos.voices import CLIP_SUFFIXES, SAMPLE_VOICES

SAMPLE = (
    Line(text="Welcome to the studio. Every row here is one line of your script.", voice="Heart"),
    Line(text="I cannot believe we won the whole race!", voice="June", emotion=PRESETS["happy"]),
    Line(text="The letter came this morning. He is not coming home.", voice="Vera", emotion=PRESETS["sad"]),
    Line(text="Put the box down and step away from the door.", voice="Marcus", emotion=PRESETS["stern"]),
)


def first_project(store: Store) -> Project:
    """A new person's first project, with the sample voices and the sample script."""
    with store.transaction() as db:
        project = projects.create(store, "My first script")
        give_voices(store, project.shelf)
        for index, line in enumerate(SAMPLE):
            recipe = Recipes(db, project).of(line)
            revision = projects.bump(db, project.token)
            lines.insert(db, project.token, new_id(), line, recipe, 1024.0 * (index + 1), revision)
        if on_space():  # where a visitor waits for a shared machine, there is something to hear at once
            sample_audio.give_takes(store, db, project)
        return projects.get(db, project.token)


def give_voices(store: Store, shelf: str) -> None:
    """Put the voices that come with the studio on a shelf."""
    for source in sorted(p for p in SAMPLE_VOICES.iterdir() if p.suffix.lower() in CLIP_SUFFIXES):
        clip = library.Clip(source, source.name, {})
        library.add(store, shelf, source.stem, [clip], consent=True, sample=True)


def new_id() -> str:
    """A row's id, as the browser makes them."""
    return secrets.token_hex(6)
