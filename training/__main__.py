"""`python -m training data | codec | speaker | model | export | evaluate | place | samples`."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from training import config

STEPS = ("data", "codec", "speaker", "model", "export", "evaluate", "place", "samples")


def main(argv: list[str] | None = None) -> None:
    """Run one step of the pipeline."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--config", type=Path, help="a config file; default training/config.json")
    steps = parser.add_subparsers(dest="step", required=True)
    for name in STEPS:
        step = steps.add_parser(name)
        step.add_argument("--config", type=Path, default=argparse.SUPPRESS, help="a config file")
        if name in ("evaluate", "samples"):
            step.add_argument("--model", default="mini", help="mini or a folder; default mini")
            step.add_argument("--voices", type=Path, help="folder of clips; default the model's own voices/")
        if name == "place":
            step.add_argument("--model", type=Path, required=True, help="an exported folder")
        if name == "samples":
            step.add_argument("--out", type=Path, default=Path("examples/listen"), help="folder to write to")
        if name == "evaluate":
            step.add_argument("--quick", type=int, default=0, help="at most so many sentences a row")
            step.add_argument("--card", action="store_true", help="put the table into the model's README.md")
            step.add_argument("--json", action="store_true", help="numbers instead of a table")
    arguments = parser.parse_args(argv)
    # Only the step asked for is imported: they need different packages.
    chosen = import_module(f"training.{arguments.step}")
    if arguments.step in ("evaluate", "samples"):
        voices = arguments.voices or _voices(arguments.model)
    if arguments.step == "samples":
        chosen.run(arguments.model, voices, arguments.out)
    elif arguments.step == "place":
        chosen.run(arguments.model)
    elif arguments.step == "evaluate":
        chosen.run(arguments.model, voices, arguments.quick, arguments.json, arguments.card)
    else:
        chosen.run(config.load(arguments.config))


def _voices(model: str) -> Path:
    """A folder's own clips; the embedded checkpoint has none, the studio's examples are its voices."""
    own = Path(model) / "voices"
    return own if own.is_dir() else Path("examples/voices")


if __name__ == "__main__":
    main()
