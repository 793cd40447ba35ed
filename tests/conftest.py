"""What holds for every test: the collector, Hypothesis, and coverage where ``SEEN`` names a folder for it.

``make coverage`` sets ``SEEN``. Each process that runs tests then writes what it ran to a file there, and
``slipcover --merge`` joins the files. SlipCover stops watching a line that ran: no test needs to be left out.
Children that a test forks are measured too. Programs that it starts are not: more runs than is reported.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import slipcover
from hypothesis import settings
from slipcover.importer import SlipcoverMetaPathFinder

from tests import of_children

if TYPE_CHECKING:
    import pytest

# The collector would look through every module and every test that is there, time and again: a third of
# what reading a specification takes.
gc.set_threshold(100_000, 10, 10)

# No test asks how long something takes: a busy machine would fail it.
settings.register_profile("no deadline", settings(), deadline=None)
settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parent.parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
# The process that starts the workers hands it on; a test that starts pytest does not.
SEEN = os.environ.pop("SEEN", None) if WORKER else os.environ.get("SEEN")
# Of runtimes that `make test` does not install.
OMITTED = [
    str(ROOT / f"sonnx_clip/runtimes/adapters/{name}.py")
    for name in ("jax", "litert", "openvino", "torch", "torch_numbers", "tract")
]
# Each time so many visits of a line brought nothing new, SlipCover looks through all functions there are, to
# take its marks away: at its own 50 that is a tenth of what the tests take, and the marks are a fraction.
WATCH = slipcover.Slipcover(source=[str(ROOT / "sonnx_clip")], omit=OMITTED, d_miss_threshold=2000)
if SEEN is not None:
    # Before any test imports the package: what is imported is instrumented then.
    sys.meta_path.insert(
        0,
        SlipcoverMetaPathFinder(
            WATCH, slipcover.FileMatcher(sources=[ROOT / "sonnx_clip"], omit=OMITTED)
        ),
    )
    of_children.note_lines_of_children(WATCH)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what this process ran."""
    del session
    if SEEN is not None:
        folder = ROOT / SEEN
        folder.mkdir(parents=True, exist_ok=True)
        of_children.add_lines_of_children(WATCH)
        (folder / f"{WORKER or 'main'}.json").write_text(
            json.dumps(WATCH.get_coverage()), encoding="utf-8"
        )
    gc.freeze()  # pytest looks twice through all that is there, two seconds each, before the process ends
