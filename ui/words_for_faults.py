"""Handlers of Gradio's parts: a fault that a person can act on becomes a sentence, not a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import gradio as gr

from ui.library import VoiceError
from ui.projects import UnknownProject
from ui.store import StorageError, file_words
from ui.voice_archive import ArchiveError
from zonos.errors import CheckpointError, LineError

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def in_words(handler: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Wrap a handler."""

    @wraps(handler)
    def said(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return handler(*args, **kwargs)
        except (UnknownProject, StorageError, VoiceError, ArchiveError, CheckpointError, LineError) as error:
            raise gr.Error(str(error), print_exception=False) from error
        except OSError as error:
            raise gr.Error(file_words(error), print_exception=False) from error

    return said
