"""The units of a check, and the result of each.

A unit is a part of the calls in one element type. Its calls are made in a process of their own, since a
runtime may keep state between calls. A unit holds all that is needed to judge it, so any machine can; its
digest names its result in a store. Results are added in the order of the plan, so the order in which units
are judged does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import Field

from sonnx_clip.conform.call_plan import FIRST, Level, kinds_of
from sonnx_clip.conform.check_report import (
    Count,
    Extent,
    FormReport,
    ReadingMatch,
    Refusal,
    Stop,
    Sum,
)
from sonnx_clip.conform.operator import Operator, machine_types
from sonnx_clip.contexts.context_report import ContextReport
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.runtime import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.accepted import Policy
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import Choice


IN_CONTEXT = "context-"
"""How the part of a unit begins that is a context, whose id follows."""


@dataclass(frozen=True)
class CheckOptions:
    """The runtime to check, and how.

    Args:
        runtime: a name of `RUNTIMES`, or ``module:function``.
        types: ids of element types; all that NumPy has, if empty.
        policy: ``strict`` keeps only the latitude that is always granted.
        limits: on the time of a call and of the import.
        require: ids of element types that the runtime must support; they are checked in any case.
        forms: of a runtime that opens models: forms that cover every pair of values of two axes, or all.
        level: how much is compared.
        few_calls: whether few calls are made at any level, as for a runtime that starts a program for each.
        identity: a digest of the runtime, the checker and the machine; empty without a store.
        contexts: the contexts in which the runtime is asked, too.
        of: the operator.
    """

    runtime: str
    types: Sequence[str] = ()
    policy: Policy = "default"
    limits: Limits = LIMITS
    require: Sequence[str] = ()
    forms: Choice = "default"
    level: Level = "quick"
    few_calls: bool = False
    identity: str = ""
    contexts: tuple[Context, ...] = ()
    of: Operator = field(kw_only=True)

    @property
    def element_types(self) -> Sequence[ElementType]:
        """The element types to judge; UserError if one is unknown."""
        ids = list(self.types)
        if self.require:
            # Looked up in any case, so that an unknown one is an error even where all are judged.
            required = machine_types(self.require, self.of)
            if ids:  # without any, all types are judged
                ids += [etype.id for etype in required]
        return machine_types(ids, self.of)

    @property
    def units(self) -> dict[str, list[Unit]]:
        """The units of each element type, in the order of the plan."""
        units = {}
        for etype in self.element_types:
            parts = self._parts_of(etype)
            units[etype.id] = [Unit(self, etype.id, part) for part in parts]
        return units

    def _parts_of(self, etype: ElementType) -> Iterator[str]:
        """The parts of an element type, in the order of the plan."""
        yield FIRST
        for kind, count in kinds_of(etype, self.of, self.level):
            for number in range(count):
                yield f"{kind}-{number}"
        # Last: they do not change the verdict on the type.
        for context in self.contexts:
            if context.has_type(etype):
                yield IN_CONTEXT + context.id

    @property
    def every_unit(self) -> list[Unit]:
        """The units of all element types."""
        every = []
        for units in self.units.values():
            every += units
        return every


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
    def context(self) -> Context | None:
        """The context that it is; None for calls of the operator alone."""
        for context in self.options.contexts:
            if self.part == IN_CONTEXT + context.id:
                return context
        return None

    @property
    def name(self) -> str:
        """Its name for people: ``float32``, ``float32 random-3``."""
        if self.first:
            return self.etype
        return f"{self.etype} {self.part}"

    @property
    def digest(self) -> str:
        """A digest of everything its result depends on."""
        options = self.options
        parts: list[object] = [options.runtime, options.identity, self.etype, self.part]
        parts += [options.policy, options.limits, options.forms, options.few_calls]
        # The level is no part: a unit of `quick` is also one of `standard`.
        parts += [options.of.name, options.of.dialect]
        if self.context is not None:
            # Its expected results depend on the operators that are its steps.
            parts += [self.context, [spec.digest for spec in operators().values()]]
        return digest_of_parts(map(repr, parts))


class Raised(Sum):
    """Calls of one layout (or form of a model) that raised; `of` counts them by class or tag."""

    calls: int = 0
    raised: int = 0
    refusal: bool = True
    words: str = ""
    of: dict[str, Count] = Field(default_factory=dict)

    @property
    def all(self) -> bool:
        """Whether every call was rejected."""
        # An exception such as AssertionError rejects nothing: it is a failure even if each call raises it.
        return self.refusal and 0 < self.raised == self.calls


class Counts(Sum):
    """Counts of a unit.

    Args:
        of: by class and tag (C1, C3).
        raised: by layout, of the calls that raised.
        tried: by purpose.
        only: the calls under the only bounds that are served, by their condition, if these are very few.
    """

    of: dict[str, Count] = Field(default_factory=dict)
    raised: dict[str, Raised] = Field(default_factory=dict)
    tried: dict[str, Extent] = Field(default_factory=dict)
    only: dict[str, int] = Field(default_factory=dict)


class UnitResult(Stored):
    """The result of a unit.

    Args:
        version: of the runtime, as it reports it.
        stopped: why the unit ended early, or the runtime was not opened for calls outside of forms, if so.
        tally: the counts; None if no call was made.
        readings: those that allow the answers of the first unit of an element type.
        refusal: calls that were refused in layouts that are served.
        unasked: calls that the runtime cannot take, in words.
        longest: the most entries that it takes.
        few: whether few calls were made.
        forms: the reports on forms of a model.
        forms_stopped: whether these ended early.
        remarks: remarks beside the results.
        partial: whether it was interrupted before all calls were made.
        made: when it was stored, if it comes from a cache.
        context: the report on a context, if the unit is one.
    """

    version: str
    stopped: Stop | None = None
    tally: Counts | None = None
    readings: ReadingMatch | None = None
    refusal: Refusal | None = None
    unasked: tuple[str, ...] = ()
    longest: int | None = None
    few: bool = False
    forms: tuple[FormReport, ...] | None = None
    forms_stopped: bool = False
    remarks: tuple[str, ...] = ()
    partial: bool = False
    made: str = ""
    context: ContextReport | None = None

    @property
    def ends(self) -> bool:
        """Whether no later unit of the element type is judged."""
        return self.stopped is not None or self.forms_stopped

    def is_kept(self, *, cache: bool) -> bool:
        """Whether it is stored: no environment failure; in a cache, no crash either."""
        verdicts: list[str] = [form.verdict for form in self.forms or ()]
        if self.stopped is not None:
            verdicts.append(self.stopped[0])
        # Another run may find the machine in order.
        if "environment" in verdicts:
            return False
        if not cache:
            return True
        # A crash may be chance: a cache would repeat it until something changes.
        if self.context is not None:
            verdicts.append(self.context.verdict)
        counts = self.tally.of.values() if self.tally is not None else ()
        return "crashed" not in verdicts and not any(count.died for count in counts)
