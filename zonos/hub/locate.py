"""Where the parts of a checkpoint lie on this machine, and which files would have to be fetched."""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from zonos.commands import hf_download
from zonos.errors import CheckpointError
from zonos.hub.download import Hub, RemoteFile
from zonos.hub.layout import INDEX, Layout, PartNames, dac_names, read_layout, speaker_names
from zonos.hub.weights import problem_with, readable_size

log = logging.getLogger(__name__)

MINI = "mini"
MINI_FOLDER = Path(__file__).parents[1] / "checkpoints" / MINI
DAC_REPOSITORY = "descript/dac_44khz"
SPEAKER_REPOSITORY = "Zyphra/Zonos-v0.1-speaker-embedding"
MODELS_VARIABLE = "ZONOS_MODELS"

# Bytes of the published files: parameters times bytes each (bf16 models; fp32 codec and encoder).
DAC_BYTES = 76_620_777 * 4
SPEAKER_BYTES = 98_937_408 * 4
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class _Published:
    """A checkpoint of the hub that has a short name."""

    name: str
    title: str
    repository: str
    n_bytes: int


PUBLISHED = (
    _Published("transformer", "Zonos-v0.1 transformer", "Zyphra/Zonos-v0.1-transformer", 1_624_399_872 * 2),
    _Published("hybrid", "Zonos-v0.1 hybrid", "Zyphra/Zonos-v0.1-hybrid", 1_651_798_912 * 2),
)
_TITLES = {entry.repository: entry.title for entry in PUBLISHED} | {MINI: "Built-in voice (small, English)"}
_BYTES = {entry.repository: entry.n_bytes for entry in PUBLISHED} | {
    DAC_REPOSITORY: DAC_BYTES,
    SPEAKER_REPOSITORY: SPEAKER_BYTES,
}


def local_folders() -> dict[str, Path]:
    """Checkpoints under the folders of ``ZONOS_MODELS`` (separated as in PATH), by name.

    A name that something else has already is replaced by the folder's path.
    """
    taken = {MINI, *(entry.name for entry in PUBLISHED)}
    found: dict[str, Path] = {}
    for entry in filter(None, os.environ.get(MODELS_VARIABLE, "").split(os.pathsep)):
        root = Path(entry).expanduser()
        folders = [root] if (root / "config.json").is_file() else _children(root)
        for folder in folders:
            free = folder.name not in taken and folder.name not in found
            found[folder.name if free else str(folder)] = folder
    return found


def _children(root: Path) -> list[Path]:
    if not root.is_dir():
        log.warning("%s names %s, which is no folder.", MODELS_VARIABLE, root)
        return []
    return sorted(child for child in root.iterdir() if (child / "config.json").is_file())


@dataclass(frozen=True)
class Place:
    """One part of a checkpoint as it lies on disk, whole or not."""

    title: str
    repository: str | None  # None: a folder of the user's, nothing to fetch
    folder: Path | None
    names: PartNames
    needed: bool = True  # without it nothing can be spoken

    @property
    def n_bytes(self) -> int:
        """What it takes to fetch it, as far as known."""
        return _BYTES.get(self.repository or "", 0)

    @property
    def begun(self) -> bool:
        """Whether some of it is there."""
        return self.folder is not None and any((self.folder / name).exists() for name in self.names.all)

    def problems(self) -> list[str]:
        """Sentences; none when the part is whole."""
        if self.folder is None:
            size = f" ({readable_size(self.n_bytes)})" if self.n_bytes else ""
            return [f"The {self.title}{size} is not on this machine."]
        return [text for name in self.names.all if (text := problem_with(self.folder / name))]

    def paths(self) -> tuple[Path | None, tuple[Path, ...]]:
        """Config and weights of a whole part."""
        folder = self.whole_folder
        config = folder / self.names.config if self.names.config else None
        return config, tuple(folder / name for name in self.names.weights)

    @property
    def whole_folder(self) -> Path:
        """Folder of a whole part."""
        assert self.folder is not None, "asked of a part with problems"
        return self.folder


@dataclass(frozen=True)
class Search:
    """What is known about a checkpoint without touching the network."""

    name: str
    title: str
    hub: Hub
    model: Place
    codec: Place
    speaker: Place
    generation: str | None = None
    _found: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def start(cls, model: str, hub: Hub) -> Search:
        """Look at the disk."""
        name, folder, repository = _locate(model, hub)
        layout = _layout_of(folder) if folder else read_layout(())
        title = _TITLES.get(repository or name, folder.name if folder and not repository else name)
        return cls(
            name=name,
            title=title,
            hub=hub,
            model=Place("model", repository, folder, layout.model),
            codec=Place("codec", repository, folder, layout.codec)
            if layout.codec
            else Place("codec", DAC_REPOSITORY, hub.folder(DAC_REPOSITORY), dac_names()),
            speaker=Place("speaker encoder", repository, folder, layout.speaker, needed=False)
            if layout.speaker
            else _published_speaker(hub),
            generation=layout.generation,
        )

    @property
    def places(self) -> tuple[Place, ...]:
        """Model, codec, speaker encoder."""
        return (self.model, self.codec, self.speaker)

    @property
    def n_bytes(self) -> int:
        """What it takes to fetch all of it, as far as known."""
        return sum(place.n_bytes for place in self.places)

    def gaps(self, *, fatal: bool = False) -> list[Place]:
        """Parts that are not whole; only those that nothing works without, where ``fatal``."""
        return [place for place in self.places if (place.needed or not fatal) and self.problems(place)]

    def problems(self, place: Place) -> list[str]:
        """Sentences about one part, looked up once."""
        if place.title not in self._found:
            self._found[place.title] = place.problems()
        return self._found[place.title]

    def plan(self) -> list[RemoteFile]:
        """Files to fetch.

        Raises:
            CheckpointError: the hub cannot be asked, or its repository holds no Zonos checkpoint.
        """
        files: list[RemoteFile] = []
        inside: Layout | None = None  # what the model's own repository brings along
        if self.model.repository and self.problems(self.model):
            offered = self.hub.files(self.model.repository)
            inside = read_layout(offered)
            files += _lacking(offered, inside.all, self.model.folder)
        for place in (self.codec, self.speaker):
            brought = inside and (inside.codec if place is self.codec else inside.speaker)
            if brought or not place.repository or not self.problems(place):
                continue
            offered = self.hub.files(place.repository)
            files += _lacking(offered, self._names(place, offered).all, place.folder)
        return files

    def _names(self, place: Place, offered: dict[str, RemoteFile]) -> PartNames:
        if place.repository == SPEAKER_REPOSITORY:
            return speaker_names(offered, own_repository=True) or place.names
        return place.names

    def failure(self, reason: str) -> str:
        """Why the checkpoint cannot be used and what to do, for people."""
        gaps = self.gaps()
        lacking = " ".join(text for place in gaps for text in self.problems(place))
        words = [f"The model {self.name} cannot be loaded. {lacking}"]
        if len(gaps) > 1 and all(place.n_bytes for place in gaps):
            words.append(f"That is {readable_size(sum(place.n_bytes for place in gaps))} in all.")
        words.append(reason)
        if self.model in gaps and not self.model.repository:
            words.append(f"Put the files into {self.model.folder}.")
        words.append("The model mini needs no download.")
        repositories = list(dict.fromkeys(place.repository for place in gaps if place.repository))
        if repositories:  # at the end, where no full stop can be taken for a part of it
            commands = " && ".join(map(hf_download, repositories))
            words.append(f"With a network, start again and it is fetched, or run: {commands}")
        return " ".join(word for word in words if word)


def _locate(model: str, hub: Hub) -> tuple[str, Path | None, str | None]:
    """Name, folder and hub repository that a user's word for a model means."""
    name = model.strip()
    if name == MINI:
        return MINI, MINI_FOLDER, None
    repository = next((entry.repository for entry in PUBLISHED if name == entry.name), None)
    if repository:
        return repository, hub.folder(repository), repository
    folder = Path(name).expanduser()
    if folder.is_dir() and name:
        return name, folder, None
    if (listed := local_folders().get(name)) is not None:
        return name, listed, None
    if folder.is_file():
        raise CheckpointError(f"{name} is a file; give the folder that holds config.json and the weights.")
    if _REPOSITORY.fullmatch(name):
        return name, hub.folder(name), name
    raise CheckpointError(
        f"There is no model {name!r}: it is neither a folder here nor a hub id such as "
        f"{PUBLISHED[0].repository}. Known names: {', '.join([MINI, *(e.name for e in PUBLISHED)])}."
    )


def _layout_of(folder: Path) -> Layout:
    # A model folder is shallow; a user who names the root of a disk must not wait for a walk of it.
    names = {
        path.relative_to(folder).as_posix()
        for pattern in ("*", "*/*", "*/*/*.safetensors", "*/*/config.json")
        for path in folder.glob(pattern)
    }
    return read_layout(names, _indexed(folder / INDEX))


def _indexed(index: Path) -> tuple[str, ...]:
    """Shards that an index lists; a broken index reads as none, the shards then name themselves."""
    try:
        shards = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return ()
    # Only names inside the folder: an index must not lead elsewhere.
    return tuple(sorted({str(shard) for shard in shards if Path(str(shard)).name == str(shard)}))


def _published_speaker(hub: Hub) -> Place:
    folder = hub.folder(SPEAKER_REPOSITORY)
    names = [path.name for path in folder.iterdir()] if folder else []
    parts = speaker_names(names, own_repository=True)
    assert parts is not None
    return Place("speaker encoder", SPEAKER_REPOSITORY, folder, parts, needed=False)


def _lacking(offered: dict[str, RemoteFile], names: tuple[str, ...], folder: Path | None) -> list[RemoteFile]:
    files: list[RemoteFile] = []
    for name in names:
        if name not in offered:
            repository = next((file.repository for file in offered.values()), "The repository")
            raise CheckpointError(f"{repository} has no {name}, so it is no checkpoint that can be used.")
        file = offered[name]
        same = folder is not None and folder.name == file.commit
        if not (same and folder and problem_with(folder / name) is None):
            files.append(file)
    return files
