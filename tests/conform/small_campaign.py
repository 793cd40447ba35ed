"""`sonnx-clip check` with a plan of small units, as a program: for the tests that kill it or run two of it.

python -m tests.conform.small_campaign --runtime … --journal …
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from sonnx_clip.conform import campaign
from sonnx_clip.conform.campaigns import levels
from tests.meta.judged import three_layouts

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = 4
"""Units that the level standard has in an element type beside the first one."""


def small(patch: Callable[[object, str, object], None]) -> None:
    """Make the first unit of an element type small, and the others few and small."""
    patch(campaign, "plan", three_layouts)
    patch(levels, "_kinds", lambda _, level: [] if level == "quick" else [("lengths", UNITS)])
    patch(levels, "_LENGTHS", 6)


if __name__ == "__main__":
    small(setattr)
    # Tests that run in the background may have been told to ignore interrupts, which a process inherits.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from sonnx_clip.cli.app import main

    main()
