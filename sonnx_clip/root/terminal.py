"""Terminal output: progress of a long stage, lines broken between words, and counts."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console


Show: TypeAlias = "Callable[[int, str], None]"
"""Called with the amount done, and the name of the current item."""

_COLORS = {"red": 31, "green": 32, "yellow": 33}
"""ANSI's numbers of the colours."""
_QUIET = "SONNX_CLIP_QUIET"
"""Variable of the environment, which processes that a command starts inherit, as they do NO_COLOR."""
_PARTS = 5  # lines in a whole stage, where there is no terminal
_MINUTE = 60.0
_LEAST_BEGINNING = 3  # letters of a name that is taken for the beginning of others
_MOST_NEAREST = 3  # names that a message suggests


def be_quiet() -> None:
    """Print no progress from now on."""
    os.environ[_QUIET] = "1"


def without_color() -> None:
    """Print without colours from now on; Rich heeds the variable too."""
    os.environ["NO_COLOR"] = "1"


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    return bool(os.environ.get(_QUIET))


def colored(text: str, color: str) -> str:
    """Text in a colour where standard output is a terminal and NO_COLOR (no-color.org) is not set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if is_plain or not sys.stdout.isatty():
        return text
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m"


@contextmanager
def progress(
    label: str,
    total: int,
    unit: str,
    console: Console,
    known: int | None = None,
) -> Iterator[Show]:
    """Show the progress of a stage: a bar on a terminal, else lines on standard error.

    Args:
        label: the name of the stage: ``proving``.
        total: the number of units.
        unit: the plural of the unit: ``answers``.
        console: for the result of the stage, and for the bar if it is a terminal.
        known: units done before the start; if set, the rate and the remaining time are shown.
    """
    if is_quiet():
        yield lambda *_: None
        return
    if not console.is_terminal:
        yield _in_lines(label, total, unit, known)
        return
    # Only here, since most commands show no bar.
    from rich.progress import (
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    # Shown with the rate only, from which it is computed.
    left = (TextColumn("left"), TimeRemainingColumn()) if known is not None else ()
    columns = (
        # The label and the bar; of the others, a percentage says less than the counts.
        *Progress.get_default_columns()[:2],
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *left,
    )
    with Progress(
        *columns, TextColumn("{task.fields[item]}"), console=console, transient=True
    ) as bar:
        task = bar.add_task(label, total=total, item="")
        yield lambda done, item: bar.update(task, completed=done, item=item)


def _in_lines(label: str, total: int, unit: str, known: int | None) -> Show:
    """A line at each fifth of the work, and at each minute if the rate is shown."""
    next_part = 1
    began = last_line = time.monotonic()

    def rate(done: int, now: float) -> str:
        """The rate and the remaining time; empty where they are not known, or the work is done."""
        # What was known before the start took no time.
        new = 0 if known is None else done - known
        if new <= 0 or done >= total:
            return ""
        passed = now - began
        left = duration((total - done) * passed / new)
        # The clock may not have moved since the start.
        a_minute = new * _MINUTE / max(passed, 1e-9)
        return f"; {a_minute:.0f} a minute, about {left} left"

    def show(done: int, _: str) -> None:
        nonlocal next_part, last_line
        now = time.monotonic()
        at_part = done * _PARTS >= next_part * total
        at_minute = known is not None and now - last_line > _MINUTE
        # Nothing is done yet when a stage begins, which is no news.
        if done and (at_part or at_minute):
            line = f"{label}: {done} of {total} {unit}{rate(done, now)}"
            print(line, file=sys.stderr, flush=True)
            next_part = done * _PARTS // total + 1
            last_line = now

    return show


def duration(seconds: float) -> str:
    """A time in words: ``40 s``, ``3 min``, ``2.5 h``."""
    if seconds < 2 * _MINUTE:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def terminal_width() -> int | None:
    """The columns of the terminal at standard output; None for a file or a pipe."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def hanging(line: str, width: int | None, indent: int = 4) -> str:
    """A line broken between words, its continuation `indent` columns further in; whole if `width` is None."""
    if width is None or len(line) <= width:
        return line
    start = len(line) - len(line.lstrip())
    # Words stay whole: a path or an id that is broken cannot be copied.
    parts = textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * (start + indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(parts)


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural unless it is one: ``1 type``, ``3131 obligations``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def capitalised(title: str) -> str:
    """A title as the beginning of a sentence; `str.capitalize` would change the ids in it."""
    return f"{title[0].upper()}{title[1:]}"


def listed(names: Sequence[str]) -> str:
    """Names in an English list: ``X, L and M``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names that begin with a given one, else those closest to it, best first, ignoring case."""
    from difflib import get_close_matches

    folded = {known.lower(): known for known in names}
    wanted = name.lower()
    # The beginning of a name, as a user types it, is not close to it where the name is long.
    longer = [known for known in folded if known.startswith(wanted)]
    if len(wanted) >= _LEAST_BEGINNING and 1 <= len(longer) <= _MOST_NEAREST:
        return [folded[known] for known in longer]
    matches = get_close_matches(wanted, folded, n=_MOST_NEAREST, cutoff=0.6)
    return [folded[match] for match in matches]
