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
_SHORT = (2, 4, 8, 16, 32)  # lengths of plain calls of one entry, repeated
_ALL_STARTS = range(2, 9)  # lengths of windows of which all around the entry are tried: 35 in all
# Lengths of which four are tried; the record has 64 entries around the one that deviates.
_SOME_STARTS = (16, 32)
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
        # Its process is not needed: the runtime is opened to learn how a call of it is written.
        runtime.close()
    except (RuntimeDiedError, UnsupportedError, UserError) as error:
        return [f"not run: {error}"] * len(every)
    etype = options.of.spec.element_type(type_id)
    search = _Search(options, etype, runtime, stopped)
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
        self._options = options
        self._etype = etype
        self._runtime = runtime
        self._stopped = stopped

    def first_of_repeated_entries(self, every: Sequence[Deviation]) -> list[Deviation | str]:
        """The first call that shows each deviation: the entry alone, ever longer, or the recorded call."""
        candidates = [self._candidates(deviation) for deviation in every]
        lines = [self._lines(calls) for calls in candidates]
        outcomes = first_shown(lines, self._options.limits, self._stopped)
        first_calls: list[Deviation | str] = []
        for calls, (number, words) in zip(candidates, outcomes, strict=True):
            if number is None:
                first_calls.append(words)
            else:
                first_calls.append(calls[number])
        return first_calls

    def _candidates(self, deviation: Deviation) -> list[Deviation]:
        """The calls that may show a deviation, the shortest first, the recorded one last."""
        calls = [self._with_line(call) for call in _of_repeated_entry(deviation)]
        calls.append(self._with_line(deviation))
        # A runtime with a state may deviate only in a later one of many equal calls.
        if deviation.got is not None and not deviation.following:
            later = deviation.model_copy(update={"words": _EARLIER_CALLS})
            calls.append(self._with_line(later, _TIMES))
        return _distinct(calls)

    def shortened(
        self, every: Sequence[Deviation], shown: Sequence[Deviation | str]
    ) -> list[Deviation | str]:
        """The calls, shortened to windows of the recorded ones; with words if the triple alone is right."""
        longer = []
        for place, (deviation, call) in enumerate(zip(every, shown, strict=True)):
            if isinstance(call, str) or not _may_be_shortened(call):
                continue
            # Of the recorded call, whose entries differ: the one that was shown may repeat one.
            windows: list[Deviation] = []
            for window in self._windows(deviation, call.length):
                windows.append(self._with_line(window))
            longer.append(_LongerCall(place, call, _distinct(windows)))

        # Both kinds of lines in one new process: the imports of a runtime may take seconds.
        checks = [self._alone_is_right(entry.call) for entry in longer]
        searches = [self._lines(entry.windows) for entry in longer]
        lines = [*checks, *searches]
        # Without a retry: what a stuck process hides is not worth minutes.
        outcomes = first_shown(lines, self._options.limits, self._stopped, retry=False)
        of_checks = outcomes[: len(longer)]
        of_searches = outcomes[len(longer) :]

        shortened = list(shown)
        for entry, check, search in zip(longer, of_checks, of_searches, strict=True):
            # Each outcome is the number of the first line that shows what it looks for, or None.
            shown_window, _ = search
            shown_right, _ = check
            call = entry.call
            if shown_window is not None:
                call = entry.windows[shown_window]
            if shown_right is not None:
                call = _right_alone(call)
            shortened[entry.place] = call
        return shortened

    def _windows(self, deviation: Deviation, below: int) -> Iterator[Deviation]:
        """Windows of the recorded call around its entry, shorter than a length, the shortest first."""
        # Each line of a runtime of few calls starts a program.
        if self._runtime.few:
            return
        # A window is a plain call: in another layout, that would be another code path.
        if not BY_ID[deviation.layout].plain or not _has_several_entries(deviation):
            return
        for length in (*_ALL_STARTS, *_SOME_STARTS):
            if length >= below:
                continue
            last = deviation.length - length
            for start in _starts(deviation.entry, length):
                if 0 <= start <= last:
                    yield _window(deviation, start, length)

    def _alone_is_right(self, call: Deviation) -> Lines:
        """A line that gives the expected result if the triple alone is right; none without a result."""
        lines: list[tuple[str, int | None]] = []
        takes_any_length = call.form is None or BY_ID[call.layout].plain
        if call.got is not None and takes_any_length:
            alone = self._with_line(_repeated(call, _ALONE, 1))
            lines = [(alone.reproduce, None)]
        return Lines(call.kind, call.expected, "", self._etype.id, lines)

    def _with_line(self, call: Deviation, times: int = 1) -> Deviation:
        signature = self._options.of.signature
        line = reproducer(call, self._etype, self._runtime, signature, times)
        return call.model_copy(update={"reproduce": line})

    def _lines(self, calls: Sequence[Deviation]) -> Lines:
        if not calls:
            return Lines("violates", None, "", self._etype.id, [])
        lines = []
        for call in calls:
            # With equal entries, the deviation may be at any of them.
            entry = call.entry if _has_several_entries(call) else None
            lines.append((call.reproduce, entry))
        recorded = calls[-1]
        words = calls[0].words or ""
        return Lines(recorded.kind, recorded.got, words, self._etype.id, lines)


def _distinct(calls: Iterable[Deviation]) -> list[Deviation]:
    """The calls without those whose line another one has."""
    # Of calls with one line the last stays, at the place of the first: the recorded call has its layout.
    by_line = {call.reproduce: call for call in calls}
    return list(by_line.values())


def _has_several_entries(call: Deviation) -> bool:
    """Whether an operand of a call has entries that differ."""
    return any(len(entries) > 1 for entries in call.entries)


# --- Calls --------------------------------------------------------------------------------------------------


def _of_repeated_entry(deviation: Deviation) -> Iterator[Deviation]:
    """Calls with the entry that deviates alone, ever longer, at last in the layout in which it deviated."""
    if deviation.length == 0 or deviation.following:
        return
    # A model has a fixed rank, so only those of rank 1 take plain calls.
    if deviation.form is None or BY_ID[deviation.layout].plain:
        yield _repeated(deviation, _ALONE, 1)
        for length in _SHORT:
            yield _repeated(deviation, PLAIN.id, length)
    yield _repeated(deviation, deviation.layout, deviation.length)


def _repeated(deviation: Deviation, layout: str, length: int) -> Deviation:
    """A call with the entry that deviates, repeated up to a length."""
    operands = list(deviation.operands.values())
    tensors = operands[: len(deviation.entries)]
    entries = tuple((text,) for text in tensors)
    update = {"layout": layout, "length": length, "entries": entries}
    return deviation.model_copy(update=update)


def _starts(entry: int, length: int) -> Sequence[int]:
    """Where windows of a length begin: the entry is at each place, or at the ends, inside, or aligned."""
    first = entry - length + 1
    last = entry
    # The first lane may decide for its group, so a short window has the entry at each of its places.
    if length in _ALL_STARTS:
        return range(first, last + 1)
    middle = (first + last) // 2
    aligned = entry // length * length
    return sorted({first, middle, last, aligned})


def _window(deviation: Deviation, start: int, length: int) -> Deviation:
    """Entries of a call as a plain call; the record repeats its entries."""
    places = range(start, start + length)
    entries = []
    for recorded in deviation.entries:
        size = len(recorded)
        texts = tuple(recorded[place % size] for place in places)
        # Equal entries are one in a record, and the line repeats them.
        if len(set(texts)) == 1:
            texts = texts[:1]
        entries.append(texts)
    update = {
        "layout": PLAIN.id,
        "length": length,
        "entries": tuple(entries),
        "entry": deviation.entry - start,
    }
    return deviation.model_copy(update=update)


def _may_be_shortened(call: Deviation) -> bool:
    """Whether a call that shows a deviation has more than the entry, and may be shortened."""
    # Every line of a call that hangs takes as long as the limit.
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
    update = {"alone_is_right": True, "words": words}
    return call.model_copy(update=update)
