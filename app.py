"""Starts the studio: ``python app.py``. Also what a Hugging Face Space runs."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from ui.page import Studio, build, launch_options
from ui.store import StorageError


def main() -> int:
    """Open the data folder, show the page, wait."""
    try:
        studio = Studio.open()
    except StorageError as error:
        print(error, file=sys.stderr)
        return 1
    page = build(studio)
    try:
        _, address, _ = page.launch(prevent_thread_lock=True, **launch_options(studio))
    except (OSError, ValueError) as error:  # the port is taken, or is no number
        print(f"The studio cannot be shown: {error}", file=sys.stderr)
        return 1
    print(f"Zonos Studio is at {address} (projects in {studio.store.folder})", flush=True)
    studio.beside.start()
    try:
        page.block_thread()
    finally:
        studio.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
