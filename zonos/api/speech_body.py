"""What ``POST /v1/audio/speech`` takes: OpenAI's fields, and a line's as extras."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from zonos.api.encoding import ResponseFormat
from zonos.api.errors import ApiError
from zonos.defaults import Defaults
from zonos.line import MAX_SEED, MAX_TEXT_CHARACTERS, Conditioning, Line, Sampling, limits
from zonos.request import PLAIN_RATE, new_seed

OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_OWN = ("language", "max_seconds", "prefix_audio", "prefix_text", "keep_prefix")


class VoiceId(BaseModel):
    """A voice as OpenAI's clients may write it."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(max_length=200)]


class SpeechBody(Conditioning, Sampling):
    """One piece of speech.

    ``stream`` false sends one file with its length in its header, when it is whole; true (as OpenAI
    does) sends it while it is spoken. ``instructions`` is taken and not used: this model is led by
    emotion, speaking_rate and the like.
    """

    input: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
    model: Annotated[str, Field(max_length=400)] | None = None
    voice: Annotated[str, Field(max_length=200)] | VoiceId | None = None
    response_format: ResponseFormat = "mp3"
    speed: Annotated[float, Field(ge=0.25, le=4)] = 1.0
    stream_format: Literal["audio", "sse"] = "audio"
    instructions: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None = None
    stream: bool = True
    language: Annotated[str, Field(max_length=40)] = "en-us"
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = None
    max_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    prefix_audio: Annotated[str, Field(max_length=200)] | None = None
    prefix_text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None = None
    keep_prefix: bool = False

    def line(self, defaults: Defaults) -> Line:
        """The line that says it, with a seed of its own.

        Raises:
            ApiError: speed and speaking_rate contradict each other.
        """
        settings: dict[str, Any] = {
            name: getattr(self, name) for name in (*Conditioning.model_fields, *Sampling.model_fields, *_OWN)
        }
        if self.speed != 1:
            if self.speaking_rate is not None:
                raise ApiError(
                    400, "invalid_request", "Give speed or speaking_rate, not both.", param="speed"
                )
            settings["speaking_rate"] = _rate(self.speed, defaults)
        return Line(
            text=self.input,
            id="speech",
            voice=self.voice.id if isinstance(self.voice, VoiceId) else self.voice or None,
            seed=new_seed() if self.seed is None else self.seed,
            **settings,
        )

    def check_model(self, served: str) -> None:
        """Refuse a model that is not here; OpenAI's names mean the one that is.

        Raises:
            ApiError: see above.
        """
        if self.model is not None and self.model not in (served, *OPENAI_MODELS):
            known = ", ".join([served, *OPENAI_MODELS])
            sentence = f"There is no model {self.model!r} here; use one of: {known}."
            raise ApiError(404, "model_not_found", sentence, param="model")

    def warnings(self) -> list[str]:
        """What was taken and not used."""
        if self.instructions:
            return ["instructions: not used; set emotion, speaking_rate or pitch_std instead."]
        return []


def _rate(speed: float, defaults: Defaults) -> float:
    """Phonemes a second, within what a line may ask for."""
    plain = defaults.speaking_rate
    low, high = limits("speaking_rate")
    wanted = speed * (plain if isinstance(plain, (int, float)) else PLAIN_RATE)
    return float(min(max(wanted, low or wanted), high or wanted))
