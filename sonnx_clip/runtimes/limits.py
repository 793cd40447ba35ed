"""Limits on the time that a runtime takes, for the command line and for callers of `run_campaign`."""

from __future__ import annotations

from dataclasses import dataclass

CALL = 10.0
START = 60.0


@dataclass(frozen=True)
class Limits:
    """Seconds of its own time that a runtime may take, and how often it may die.

    Args:
        call: for one call.
        start: to be imported and opened for an element type.
        deaths: in a form of a model, or in all other calls; then it is given up.
    """

    call: float = CALL
    start: float = START
    deaths: int = 80


LIMITS = Limits()
"""The defaults."""
