"""A hub on the loopback that can break off in mid-file, for the tests of downloads."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c" * 40


class FakeHub:
    """Files by repository and name; ``cuts`` counts how often a file still breaks off, and where."""

    def __init__(self, files: dict[str, dict[str, bytes]]) -> None:
        self.files = files
        self.cuts: dict[str, tuple[int, int]] = {}  # name -> (times left, bytes sent each time)
        self.requests: list[tuple[str, str, str | None]] = []  # method, path, Range
        self.status: dict[str, int] = {}  # name -> status to answer a GET with
        self.endpoint = ""

    def gets(self, name: str, repository: str = "") -> list[str | None]:
        """Range headers of the GETs of one file."""
        return [
            span
            for method, path, span in self.requests
            if method == "GET" and path.startswith("/" + repository) and path.endswith("/" + name)
        ]

    @contextmanager
    def serving(self) -> Iterator[FakeHub]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        self.endpoint = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            path = self.path.split("?")[0]
            hub.requests.append((self.command, path, self.headers.get("Range")))
            if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(/revision/[^/]+)?", path):
                self._listing(match[1])
            elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
                self._file(match[1], match[2], body=body)
            else:
                self._refuse(404, "EntryNotFound")

        def _refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _listing(self, repository: str) -> None:
            if repository not in hub.files:
                self._refuse(404, "RepoNotFound")
                return
            siblings = [{"rfilename": n, "size": len(c)} for n, c in hub.files[repository].items()]
            text = json.dumps({"id": repository, "sha": COMMIT, "siblings": siblings}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _file(self, repository: str, name: str, *, body: bool) -> None:
            content = hub.files.get(repository, {}).get(name)
            if content is None:
                self._refuse(404, "EntryNotFound")
                return
            if body and name in hub.status:
                self._refuse(hub.status[name], "")
                return
            span = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
            start = int(span[1]) if span else 0
            self.send_response(206 if span else 200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(content) - start))
            if span:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            if body:
                self._send(name, content[start:])

        def _send(self, name: str, content: bytes) -> None:
            times, sent = hub.cuts.get(name, (0, 0))
            if times > 0:
                hub.cuts[name] = (times - 1, sent)
                self.wfile.write(content[:sent])
                self.wfile.flush()
                self.close_connection = True
                return
            self.wfile.write(content)

    return Handler
