"""Renders the readings: for each element type where they agree with the cases, and with one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.latitude_goals import latitude_goals
from sonnx_clip.backends.reading_class_goals import ClassGoals
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.why3 import (
    declared_cases,
    declared_classes,
    definition,
    definitions_used,
    reading_trees,
    result_of_cases,
)
from sonnx_clip.backends.whyml_printer import Printer
from sonnx_clip.spec.readings import differing, leaves_values_open, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Conditions, Reading, Witness
    from sonnx_clip.spec.readings import Triple

THEORIES = "generated/why3"
ALL = "forall x l m: t."
EVERY = "forall x l m y: t."


def reading_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the readings by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    of_classes = definitions_used(spec, [klass.when for klass in spec.classes])
    for etype in spec.element_types:
        path = f"{THEORIES}/readings_{etype.id}.mlw"
        of_latitude = [tree for entry in spec.latitude for tree in (entry.when, entry.accepts)]
        used = definitions_used(spec, reading_trees(spec) + of_latitude * (etype.family == "float"))
        goals = [*ReadingGoals(spec, etype).all(), *latitude_goals(spec, etype)]
        class_goals = list(ClassGoals(spec, etype).all())
        printer = Printer(etype, {"X": "x", "L": "l", "M": "m", "Y": "y"})
        files[path] = template("readings.mlw.j2").render(
            header=header(spec),
            etype=etype,
            cases=declared_cases(spec, printer),
            result=result_of_cases(spec),
            definitions=[definition(d, etype) for d in used],
            readings=[
                {"id": r.id, **declare(returns(r), "x l m y", "t", printer.show(r.returns), r.title)}
                for r in spec.readings
            ],
            goals=goals,
            class_definitions=[definition(d, etype) for d in of_classes if d not in used],
            classes=declared_classes(spec, etype),
            class_goals=class_goals,
        )
        obligations += obligations_of(etype.id, path, "Readings", [*goals, smoke("smoke_readings")])
        class_goals.append(smoke("smoke_reading_classes"))
        obligations += obligations_of(etype.id, path, "ReadingClasses", class_goals)
    return files, tuple(obligations)


def returns(reading: Reading) -> str:
    """What the predicate of a reading is called."""
    return f"{reading.word}_returns"


@dataclass(frozen=True)
class ReadingGoals:
    """Builds the goals on readings of one element type."""

    spec: Spec
    etype: ElementType

    def all(self) -> Iterator[Goal]:
        """What each reading does beside the cases, then what each two do beside one another."""
        for reading in self.spec.readings:
            yield from self._of(reading)
        for one, other in pairs(self.spec, self.etype.family):
            yield from self._pair(one, other, bitwise=False)
            yield from self._pair(one, other, bitwise=True)

    def _of(self, r: Reading) -> Iterator[Goal]:
        name, shows = returns(r), (r.id,)
        some = " \\/ ".join(f"{name} x l m {y}" for y in "xlm")
        yield Goal(
            f"{r.word}_answers", "theorem", shows, f"{r.id} allows an answer for every input", f"{ALL} {some}"
        )
        region, same = self._region(r.agrees), "same_value y (cases x l m)"
        if region is not None and leaves_values_open(self.spec, self.etype, r):
            yield Goal(
                f"{r.word}_agrees", "theorem", shows, f"{r.id} has the value of the cases in its region",
                f"{EVERY} {region} -> {name} x l m y -> {same}",
            )  # fmt: skip
            others = self._some(r, "not same_value {} (cases x l m)")
            yield Goal(
                f"{r.word}_agrees_nowhere_else", "theorem", shows,
                f"outside its region {r.id} allows an answer of another value",
                f"{ALL} not {region} -> {others}",
            )  # fmt: skip
        else:
            yield Goal(
                f"{r.word}_agrees", "theorem", shows, f"{r.id} has the value of the cases exactly there",
                f"{EVERY} {name} x l m y -> "
                + (same if region is None else f"({same} <-> {region})"),
            )  # fmt: skip
        if region is not None:
            yield self._differs(
                r, f"{r.word}_differs", r.differs_at[self.etype.family], region, "same_value {} c"
            )
        region = self._region(r.agrees_bitwise)
        within = "" if region is None else f"{region} -> "
        yield Goal(
            f"{r.word}_agrees_bitwise", "theorem", shows, f"{r.id} has the bits of the cases in its region",
            f"{EVERY} {within}{name} x l m y -> y = cases x l m",
        )  # fmt: skip
        if region is not None:
            others = self._some(r, "{} <> cases x l m")
            yield Goal(
                f"{r.word}_agrees_bitwise_nowhere_else", "theorem", shows,
                f"outside its region {r.id} allows an answer of other bits",
                f"{ALL} not {region} -> {others}",
            )  # fmt: skip
            witness = r.differs_bitwise_at[self.etype.family]
            yield self._differs(r, f"{r.word}_differs_bitwise", witness, region, "{} = c")

    def _region(self, regions: Conditions) -> str | None:
        """Where a reading agrees, in parentheses; None for everywhere."""
        region = regions.get(self.etype.family)
        if region is None:
            return None
        printer = Printer(self.etype, {"X": "x", "L": "l", "M": "m", "Y": "(cases x l m)"})
        return f"({printer.show(region)})"

    def _candidates(self) -> tuple[str, ...]:
        """All answers that readings allow, but for payloads of NaNs."""
        if self.etype.family != "float":
            return ("x", "l", "m")
        literal = Printer(self.etype, {}).literal
        return ("x", "l", "m", literal("nan"), literal("-nan"))

    def _some(self, r: Reading, what: str) -> str:
        parts = (f"{returns(r)} x l m {y} /\\ {what.format(y)}" for y in self._candidates())
        return " \\/ ".join(parts)

    def _differs(self, r: Reading, name: str, witness: Witness, region: str, agrees: str) -> Goal:
        literal = Printer(self.etype, {}).literal
        lets = " ".join(f"let {n} = {literal(witness.texts()[n.upper()])} in" for n in "xlm")
        answers = self._some(r, f"not ({agrees})")
        return Goal(
            name, "theorem", (r.id,), f"{r.id} differs from the cases outside its region",
            f"{lets} let c = cases x l m in not {region} /\\ ({answers})",
        )  # fmt: skip

    def _pair(self, one: Reading, other: Reading, *, bitwise: bool) -> Iterator[Goal]:
        found = differing(self.spec, self.etype, one, other, bitwise=bitwise)
        shows = (one.id, other.id)
        if found is not None:
            yield self._other(one, other, *found, bitwise=bitwise)
        elif bitwise:
            # Two goals: apart, each is easy for both provers, and together not.
            for this, that, back in ((one, other, ""), (other, one, "_back")):
                yield Goal(
                    f"{one.word}_and_{other.word}_same_bits{back}", "equivalence", shows,
                    f"what {this.id} allows {that.id} allows too",
                    f"{EVERY} {returns(this)} x l m y -> {returns(that)} x l m y",
                )  # fmt: skip
        else:
            same = f"{returns(one)} x l m y -> {returns(other)} x l m z -> same_value y z"
            yield Goal(
                f"{one.word}_and_{other.word}_same_values", "equivalence", shows,
                f"{one.id} and {other.id} allow the same values",
                f"forall x l m y z: t. {same}",
            )  # fmt: skip

    def _other(self, one: Reading, other: Reading, numbers: Triple, answer: Value, *, bitwise: bool) -> Goal:
        a, b = returns(one), returns(other)
        kind = "bits" if bitwise else "values"
        lets = self._lets(dict(zip("xlmy", (*numbers, answer), strict=True)))
        if bitwise:
            claim = f"not ({a} x l m y <-> {b} x l m y)"
        else:
            theirs = " \\/ ".join(f"{b} x l m {z} /\\ not same_value y {z}" for z in self._candidates())
            claim = f"{a} x l m y /\\ ({theirs})"
        return Goal(
            f"{one.word}_and_{other.word}_other_{kind}",
            "theorem",
            (one.id, other.id),
            f"{one.id} and {other.id} do not allow the same {kind}",
            f"{lets} {claim}",
        )

    def _lets(self, numbers: Mapping[str, Value]) -> str:
        value = Printer(self.etype, {}).value
        return " ".join(f"let {name} = {value(number)} in" for name, number in numbers.items())
