"""What a module imports is read by several threads at once, as when runtimes are judged side by side."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root import installed
from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS = 4


class Ending:
    """Garbage whose end runs Python, at which another thread goes on."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(300):
            pass


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads change as often as can be, and garbage is collected while a source is parsed."""
    every, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(every)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("restless")
def test_threads_that_read_at_once_do_not_disturb_one_another() -> None:
    """Without the lock, Python 3.11 ends here with "AST constructor recursion depth mismatch"."""
    sources = [path.read_bytes() for path in sorted((repo_root() / "sonnx_clip/spec").glob("*.py"))[:16]]
    installed._known.cache_clear()

    def read(which: int) -> list[tuple[str, ...]]:
        found = []
        for at in range(len(sources)):
            Ending()
            found.append(installed._imported(sources[(at + 4 * which) % len(sources)]))
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(read, range(THREADS)))
    assert all(set(found) == set(results[0]) for found in results)
    assert any("sonnx_clip.root.errors" in names for names in results[0])
