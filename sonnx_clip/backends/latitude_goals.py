"""The goals that join latitude and readings: it accepts what the readings that it names give, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import Printer
from sonnx_clip.spec.answers import readings_of_latitude

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec

EVERY = "forall x l m a: t. let y = cases x l m in"
# What latitude may speak of at all, as `is_narrow` states of each.
MEANT = "(eq a y \\/ nan a /\\ nan y \\/ nan a /\\ nan x)"


def latitude_goals(spec: Spec, etype: ElementType) -> Iterator[Goal]:
    """What the latitude of a float type has to do with the readings; the other types have none."""
    if etype.family != "float":
        return
    printer = Printer(etype, {"X": "x", "L": "l", "M": "m", "Y": "y", "A": "a"})
    accepted = {e.id: f"({printer.show(e.when)}) /\\ ({printer.show(e.accepts)})" for e in spec.latitude}
    for entry in spec.latitude:
        given = " \\/ ".join(f"{spec.reading(id_).word}_returns x l m a" for id_ in entry.given_by)
        yield Goal(
            f"{entry.word}_is_given", "theorem", (entry.id, *entry.given_by),
            f"what {entry.id} accepts instead of the result is what {' or '.join(entry.given_by)} gives",
            f"{EVERY} {accepted[entry.id]} -> a <> y -> {given}",
        )  # fmt: skip
    granted = " \\/ ".join(f"({condition})" for condition in accepted.values())
    for reading in readings_of_latitude(spec):
        yield Goal(
            f"{reading.word}_is_accepted", "theorem", (reading.id, *(entry.id for entry in spec.latitude)),
            f"what {reading.id} gives with the value of the result, or the NaN of X, some latitude accepts",
            f"{EVERY} {reading.word}_returns x l m a -> {MEANT} -> a = y \\/ {granted}",
        )  # fmt: skip
