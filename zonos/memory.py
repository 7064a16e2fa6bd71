"""Running out of memory: recognising it, and giving back what nobody holds any more."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch

_SIGNS = ("out of memory", "can't allocate memory", "alloc_failed")  # the last is cuBLAS's


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocator had no room: CUDA, its libraries, MPS and the CPU each say it in their own way."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(sign in text for sign in _SIGNS)


def fits(work: Callable[[], None]) -> bool:
    """Do it; False where memory ran out on the way.

    The fault itself ends here: its traceback holds every tensor of the calls that it came through, and
    as long as it lives none of them can be given back.
    """
    try:
        work()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return False
    return True


def give_back() -> None:
    """Return to the device what nobody holds any more; what holds itself in a circle too."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
