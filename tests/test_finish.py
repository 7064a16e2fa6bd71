"""Samples of a take are the same however its frames come in, and whenever somebody listens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from engines import mini

from zonos import finish
from zonos.finish import TakeAudio
from zonos.request import PieceRequest

LEAD = 0.3  # seconds; shorter than in earnest, and so are the pieces
FRAMES = (30, 70, 20, 90)
GAPS = ((0.1, 0.2), (0.0, 0.3), (0.05, 0.0), (0.0, 0.1))  # seconds before and after


@pytest.fixture(autouse=True)
def short_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish, "LEAD_SECONDS", LEAD)


def take(limit: float | None = None) -> TakeAudio:
    pieces = [PieceRequest((), "", before, after, 0, 0, False) for before, after in GAPS]
    return TakeAudio(mini().codec, pieces, None, False, limit)


def some_codes() -> list[np.ndarray]:
    codec, random = mini().codec, np.random.default_rng(3)
    return [random.integers(0, codec.codebook_size, (codec.n_codebooks, n)) for n in FRAMES]


def at_once(codes: Sequence[np.ndarray], limit: float | None = None) -> np.ndarray:
    audio = take(limit)
    for index, piece in enumerate(codes):
        audio.add(index, piece, seed=index)
    return audio.take()


def listened(codes: Sequence[np.ndarray], step: int, limit: float | None = None) -> list[np.ndarray]:
    """Chunks as they leave while frames come; the second piece is ahead of the first for a while."""
    audio = take(limit)
    chunks = [audio.hear(1, codes[1][:, :40], seed=1)]
    for index, piece in enumerate(codes):
        ends = range(step, piece.shape[1], step)
        chunks += [audio.hear(index, piece[:, :end], seed=index) for end in ends]
        audio.add(index, piece, seed=index)
        chunks.append(audio.take())
    assert audio.is_whole
    return chunks


@pytest.mark.parametrize("step", [1, 7, 64])
@pytest.mark.parametrize("limit", [None, 0.2, 0.75, 1.3, 1.31])
def test_streamed_samples_are_those_of_the_whole(step: int, limit: float | None) -> None:
    """Case: the limit falls into a piece, its fade, a gap."""
    codes = some_codes()
    chunks = listened(codes, step, limit)
    assert np.concatenate(chunks).tobytes() == at_once(codes, limit).tobytes()
    assert chunks[0].size == 0


@pytest.mark.parametrize("step", [1, 7, 64])
@pytest.mark.parametrize("kept", [False, True])
def test_streamed_samples_behind_a_prefix_clip_are_those_of_the_whole(step: int, kept: bool) -> None:
    """The clip comes first, then the line's first pause, then what was said."""
    codec, codes = mini().codec, some_codes()[0]
    prefix = torch.from_numpy(some_codes()[2])
    pause = round(0.4 * codec.sample_rate)

    def opened() -> TakeAudio:
        return TakeAudio(codec, [PieceRequest((), "", 0.4, 0.0, 0, 0, False)], prefix, kept, None)

    whole = opened()
    whole.add(0, codes, seed=1)
    expected = whole.take()
    clip = prefix.shape[1] * codec.hop
    assert expected.size == pause + codes.shape[1] * codec.hop + kept * clip
    quiet = expected[clip : clip + pause] if kept else expected[:pause]
    assert not quiet.any()
    assert expected[:clip].any()
    audio = opened()
    chunks = [audio.hear(0, codes[:, :end], seed=1) for end in range(step, codes.shape[1], step)]
    audio.add(0, codes, seed=1)
    assert np.concatenate([*chunks, audio.take()]).tobytes() == expected.tobytes()


def test_a_kept_clip_does_not_hide_that_nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    codec, loud = mini().codec, some_codes()[2]
    samples = np.concatenate([np.full(loud.shape[1] * codec.hop, 0.5), np.zeros(20 * codec.hop)])
    monkeypatch.setattr(codec, "decode", lambda codes, seed: torch.from_numpy(samples.astype(np.float32)))
    audio = TakeAudio(
        codec, [PieceRequest((), "", 0.0, 0.0, 0, 0, False)], torch.from_numpy(loud), True, None
    )
    audio.add(0, some_codes()[0][:, :20], seed=1)
    assert audio.is_silent(0)


def test_long_pieces_leave_in_parts() -> None:
    """As the codec's grid of chunks allows: after some 24 and 56 frames."""
    codec = mini().codec
    ends = np.cumsum([chunk.size for chunk in listened(some_codes(), 4) if chunk.size])
    start, inside = 0, []
    for frames, (before, after) in zip(FRAMES, GAPS, strict=True):
        end = start + round(before * codec.sample_rate) + frames * codec.hop
        inside.append(int(((ends > start) & (ends < end)).sum()))
        start = end + round(after * codec.sample_rate)
    assert inside == [1, 2, 0, 2]


def test_a_later_piece_is_matched_by_its_lead() -> None:
    codes = some_codes()[3]
    audio = take()
    for index in range(4):
        audio.add(index, codes, seed=index)
    assert np.abs(audio.take()).max() <= 1
    wanted = finish.loudness(audio._whole[0], audio.rate)
    for index in (1, 2, 3):
        lead = audio._whole[index][: round(LEAD * audio.rate)]
        own = finish.loudness(lead, audio.rate)
        matched = finish.loudness(lead * audio._gains[index], audio.rate)
        assert matched == pytest.approx(min(wanted, own + finish.MOST_GAIN_DB), abs=0.01)


def test_a_piece_that_begins_silent_is_kept_until_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have to be made again, and nobody heard a part of it."""
    codes = some_codes()
    audio = take()
    audio.add(0, codes[0], seed=0)
    audio.take()
    monkeypatch.setattr(finish, "SILENT", 10.0)
    assert audio.hear(1, codes[1], seed=1).size == 0
    assert not audio.was_heard(1)
    audio.forget(1)
    monkeypatch.undo()
    monkeypatch.setattr(finish, "LEAD_SECONDS", LEAD)
    for index in (1, 2, 3):
        audio.add(index, codes[index], seed=index)
    first = round(0.1 * audio.rate) + codes[0].shape[1] * mini().codec.hop + round(0.2 * audio.rate)
    assert audio.take().tobytes() == at_once(codes)[first:].tobytes()
