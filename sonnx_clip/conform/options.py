"""The options of a check, and its units: parts of the calls in one element type.

The calls of a unit are made in a process of their own, since a runtime may keep something between calls. A
unit holds all that is needed to judge it, so any machine can; its digest names its result in a store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator, machine_types
from sonnx_clip.conform.plan import FIRST, Level, kinds_of
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.runtimes.runtime import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.tally import Policy
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import Choice


@dataclass(frozen=True)
class CheckOptions:
    """The runtime to check, and how.

    Args:
        runtime: a name of `RUNTIMES`, or ``module:function``.
        types: ids of element types; all that NumPy has, if empty.
        policy: ``strict`` keeps only the latitude that is always granted.
        limits: on the time of a call and of the import.
        require: ids of element types that the runtime must support; they are judged in any case.
        forms: of a runtime that opens models: forms that cover every pair of values of two axes, or all.
        level: how much is compared.
        few_calls: whether few calls are made at any level, as for a runtime that starts a program for each.
        of: the operator.
        identity: a digest of the runtime, the checker and the machine; empty without a store.
    """

    runtime: str
    types: Sequence[str] = ()
    policy: Policy = "default"
    limits: Limits = LIMITS
    require: Sequence[str] = ()
    forms: Choice = "default"
    level: Level = "quick"
    few_calls: bool = False
    of: CheckedOperator = field(default_factory=clip_operator)
    identity: str = ""

    @property
    def element_types(self) -> Sequence[ElementType]:
        """The element types to judge; UserError if one is not known."""
        required = [etype.id for etype in machine_types(self.require, self.of)] if self.require else []
        return machine_types([*self.types, *required] if self.types else (), self.of)

    @property
    def units(self) -> dict[str, list[Unit]]:
        """The units of each element type, in the order in which their results are added up."""
        found = {}
        for etype in self.element_types:
            parts = [f"{kind}-{n}" for kind, count in kinds_of(etype, self.level) for n in range(count)]
            found[etype.id] = [Unit(self, etype.id, part) for part in (FIRST, *parts)]
        return found

    @property
    def every_unit(self) -> list[Unit]:
        """The units of all element types."""
        return [unit for units in self.units.values() for unit in units]


@dataclass(frozen=True)
class Unit:
    """A part of the calls in an element type."""

    options: CheckOptions
    etype: str
    part: str = FIRST

    @property
    def first(self) -> bool:
        """Whether it is the first unit of its element type."""
        return self.part == FIRST

    @property
    def name(self) -> str:
        """Its name for people: ``float32``, ``float32 random-3``."""
        return self.etype if self.first else f"{self.etype} {self.part}"

    @property
    def digest(self) -> str:
        """A digest of what its result depends on."""
        given = self.options
        chosen = given.policy, given.limits, given.forms, given.few_calls, given.of.dialect
        return digest_of_parts(map(repr, (given.runtime, given.identity, self.etype, self.part, *chosen)))
