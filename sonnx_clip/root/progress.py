"""How far a long stage is: a bar on a terminal, lines elsewhere, numbers for a command that started this one.

`sonnx-clip all` starts the stages as processes of their own and draws one bar for each: it names a descriptor
in the environment variable SONNX_CLIP_PROGRESS, to which a stage writes lines: ``done total label`` for how
far it is, and ``= name`` when it comes to what another stage waits for.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

VARIABLE = "SONNX_CLIP_PROGRESS"

GENERATED = "generated"
"""The milestone of `sonnx-clip prove --generate`: generated/ is what the specification says."""

Show: TypeAlias = "Callable[[int, str], None]"
"""Called with how much is done, and what is at work."""

_PARTS = 5  # lines in a whole stage, where there is no terminal


@contextmanager
def progress(label: str, total: int, unit: str, console: Console) -> Iterator[Show]:
    """Show how far a stage is until it ends.

    Args:
        label: what the stage does: ``proving``.
        total: how much there is to do.
        unit: what is counted: ``answers``.
        console: where the result of the stage goes; a bar goes there too if it is a terminal.
    """
    if os.environ.get(VARIABLE):
        yield _to_descriptor(int(os.environ[VARIABLE]), total)
    elif console.is_terminal:
        with _bar(label, total, console) as show:
            yield show
    else:
        yield _in_lines(label, total, unit)


def milestone(name: str) -> None:
    """Say to the command that started this one what has been reached."""
    if os.environ.get(VARIABLE):
        os.write(int(os.environ[VARIABLE]), f"= {name}\n".encode())


def _to_descriptor(descriptor: int, total: int) -> Show:
    """An interrupted reader ends this process too: writing raises BrokenPipeError."""

    def show(done: int, at_work: str) -> None:
        os.write(descriptor, f"{done} {total} {at_work}\n".encode(errors="replace"))

    show(0, "")
    return show


@contextmanager
def _bar(label: str, total: int, console: Console) -> Iterator[Show]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[at_work]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total, at_work="")

        def show(done: int, at_work: str) -> None:
            bar.update(task, completed=done, at_work=at_work)

        yield show


def _in_lines(label: str, total: int, unit: str) -> Show:
    """A line on standard error at each fifth of the work: a pipe gets the result alone."""
    following = 1

    def show(done: int, _: str) -> None:
        nonlocal following
        if done and done * _PARTS >= following * total:
            print(f"{label}: {done} of {total} {unit}", file=sys.stderr, flush=True)
            following = done * _PARTS // total + 1

    return show
