"""OpenAI's speech route: its own client, every format, exact streams, failures in words."""

from __future__ import annotations

import base64
import json

import numpy as np
import openai
import pytest
from live_server import Running

from zonos.api.routes_speech import _list_for_header
from zonos.audio import read_clip
from zonos.line import Line

TEXT = "Can you hear me?"
SHORT = {"max_seconds": 0.5}


@pytest.fixture
def client(server: Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none needed", max_retries=0)


def samples_of(server: Running, line: Line) -> np.ndarray:
    """What the engine itself makes of a line, as 16-bit samples."""
    final = list(server.engine.submit([line]))[-1]
    return np.round(final.speech.samples * 32767).astype("<i2")


def test_the_openai_client_works_unchanged(server: Running, client: openai.OpenAI) -> None:
    """Case: OpenAI client calling /v1/audio/speech got 404."""
    expected = samples_of(server, Line(text=TEXT, voice="Heart", seed=5))
    request = {"model": "tts-1", "voice": "Heart", "input": TEXT, "extra_body": {"seed": 5}}
    pcm = client.audio.speech.create(**request, response_format="pcm").read()
    assert np.array_equal(np.frombuffer(pcm, "<i2"), expected)
    with client.audio.speech.with_streaming_response.create(**request, response_format="wav") as answer:
        assert answer.headers["x-zonos-seed"] == "5"
        pieces = list(answer.iter_bytes())
    assert np.array_equal(np.frombuffer(b"".join(pieces)[44:], "<i2"), expected)


def test_voices_of_the_openai_client(client: openai.OpenAI) -> None:
    """A voice may be an object; a wrong one is an error with code and sentence."""
    request = {"model": "tts-1", "input": "Hi.", "response_format": "pcm", "extra_body": SHORT}
    assert client.audio.speech.create(voice={"id": "Marcus"}, **request).read()
    with pytest.raises(openai.BadRequestError, match="use one of: Heart, June, Marcus, Otto") as refused:
        client.audio.speech.create(voice="alloy", **request)
    assert refused.value.code == "unknown_voice"
    assert refused.value.param == "voice"
    assert "--alias alloy=NAME" in refused.value.message
    assert [model.id for model in client.models.list()] == ["mini"]
    with pytest.raises(openai.NotFoundError, match="There is no model 'whisper'"):
        client.audio.speech.create(voice="Marcus", **{**request, "model": "whisper"})


def test_server_sent_events_carry_the_same_bytes(server: Running) -> None:
    answer = server.speak(TEXT, stream_format="sse", response_format="pcm")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    deltas = [base64.b64decode(e["audio"]) for e in events if e["type"] == "speech.audio.delta"]
    assert len(deltas) > 1
    assert b"".join(deltas) == server.speak(TEXT, response_format="pcm").content
    assert events[-1]["type"] == "speech.audio.done"
    assert events[-1]["usage"]["total_tokens"] > 20


@pytest.mark.parametrize("name", ["wav", "flac", "mp3", "opus", "aac"])
def test_every_format_is_a_file_that_players_read(server: Running, name: str) -> None:
    answer = server.speak(TEXT, response_format=name, **SHORT)
    clip = read_clip(answer.content, f"speech.{name}")
    # Encoders pad to whole frames of their own.
    assert clip.seconds == pytest.approx(0.5, abs=0.13)
    assert np.abs(clip.samples).max() > 0.01
    assert not clip.warnings


def test_a_whole_file_knows_its_length(server: Running) -> None:
    streamed = server.speak(TEXT, **SHORT)
    whole = server.speak(TEXT, stream=False, **SHORT)
    assert "content-length" not in streamed.headers
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert int.from_bytes(whole.content[40:44], "little") == len(whole.content) - 44
    assert whole.content[44:] == streamed.content[44:]


def test_a_stream_equals_the_decode_of_its_codes(server: Running) -> None:
    """Chunks leave while frames come; joined they are the one-shot decode within 1e-5."""
    run = server.engine.submit([Line(text=TEXT, voice="Heart", seed=5)], stream=True)
    events = list(run)
    heard = np.concatenate([e.samples for e in events if hasattr(e, "samples")])
    codec = server.engine.pipeline.codec
    import torch

    from zonos.audio import fade

    codes = torch.from_numpy(events[-1].speech.codes[0].astype(np.int64))
    whole = fade(codec.decode(codes, events[-1].speech.seed).numpy(), codec.sample_rate)
    assert heard.shape == whole.shape
    assert np.abs(heard - np.clip(whole, -1, 1)).max() < 1e-5


def test_speed_is_a_rate_of_speaking(server: Running) -> None:
    slow, fast = (server.speak(TEXT, speed=speed, stream=False).content for speed in (0.7, 1.4))
    assert len(slow) > len(fast)


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"speed": 9}, "invalid_request", "speed is 9; it must be"),
        ({"emotion": "joyous"}, "invalid_request", "unknown emotion 'joyous'"),
        ({"frobnicate": 1}, "invalid_request", "frobnicate is not a setting"),
        ({"response_format": "midi"}, "invalid_request", "response_format"),
        ({"speed": 2, "speaking_rate": 10}, "invalid_request", "not both"),
        ({"voice": "/etc/passwd"}, "unknown_voice", "There is no voice"),
        ({"voice": "http://127.0.0.1/a.wav"}, "unknown_voice", "There is no voice"),
        ({"prefix_audio": "../Heart.wav"}, "unknown_voice", "There is no voice"),
        ({"input": "   "}, "empty_text", "empty"),
        ({"input": "word " * 1000}, "too_long", "at most 4096 are taken"),
        ({"language": "xx"}, "unknown_language", "xx"),
    ],
)
def test_what_cannot_be_spoken_says_why(server: Running, fields: dict, code: str, words: str) -> None:
    answer = server.speak(**{"text": TEXT, **fields}) if "input" not in fields else server.speak("", **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b'{"input": "\\ud800"}', b"[" * 5000, b"[1]", b"\xff"])
def test_a_body_that_is_no_request(server: Running, body: bytes) -> None:
    answer = server.client.post("/v1/audio/speech", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


def test_warnings_travel_in_a_header(server: Running) -> None:
    answer = server.speak(TEXT, vqscore_8=0.7, instructions="Whisper!", **SHORT)
    warnings = json.loads(answer.headers["x-zonos-warnings"])
    assert any("instructions" in warning for warning in warnings)
    assert any("vqscore_8" in warning for warning in warnings)


def test_warnings_in_a_header_are_always_a_list() -> None:
    sentences = [f"{number}: {'é' * 50}" for number in range(50)]
    told = _list_for_header(sentences)
    assert len(told) <= 4000
    assert json.loads(told) == sentences[: len(json.loads(told))] != []
    assert _list_for_header(["é" * 5000]) == "[]"
