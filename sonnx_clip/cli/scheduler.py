"""--scheduler of `check`: the workers of a Dask scheduler for as long as a command runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sonnx_clip.conform.identity import VARIABLES, variables
from sonnx_clip.machines.dask_workers import DaskWorkers

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def workers_of(scheduler: str) -> Iterator[DaskWorkers]:
    """The workers of a scheduler; in the end all that they still do for the command ends.

    Args:
        scheduler: its address.

    Raises:
        UserError: it cannot be reached, or has no workers.
        ModuleNotFoundError: distributed is not installed.
    """
    import distributed  # it sets the levels of its loggers when it is imported

    for name in [name for name in logging.root.manager.loggerDict if name.startswith(distributed.__name__)]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is told by us, once
    found = DaskWorkers(scheduler, VARIABLES, variables())
    try:
        yield found
    finally:
        found.stop()
