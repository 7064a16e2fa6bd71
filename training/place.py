"""`python -m training place`: an exported folder becomes the embedded checkpoint of this repository."""

from __future__ import annotations

import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

_ROOT = Path(__file__).parents[1]
_NEEDED = (
    "config.json",
    "model.safetensors.index.json",
    "generation.json",
    "codec.json",
    "codec.safetensors",
    "speaker.json",
    "speaker.safetensors",
    "training.json",
    "README.md",
    "golden.json",
    "golden.safetensors",
    "golden_codec.safetensors",
)


def run(export: Path, root: Path = _ROOT) -> None:
    """Copy checkpoint, voices and golden numbers to where the product and its tests have them.

    Args:
        export: of ``python -m training export``.
        root: the repository.

    Raises:
        FileNotFoundError: ``export`` is not such a folder; nothing was changed.
    """
    clips = sorted((export / "voices").glob("*.wav"))
    missing = [name for name in _NEEDED if not (export / name).exists()]
    if missing or not clips:
        raise FileNotFoundError(f"{export} is no whole export: no {', '.join(missing) or 'voices/*.wav'}")
    tensors = load_file(export / "golden.safetensors")
    checkpoint, voices, data = root / "zonos/checkpoints/mini", root / "examples/voices", root / "tests/data"
    for folder in (checkpoint, voices):
        for stale in folder.iterdir():
            if stale.is_file():
                stale.unlink()
    for path in export.iterdir():
        if path.is_file() and not path.name.startswith("golden"):
            shutil.copyfile(path, checkpoint / path.name)
    for clip in clips:
        shutil.copyfile(clip, voices / f"{clip.stem.title()}.wav")
    shutil.copyfile(export / "golden.json", data / "mini/greedy.json")
    shutil.copyfile(export / "golden.safetensors", data / "mini/greedy.safetensors")
    shutil.copyfile(export / "golden_codec.safetensors", data / "mini_codec.safetensors")
    vectors = {name.split("/")[1]: value for name, value in tensors.items() if name.startswith("speaker/")}
    save_file(
        {name: value.contiguous() for name, value in vectors.items()}, data / "mini_speaker.safetensors"
    )
    print(f"place: {len(clips)} voices; now run the tests", flush=True)
