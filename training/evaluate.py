"""`python -m training evaluate --model FOLDER`: the table of the model card, seeds fixed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from training import trial
from training.listen import Pocketsphinx, SpeakerEar, Whisper
from training.speakers import NAMED
from training.texts import SENTENCES, WORDS, read_lines

_TABLE_STARTS, _TABLE_ENDS = "<!-- table -->", "<!-- end of table -->"
CLIP_TEXTS = (
    "Every evening the ferry brings a handful of visitors to our small harbor.",
    "They ask for directions, and I am always glad to help.",
    "Later we share a pot of tea and talk about the weather.",
)


def run(model: str, voices: Path, quick: int, as_json: bool, card: bool = False) -> dict[str, Any]:
    """Measure every row and print the table.

    Args:
        model: what ``zonos.load`` takes.
        voices: folder of the shipped voices' clips; the first one by the checkpoint's order is the default.
        quick: at most so many sentences a row; 0 for all.
        as_json: print the numbers as JSON instead.
        card: put the table into the README.md of the folder ``model``.
    """
    sentences = read_lines(SENTENCES)[: quick or None]
    words = read_lines(WORDS)[: quick or None]
    clips = {path.stem: path for path in sorted(voices.glob("*.wav"))}
    default = next((n for n in clips if n.lower() == "heart"), next(iter(clips)))
    stage, whisper = trial.Stage(model, [voices]), Whisper()
    ear = SpeakerEar()
    found: dict[str, Any] = {"sentences": len(sentences)}
    try:
        found["wer"] = {default: trial.heard_errors(stage, whisper, sentences, default, timed=True)}
        _say(f"WER {found['wer']}")
        found["one_word"] = [trial.one_word(stage, whisper, words, default), len(words)]
        _say(f"one word {found['one_word']}")
        found["rates"] = trial.rates(stage, sentences[:8], default, (10, 14, 20))
        found["pitch_std"] = trial.spreads(stage, sentences[:8], default, (15, 35, 70))
        found["manners"] = trial.manners(stage, sentences[:8], default)
        _say(f"rates {found['rates']}, manners done")
        found["own_voice"] = trial.nearest(stage, ear, clips, sentences[:4])
        _say(f"own voice {found['own_voice']}")
        found["continued"] = trial.continued(stage, whisper, clips, " ".join(CLIP_TEXTS), sentences[-3:])
        _say(f"continued {found['continued']}")
        with tempfile.TemporaryDirectory() as folder:
            unseen = trial.unseen_clips(Path(folder), CLIP_TEXTS)
            found["unseen"] = trial.nearest(stage, ear, unseen, sentences[4:7])
        _say(f"unseen {found['unseen']}")
        ears: dict[str, trial.Ear] = {"whisper": whisper, "pocketsphinx": Pocketsphinx()}
        found["codec"] = trial.resynthesis(stage, ears, sentences)
        found["codec_voices"] = {
            speaker.name: trial.resynthesis(stage, {"whisper": whisper}, sentences[:25], speaker)[
                "codec, whisper"
            ]
            for speaker in NAMED
        }
        _say(f"codec {found['codec']}")
        for name in clips:
            if name != default:
                found["wer"][name] = trial.heard_errors(stage, whisper, sentences, name)
                _say(f"WER {name} {found['wer'][name]:.3f}")
        tally = stage.tally
        found["lines"] = {
            "all": tally.lines,
            "run_on": tally.run_on,
            "silent": tally.silent,
            "retried": tally.retried,
            "failed": tally.failed,
        }
        found["speed"] = {
            "speech per second": tally.speech / max(tally.wall, 1e-9),
            "speech per second of one core": tally.speech / max(tally.cpu, 1e-9),
        }
        files = stage.engine.pipeline.checkpoint.files
        found["megabytes"] = [
            sum(p.stat().st_size for p in files) / 1e6,
            max(p.stat().st_size for p in files) / 1e6,
        ]
    finally:
        stage.close()
    print(json.dumps(found, indent=1) if as_json else table(found), flush=True)
    if card:
        readme = Path(model) / "README.md"
        readme.write_text(with_table(readme.read_text(encoding="utf-8"), table(found)), encoding="utf-8")
    return found


def with_table(card: str, rows: str) -> str:
    """The model card with its table replaced."""
    head, rest = card.split(_TABLE_STARTS)
    return f"{head}{_TABLE_STARTS}\n{rows}\n{_TABLE_ENDS}{rest.split(_TABLE_ENDS)[1]}"


def _say(line: str) -> None:
    print(f"evaluate: {line}", flush=True)


def emotions_as_intended(manners: dict[str, dict[str, float]]) -> dict[str, bool]:
    """Whether each emotion moves pitch, its range, level and tempo as the data's manners do.

    Pitch by a semitone at least, level by 1 dB, length by 4 %.
    """
    plain = manners["neutral"]

    def up(emotion: str, key: str, factor: float) -> bool:
        return manners[emotion][key] > plain[key] * factor

    def down(emotion: str, key: str, factor: float) -> bool:
        return manners[emotion][key] < plain[key] / factor

    def louder(emotion: str, decibels: float) -> bool:
        return (manners[emotion]["level"] - plain["level"]) * (1 if decibels > 0 else -1) > abs(decibels)

    return {
        "happy": up("happy", "f0", 1.06) and up("happy", "f0 std", 1.1) and down("happy", "seconds", 1.04),
        "sad": down("sad", "f0", 1.06) and louder("sad", -1) and up("sad", "seconds", 1.04),
        "disgusted": down("disgusted", "f0", 1.06) and up("disgusted", "seconds", 1.04),
        "afraid": up("afraid", "f0", 1.06) and down("afraid", "seconds", 1.04),
        "surprised": up("surprised", "f0", 1.06) and up("surprised", "f0 std", 1.1),
        "angry": louder("angry", 1) and down("angry", "seconds", 1.04),
    }


def table(found: dict[str, Any]) -> str:
    """The rows in Markdown."""
    wer, manners, rates = found["wer"], found["manners"], found["rates"]
    default = next(iter(wer))
    intended = emotions_as_intended(manners)
    pitch = {name: m["f0"] for name, m in manners.items()}
    rows = [
        (f"WER, default voice ({default}), {found['sentences']} sentences", f"{wer[default]:.3f}"),
        ("WER, every shipped voice", ", ".join(f"{n} {w:.3f}" for n, w in wer.items())),
        ("recordings and codec resynthesis", ", ".join(f"{n} {w:.3f}" for n, w in found["codec"].items())),
        (
            "codec resynthesis of 25 sentences by voice, whisper",
            ", ".join(f"{n} {w:.3f}" for n, w in found["codec_voices"].items()),
        ),
        ("own voice nearest among the shipped (cosine margin)", _margins(found["own_voice"])),
        ("unseen voices: own clip nearest of ten", _margins(found["unseen"])),
        (
            "WER of lines after a prefix clip of ten seconds",
            "{:.3f} with the clip's words, {:.3f} without".format(*found["continued"]),
        ),
        ("duration change, speaking_rate 10 to 20", f"{100 * (rates[20] / rates[10] - 1):+.0f} %"),
        ("pitch_std asked: measured", ", ".join(f"{k}: {v:.0f} Hz" for k, v in found["pitch_std"].items())),
        (
            "emotions as intended",
            f"{sum(intended.values())} of 6; f0 " + ", ".join(f"{n} {p:.0f}" for n, p in pitch.items()),
        ),
        ("one-word lines right", f"{found['one_word'][0]} of {found['one_word'][1]}"),
        (
            "run-on, silent, failed lines (retried by the engine)",
            f"{found['lines']['run_on']}, {found['lines']['silent']}, {len(found['lines']['failed'])} of {found['lines']['all']} ({found['lines']['retried']})",
        ),
        (
            "speech, 8 slots",
            ", ".join(f"{v:.1f} s per {k.removeprefix('speech per ')}" for k, v in found["speed"].items()),
        ),
        ("all weights, largest file", "{:.1f} MB, {:.1f} MB".format(*found["megabytes"])),
    ]
    return "\n".join(["| what | measured |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def _margins(margins: dict[str, float]) -> str:
    right = sum(m > 0 for m in margins.values())
    return f"{right} of {len(margins)}, smallest {min(margins.values()):.3f}"
