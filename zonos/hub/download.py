"""Files of the hub: found in its cache, or fetched into it so that a broken download goes on.

huggingface_hub throws a partial file away when its process ends. A model of 3 GB over a home line
needs better, so the bytes go into a ``.part`` file that any later start continues; the library
still does the requests, the retries and the layout of its cache (which other programs share).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from zonos.errors import CheckpointError
from zonos.hub.weights import problem_with, readable_size

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

Report = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all (over every file of the download) and the file's name."""

_TIMEOUT = 10.0  # seconds for a request that moves no file
_FRUITLESS_TRIES = 2  # each is five tries of the library
_BLOCK_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BAR = "huggingface_hub.http_get"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that the hub offers."""

    repository: str
    commit: str
    name: str
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class Hub:
    """Where files come from, and where they are kept.

    Args:
        endpoint: address without a closing slash.
        cache: the hub library's cache folder.
        offline: never touch the network.
    """

    endpoint: str
    cache: Path
    offline: bool

    @classmethod
    def from_environment(cls) -> Hub:
        """As HF_ENDPOINT, HF_HUB_CACHE, HF_HOME and HF_HUB_OFFLINE say now."""
        from huggingface_hub import constants

        home, cache = os.environ.get("HF_HOME"), os.environ.get("HF_HUB_CACHE")
        if not cache:
            cache = str(Path(home) / "hub") if home else constants.HF_HUB_CACHE
        return cls(
            endpoint=(os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/"),
            cache=Path(cache).expanduser(),
            offline=_is_true(os.environ.get("HF_HUB_OFFLINE")) or constants.HF_HUB_OFFLINE,
        )

    @property
    def host(self) -> str:
        """The endpoint as a person would name it."""
        return urlsplit(self.endpoint).netloc or self.endpoint

    def folder(self, repository: str) -> Path | None:
        """The newest downloaded snapshot of a repository; it may lack files."""
        root = self._repository(repository)
        main = root / "refs" / "main"
        if not main.is_file():
            return None
        snapshot = root / "snapshots" / main.read_text(encoding="utf-8").strip()
        return snapshot if snapshot.is_dir() else None

    def files(self, repository: str) -> dict[str, RemoteFile]:
        """What a repository offers, by name.

        Raises:
            CheckpointError: offline, not reachable, or no such repository.
        """
        from huggingface_hub import HfApi

        with _in_words(self, repository):
            info = HfApi(endpoint=self.endpoint).model_info(repository, files_metadata=True, timeout=_TIMEOUT)
        commit = info.sha or "main"
        return {
            file.rfilename: RemoteFile(repository, commit, file.rfilename, file.size or 0)
            for file in info.siblings or []
        }

    def fetch(self, files: list[RemoteFile], report: Report | None = None) -> None:
        """Bring files into the cache, going on where an earlier try broke off.

        Raises:
            CheckpointError: says what is missing, how far it came and what to do.
        """
        total = sum(file.size for file in files)
        self._room_for(total - sum(self._begun(name) for name in {file.repository for file in files}))
        done = 0
        with _quiet_bars() if report else contextlib.nullcontext():
            for file in files:
                counter = _Counter(report, done, total, file.name)
                self._fetch_one(file, counter)
                counter(file.size)  # also where it was there already
                done += file.size

    def _fetch_one(self, file: RemoteFile, counter: _Counter) -> None:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

        with _in_words(self, file.repository):
            url = hf_hub_url(file.repository, file.name, revision=file.commit, endpoint=self.endpoint)
            remote = get_hf_file_metadata(url, timeout=_TIMEOUT, endpoint=self.endpoint)
            self._drop_broken(file)
            blob = self._blob(file, remote)
            with self._lock(blob):
                if not blob.exists():
                    _Transfer(self, file, url, remote, blob).run(counter)
            # The blob is there, so the library only adds its own book-keeping: refs and snapshot.
            kept = hf_hub_download(file.repository, file.name, cache_dir=self.cache, endpoint=self.endpoint)
        if not Path(kept).is_symlink():
            blob.unlink(missing_ok=True)  # a file system without links got a copy

    def _blob(self, file: RemoteFile, remote: HfFileMetadata) -> Path:
        name = Path(remote.etag or "").name
        if not name:
            raise CheckpointError(f"{self.host} does not say which version of {file.name} it has.")
        blob = self._repository(file.repository) / "blobs" / name
        blob.parent.mkdir(parents=True, exist_ok=True)
        return blob

    def _drop_broken(self, file: RemoteFile) -> None:
        """Forget a file of the cache that is cut off or damaged, or it would never be fetched again."""
        folder = self.folder(file.repository)
        path = folder / file.name if folder else None
        if path is None or not (path.exists() or path.is_symlink()) or problem_with(path) is None:
            return
        blob = path.resolve()
        path.unlink()
        if self.cache.resolve() in blob.parents:
            blob.unlink(missing_ok=True)

    def _repository(self, repository: str) -> Path:
        return self.cache / ("models--" + repository.replace("/", "--"))

    @contextlib.contextmanager
    def _lock(self, blob: Path) -> Iterator[None]:
        """One process at a time appends to a part file."""
        from huggingface_hub.utils import WeakFileLock  # type: ignore[attr-defined]

        folder = self.cache / ".locks" / blob.parent.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(folder / f"{blob.name}.part.lock"):
            yield

    def _begun(self, repository: str) -> int:
        return sum(part.stat().st_size for part in self._repository(repository).glob("blobs/*.part"))

    def _room_for(self, n_bytes: int) -> None:
        try:
            self.cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"The folder for downloads, {self.cache}, cannot be written ({error.strerror}). "
                "Set HF_HOME to a folder that can."
            ) from error
        free = shutil.disk_usage(self.cache).free
        if free < n_bytes:
            raise CheckpointError(
                f"The download needs {readable_size(n_bytes)}, but only {readable_size(free)} are free "
                f"in {self.cache}. Make room, or set HF_HOME to a folder on a larger disk."
            )


@dataclass
class _Counter:
    """Tells how far the whole download is."""

    report: Report | None
    before: int  # bytes of the files that are done
    total: int
    name: str

    def __call__(self, in_file: int) -> None:
        if self.report:
            self.report(self.before + in_file, self.total, self.name)


class _CountedFile:
    """A file that tells its counter how long it is after every write."""

    def __init__(self, file: IO[bytes], counter: _Counter) -> None:
        self._file, self._counter = file, counter
        self.tell, self.seek, self.truncate = file.tell, file.seek, file.truncate

    def write(self, data: bytes) -> int:
        written = self._file.write(data)
        self._counter(self._file.tell())
        return written


@dataclass
class _Transfer:
    """Moves one file's bytes into its blob; the ``.part`` beside it outlives the process."""

    hub: Hub
    file: RemoteFile
    url: str
    remote: HfFileMetadata
    blob: Path

    def run(self, counter: _Counter) -> None:
        fruitless = 0
        while (have := self._have()) != self.remote.size or have == 0:
            error = self._try(have, counter)
            if error is None:
                break
            fruitless = fruitless + 1 if self._have() <= have else 0
            if fruitless >= _FRUITLESS_TRIES:
                raise CheckpointError(self._broke_off(error)) from error
        self._verify()
        os.replace(self._part, self.blob)

    @property
    def _part(self) -> Path:
        return self.blob.with_name(self.blob.name + ".part")

    def _have(self) -> int:
        size = self._part.stat().st_size if self._part.exists() else 0
        if self.remote.size is not None and size > self.remote.size:
            self._part.unlink()
            return 0
        return size

    def _try(self, have: int, counter: _Counter) -> Exception | None:
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        self._part.touch()
        try:
            with self._part.open("r+b") as part:
                part.seek(have)
                http_get(
                    self.url,
                    _CountedFile(part, counter),  # type: ignore[arg-type]
                    resume_size=have,
                    headers=build_hf_headers(),
                    expected_size=self.remote.size,
                )
        except _transport_errors() as error:
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
                raise
            if getattr(error, "response", None) is not None:
                raise
            return error
        return None

    def _verify(self) -> None:
        """Large files are named by their SHA-256, so a wrong byte is found here."""
        etag = self.remote.etag or ""
        if not _SHA256.fullmatch(etag):
            return
        if _sha256(self._part) != etag:
            self._part.unlink()
            raise CheckpointError(
                f"{self.file.name} of {self.file.repository} arrived damaged and was thrown away. "
                "Start again to fetch it anew."
            )

    def _broke_off(self, error: Exception) -> str:
        return (
            f"The download of {self.file.name} ({self.file.repository}) broke off: "
            f"{readable_size(self._have())} of {readable_size(self.remote.size or self.file.size)} are here. "
            f"Start again and it goes on from there. ({type(error).__name__}: {error})"
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _transport_errors() -> tuple[type[Exception], ...]:
    """What a request can fail with; the hub library changed its HTTP client twice, its own error
    always derives from the client's."""
    from huggingface_hub.errors import HfHubHTTPError

    return (OSError, *HfHubHTTPError.__bases__)


@contextlib.contextmanager
def _in_words(hub: Hub, repository: str) -> Iterator[None]:
    """Turn the hub library's errors into sentences."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
    )

    if hub.offline:
        raise CheckpointError("HF_HUB_OFFLINE is set, so nothing is fetched.")
    try:
        yield
    except CheckpointError:
        raise
    except GatedRepoError as error:
        raise CheckpointError(
            f"{repository} asks for an agreement first: accept it at {hub.endpoint}/{repository}, "
            "then set HF_TOKEN to your token."
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise CheckpointError(
            f"There is no model {repository!r} at {hub.host} (or it is private and HF_TOKEN is not set)."
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise CheckpointError(f"{hub.host} answered {status} for {repository}; try again later.") from error
    except _transport_errors() as error:
        raise CheckpointError(_no_transport(hub, error)) from error


def _no_transport(hub: Hub, error: BaseException) -> str:
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {hub.cache} is full; make room and start again, what has come so far is kept."
    if isinstance(error, PermissionError) or getattr(error, "errno", None) == errno.EROFS:
        return f"{hub.cache} cannot be written; set HF_HOME to a folder that can."
    return f"{hub.host} cannot be reached ({type(error).__name__})."


@contextlib.contextmanager
def _quiet_bars() -> Iterator[None]:
    """The caller shows progress itself, so the library's bar stays away meanwhile."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    if are_progress_bars_disabled(_BAR):
        yield
        return
    disable_progress_bars(_BAR)
    try:
        yield
    finally:
        enable_progress_bars(_BAR)


def _is_true(value: str | None) -> bool:
    return (value or "").strip().upper() in {"1", "ON", "YES", "TRUE"}
