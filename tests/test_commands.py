"""Commands that sentences show work as typed. Case: ``hf download`` where everything is in .venv."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zonos.commands import hf_download, pip_install, requirements


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment's folder in the one we are in."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.chdir(tmp_path)
    return programs


@pytest.mark.skipif(sys.platform == "win32", reason="other names there")
def test_commands_name_the_programs_of_this_environment(environment: Path) -> None:
    assert pip_install("a b") == ".venv/bin/python -m pip install 'a b'"
    assert hf_download("x/y") == ".venv/bin/python -m huggingface_hub.cli.hf download x/y"
    (environment / "hf").touch()
    assert hf_download("x/y") == ".venv/bin/hf download x/y"


def test_requirements_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, Path(__file__).parents[1]):
        monkeypatch.chdir(folder)
        option, file = requirements("requirements-ja.txt")
        assert option == "-r"
        assert Path(file).is_file()


def test_the_hubs_program_answers() -> None:
    command = hf_download("x/y").removesuffix("x/y") + "--help"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "download" in done.stdout
