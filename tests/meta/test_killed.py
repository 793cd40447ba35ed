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


def start(root):
    return subprocess.Popen(
        [sys.executable, "-m", "sonnx_clip", "generate"],
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def generate(root):
    """Run the command to its end; how long it took."""
    begin = time.monotonic()
    process = start(root)
    _, words = process.communicate()
    assert process.returncode == 0, words.decode()
    return time.monotonic() - begin


def test_killed_generate_leaves_each_file_as_it_was_or_as_it_must_be(tmp_path):
    for name in NEEDED:
        copy = shutil.copytree if (repo_root() / name).is_dir() else shutil.copy
        copy(repo_root() / name, tmp_path / name)
    generate(tmp_path)
    expected = {path: path.read_bytes() for path in (tmp_path / "generated").rglob("*.mlw")}
    assert len(expected) > 5
    longest, chance, killed = generate(tmp_path), random.Random(KILLS), 0
    while killed < KILLS:
        for path, wanted in expected.items():
            path.write_bytes(wanted + STALE)
        process = start(tmp_path)
        time.sleep(chance.uniform(0.02, longest))
        ran = process.poll() is None
        process.kill()
        process.communicate()
        for path, wanted in expected.items():
            assert path.read_bytes().removesuffix(STALE) == wanted
        killed += ran
        longest *= 1 if ran else 0.8  # it may end sooner than the first run did
    generate(tmp_path)
    assert all(path.read_bytes() == wanted for path, wanted in expected.items())
