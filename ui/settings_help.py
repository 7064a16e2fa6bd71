"""A line's finer settings, each with a sentence for people; ranges come from the line's own schema."""

from __future__ import annotations

from typing import Any

from zonos.line import HYBRID_ONLY, Conditioning, Line, limits

GROUPS: dict[str, dict[str, tuple[str, str, float]]] = {
    "Pace and sound": {
        "speaking_rate": ("Speaking rate", "Phonemes per second. 10 is slow, 14 plain, 25 fast.", 0.5),
        "pitch_std": (
            "Pitch variation",
            "How far the pitch moves, in Hz. 20 is flat, 45 plain, 150 lively.",
            5,
        ),
        "fmax": ("Brightness", "Highest frequency of the recording to sound like, in Hz. 22050 is full.", 50),
        "max_seconds": ("Longest take", "Seconds after which the line is cut, and said to be cut.", 1),
    },
    "Guidance and sampling": {
        "cfg_scale": (
            "Guidance",
            "How closely voice and settings are followed. 1 is free and twice as cheap.",
            0.1,
        ),
        "temperature": (
            "Temperature",
            "More is more varied and less sure; 0 always takes the likeliest.",
            0.05,
        ),
        "top_p": ("Top p", "Draws from the likeliest tokens that hold this share; 0 is off.", 0.05),
        "top_k": ("Top k", "Draws from this many of the likeliest tokens; 0 is off.", 1),
        "min_p": ("Min p", "Leaves out tokens below this share of the likeliest one; 0 is off.", 0.01),
        "linear": (
            "Unified: linear",
            "Strength of the unified sampler; 0 is off, and then the three above count.",
            0.05,
        ),
        "conf": ("Unified: confidence", "More takes unsure frames more carefully.", 0.05),
        "quad": ("Unified: quadratic", "More favours likely tokens, less flattens.", 0.05),
        "repetition_penalty": ("Repetition penalty", "More than 1 avoids stuck sounds.", 0.1),
        "repetition_window": ("Repetition window", "Frames that the penalty looks back.", 1),
    },
    "Only for the hybrid model": {
        "vqscore_8": ("Voice quality", "From 0.5 to 0.8; more is a cleaner recording.", 0.01),
        "ctc_loss": ("Clarity loss", "0 is the clearest.", 1),
        "dnsmos_ovrl": ("Recording quality", "From 1 to 5, as listeners would rate it.", 0.1),
    },
}


def described() -> list[dict[str, Any]]:
    """Groups of settings for the page."""
    return [
        {"title": title, "settings": [_setting(name, *texts) for name, texts in group.items()]}
        for title, group in GROUPS.items()
    ]


def choices() -> list[dict[str, Any]]:
    """Settings that are a choice of words."""
    return [
        {
            "name": "speaker_noised",
            "title": "Clean up the clip's noise",
            "help": "Tells the hybrid that the voice's clip is noisy, so that the noise is not copied.",
            "choices": [
                ["default", None],
                ["auto", "auto"],
                ["clip is noisy", True],
                ["clip is clean", False],
            ],
        }
    ]


def _setting(name: str, title: str, words: str, step: float) -> dict[str, Any]:
    low, high = limits(name)
    assert name in Line.model_fields
    return {
        "name": name,
        "title": title,
        "help": words,
        "step": step,
        "low": low,
        "high": high,
        "auto": name in Conditioning.model_fields,
        "hybrid": name in HYBRID_ONLY,
    }
