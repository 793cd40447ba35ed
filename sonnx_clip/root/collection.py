"""Python's garbage collection, where many objects are made that stay."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collection() -> Iterator[None]:
    """No garbage collection inside: each would go through all objects that are made, and free none."""
    was_enabled = gc.isenabled()  # uses may be nested
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
