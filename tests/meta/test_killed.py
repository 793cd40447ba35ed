"""`generate` killed at random moments writes no half of a file; evidence and normalise write theirs likewise.

tests/prove/test_interrupted.py kills proofs, tests/conform/test_store_killed.py campaigns.
"""

import os
import random
import shutil
import subprocess
import sys
import time

import pytest

from sonnx_clip.root.folders import repo_root

pytestmark = pytest.mark.nightly

KILLS = 30
STALE = b"(* stale *)\n"
NEEDED = ("sonnx_clip", "spec", "why3", "generated", "coq", "docs", "pyproject.toml")


def generate(root, seconds=None):
    """Run the command, and kill it after so many seconds; whether it ended by itself."""
    try:
        subprocess.run(
            [sys.executable, "-m", "sonnx_clip", "generate"], cwd=root, check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(root)}, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return True


def test_killed_generate_leaves_each_file_as_it_was_or_as_it_must_be(tmp_path):
    for name in NEEDED:
        copy = shutil.copytree if (repo_root() / name).is_dir() else shutil.copy
        copy(repo_root() / name, tmp_path / name)
    generate(tmp_path)
    expected = {path: path.read_bytes() for path in (tmp_path / "generated").rglob("*.mlw")}
    assert len(expected) > 5
    begin = time.monotonic()
    generate(tmp_path)
    longest, chance, killed = time.monotonic() - begin, random.Random(KILLS), 0
    while killed < KILLS:
        for path, wanted in expected.items():
            path.write_bytes(wanted + STALE)
        ended = generate(tmp_path, chance.uniform(0.02, longest))
        for path, wanted in expected.items():
            assert path.read_bytes().removesuffix(STALE) == wanted
        killed += not ended
        longest *= 0.8 if ended else 1  # it may end sooner than the first run did
    generate(tmp_path)
    assert all(path.read_bytes() == wanted for path, wanted in expected.items())
