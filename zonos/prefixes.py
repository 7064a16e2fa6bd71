"""Prefixes of lines, with what equal inputs share made once.

A script names few voices and moods, and all takes of a line say one text: most parts of a prefix
are known already when it is asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping

import torch
from torch import Tensor

from zonos.conditioning import PrefixConditioner, Value

CAPACITY_BYTES = 32_000_000  # of parts that are remembered, the last used ones


class Prefixes:
    """Makes prefixes; safe to use from several threads.

    Args:
        conditioner: the checkpoint's, its weights final.
    """

    def __init__(self, conditioner: PrefixConditioner) -> None:
        self._conditioner = conditioner
        self._known: OrderedDict[tuple[str, Hashable], Tensor] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @torch.no_grad()
    def make(
        self, values: Mapping[str, Value], *, twin: bool, keep: Mapping[str, Value] | None = None
    ) -> tuple[Tensor, ...]:
        """Prefix embeddings [tokens, d_model].

        Args:
            values: by conditioner; one that is absent or None is left out.
            twin: also the unconditioned prefix that guidance needs: the same text, all else left out.
            keep: conditioners that stay in the twin, with the values they have there (negative prompting).

        Raises:
            ValueError: a conditioner that cannot be left out has no value.
        """
        text = self._conditioner.names[0]
        wanted = [values, {text: values[text], **(keep or {})}] if twin else [values]
        return tuple(
            torch.cat([self._part(name, row.get(name)) for name in self._conditioner.names]) for row in wanted
        )

    def _part(self, name: str, value: Value) -> Tensor:
        key = (name, _key(value))
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        made = self._conditioner.part(name, value)
        with self._lock:
            if key not in self._known:  # another thread may have made it meanwhile
                self._known[key] = made
                self._bytes += made.nbytes
            while self._bytes > CAPACITY_BYTES:
                self._bytes -= self._known.popitem(last=False)[1].nbytes
        return made


def _key(value: Value) -> Hashable:
    """What two equal values share."""
    if isinstance(value, Tensor):
        return (value.dtype, tuple(value.shape), value.detach().cpu().contiguous().numpy().tobytes())
    return value if value is None or isinstance(value, (int, float)) else tuple(value)
