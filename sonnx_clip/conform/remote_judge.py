"""Judges the units of a campaign at the workers of a Dask scheduler: for `sonnx-clip check --scheduler`.

A worker judges as this machine does, or not at all: before the start all of them, and with each unit the one
that has it, say of what code, packages, Python, system and processor they are.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.conform.campaign import judge_unit
from sonnx_clip.conform.identity import comparable_parts
from sonnx_clip.conform.units import UnitResult
from sonnx_clip.machines.dask_workers import WorkLostError, require_same, require_same_workers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.units import Unit
    from sonnx_clip.machines.dask_workers import DaskWorkers

_AHEAD = 2  # units that are given out for each thread of a worker, so that those which join find some


class RemoteJudge:
    """Judge of units at the workers of a scheduler.

    Args:
        workers: that judge.
        runtime: the name of the runtime.
        version: what it says here that it is.

    Raises:
        UserError: a worker is not as this machine is.
    """

    def __init__(self, workers: DaskWorkers, runtime: str, version: str) -> None:
        self._workers, self._version = workers, version
        self._here = require_same_workers(workers, comparable_parts, runtime)
        self.places = _AHEAD * workers.threads

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """What comes of a unit, and the seconds that it took there.

        Where worker after worker ends with it, the machines are at fault: ``environment``.

        Raises:
            UserError: the scheduler or all workers are gone, a worker is not as this machine is, or lacks
                what the runtime needs.
            CancelledError: the campaign is stopped.
        """
        try:
            return self._workers.call(judge_there, unit, self._here, self._version)
        except WorkLostError as error:
            return UnitResult(version=unit.runtime, stopped=("environment", error.what)), 0.0

    def stop(self) -> None:
        """End all that the workers do for the campaign."""
        self._workers.stop()


def judge_there(unit: Unit, here: Mapping[str, str], version: str) -> tuple[UnitResult, float]:
    """Judge a unit at a worker.

    Args:
        unit: the unit.
        here: what the machine is that asks.
        version: what the runtime is there.

    Returns:
        What comes of it, and the seconds that it took.

    Raises:
        UserError: this machine is not the same, or the runtime is another one here.
    """
    require_same(here, _own_parts(unit.runtime))
    began = time.monotonic()
    found = judge_unit(unit)
    if found.version not in (version, unit.runtime):  # its name, where it died before it said more
        require_same({**here, "version": version}, {**here, "version": found.version})
    return found, time.monotonic() - began


@cache
def _own_parts(runtime: str) -> dict[str, str]:
    """As they were when this process began: what it has imported since is of that code."""
    return comparable_parts(runtime)
