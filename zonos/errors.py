"""Failures as values: what a producer is told, and a code that programs can match."""

from __future__ import annotations


class LineError(Exception):
    """One line cannot be spoken; the other lines are not affected.

    Args:
        code: stable slug for programs, for example ``"unknown_voice"``.
        reason: one or two plain sentences: what is wrong and what to do.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class CheckpointError(Exception):
    """A model cannot be loaded. The message names what is missing and where to get it."""


class ScriptError(Exception):
    """A script file cannot be read at all. The message names the file, row and column."""
