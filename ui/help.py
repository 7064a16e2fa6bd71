"""The help tab."""

from __future__ import annotations

import gradio as gr

STEPS = """
### Three steps

1. **Write** your lines in the table, one row a line. Pick a voice, a language and an emotion for each.
2. **Generate pending.** Players fill in as each line finishes; you can go on editing meanwhile.
3. **Listen, re-roll, download.** Make new takes of a single line, star the one you like, save its file.

Everything is saved as you type. Close the tab and come back: your lines, takes and a running job are there.
"""


def create() -> None:
    """Put the help on the page."""
    gr.Markdown(STEPS)
