"""All kernels traced, with what guards the tracing: once a process, since nothing changes meanwhile."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.trace import subject
from sonnx_clip.trace.explore import Traced, explore
from sonnx_clip.trace.instrument import Instrumented
from sonnx_clip.trace.lint_kernels import hidden
from sonnx_clip.trace.places import places_of, unreached
from sonnx_clip.trace.real import strays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.trace.subject import Subject


def trace_all(etypes: Sequence[ElementType], what: Subject) -> tuple[Traced, ...]:
    """Trace every machine type, out of place and in place.

    Raises:
        UserError: the kernels hold what tracing cannot see, or what no input reaches.
    """
    if unseen := hidden(what):
        place, _, said = unseen[0].partition(": ")
        raise UserError(f"the kernel cannot be proved: {said}", place, "write it without")
    found = tuple(
        explore(what, etype, in_place=in_place)
        for etype in etypes
        if etype.width is not None
        for in_place in (False, True)
    )
    copies = Instrumented(what)
    places = tuple(places_of(one, copies) for one in found)
    if missed := unreached(copies.points, (path for one in places for path in one)):
        place, _, said = missed[0].partition(": ")
        raise UserError(f"{said}: it is not proved", place, "remove it, or add samples that reach it")
    for one, passed in zip(found, places, strict=True):
        if other := strays(what, one, passed, copies):
            raise UserError(other[0], str(what.files[0]), "the run on symbols missed something: report it")
    return found


@cache
def traced_kernels(etypes: tuple[ElementType, ...]) -> tuple[Traced, ...]:
    """What `sonnx_clip.clip` runs, traced for all machine types; UserError as above."""
    return trace_all(etypes, subject.subject())
