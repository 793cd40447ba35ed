"""A program whose commands are stages for `sonnx_clip.cli.stages`: each does what its arguments say.

    python staged.py FOLDER NAME [--after NAME …] [--wait-for NAME] [--status N] [--count N] [--forever]

A stage notes in FOLDER that it has begun, and that it has ended: so tests see the order.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from sonnx_clip.root.terminal import VARIABLE


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("--after", action="append", default=[])
    parser.add_argument("--wait-for")
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--milestone")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--forever", action="store_true")
    asked = parser.parse_args()
    for other in asked.after:
        if not (asked.folder / f"{other}.ended").exists():
            print(f"{asked.name} began before {other} had ended")
            return 3
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        (asked.folder / f"{asked.name}.began").write_text("")
        print(f"{asked.name} speaks", flush=True)
        descriptor = int(os.environ[VARIABLE])
        if asked.milestone:
            os.write(descriptor, f"= {asked.milestone}\n".encode())
        for done in range(asked.count):
            os.write(descriptor, f"{done + 1} {asked.count} at work\n".encode())
        while asked.forever:
            os.write(descriptor, b"0 1 for ever\n")
            time.sleep(0.02)
        while asked.wait_for and not (asked.folder / f"{asked.wait_for}.ended").exists():
            time.sleep(0.02)
        return asked.status
    finally:
        (asked.folder / f"{asked.name}.ended").write_text("")


if __name__ == "__main__":
    sys.exit(main())
