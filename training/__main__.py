"""`python -m training data | codec | speaker | model | export | evaluate`."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from training import config

STEPS = ("data", "codec", "speaker", "model", "export", "evaluate")


def main(argv: list[str] | None = None) -> None:
    """Run one step of the pipeline."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--config", type=Path, help="a config file; default training/config.json")
    steps = parser.add_subparsers(dest="step", required=True)
    for name in STEPS:
        step = steps.add_parser(name)
        step.add_argument("--config", type=Path, default=argparse.SUPPRESS, help="a config file")
        if name == "evaluate":
            step.add_argument("--model", default="mini", help="mini or a folder; default mini")
            step.add_argument("--voices", type=Path, help="folder of clips; default the model's own voices/")
            step.add_argument("--quick", type=int, default=0, help="at most so many sentences a row")
            step.add_argument("--card", action="store_true", help="put the table into the model's README.md")
            step.add_argument("--json", action="store_true", help="numbers instead of a table")
    arguments = parser.parse_args(argv)
    # Only the step asked for is imported: they need different packages.
    chosen = import_module(f"training.{arguments.step}")
    if arguments.step == "evaluate":
        voices = arguments.voices or Path(arguments.model) / "voices"
        chosen.run(arguments.model, voices, arguments.quick, arguments.json, arguments.card)
    else:
        chosen.run(config.load(arguments.config))


if __name__ == "__main__":
    main()
