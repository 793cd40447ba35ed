"""`sonnx-clip check` with a plan of small units, as a program: for the tests that kill it or run two of it.

python -m tests.conform.small_campaign --runtime … --journal …
"""

from __future__ import annotations

import argparse
import signal
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.cli.app import end_as_interrupted
from sonnx_clip.cli.check_command import check_runtime
from sonnx_clip.conform import judge, units
from sonnx_clip.conform.plan import calls_of
from sonnx_clip.conform.units import CheckOptions
from tests.meta.judged import three_layouts

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = 6
"""Units that the level standard has in an element type beside the first one."""


def make_small(patch: Callable[[object, str, object], None] = setattr) -> None:
    """Make the first unit of an element type small, and the others few and small."""
    patch(judge, "chosen", three_layouts)
    more = "more-0", "more-1"
    patch(judge, "calls_of", lambda etype, part: islice(calls_of(etype, more[int(part[-1]) % 2]), 1))
    patch(units, "kinds_of", lambda _, level: [] if level == "quick" else [("small", UNITS)])


def main() -> int:
    """Check as the command does; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runtime")
    parser.add_argument("--dtype", action="append")
    parser.add_argument("--level")
    parser.add_argument("--journal", type=Path)
    parser.add_argument("-o", dest="output", type=Path)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--jobs", type=int)
    asked = vars(parser.parse_args())
    end_as_interrupted()
    make_small()
    named = {name: asked.pop(name) for name in ("runtime", "level")}
    return check_runtime(CheckOptions(types=asked.pop("dtype"), **named), **asked)


if __name__ == "__main__":
    # Tests that run in the background may have been told to ignore interrupts, which a process inherits.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
