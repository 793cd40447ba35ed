"""Judges units at the workers of a Dask scheduler: `check --scheduler`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.identity import comparable_parts
from sonnx_clip.conform.local_judge import LocalJudge
from sonnx_clip.conform.results import UnitResult
from sonnx_clip.machines.dask_workers import WorkLostError, require_same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.options import Unit
    from sonnx_clip.machines.dask_workers import DaskWorkers

_AHEAD = 2  # units for each thread of a worker, so that workers that join find some


class RemoteJudge:
    """Judges units at workers, which have to be as this machine is: code, packages, Python and processor.

    Args:
        workers: of a scheduler.
        runtime: the name of the runtime.
        version: the version that it reports here.
    """

    def __init__(self, workers: DaskWorkers, runtime: str, version: str) -> None:
        self._workers, self._version = workers, version
        self._here = comparable_parts(runtime)
        self.places, self.name, self.stop = _AHEAD * workers.threads, workers.name, workers.stop

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """The result of a unit, and the seconds that it took there.

        Where worker after worker ends with it, the machines are at fault: ``environment``.

        Raises:
            UserError: the scheduler or all workers are gone, a worker differs from this machine, or lacks
                what the runtime needs.
            CancelledError: the campaign is stopped.
        """
        try:
            return self._workers.call(judge_there, unit, self._here, self._version)
        except WorkLostError as error:
            return UnitResult(version=unit.options.runtime, stopped=("environment", error.what)), 0.0


def judge_there(unit: Unit, here: Mapping[str, str], version: str) -> tuple[UnitResult, float]:
    """Judge a unit at a worker: its result, and the seconds that it took.

    Raises:
        UserError: this machine differs from that of the campaign, or the runtime has another version here.
    """
    runtime = unit.options.runtime
    require_same(here, comparable_parts(runtime))
    found, seconds = LocalJudge().judge(unit)
    if found.version not in (version, runtime):  # its name, where it died before it was opened
        require_same({**here, "version": version}, {**here, "version": found.version})
    return found, seconds
