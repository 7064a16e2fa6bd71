"""``python -m zonos serve``: the HTTP API on a socket of its own."""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs
import uvicorn

from zonos.api import Service, Settings, beside, create_app, mount
from zonos.api.settings import MEBIBYTE
from zonos.api.store import StoreError
from zonos.errors import CheckpointError, LineError
from zonos.ports import PortError, listen, port_of
from zonos.voices import SAMPLE_VOICES, VoiceFolder

__all__ = ["Server", "Service", "Settings", "beside", "create_app", "main", "mount"]

KEYS = "ZONOS_API_KEYS"
# Longer than clients keep idle connections, so that none is closed as they send.
KEEP_ALIVE_SECONDS = 75
BACKLOG = 2048
_DAY = 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``serve``."""
    usual = Settings(Path())
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8000, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--model", default="mini", help="mini, a folder or a hub id (default: %(default)s)")
    parser.add_argument("--device", help="cuda, mps or cpu (default: the best there is)")
    parser.add_argument("--dtype", help="bfloat16, float16 or float32 (default: what fits)")
    parser.add_argument(
        "--slots", type=_count, default=8, help="lines decoded at once (default: %(default)s)"
    )
    parser.add_argument(
        "--voices",
        type=Path,
        action="append",
        default=[],
        help="folder of voices that everybody may use (looked at too: ./voices and the sample voices)",
    )
    parser.add_argument(
        "--alias", action="append", default=[], metavar="NAME=VOICE", help="another name, as alloy=Heart"
    )
    parser.add_argument("--data", type=Path, help="folder of jobs and uploaded voices")
    parser.add_argument(
        "--keys", type=Path, help=f"file of API keys, a line each: name:key (or in {KEYS}, with commas)"
    )
    parser.add_argument("--cors-origin", action="append", default=[], help="a web page that may call")
    for name, words in (
        ("requests", "speech requests open at once"),
        ("client-requests", "the same, of one client"),
        ("lines", "unfinished lines of jobs"),
        ("client-lines", "the same, of one client"),
        ("characters", "characters of one line"),
    ):
        default = getattr(usual, name.replace("-", "_"))
        parser.add_argument(f"--max-{name}", type=_count, default=default, help=f"{words} (%(default)s)")
    parser.add_argument(
        "--max-upload-mb",
        type=_count,
        default=usual.upload_bytes // MEBIBYTE,
        help="largest voice clip (%(default)s); a script may have 20 MB",
    )
    parser.add_argument(
        "--drain-seconds",
        type=_seconds,
        default=usual.drain_seconds,
        help="what open responses get to end in after SIGTERM (%(default)s)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl+C; then let open speech end and keep unfinished jobs."""
    parser = argparse.ArgumentParser(prog="python -m zonos serve", description=__doc__)
    add_arguments(parser)
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    try:
        settings = settings_from(args)
        return serve(args, settings)
    except (CheckpointError, StoreError, PortError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def _data_folder() -> Path:
    """Where the page keeps its things too."""
    named = os.environ.get("ZONOS_DATA", "").strip()
    return Path(named).expanduser() if named else platformdirs.user_data_path("zonos-studio")


def settings_from(args: argparse.Namespace) -> Settings:
    """Settings of the command line and the environment.

    Raises:
        ValueError: an alias or a key that is none, a file of keys or a folder that cannot be read.
    """
    voices = (*args.voices, Path("voices"), SAMPLE_VOICES)
    return Settings(
        data=args.data or _data_folder() / "server",
        voices=voices,
        aliases=_aliases(args.alias, args.voices, voices),
        keys=read_keys(args.keys),
        origins=tuple(args.cors_origin),
        characters=args.max_characters,
        upload_bytes=args.max_upload_mb * MEBIBYTE,
        requests=args.max_requests,
        client_requests=args.max_client_requests,
        lines=args.max_lines,
        client_lines=args.max_client_lines,
        drain_seconds=args.drain_seconds,
    )


def _aliases(given: Sequence[str], folders: Sequence[Path], voices: Sequence[Path]) -> dict[str, str]:
    """Other names of voices. What leads nowhere is told now, not to the first client who asks for it."""
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"argument --voices: there is no folder {str(folder)!r}.")
    aliases = dict(_pair(alias, "=", "--alias") for alias in given)
    known = VoiceFolder(voices)
    try:
        for voice in aliases.values():
            known.clips(voice)
    except LineError as error:
        raise ValueError(f"argument --alias: {error.reason}") from None
    return aliases


def read_keys(file: Path | None) -> dict[str, str]:
    """API keys by name, from a file or the environment; none lets everybody in.

    Raises:
        ValueError: an entry that is not ``name:key``, or a file that cannot be read.
    """
    text = os.environ.get(KEYS, "").replace(",", "\n") if file is None else _text_of(file)
    entries = [line.strip() for line in text.splitlines()]
    return dict(_pair(entry, ":", "An API key") for entry in entries if entry and not entry.startswith("#"))


def _text_of(keys: Path) -> str:
    try:
        return keys.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ValueError(f"argument --keys: {keys} cannot be read: {reason}.") from None


def serve(args: argparse.Namespace, settings: Settings) -> int:
    """Load the model, listen, and clean up.

    Raises:
        CheckpointError: the model cannot be loaded.
        StoreError: the data folder cannot be used.
        PortError: the address cannot be had.
    """
    from zonos.engine import load  # torch takes seconds

    # Before the model is loaded: a port in use is told at once.
    listening = listen(args.host, args.port, host_option="--host", port_option="--port", backlog=BACKLOG)
    listening.set_inheritable(True)
    with load(
        args.model,
        device=args.device,
        dtype=args.dtype,
        slots=args.slots,
        voices=VoiceFolder(settings.voices),
    ) as engine:
        app = create_app(engine, settings)
        server = Server(app.state.service, uvicorn.Config(app, log_level="info", access_log=False))
        print(f"The Zonos API is at {_address(listening)}", flush=True)
        # uvicorn raises the signal once more when it is through; then there is nothing left to do.
        signal.signal(signal.SIGTERM, server.handle_exit)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return 0


class Server(uvicorn.Server):
    """Drains before it waits for open responses: jobs stop, followers are sent home.

    Args:
        service: of the application that is served.
        config: of uvicorn.
    """

    def __init__(self, service: Service, config: uvicorn.Config) -> None:
        config.timeout_graceful_shutdown = int(service.settings.drain_seconds)
        config.timeout_keep_alive = KEEP_ALIVE_SECONDS
        super().__init__(config)
        self.service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See ``uvicorn.Server``."""
        self.service.drain()
        await super().shutdown(sockets)


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _port(text: str) -> int:
    try:
        return port_of(text)
    except PortError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _DAY:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 to {_DAY}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _pair(text: str, sign: str, what: str) -> tuple[str, str]:
    name, found, value = text.partition(sign)
    if not found or not name.strip() or not value.strip():
        raise ValueError(f"{what} {name!r} is not written as name{sign}{'key' if sign == ':' else 'voice'}.")
    return name.strip(), value.strip()
