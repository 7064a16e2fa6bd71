"""What an operator decides: data folder, keys, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zonos.api.guests import Guests

MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one server; the defaults suit a small team and one GPU.

    Attributes:
        data: folder of jobs and uploaded voices, made when it is not there; one server a folder.
        voices: folders of voices that every client may use.
        aliases: other names of voices, for clients that send fixed ones (``alloy`` -> ``Heart``).
        keys: API key by client name; empty lets everybody in.
        guests: clients that another program on this engine knows, with voices of their own there; their
            keys are good beside ``keys``.
        origins: web pages (``https://host``) whose scripts may call; none by default.
        characters: most characters of one speech request and of one line of a job.
        body_bytes: largest JSON body.
        upload_bytes: largest script or voice upload.
        requests: speech requests that may be open at once, of all clients.
        client_requests: the same, of one client.
        lines: unfinished lines of jobs, of all clients.
        client_lines: the same, of one client.
        client_voices: voices of one client.
        stall_seconds: a reader that takes nothing for so long is let go.
        drain_seconds: what open responses get to end in when the server is asked to stop.
        keep_days: finished jobs are removed after this.
    """

    data: Path
    voices: tuple[Path, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    guests: Guests | None = None
    origins: tuple[str, ...] = ()
    characters: int = 4096
    body_bytes: int = 8 * MEBIBYTE
    upload_bytes: int = 50 * MEBIBYTE
    requests: int = 128
    client_requests: int = 32
    lines: int = 20_000
    client_lines: int = 5000
    client_voices: int = 500
    stall_seconds: float = 30.0
    drain_seconds: float = 30.0
    keep_days: float = 7.0
