"""Options, scripts that cannot be read, exit statuses, who hears what. See also test_cli_output and _speak."""

from __future__ import annotations

import io
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from cli_support import CommandLine, HummingEngine, cli, hum

from zonos.audio.write import FORMATS
from zonos.cli import main
from zonos.cli.options import FORMAT_NAMES
from zonos.script.rows import FIELDS

__all__ = ["cli", "hum"]

ROOT = Path(__file__).parents[1]


def test_help_answers_before_anything_heavy_is_loaded() -> None:
    code = (
        "import sys; from zonos.cli import main; status = main(['--help']);"
        "heavy = {'torch', 'numpy', 'pandas', 'soundfile', 'scipy'} & set(sys.modules); sys.exit(status or len(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for option in [
        "--model",
        "--device",
        "--dtype",
        "--slots",
        "--language",
        "--voice",
        "--emotion",
        "--seed",
        "--takes",
    ]:
        assert option in done.stdout
    for option in [
        "--format",
        "--join",
        "--gap",
        "--resume",
        "--json",
        "--dry-run",
        "--skip-bad",
        "--voices",
    ]:
        assert option in done.stdout


def test_formats_on_offer_are_those_that_can_be_written() -> None:
    assert set(FORMAT_NAMES) == set(FORMATS) - {"pcm"}  # raw samples say nothing of their rate


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--emotion", "hapy"], "--emotion"),
        (["--emotion", "happiness=2"], "--emotion"),
        (["--seed", "x"], "--seed"),
        (["--seed", "-1"], "--seed"),
        (["--takes", "0"], "--takes"),
        (["--format", "mp4"], "--format"),
        (["--slots", "0"], "--slots"),
        (["--gap", "-1"], "--gap"),
        (["--loudness", "nan"], "--loudness"),
        (["--join", "all.doc"], "--join"),
        (["--name-template", "{path}"], "--name-template"),
        (["--voices", "nowhere"], "--voices"),
        (["--colour", "red"], "--colour"),
    ],
)
def test_a_wrong_option_is_named(cli: CommandLine, hum: HummingEngine, option: list[str], named: str) -> None:
    found = cli("--text", "Hello.", *option)
    assert found.status == 2
    assert named in found.err
    assert not hum.loads
    assert not found.folder.exists()


@pytest.mark.parametrize(("word", "name"), [("serve", "zonos.server"), ("doctor", "zonos.doctor")])
def test_reserved_words_reach_their_own_programs(
    monkeypatch: pytest.MonkeyPatch, word: str, name: str
) -> None:
    called: list[list[str]] = []
    module: Any = types.ModuleType(name)
    module.main = lambda arguments: called.append(arguments) or 7
    monkeypatch.setitem(sys.modules, name, module)
    assert main([word, "--json"]) == 7
    assert called == [["--json"]]


def test_a_script_called_serve_is_written_with_its_folder(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("serve", "Hello there.\n")
    assert cli("./serve").status == 0
    assert hum.spoken == ["Hello there."]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("seed.csv", "text,seed\nHi,x\nHello,1\n", ["seed.csv row 2", "column seed", "'x'"]),
        ("rate.csv", "Text;Speaking Rate\nHi;12\nHello;100\n", ["rate.csv row 3", "column Speaking Rate"]),
        ("pitch.tsv", "text\tpitch_std\nHi\t-5\n", ["pitch.tsv row 2", "column pitch_std", "from 0 to 400"]),
        ("mood.csv", "text,emotion\nHi,hapy\n", ["mood.csv row 2", "column emotion", "'hapy'"]),
        ("twins.csv", "id,text\na,Hi\na,Hello\n", ["twins.csv row 3", "column id", "row 2"]),
        ("cut.jsonl", '{"text": "Hi"}\n{"text": \n', ["cut.jsonl row 2", "not valid JSON"]),
        ("wide.csv", "text,fmax\nHi,96000\n", ["wide.csv row 2", "column fmax"]),
    ],
)
def test_a_broken_script_names_row_and_column_and_nothing_is_spoken(
    cli: CommandLine, hum: HummingEngine, name: str, content: str, told: list[str]
) -> None:
    found = cli(cli.write(name, content).name)
    assert found.status == 2
    assert all(words in found.err for words in told), found.err
    assert "--skip-bad" in found.err
    assert not hum.loads
    assert not found.folder.exists()


def test_skip_bad_speaks_the_good_rows_and_records_the_bad(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("scene.csv", "name,text,seed\none,Hi there,1\ntwo,Hello you,x\nthree,Good bye,2\n")
    found = cli("scene.csv", "--skip-bad")
    assert found.status == 1
    assert found.files == ["one.wav", "three.wav"]
    bad = next(entry for entry in found.entries if entry["status"] == "failed")
    assert (bad["name"], bad["row"], bad["code"], bad["file"]) == ("two", 3, "bad_row", None)
    assert "scene.csv row 3: column seed" in found.err


def test_a_broken_script_costs_another_one_nothing(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("bad.csv", "text,seed\nHi,x\nHello,1\n")
    cli.write("good.txt", "Good morning.\n")
    found = cli("bad.csv", "good.txt", "missing.csv")
    assert found.status == 1
    assert hum.spoken == ["Good morning."]
    assert "bad.csv row 2" in found.err
    assert "missing.csv cannot be read" in found.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.txt", b"\n \n"),
        ("header.csv", b"text,voice\n"),
        ("image.txt", b"\x89PNG\0\0"),
    ],
)
def test_nothing_to_read_is_status_two(
    cli: CommandLine, hum: HummingEngine, name: str, content: bytes
) -> None:
    found = cli(cli.write(name, content).name)
    assert (found.status, hum.loads) == (2, [])
    assert name in found.err


@pytest.mark.parametrize("texts", [[""], ["  ", "\n"], ["\t"]])
def test_texts_without_a_word_are_status_two(cli: CommandLine, hum: HummingEngine, texts: list[str]) -> None:
    found = cli("--text", *texts)
    assert found.status == 2
    assert "nothing to speak" in found.err


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
def test_sixty_lines_with_blank_ones(cli: CommandLine, hum: HummingEngine, blank: str) -> None:
    rows = [blank if number % 6 == 0 else f"Line {number}." for number in range(1, 61)]
    cli.write("sixty.txt", "\n".join([*rows, "The end."]))
    found = cli("sixty.txt")
    assert found.status == 0
    assert len(found.files) == 51
    assert "blank line is skipped (rows 6, 12" in found.err


def test_standard_input_is_a_script(
    cli: CommandLine, hum: HummingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüß Gott.\nServus.\n".encode())))
    found = cli("-")
    assert (found.status, found.files) == (0, ["stdin-001.wav", "stdin-002.wav"])


def test_scripts_and_options_may_stand_in_any_order(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("a.txt", "From a.\n")
    cli.write("b.txt", "From b.\n")
    assert cli("a.txt", "--seed", "3", "b.txt").status == 0
    assert hum.spoken == ["From a.", "From b."]


def test_options_fill_only_what_a_row_leaves_open(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("v.csv", "text,voice,language,seed,takes\nOne,,,,\nTwo,Marcus,de,5,1\n")
    found = cli("v.csv", "--voice", "Heart", "--language", "fr-fr", "--seed", "9", "--takes", "2")
    made = [(e["text"], e["recipe"]["line"]["voice"], e["recipe"]["line"]["language"]) for e in found.entries]
    assert made == [("One", "Heart", "fr-fr")] * 2 + [("Two", "Marcus", "de")]
    assert [entry["take"] for entry in found.entries] == [1, 2, 1]
    assert (found.entries[0]["seed"], found.entries[2]["seed"]) == (9, 5)
    assert found.entries[1]["seed"] != 9


def test_an_unknown_column_is_named_and_costs_nothing(cli: CommandLine, hum: HummingEngine) -> None:
    cli.write("c.csv", "text,colour\nHello,red\n")
    found = cli("c.csv")
    assert found.status == 0
    assert "'colour'" in found.err


def test_every_column_of_the_contract_is_known() -> None:
    columns = """id name text language voice emotion happiness sadness disgust fear surprise anger other neutral
        pitch_std speaking_rate fmax vqscore_8 ctc_loss dnsmos_ovrl speaker_noised cfg_scale seed takes
        prefix_audio prefix_text max_seconds temperature top_p top_k min_p linear conf quad
        repetition_penalty repetition_window"""
    assert set(columns.split()) <= set(FIELDS)


MANY_FAULTS = """Text,Voice,Language,Mood,Seed,prefix_audio,emotion
Good.,Heart,en-us,,,,
One.,Nobody,klingon,,,gone.wav,hapy
Two.,Heart,qq,,x,,
"""


def test_everything_that_is_wrong_with_a_script_is_told_in_one_round(
    cli: CommandLine, hum: HummingEngine
) -> None:
    """Case: unknown voices and languages came up only when the other cells were mended."""
    cli.write("scene.csv", MANY_FAULTS)
    found = cli("scene.csv")
    assert (found.status, hum.loads) == (2, [])
    told = [line for line in found.err.splitlines() if line.startswith("scene.csv row")]
    assert [line.split(":")[0] for line in told] == ["scene.csv row 3", "scene.csv row 4"]
    for words in (
        "column emotion: Unknown emotion 'hapy'; use auto,",
        "column Voice: There is no voice 'Nobody'; use",
        "column Language: The language 'klingon' is not one this model speaks. It speaks en-us (English",
        "column prefix_audio: There is no voice 'gone.wav'; use",
    ):
        assert words in told[0]
    assert "column Seed: It is 'x'; it must be a whole number." in told[1]
    assert "column Language: The language 'qq'" in told[1]


def test_a_missing_voice_is_left_out_with_skip_bad(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"text": "One"}, {"text": "Two", "voice": "Nobody"}, {"text": "Three", "voice": "gone.wav"}])
    found = cli("scene.jsonl", "--skip-bad")
    assert (found.status, hum.spoken) == (1, ["One"])
    assert "scene.jsonl row 2: column voice: There is no voice 'Nobody'" in found.err
    assert "scene.jsonl row 3: column voice: There is no voice 'gone.wav'" in found.err
    failed = [entry for entry in found.entries if entry["status"] == "failed"]
    assert [(entry["row"], entry["code"]) for entry in failed] == [(2, "bad_row"), (3, "bad_row")]


def test_lines_that_fail_for_the_same_reason_share_a_sentence(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"text": "Hm.", "takes": 2}, {"text": "Hm."}, {"text": "Well."}, {"text": "Hm."}])
    hum.dumb = {"Hm."}
    found = cli("scene.jsonl")
    assert (found.status, hum.spoken) == (1, ["Well."])
    assert "scene.jsonl row 1: The model was silent" in found.err
    assert "(also scene.jsonl row 2, scene.jsonl row 4)" in found.err
    assert found.err.count("The model was silent") == 2


def test_json_is_all_that_stands_on_standard_output(cli: CommandLine, hum: HummingEngine) -> None:
    cli.script([{"id": "a", "text": "Grüße"}, {"text": "Two"}])
    hum.dumb = {"Two"}
    found = cli("scene.jsonl", "--json")
    kinds = [event["event"] for event in found.events]
    assert kinds == ["run", "accepted", "started", "done", "failed", "end"]
    done = found.events[3]
    assert (done["line"], done["row"], done["take"]) == ("a", 1, 1)
    assert Path(done["file"]).is_file()
    assert found.events[-1]["status"] == found.status == 1
    assert "row 2" in found.err


def test_the_same_failure_of_several_takes_is_said_once(cli: CommandLine, hum: HummingEngine) -> None:
    hum.dumb = {"Hello."}
    found = cli("--text", "Hello.", "--takes", "3")
    assert found.status == 1
    assert found.err.count("The model was silent") == 1
    assert len(found.entries) == 3


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["--voice", "Nobody"], "There is no voice 'Nobody'"),
        (["--language", "klingon"], "The language 'klingon'"),
    ],
)
def test_an_option_that_names_nothing_is_told_before_the_model_is_loaded(
    cli: CommandLine, hum: HummingEngine, option: list[str], told: str
) -> None:
    found = cli("--text", "Hello.", *option)
    assert (found.status, hum.loads) == (2, [])
    assert found.err.startswith(f"argument {option[0]}: {told}")


def test_a_clip_is_found_beside_its_script(cli: CommandLine, hum: HummingEngine) -> None:
    clip = cli.write("play/clips/anna.wav", b"RIFF")
    cli.script([{"text": "One", "voice": "clips/anna.wav"}], "play/scene.jsonl")
    found = cli("play/scene.jsonl")
    assert found.status == 0
    assert found.entries[0]["recipe"]["line"]["voice"] == str(clip.relative_to(cli.folder))


def test_a_fault_of_the_program_is_a_sentence_and_a_log(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("zonos.engine.load", broken)
    found = cli("--text", "Hello.")
    assert found.status == 2
    assert "Traceback" not in found.err
    assert "ZeroDivisionError: by nought" in found.err
    assert "Traceback" in (found.folder / "zonos.log").read_text()


@pytest.mark.parametrize("out", ["taken", "taken/inside"])
def test_a_folder_that_cannot_be_is_a_sentence(cli: CommandLine, hum: HummingEngine, out: str) -> None:
    cli.write("taken", "a file")
    found = cli("--text", "Hello.", out=out)
    assert found.status == 2
    assert "taken" in found.err
    assert "Traceback" not in found.err


def test_a_preview_of_bad_rows_alone_says_what_is_wrong_with_them(cli: CommandLine) -> None:
    """Case: --dry-run said only that there was nothing to speak."""
    cli.write("bad.csv", "text,voice,seed\nOne.,Heart,abc\nTwo.,Hart,1\n")
    found = cli("bad.csv", "--dry-run")
    assert found.status == 2
    assert "bad.csv row 2: column seed: It is 'abc'" in found.err
    assert "bad.csv row 3: column voice: There is no voice 'Hart'" in found.err
