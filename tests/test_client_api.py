"""The page's named endpoints, through the official client over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from engines import VOICES, mini
from gradio_client import Client

from ui.engines import Engines
from ui.page import Studio, build, launch_options
from zonos.engine import Engine


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZONOS_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setattr(Engines, "_swap", lambda *_: Engine(mini(), voices=VOICES))
        studio = Studio.open()
        page = build(studio)
        _, address, _ = page.launch(prevent_thread_lock=True, server_port=None, **launch_options(studio))
        yield Client(address, verbose=False)
        page.close()
        studio.close()


def test_speak_gives_a_sound_file(client: Client) -> None:
    path = client.predict("Good morning.", "Heart", "en-us", "happy", 7, api_name="/speak")
    samples, rate = soundfile.read(Path(path))
    assert rate == mini().codec.sample_rate
    assert len(samples) > rate / 4


def test_same_seed_same_sound(client: Client) -> None:
    said = [client.predict("Yes.", "Vera", "en-us", "", 3, api_name="/speak") for _ in range(2)]
    assert Path(said[0]).read_bytes() == Path(said[1]).read_bytes()


def test_voices_are_named(client: Client) -> None:
    assert client.predict(api_name="/voices") == VOICES.names()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Hi.", "Nobody", "en-us", "", 1), "Nobody"),
        (("", "Heart", "en-us", "", 1), "empty"),
        (("Hi.", "Heart", "en-us", "gloomy", 1), "gloomy"),
    ],
)
def test_faults_are_sentences(client: Client, arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(Exception, match=words):
        client.predict(*arguments, api_name="/speak")
