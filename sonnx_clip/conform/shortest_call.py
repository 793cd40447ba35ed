"""Finds the shortest call that shows a deviation in a new process.

Calls with the entry that deviates alone come first, ever longer, then the call in which it was found. If that
is longer than need be, windows of it around the entry are tried, the shortest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.conform.reproduce import reproducer
from sonnx_clip.conform.rerun import Lines, first_shown
from sonnx_clip.conform.session import open_worker
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.layouts import BY_ID, PLAIN
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.units import CheckOptions
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.worker import Worker

_ALONE = "length-1"
_SHORT = [(_ALONE, 1), *((PLAIN.id, length) for length in (2, 4, 8, 16, 32))]
_ALL_STARTS = range(2, 9)  # lengths of windows of which all around the entry are tried: 35 in all
_SOME_STARTS = (
    16,
    32,
)  # and of which four are; the record has 64 entries around the one that deviates
_TIMES = 64  # calls in one process, of which a later one may deviate
_EARLIER_CALLS = (
    f"it depends on earlier calls: this line makes {_TIMES} and shows the first that deviates"
)


def shortest(
    every: Sequence[Deviation],
    options: CheckOptions,
    type_id: str,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Deviation | str]:
    """For each deviation the shortest call that shows it in a new process; else the outcome of the last call.

    Raises:
        KeyError: a deviation that was read from a file has no known layout.
    """
    try:
        runtime, _ = open_worker(options, type_id)
        runtime.close()  # it renders its calls
    except (RuntimeDiedError, UnsupportedError, UserError) as error:
        return [f"not run: {error}"] * len(every)
    search = _Search(options, options.of.spec.element_type(type_id), runtime, stopped)
    shown = search.first_of_repeated_entries(every)
    return search.shortened(every, shown)


@dataclass(frozen=True)
class _LongerCall:
    """A call of several entries that shows the deviation at a place of a list, and windows that may, too."""

    place: int
    call: Deviation
    windows: list[Deviation]


class _Search:
    """Runs reproducers of one runtime in one element type."""

    def __init__(
        self,
        options: CheckOptions,
        etype: ElementType,
        runtime: Worker,
        stopped: Callable[[], bool],
    ) -> None:
        self._options, self._etype, self._runtime, self._stopped = options, etype, runtime, stopped

    def first_of_repeated_entries(self, every: Sequence[Deviation]) -> list[Deviation | str]:
        """The first call that shows each deviation: the entry alone, ever longer, or the recorded call."""
        candidates = []
        for one in every:
            calls = [self._with_line(call) for call in _of_repeated_entry(one)]
            calls.append(self._with_line(one))
            if one.got is not None and not one.following:
                later = one.model_copy(update={"words": _EARLIER_CALLS})
                calls.append(self._with_line(later, _TIMES))
            candidates.append(_distinct(calls))
        lines = [self._lines(calls) for calls in candidates]
        outcomes = first_shown(lines, self._options.limits, self._stopped)
        found: list[Deviation | str] = []
        for calls, (number, words) in zip(candidates, outcomes, strict=True):
            found.append(words if number is None else calls[number])
        return found

    def shortened(
        self, every: Sequence[Deviation], shown: Sequence[Deviation | str]
    ) -> list[Deviation | str]:
        """The calls, shortened to windows of the recorded ones; with words if the triple alone is right."""
        longer = []
        for place, (one, call) in enumerate(zip(every, shown, strict=True)):
            if isinstance(call, str) or not _may_be_shortened(call):
                continue
            windows = [self._with_line(window) for window in self._windows(one, call.length)]
            longer.append(_LongerCall(place, call, _distinct(windows)))
        checks = [self._alone_is_right(entry.call) for entry in longer]
        searches = [self._lines(entry.windows) for entry in longer]
        # Without a retry: what a stuck process hides is not worth minutes.
        outcomes = first_shown(
            [*checks, *searches], self._options.limits, self._stopped, retry=False
        )
        of_checks, of_searches = outcomes[: len(longer)], outcomes[len(longer) :]
        found = list(shown)
        for entry, check, search in zip(longer, of_checks, of_searches, strict=True):
            number, _ = search
            call = entry.call if number is None else entry.windows[number]
            is_right, _ = check
            found[entry.place] = call if is_right is None else _right_alone(call)
        return found

    def _windows(self, one: Deviation, below: int) -> Iterator[Deviation]:
        """Windows of the recorded call around its entry, shorter than a length, the shortest first."""
        # Each line of a runtime of few calls starts a program.
        if self._runtime.few or not BY_ID[one.layout].plain or not _has_several_entries(one):
            return
        for length in (*_ALL_STARTS, *_SOME_STARTS):
            for start in _starts(one.entry, length):
                if length < below and 0 <= start <= one.length - length:
                    yield _window(one, start, length)

    def _alone_is_right(self, call: Deviation) -> Lines:
        """A line that gives the expected result if the triple alone is right; none without a result."""
        lines: list[tuple[str, int | None]] = []
        if call.got is not None and (call.form is None or BY_ID[call.layout].plain):
            lines = [(self._with_line(_repeated(call, _ALONE, 1)).reproduce, None)]
        return Lines(call.kind, call.expected, "", self._etype.id, lines)

    def _with_line(self, call: Deviation, times: int = 1) -> Deviation:
        line = reproducer(call, self._etype, self._runtime, self._options.of.node, times)
        return call.model_copy(update={"reproduce": line})

    def _lines(self, calls: Sequence[Deviation]) -> Lines:
        if not calls:
            return Lines("violates", None, "", self._etype.id, [])
        # With equal entries, the deviation may be at any of them.
        lines = [
            (call.reproduce, call.entry if _has_several_entries(call) else None) for call in calls
        ]
        return Lines(calls[-1].kind, calls[-1].got, calls[0].words or "", self._etype.id, lines)


def _distinct(calls: Iterable[Deviation]) -> list[Deviation]:
    """The calls without those whose line another one has."""
    return list({call.reproduce: call for call in calls}.values())


def _has_several_entries(call: Deviation) -> bool:
    """Whether an operand of a call has entries that differ."""
    return any(len(entries) > 1 for entries in call.entries)


# --- Calls --------------------------------------------------------------------------------------------------


def _of_repeated_entry(one: Deviation) -> Iterator[Deviation]:
    """Calls with the entry that deviates alone, ever longer, at last in the layout in which it deviated."""
    if one.length == 0 or one.following:
        return
    shorter = _SHORT if one.form is None or BY_ID[one.layout].plain else ()
    for layout, length in [*shorter, (one.layout, one.length)]:
        yield _repeated(one, layout, length)


def _repeated(one: Deviation, layout: str, length: int) -> Deviation:
    """A call with the entry that deviates, repeated up to a length."""
    operands = list(one.operands.values())[: len(one.entries)]
    entries = tuple((text,) for text in operands)
    return one.model_copy(update={"layout": layout, "length": length, "entries": entries})


def _starts(entry: int, length: int) -> Sequence[int]:
    """Where windows of a length begin: the entry is at each place, or at the ends, inside, or aligned."""
    first, last = entry - length + 1, entry
    if length in _ALL_STARTS:
        return range(first, last + 1)
    return sorted({first, (first + last) // 2, last, entry // length * length})


def _window(one: Deviation, start: int, length: int) -> Deviation:
    """Some of the entries of a call as a plain call; the record repeats its entries."""
    entries = []
    for recorded in one.entries:
        texts = tuple(recorded[at % len(recorded)] for at in range(start, start + length))
        entries.append(texts[:1] if len({*texts}) == 1 else texts)
    update = {
        "layout": PLAIN.id,
        "length": length,
        "entries": tuple(entries),
        "entry": one.entry - start,
    }
    return one.model_copy(update=update)


def _may_be_shortened(call: Deviation) -> bool:
    """Whether a call that shows a deviation has more than the entry, and may be shortened."""
    hangs = call.got is None and call.kind == "crashed"
    is_first_call = not call.following and call.words != _EARLIER_CALLS
    return call.length > 1 and is_first_call and not hangs


def _right_alone(call: Deviation) -> Deviation:
    """A call whose entry alone gives the expected result, with words that say so."""
    if _has_several_entries(call):
        words = "the triple alone is right: other entries of the call change its result"
    elif BY_ID[call.layout].plain:
        words = f"right alone at length 1, wrong at length {call.length}"
    else:
        words = f"right alone at length 1, wrong in the layout {call.layout}"
    return call.model_copy(update={"alone_is_right": True, "words": words})
