"""Starts the studio: ``python app.py``. Also what a Hugging Face Space runs."""

from __future__ import annotations

import os
import sys

from zonos.ports import PortError, listen, port_in_environment

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

HOST, PORT = "GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"
USUAL_PORT = 7860


def main() -> int:
    """Open the data folder, show the page, wait."""
    try:
        port = _asked_port()
    except PortError as error:
        print(error, file=sys.stderr)
        return 1
    # Gradio reads the port as it is imported, and has no sentence for one that is no number.
    from ui.page import Studio, build, launch_options
    from ui.store import StorageError

    try:
        studio = Studio.open()
    except StorageError as error:
        print(error, file=sys.stderr)
        return 1
    page = build(studio)
    try:
        _, address, _ = page.launch(prevent_thread_lock=True, server_port=port, **launch_options(studio))
    except (OSError, ValueError) as error:
        print(f"The studio cannot be shown: {error}", file=sys.stderr)
        studio.close()
        return 1
    if port is None and page.server_port != USUAL_PORT:
        moved = f"Port {USUAL_PORT} is taken by another program, so the page is on port {page.server_port}."
        print(moved, flush=True)
    print(f"Zonos Studio is at {address} (projects in {studio.store.folder})", flush=True)
    studio.beside.start()
    try:
        page.block_thread()
    finally:
        studio.close()
    return 0


def _asked_port() -> int | None:
    """The port that must be had; None where the next free one will do.

    Raises:
        PortError: it cannot be had.
    """
    asked = port_in_environment(PORT)
    host = os.environ.get(HOST) or "127.0.0.1"
    with listen(host, asked or 0, host_option=HOST, port_option=PORT) as trial:
        free: int = trial.getsockname()[1]
    return None if asked is None else free


if __name__ == "__main__":
    sys.exit(main())
