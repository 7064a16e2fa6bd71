"""What an engine says of itself, for those who watch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot, taken while the loop goes on.

    Attributes:
        waiting: pieces without a slot.
        running: pieces being decoded.
        slots: most of them.
        frames: of finished pieces, since the start.
        steps: decode steps since the start.
        row_steps: rows over all steps.
        alone: frames per second that one row by itself would make, as measured; None at the beginning.
    """

    waiting: int
    running: int
    slots: int
    frames: int
    steps: int
    row_steps: int
    alone: float | None

    @property
    def occupancy(self) -> float:
        """Share of the slots that was in use, 0 to 1."""
        return self.row_steps / (self.steps * self.slots) if self.steps else 0.0
