"""Python's garbage collector put off while many objects are made that live on."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collection() -> Iterator[None]:
    """No collection inside: each would go through all objects that a large model has, and free none."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            # All that was made goes to the oldest generation: the next collection does not look at it.
            gc.freeze()
            gc.unfreeze()
        gc.enable()
