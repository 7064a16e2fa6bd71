"""Utterances that go on from another one of their voice: what a line with a prefix clip asks of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from training.dataset import Item
from zonos.text.tokens import tokenise

LONGEST = 900  # positions of a joined row
_SHARE = 0.05  # of the utterances, in each pass over them
_MOST = 3  # utterances before it, as a clip of ten seconds has
_WORDLESS = 0.3  # share of the openings whose words are not told


class Openings:
    """Joins utterances of one voice.

    Args:
        items: the utterances to choose from.
        frame_rate: frames per second.
    """

    def __init__(self, items: Sequence[Item], frame_rate: float) -> None:
        self._items, self._frame_rate = items, frame_rate
        # A clip is of one voice, so two utterances that share one are by the same.
        self._keys = [max(vector.numpy().tobytes() for vector in item.voices) for item in items]
        self._company: dict[bytes, list[int]] = {}
        for index, key in enumerate(self._keys):
            self._company.setdefault(key, []).append(index)

    def draw(self, rng: np.random.Generator, share: float = _SHARE) -> list[Item]:
        """Joined rows for about ``share`` of the utterances; those that would be too long are left out."""
        found = []
        for index in rng.choice(len(self._items), size=round(share * len(self._items)), replace=False):
            company = [i for i in self._company[self._keys[index]] if i != index]
            count = min(len(company), int(rng.integers(1, _MOST + 1)))
            if not count:
                continue
            opening, *more = (self._items[i] for i in rng.choice(company, size=count, replace=False))
            for item in more:
                opening = self.join(opening, item, told=True)
            row = self.join(opening, self._items[index], told=rng.random() >= _WORDLESS)
            if row.length <= LONGEST:
                found.append(row)
        return found

    def join(self, opening: Item, item: Item, told: bool) -> Item:
        """``item`` after ``opening``, whose frames are given; its conditions are ``item``'s.

        Args:
            opening: what was said before.
            item: what is to be said.
            told: whether the opening's words stand before the item's, as they do where the clip's
                transcript is known.
        """
        seconds = opening.codes.shape[1] / self._frame_rate
        tokens, times = item.tokens, item.times + seconds
        if told:
            space = torch.tensor(tokenise(" ")[1:-1])
            tokens = torch.cat([opening.tokens[:-1], space, tokens[1:]])
            times = torch.cat([opening.times[:-1], times.new_full((1,), seconds), times[1:]])
        return replace(
            item,
            tokens=tokens,
            times=times,
            codes=torch.cat([opening.codes, item.codes], dim=1),
            opening=opening.codes.shape[1],
        )
