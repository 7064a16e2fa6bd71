"""Sample rate conversion, by torchaudio's windowed sinc.

torch and torchaudio are imported at first use: reading and writing files needs neither.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor, nn

# A filter holds about source x target taps of the reduced ratio: odd rates such as 44 099 Hz would
# take gigabytes. The nearest ratio within these terms is off by less than one part in a million.
_LARGEST_TERM = 1000
# torchaudio's default, which speaker encoders were trained with; for listening a sharper one.
ENCODER_WIDTH = 6
LISTENING_WIDTH = 32


@lru_cache(maxsize=32)
def resampler(source: int, target: int, width: int = ENCODER_WIDTH) -> nn.Module:
    """A module ``[..., n]`` -> ``[..., ceil(n * target / source)]``.

    Args:
        source: sample rate of the input.
        target: sample rate of the output.
        width: zero crossings of the sinc on each side.
    """
    from torchaudio.transforms import Resample

    ratio = Fraction(target, source).limit_denominator(_LARGEST_TERM)
    module: nn.Module = Resample(ratio.denominator, ratio.numerator, lowpass_filter_width=width)
    return module


def resample(samples: np.ndarray, source: int, target: int) -> np.ndarray:
    """Samples for listening at another rate.

    Args:
        samples: float32 ``[n]`` or ``[channels, n]``.
        source: their sample rate.
        target: the wanted one.

    Returns:
        float32 of the same number of dimensions.
    """
    if source == target or samples.shape[-1] == 0:
        return samples
    import torch

    with torch.inference_mode():
        converted: Tensor = resampler(source, target, LISTENING_WIDTH)(torch.from_numpy(samples))
        return converted.numpy()
