"""The command line with a plan of small units, as a program: for tests that kill `check` or run two.

python -m tests.conform.small_campaign check --runtime … --journal …
"""

from __future__ import annotations

import signal
from itertools import islice
from typing import TYPE_CHECKING

from sonnx_clip.cli.app import main
from sonnx_clip.conform import judge, units
from sonnx_clip.conform.call_plan import planned_calls
from tests.meta.judged import three_layouts

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = 6
"""Units that the level standard has in an element type beside the first one."""


def make_small(patch: Callable[[object, str, object], None] = setattr) -> None:
    """Make the first unit of an element type small, and the others few and small."""
    patch(judge, "chosen", three_layouts)
    more = "more-0", "more-1"
    patch(
        judge,
        "planned_calls",
        lambda etype, of, part: islice(planned_calls(etype, of, more[int(part[-1]) % 2]), 1),
    )
    patch(units, "kinds_of", lambda _, __, level: [] if level == "quick" else [("small", UNITS)])


if __name__ == "__main__":
    # Tests that run in the background may have been told to ignore interrupts, which a process inherits.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    make_small()
    main()
