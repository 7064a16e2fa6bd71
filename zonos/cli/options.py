"""What ``python -m zonos`` takes. Nothing heavy is imported here: ``--help`` answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zonos.voices import SAMPLE_VOICES

# Rows that leave one of these cells empty get the command line's value.
FOR_EVERY_LINE = ("language", "voice", "emotion", "seed", "takes")
FORMAT_NAMES = ("wav", "wav24", "wav32f", "flac", "mp3", "ogg", "opus", "aac")
STANDARD_INPUT = "-"

_USAGE = """\
python -m zonos SCRIPT… --out FOLDER
       python -m zonos --text "First." "Second." --voice clip.wav --out FOLDER
       python -m zonos serve | doctor [--help]"""

_DESCRIPTION = """\
Speaks every line of a script, many at once, into one audio file a line.

A script is a table (csv, tsv, xlsx, jsonl) with a column "text" and, where you like, id, name,
language, voice, emotion, seed, takes, speaking_rate, pitch_std, cfg_scale, max_seconds and more;
or plain text, a line a row; or subtitles (srt, vtt). An empty cell takes the option below, else the model's default."""

_EPILOG = """\
Exit status: 0 every line is done; 1 some lines failed (each is named, with the reason); 2 nothing
could be read or the options are wrong; 130 stopped by Ctrl-C, what was done is kept.

serve starts the HTTP API and doctor looks at this machine; a script that is really called so is
written ./serve."""


@dataclass(frozen=True)
class Options:
    """The command line, checked."""

    scripts: tuple[str, ...]
    texts: tuple[str, ...]
    cells: dict[str, str]  # of FOR_EVERY_LINE, as typed
    skip_bad: bool
    out: Path
    format: str
    name_template: str
    loudness: float | None  # LUFS
    trim: bool
    join: Path | None
    join_format: str
    gap: float  # seconds
    model: str
    device: str | None
    dtype: str | None
    slots: int | None
    voice_folders: tuple[Path, ...]
    resume: bool
    dry_run: bool
    json: bool


def read_options(arguments: Sequence[str]) -> Options:
    """Parse; a wrong option ends the program with status 2 and a sentence, as argparse does."""
    parser = _parser()
    given = parser.parse_intermixed_args(arguments)
    if not given.script and given.text is None:
        parser.error('give a script file, or a text: --text "Hello."')
    for folder in given.voices:
        if not folder.is_dir():
            parser.error(f"argument --voices: there is no folder {str(folder)!r}")
    return Options(
        scripts=tuple(given.script),
        texts=tuple(given.text or ()),
        cells={name: value for name in FOR_EVERY_LINE if (value := getattr(given, name)) is not None},
        skip_bad=given.skip_bad,
        out=given.out,
        format=given.format,
        name_template=_template(parser, given.name_template),
        loudness=given.loudness,
        trim=given.trim,
        join=given.join,
        join_format=_join_format(parser, given.join, given.format),
        gap=given.gap,
        model=given.model,
        device=given.device,
        dtype=given.dtype,
        slots=given.slots,
        voice_folders=(*given.voices, Path("voices"), SAMPLE_VOICES),
        resume=given.resume,
        dry_run=given.dry_run,
        json=given.json,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m zonos",
        usage=_USAGE,
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_lines(parser.add_argument_group("what is said"))
    _add_defaults(parser.add_argument_group("for every line that does not say it itself"))
    _add_output(parser.add_argument_group("what is written"))
    _add_run(parser.add_argument_group("how it runs"))
    return parser


def _add_lines(group: argparse._ArgumentGroup) -> None:
    group.add_argument("script", nargs="*", metavar="SCRIPT", help="script files; - reads standard input")
    group.add_argument("--text", nargs="+", metavar="TEXT", help="lines to speak, each in quotes")
    group.add_argument(
        "--skip-bad", action="store_true", help="speak the good rows of a script that has bad ones"
    )


def _add_defaults(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--voice", metavar="NAME|CLIP", help="a voice's name, or an audio file to speak like")
    group.add_argument("--language", metavar="CODE", help="such as en-us, de, fr-fr, ja (default en-us)")
    group.add_argument(
        "--emotion", metavar="MIX", help='a preset such as happy, auto, or "happiness=0.8 surprise=0.2"'
    )
    group.add_argument("--seed", metavar="N", help="the same seed makes the same take (default: a new one)")
    group.add_argument("--takes", metavar="N", help="takes of each line (default 1)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="where files go (default: out)"
    )
    group.add_argument("--format", choices=FORMAT_NAMES, default="wav", help="of the files (default wav)")
    group.add_argument(
        "--name-template",
        default="",
        metavar="T",
        help='file names, such as "{n:03} {voice} {text}" (default: the name, the id, or a number)',
    )
    group.add_argument(
        "--loudness", type=_loudness, metavar="LUFS", help="bring each take to this loudness, such as -23"
    )
    group.add_argument("--trim", action="store_true", help="take silence off both ends of each take")
    group.add_argument("--join", type=Path, metavar="FILE", help="all lines in one file too, in order")
    group.add_argument(
        "--gap", type=_seconds, default=0.5, metavar="SECONDS", help="silence between them (default 0.5)"
    )


def _add_run(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model", default="mini", help="mini, transformer, hybrid, a hub id or a folder (default mini)"
    )
    group.add_argument("--device", help="cuda, mps or cpu (default: the best there is)")
    group.add_argument("--dtype", help="bfloat16, float16 or float32 (default: what fits)")
    group.add_argument("--slots", type=_slots, metavar="N", help="most lines spoken at once")
    group.add_argument(
        "--voices",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="voices as files: NAME.wav, or NAME/*.wav; may be given again (looked at too: ./voices, "
        f"and the sample voices {', '.join(_sample_voices())})",
    )
    group.add_argument("--resume", action="store_true", help="keep lines that are done already and unchanged")
    group.add_argument(
        "--dry-run", action="store_true", help="show phonemes, lengths, memory and time; speak nothing"
    )
    group.add_argument("--json", action="store_true", help="tell what happens as JSON lines")


def _sample_voices() -> list[str]:
    return sorted(path.stem for path in SAMPLE_VOICES.glob("*.wav"))


def _template(parser: argparse.ArgumentParser, template: str) -> str:
    from zonos.names import check_template

    try:
        check_template(template)
    except ValueError as error:
        parser.error(f"argument --name-template: {error}")
    return template


def _join_format(parser: argparse.ArgumentParser, join: Path | None, format: str) -> str:
    """What a joined file is written as: its ending says it, the other files' format which kind of wav."""
    if join is None:
        return format
    ending = join.suffix.lower().removeprefix(".")
    if format.startswith("wav") and ending == "wav":
        return format
    if ending not in FORMAT_NAMES:
        parser.error(
            f"argument --join: {join.name!r} must end in one of .wav, .flac, .mp3, .ogg, .opus, .aac"
        )
    return ending


def _slots(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 to 1024")
    return value


def _seconds(text: str) -> float:
    return _between(text, 0, 60)


def _loudness(text: str) -> float:
    return _between(text, -70, 0)


def _between(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number from {low:g} to {high:g}")
    return value
