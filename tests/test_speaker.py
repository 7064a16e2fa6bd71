"""Voice vectors: golden numbers, the published file's names, and clips that hold no voice."""

import io
import json
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from safetensors.torch import load_file

from zonos.errors import CheckpointError, LineError
from zonos.speaker import MAX_SECONDS, SpeakerConfig, SpeakerEncoder, VoiceVectors, load_speaker

DATA = Path(__file__).parent / "data"
TINY = DATA / "speaker"
MINI = Path(__file__).parents[1] / "zonos" / "checkpoints" / "mini"
VOICES = Path(__file__).parents[1] / "examples" / "voices"


@pytest.fixture(scope="module")
def encoder() -> SpeakerEncoder:
    return load_speaker(load_file(TINY / "resnet.safetensors") | load_file(TINY / "lda.safetensors"))


@pytest.fixture
def vectors(encoder: SpeakerEncoder) -> VoiceVectors:
    return VoiceVectors(encoder)


def wav(samples: np.ndarray, rate: int = 16000, subtype: str = "FLOAT") -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples.T, rate, format="WAV", subtype=subtype)
    return buffer.getvalue()


def voice(seconds: float = 2.0, rate: int = 16000, seed: int = 0, level: float = 0.5) -> np.ndarray:
    """A buzz with a moving spectrum, unlike for each seed."""
    random = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate)) / rate
    tones = [np.sin(2 * np.pi * f * t + p) for f, p in random.uniform([80, 0], [4000, 6], (12, 2))]
    return (level * np.mean(tones, axis=0) * (1 + 0.5 * np.sin(7 * t))).astype(np.float32)


@pytest.mark.parametrize("name", ["mono16k", "stereo44k", "mono24k_short", "silence16k"])
def test_golden(encoder: SpeakerEncoder, name: str) -> None:
    expected = load_file(TINY / "expected.safetensors")
    samples, rate = soundfile.read(TINY / f"{name}.wav", dtype="float32", always_2d=True)
    prepared = encoder.prepare(samples.T, rate)
    torch.testing.assert_close(prepared, expected[f"{name}/prepared_16k"], atol=1e-5, rtol=0)
    features = encoder.features(prepared)
    torch.testing.assert_close(features, expected[f"{name}/logmel"], atol=5e-4, rtol=0)
    torch.testing.assert_close(encoder(features), expected[f"{name}/emb"], atol=1e-4, rtol=0)
    vector = encoder.embed(torch.from_numpy(samples.T.copy()), rate)
    torch.testing.assert_close(vector, expected[f"{name}/lda"][0], atol=1e-4, rtol=0)
    assert not vector.is_inference()
    assert not vector.requires_grad


@pytest.mark.parametrize("name", ["heart", "june", "marcus", "otto", "rowan", "vera"])
def test_embedded_encoder_golden(name: str) -> None:
    """Belongs to the checkpoint in zonos/checkpoints/mini: new numbers when that is replaced."""
    encoder = load_speaker(
        load_file(MINI / "speaker.safetensors"), json.loads((MINI / "speaker.json").read_text())
    )
    samples, rate = soundfile.read(VOICES / f"{name.title()}.wav", dtype="float32", always_2d=True)
    expected = load_file(DATA / "mini_speaker.safetensors")[name]
    torch.testing.assert_close(encoder.embed(samples.T, rate), expected, atol=1e-4, rtol=0)


def test_centre_level_hears_a_colour_and_no_level() -> None:
    published, coloured = (
        SpeakerEncoder(SpeakerConfig(in_planes=4, num_blocks=(1, 1, 1, 1), centre=centre))
        for centre in ("bands", "level")
    )
    plain = torch.from_numpy(np.random.default_rng(0).normal(0, 0.1, (1, 16_000)).astype(np.float32))
    dull = torch.nn.functional.avg_pool1d(plain, 3, 1, 1)  # a filter that does not change in time

    def changes(encoder: SpeakerEncoder, wav: torch.Tensor) -> float:
        return float((encoder.features(wav) - encoder.features(plain)).abs().mean())

    assert changes(coloured, 3 * plain) < 0.01
    assert changes(published, 3 * plain) < 0.01
    assert changes(coloured, dull) > 3 * changes(published, dull)


def test_published_names_and_shapes() -> None:
    """The two published files need no config: 1199 tensors of the encoder and the LDA layer's two."""
    shapes = json.loads((TINY / "published_shapes.json").read_text())
    with torch.device("meta"):
        tensors = {
            name: torch.empty(shape, dtype=torch.float64 if name in ("weight", "bias") else None)
            for name, shape in shapes.items()
        }
        named = {f"lda.{n}" if n in ("weight", "bias") else n: t.float() for n, t in tensors.items()}
        encoder = SpeakerEncoder(SpeakerConfig.from_tensors(named))
    assert encoder.config == SpeakerConfig()
    assert {name: list(t.shape) for name, t in encoder.state_dict().items()} == {
        name: list(t.shape) for name, t in named.items()
    }


def test_missing_and_misfitting_tensors_are_named() -> None:
    tensors = load_file(TINY / "resnet.safetensors")
    with pytest.raises(CheckpointError, match=r"lda\.weight"):
        load_speaker(tensors)
    whole = tensors | load_file(TINY / "lda.safetensors")
    with pytest.raises(CheckpointError, match="do not fit"):
        load_speaker(whole, {"in_planes": 8, "num_blocks": [1, 2, 2, 1], "embd_dim": 24, "lda_dim": 12})
    del whole["front.bn1.bias"]
    with pytest.raises(CheckpointError, match=r"front\.bn1\.bias"):
        load_speaker(whole)


def test_it_trains() -> None:
    torch.manual_seed(0)
    encoder = SpeakerEncoder(SpeakerConfig(in_planes=4, num_blocks=(1, 1, 1, 1), embd_dim=16, lda_dim=8))
    features = encoder.features(torch.randn(3, 16000) * 0.1)
    encoder.lda(encoder(features)).square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in encoder.parameters())


def test_too_short_for_a_window_is_refused(encoder: SpeakerEncoder) -> None:
    for length in (0, 1, encoder.config.n_fft // 2):
        with pytest.raises(ValueError, match="too short"):
            encoder.embed(np.ones(length, dtype=np.float32), 16000)
    assert encoder.embed(voice()[: encoder.config.n_fft // 2 + 1], 16000).isfinite().all()


def test_only_the_first_minute_is_heard(encoder: SpeakerEncoder) -> None:
    start = np.resize(voice(), int(MAX_SECONDS * 16000))
    longer = np.concatenate([start, voice(seconds=30, seed=9)])
    assert torch.equal(encoder.embed(start, 16000), encoder.embed(longer[None], 16000))


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44099, 48000, 96000, 192000])
def test_any_sample_rate(encoder: SpeakerEncoder, rate: int) -> None:
    """Among them an odd one, whose exact resampling filter would take gigabytes."""
    assert encoder.prepare(voice(rate=rate), rate).shape[1] == pytest.approx(32000, abs=2)
    assert encoder.embed(voice(rate=rate), rate).isfinite().all()


# Cases "clip of 0.05 s; pure silence; very quiet".


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.2])
def test_short_clips_are_refused(vectors: VoiceVectors, seconds: float) -> None:
    with pytest.raises(LineError, match="needs at least") as problem:
        vectors.vector([wav(voice(seconds))])
    assert problem.value.code == "short_clip"


def test_a_click_in_silence_is_too_short(vectors: VoiceVectors) -> None:
    samples = np.zeros(32000, dtype=np.float32)
    samples[9000:9500] = 0.5
    with pytest.raises(LineError) as problem:
        vectors.vector([wav(samples)])
    assert problem.value.code == "short_clip"


@pytest.mark.parametrize("level", [0.0, 1e-5, 1e-4])
def test_silence_is_refused(vectors: VoiceVectors, level: float) -> None:
    noise = np.random.default_rng(0).standard_normal(32000).astype(np.float32) * np.float32(level)
    with pytest.raises(LineError) as problem:
        vectors.vector([wav(noise)])
    assert problem.value.code == "silent_clip"


@pytest.mark.parametrize("gain", [0.1, 0.03, 0.01])
def test_a_quiet_clip_is_still_the_same_voice(vectors: VoiceVectors, gain: float) -> None:
    loud = vectors.vector([wav(voice())])
    quiet = vectors.vector([wav(voice() * np.float32(gain))])
    other = vectors.vector([wav(voice(seed=4))])
    assert torch.dist(loud, quiet) < 0.2 * torch.dist(loud, other)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"RIFF\xff\x00\x00\x00WAVEfmt \x10\x00", "cannot be read"),
        (b"just some text\n" * 20, "text"),
    ],
)
def test_unreadable_clips_never_become_another_voice(
    vectors: VoiceVectors, tmp_path: Path, content: bytes, said: str
) -> None:
    """Zonos #230: a random voice was used."""
    path = tmp_path / "voice.wav"
    path.write_bytes(content)
    with pytest.raises(LineError, match=said) as problem:
        vectors.vector([path])
    assert problem.value.code == "unreadable_clip"
    assert "voice.wav" in problem.value.reason


def test_a_replaced_file_is_a_new_voice_and_a_removed_one_is_gone(
    vectors: VoiceVectors, tmp_path: Path
) -> None:
    path = tmp_path / "me.wav"
    path.write_bytes(wav(voice(seed=1)))
    first = vectors.vector([path])
    path.write_bytes(wav(voice(seed=2)))
    assert not torch.equal(first, vectors.vector([path]))
    path.unlink()
    with pytest.raises(LineError, match="not there any more"):
        vectors.vector([path])


def test_several_clips_are_averaged(vectors: VoiceVectors) -> None:
    clips = [wav(voice(seed=seed)) for seed in range(3)]
    mean = torch.stack([vectors.vector([clip]) for clip in clips]).mean(0)
    torch.testing.assert_close(vectors.vector(clips), mean)
    with pytest.raises(LineError, match="no clip"):
        vectors.vector([])


class Counting(SpeakerEncoder):
    """Counts what is embedded."""

    count = 0

    def embed(self, samples: torch.Tensor | np.ndarray, sample_rate: int) -> torch.Tensor:
        self.count += 1
        return torch.full((self.config.lda_dim,), float(np.abs(samples).mean()))


def counting() -> Counting:
    return Counting(SpeakerConfig(in_planes=4, num_blocks=(1, 1, 1, 1), embd_dim=16, lda_dim=8))


def test_content_is_cached_and_the_cache_is_bounded() -> None:
    encoder = counting()
    vectors = VoiceVectors(encoder, capacity=2)
    clips = [wav(voice(seed=seed)) for seed in range(3)]
    for number in (0, 1, 0, 1, 0):
        vectors.vector([clips[number]])
    assert encoder.count == 2
    vectors.vector([clips[2]])  # drops clip 1, the one used longest ago
    vectors.vector([clips[0]])
    assert encoder.count == 3
    vectors.vector([clips[1]])
    assert encoder.count == 4


def test_threads_embed_a_clip_once() -> None:
    encoder = counting()
    vectors = VoiceVectors(encoder)
    clip = wav(voice())
    threads = [threading.Thread(target=vectors.vector, args=([clip],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert encoder.count == 1


def test_a_known_voice_does_not_wait_for_a_new_one() -> None:
    class Stuck(Counting):
        begun, go = threading.Event(), threading.Event()

        def embed(self, samples: torch.Tensor | np.ndarray, sample_rate: int) -> torch.Tensor:
            if self.count:
                self.begun.set()
                assert self.go.wait(20)
            return super().embed(samples, sample_rate)

    encoder = Stuck(SpeakerConfig(in_planes=4, num_blocks=(1, 1, 1, 1), embd_dim=16, lda_dim=8))
    vectors = VoiceVectors(encoder)
    known, new = wav(voice(seed=1)), wav(voice(seed=2))
    vectors.vector([known])
    thread = threading.Thread(target=vectors.vector, args=([new],))
    thread.start()
    assert encoder.begun.wait(20)
    vectors.vector([known])  # would wait for ever
    encoder.go.set()
    thread.join()
    assert encoder.count == 2
