"""`sonnx-clip check` with a plan of small units, as a program: for the tests that kill it or run two of it.

python -m tests.conform.small_campaign --runtime … --journal …
"""

from __future__ import annotations

import argparse
import signal
import sys
from itertools import islice
from pathlib import Path

from sonnx_clip.cli.app import end_as_interrupted
from sonnx_clip.cli.check_command import check_runtime
from sonnx_clip.conform.options import CheckOptions, WhichCalls
from sonnx_clip.conform.plan import calls_of
from tests.meta.judged import three_layouts

UNITS = 6
"""Units that the level standard has in an element type beside the first one."""
SMALL = WhichCalls(
    three_layouts,
    lambda _, level: [] if level == "quick" else [("small", UNITS)],
    lambda etype, part: islice(calls_of(etype, f"more-{part[-1]}"), 1),
)
"""The first unit of an element type is small, and the others are few and small."""


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
    named = {name: asked.pop(name) for name in ("runtime", "level")}
    return check_runtime(CheckOptions(types=asked.pop("dtype"), calls=SMALL, **named), **asked)


if __name__ == "__main__":
    # Tests that run in the background may have been told to ignore interrupts, which a process inherits.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
