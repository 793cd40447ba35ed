"""Which tests measure coverage: it doubles the time of what runs, and need not see the same code often."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

import pytest

# The collector would look through every module and every test that is there, time and again: a third of
# what reading a specification takes.
gc.set_threshold(200_000, 30, 30)

HERE = Path(__file__).parent
# Each mistake repeats what runs: the first of those that are alike is measured.
PLANTED = ("meta",)
# But here each goes through another rule, and nothing else does.
EACH = ("meta/test_forged.py", "meta/test_words.py")
# Whole commands, again and again: what they call has tests of its own, and their first test is measured.
WHOLE = (
    "evidence/test_coq.py", "evidence/test_dialect_runs.py", "evidence/test_frama_c.py",
    "evidence/test_inputs.py", "evidence/test_replays.py",
    "prove/test_interrupted.py", "spec/test_compiled.py",
)  # fmt: skip
# Parameters are types, values and layouts here: the first few go through the code that all go through.
ALIKE = ("conform", "oracle", "render", "trace")
MEASURED = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what pytest-cov leaves out: what it reports is less than what the tests run, never more."""
    seen: Counter[str] = Counter()
    for item in items:
        file = item.path.relative_to(HERE)
        folder = file.parts[0]
        name = item.nodeid.partition("[")[0]
        seen.update((name, str(file)))
        planted = folder in PLANTED and seen[name] > 1 and str(file) not in EACH
        alike = folder in ALIKE and seen[name] > MEASURED
        if planted or alike or (str(file) in WHOLE and seen[str(file)] > MEASURED):
            item.add_marker(pytest.mark.no_cover)
