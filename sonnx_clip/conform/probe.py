"""How long a campaign takes: a runtime is opened before it, and a unit that takes long says how far it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.chosen_triples import covering_scalars, request_of, together
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.expected import range_table, tabulate
from sonnx_clip.conform.levels import WHICH_CALLS, size_of, units_of
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session
from sonnx_clip.conform.tally import Tally
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.root.terminal import duration
from sonnx_clip.runtimes.layouts import PLAIN
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.levels import CheckOptions, WhichCalls
    from sonnx_clip.conform.units import Unit
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.limits import Limits


_PAIRS, _LONG, _LONG_PAIRS = 512, 2**16, 8


@dataclass(frozen=True)
class Probed:
    """What a first look at a runtime says.

    Args:
        version: what it says that it is.
        start: seconds until it is open.
        call: seconds that a call costs, however short, what the checker does for it included; None if the
            runtime dies of the calls that are made to know it, or takes none.
        entry: seconds that each entry costs beside that.
    """

    version: str
    start: float = 0.0
    call: float | None = None
    entry: float = 0.0

    def seconds(self, units: Iterable[tuple[ElementType, Unit]]) -> float | None:
        """About how long some units will take, one after the other; None if that is not known."""
        if self.call is None:
            return None
        total = 0.0
        for etype, unit in units:
            calls, entries = size_of(etype, unit.part)
            total += self.start + calls * self.call + entries * self.entry
        return total


def probe(runtime: str, types: Sequence[ElementType], limits: Limits, *, timed: bool) -> Probed:
    """Open a runtime for the first of some element types that it serves.

    Args:
        runtime: its name.
        types: some element types.
        limits: how long it may take.
        timed: whether calls are made, to know how long they take.

    Raises:
        UserError: the machine lacks what it needs.
    """
    version = runtime
    for etype in types:
        began = time.monotonic()
        try:
            session = Session(runtime, etype.id, limits)
        except UnsupportedError as error:
            version = error.version
            continue
        except RuntimeDiedError:
            continue
        try:
            start = time.monotonic() - began
            version = session.worker.version
            if not timed or session.worker.few:
                return Probed(version, start)
            return _timed(session, etype, version, start)
        finally:
            session.worker.close()
    return Probed(version)


def _timed(session: Session, etype: ElementType, version: str, start: float) -> Probed:
    special = np.array(special_patterns(etype), bits_type(etype.id))
    pairs = [part[:_PAIRS] for part in together(special, 2)]
    random = np.random.PCG64(0).random_raw(_LONG).astype(special.dtype)
    few_pairs = [part[:_LONG_PAIRS] for part in covering_scalars(etype, _LONG_PAIRS)]
    try:
        _took(session, etype, lambda: tabulate(etype, [special], pairs))  # it warms up
        few = _took(session, etype, lambda: tabulate(etype, [special], pairs))
        _took(session, etype, lambda: range_table(etype, random, few_pairs))
        many = _took(session, etype, lambda: range_table(etype, random, few_pairs))
    except (GaveUpError, EnvironmentFaultError):
        return Probed(version, start)
    call, calls = few / len(pairs[0]), len(few_pairs[0])
    entry = max(0.0, many - calls * call) / (calls * _LONG)
    return Probed(version, start, call, entry)


def _took(session: Session, etype: ElementType, make: Callable[[], Table]) -> float:
    tally = Tally(etype, "default", Describer(etype, session))
    began = time.monotonic()
    table = make()
    for piece in session.ask(*request_of(table, PLAIN.id, len(table.pool), times=1)):
        tally.add(*piece)
    return time.monotonic() - began


def planned(
    types: Sequence[ElementType], asked: CheckOptions, calls: WhichCalls = WHICH_CALLS
) -> list[tuple[ElementType, Unit]]:
    """All units of a campaign, each with its element type."""
    return [(etype, unit) for etype in types for unit in units_of(etype, asked, calls)]


# --- Says of a unit that takes long how far it is and how long it will take yet -----------------------------


_FIRST, _THEN = 5.0, 60.0  # seconds before the first time that something is said, and between two times
_SLOW = 60.0  # seconds: of a unit that ends before that nothing is said


class Pace:
    """Counts the calls of a unit that have returned, and reckons from their rate.

    Args:
        name: what is judged: ``float32``.
        calls: about how many calls it will be.
        more: what comes after them, in words; None if nothing does.
        say: takes the words; called once soon, if it will take long, and then once a minute.
        clock: seconds by the clock.
    """

    def __init__(
        self,
        name: str,
        calls: int,
        more: str | None,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._calls, self._say, self._clock = name, calls, say, clock
        self._more = f", and then {more}" if more else ""
        self._began = self._said = clock()
        self._wait, self._before = _FIRST, 0

    def at(self, call: int) -> None:
        """So many calls of the request at work have returned."""
        now, done = self._clock(), self._before + call
        if done <= 0 or now - self._said < self._wait:
            return
        left = max(0, self._calls - done) * (now - self._began) / done
        if left < _SLOW:
            return
        self._said, self._wait = now, _THEN
        calls = f"{done:,} of about {self._calls:,} calls"
        self._say(f"{self._name}: {calls}, about {duration(left)} left{self._more}")

    def answered(self, calls: int) -> None:
        """All calls of a request have returned."""
        self._before += calls
        self.at(0)
