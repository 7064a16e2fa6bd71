"""Addresses that cannot be listened on. Case: a port that another program has taken."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonos.ports import PortError, listen, port_in_environment
from zonos.server import main as serve

ROOT = Path(__file__).parents[1]
OPTIONS = {"host_option": "--host", "port_option": "--port"}


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_an_address_that_is_free() -> None:
    with listen("127.0.0.1", 0, **OPTIONS) as listening:
        assert listening.getsockname()[1] > 0


def test_a_port_that_is_taken(taken: int) -> None:
    with pytest.raises(PortError) as refused:
        listen("127.0.0.1", taken, **OPTIONS)
    assert str(refused.value) == (
        f"Port {taken} is taken by another program; stop that program, or choose another port with --port."
    )


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1", "x" * 300, "::zz"])
def test_a_host_that_is_none_of_this_machine(host: str) -> None:
    with pytest.raises(PortError, match=r"no address .* to listen on; choose another with --host"):
        listen(host, 0, **OPTIONS)


@pytest.mark.parametrize("text", ["abc", "-1", "65536", "8000.0", "٨"])
def test_a_variable_that_names_no_port(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PORT_OF_TEST", text)
    with pytest.raises(PortError, match=r"PORT_OF_TEST: .* is no port; use 0 to 65535"):
        port_in_environment("PORT_OF_TEST")


@pytest.mark.parametrize(("text", "port"), [("", None), (" ", None), ("0", 0), (" 65535 ", 65_535)])
def test_a_variable_that_names_one(monkeypatch: pytest.MonkeyPatch, text: str, port: int | None) -> None:
    monkeypatch.setenv("PORT_OF_TEST", text)
    assert port_in_environment("PORT_OF_TEST") == port


def test_serve_says_so_before_the_model_is_loaded(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("zonos.engine.load", lambda *_, **__: pytest.fail("the model was loaded"))
    assert serve(["--port", str(taken), "--data", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(f"Port {taken} is taken by another program;")


@pytest.mark.parametrize("content", [None, b"anna:\xff\xfe"])
def test_serve_names_a_file_of_keys_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    keys = tmp_path / "keys.txt"
    if content is not None:
        keys.write_bytes(content)
    assert serve(["--port", "0", "--data", str(tmp_path), "--keys", str(keys)]) == 1
    assert capsys.readouterr().err.startswith(f"argument --keys: {keys} cannot be read: ")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["--voices", "nowhere"], "argument --voices: there is no folder 'nowhere'."),
        (
            ["--alias", "alloy=Nobody"],
            "argument --alias: There is no voice 'Nobody'; use one of: Heart",
        ),
        (["--alias", "alloy"], "--alias 'alloy' is not written as name=voice."),
    ],
)
def test_serve_names_what_leads_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str], told: str
) -> None:
    assert serve(["--port", "0", "--data", str(tmp_path), *option]) == 1
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf", "soon"])
def test_serve_refuses_a_time_that_is_none(capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    with pytest.raises(SystemExit):
        serve(["--drain-seconds", seconds])
    assert f"--drain-seconds: '{seconds}' is no number of seconds from 0 to 86400" in capsys.readouterr().err


@pytest.mark.parametrize(("port", "told"), [(None, "is taken by another program;"), ("abc", "is no port;")])
def test_the_page_never_moves_away_from_a_port_that_was_asked_for(
    taken: int, tmp_path: Path, port: str | None, told: str
) -> None:
    asked = {"GRADIO_SERVER_PORT": port or str(taken), "ZONOS_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_page_says_so_when_it_moves_on(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # taken already is as good
            stack.enter_context(socket.create_server(("127.0.0.1", 7860)))
        environment = os.environ | {"ZONOS_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}
        environment.pop("GRADIO_SERVER_PORT", None)
        page = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
            )
        )
        stack.callback(page.kill)
        assert page.stdout is not None
        told = [next(page.stdout), next(page.stdout)]
    assert told[0].startswith("Port 7860 is taken by another program, so the page is on port 78")
    port = told[0].rstrip(".\n").rsplit(" ", 1)[1]
    assert told[1].startswith(f"Zonos Studio is at http://127.0.0.1:{port}/")
