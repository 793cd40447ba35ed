"""The goals on the dialects in one element type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.cast_goals import cast_goals
from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.reading_goals import returns
from sonnx_clip.backends.scale_goals import scale_goals
from sonnx_clip.backends.whyml_printer import Printer, float_literal
from sonnx_clip.language.show import show
from sonnx_clip.language.values import encode, identical
from sonnx_clip.spec.dialect_defaults import defaults, given_defaults
from sonnx_clip.spec.readings import leaves_values_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Conditions, Reading


def of_type(spec: Spec, etype: ElementType) -> tuple[Dialect, ...]:
    """The dialects that take an element type, in the order of the file."""
    return tuple(d for d in spec.whole_dialects if etype.id in d.element_types)


def readings_of(spec: Spec, dialects: tuple[Dialect, ...]) -> tuple[Reading, ...]:
    """What the words of these dialects allow, what decides between answers, and what they are said to be."""
    used = {id_ for d in dialects for id_ in (d.reading, d.answers)}
    used |= {d.equivalence.to for d in dialects if d.equivalence is not None}
    return tuple(r for r in spec.readings if r.id in used)


@dataclass(frozen=True)
class DialectGoals:
    """Builds the goals on the dialects of one element type."""

    spec: Spec
    etype: ElementType

    def all(self) -> Iterator[Goal]:
        """What each dialect does beside SONNX, without bounds and after the one before; then conversions."""
        dialects = of_type(self.spec, self.etype)
        for dialect in dialects:
            yield from self._agreement(dialect)
            yield from self._decision(dialect)
            yield from self._without_bounds(dialect)
            yield from self._printed(dialect)
            yield from self._after(dialect)
            yield from self._equivalence(dialect)
        converting = tuple(d.id for d in dialects if d.converts_to(self.etype.id))
        if converting:
            yield from cast_goals(self.spec, self.etype, converting)
        scaled = tuple(d.id for d in dialects if d.scale_bias)
        if scaled and self.etype.family == "float":
            yield from scale_goals(self.etype, scaled)

    def _agreement(self, d: Dialect) -> Iterator[Goal]:
        """Where every answer that the words allow is the result of SONNX, for any bounds of the type."""
        reading = self.spec.reading(d.reading)
        answers = f"{returns(reading)} x l m y"
        every = "forall x l m y: t."
        given = "whatever its bounds become, " if d.converts_to(self.etype.id) else ""
        region, same = self._region(reading.agrees), "same_value y (clip x l m)"
        if region is not None and leaves_values_open(self.spec, self.etype, reading):
            yield Goal(
                f"{d.word}_is_sonnx", "theorem", (d.id,), f"{given}{d.id} has the value of SONNX there",
                f"{every} {region} -> {answers} -> {same}",
            )  # fmt: skip
            others = " \\/ ".join(
                f"{answers.removesuffix('y')}{y} /\\ not same_value {y} (clip x l m)" for y in "xlm"
            )
            yield Goal(
                f"{d.word}_is_sonnx_nowhere_else", "theorem", (d.id,),
                f"elsewhere {d.id} allows another value than that of SONNX",
                f"{every.replace('x l m y', 'x l m')} not {region} -> {others}",
            )  # fmt: skip
        else:
            yield Goal(
                f"{d.word}_is_sonnx", "theorem", (d.id,),
                f"{given}{d.id} has the value of SONNX exactly there",
                f"{every} {answers} -> " + (same if region is None else f"({same} <-> {region})"),
            )  # fmt: skip
        region = self._region(reading.agrees_bitwise)
        within = "" if region is None else f"{region} -> "
        yield Goal(
            f"{d.word}_is_sonnx_bitwise", "theorem", (d.id,), f"{given}{d.id} has the bits of SONNX there",
            f"{every} {within}{answers} -> y = clip x l m",
        )  # fmt: skip

    def _region(self, regions: Conditions) -> str | None:
        region = regions.get(self.etype.family)
        if region is None:
            return None
        printer = Printer(self.etype, {"X": "x", "L": "l", "M": "m", "Y": "(cases x l m)"})
        return f"({printer.show(region)})"

    def _decision(self, d: Dialect) -> Iterator[Goal]:
        """What the oracle answers is something that the words allow."""
        if d.answers == d.reading:
            return
        words, chosen = (returns(self.spec.reading(id_)) for id_ in (d.reading, d.answers))
        yield Goal(
            f"{d.word}_allows_its_oracle", "theorem", (d.id,), f"{d.id} allows what its oracle answers",
            f"forall x l m y: t. {chosen} x l m y -> {words} x l m y",
        )  # fmt: skip

    def _without_bounds(self, d: Dialect) -> Iterator[Goal]:
        found, given = defaults(self.spec, d, self.etype), given_defaults(self.spec, d, self.etype)
        if found is None or given is None:
            return
        answers, (low, high) = returns(self.spec.reading(d.reading)), self._pair(found)
        if d.converts_to(self.etype.id) and d.missing is not None and d.missing.of == "bound":
            least, greatest = (float_literal(int(value)) for value in given)
            yield Goal(
                f"{d.word}_defaults_convert", "theorem", (d.id,),
                f"the default bounds of {d.id} become {self._told(found)}",
                f"converts {least} {low} /\\ converts {greatest} {high}",
            )  # fmt: skip
        if d.missing is not None and (d.missing.of == "element" or not d.converts_to(self.etype.id)):
            yield self._limits(d, low, high)
        yield Goal(
            f"{d.word}_without_bounds", "theorem", (d.id,),
            f"without bounds {d.id} keeps exactly the X that are not beyond {self._told(found)}",
            f"forall x y: t. {answers} x {low} {high} y -> (y = x <-> not lt x {low} /\\ not lt {high} x)",
        )  # fmt: skip
        yield Goal(
            f"{d.word}_without_min", "theorem", (d.id,),
            f"without a lower bound {d.id} applies the upper one alone to what is not below its default",
            f"forall x m y: t. {answers} x {low} m y -> not lt x {low} -> not lt m {low} ->"
            " same_value y (if lt m x then m else x)",
        )  # fmt: skip
        yield Goal(
            f"{d.word}_without_max", "theorem", (d.id,),
            f"without an upper bound {d.id} applies the lower one alone to what is not above its default",
            f"forall x l y: t. {answers} x l {high} y -> not lt {high} x -> not lt {high} l ->"
            " same_value y (if lt x l then l else x)",
        )  # fmt: skip
        if self.etype.family == "float":
            yield self._infinities(d, found)

    def _limits(self, d: Dialect, low: str, high: str) -> Goal:
        """The default bounds are the ends of the type: beyond them there are the infinities alone."""
        if self.etype.family == "float":
            plus, minus = self._literal("inf"), self._literal("-inf")
            claim = f"(lt x {low} <-> x = {minus}) /\\ (lt {high} x <-> x = {plus})"
        else:
            claim = f"le {low} x /\\ le x {high}"
        return Goal(
            f"{d.word}_defaults_are_limits", "theorem", (d.id,),
            f"no number of {self.etype.id} is beyond the default bounds of {d.id}", f"forall x: t. {claim}",
        )  # fmt: skip

    def _infinities(self, d: Dialect, found: tuple[Value, Value]) -> Goal:
        """What the default bounds make of the infinities, in numbers."""
        answers, (low, high) = returns(self.spec.reading(d.reading)), self._pair(found)
        plus, minus = self._literal("inf"), self._literal("-inf")
        makes = "keeps both infinities"
        if not identical(found[1], encode("inf", self.etype)):
            makes = f"limits the infinities to {self._told(found)}"
        return Goal(
            f"{d.word}_infinities", "theorem", (d.id,), f"without bounds {d.id} {makes}",
            f"forall y: t. ({answers} {plus} {low} {high} y -> y = {high}) /\\"
            f" ({answers} {minus} {low} {high} y -> y = {low})",
        )  # fmt: skip

    def _printed(self, d: Dialect) -> Iterator[Goal]:
        """The default as the page prints it is not the greatest number."""
        if d.printed_default is None or self.etype.id != d.bound_type:
            return
        low, high, most = (
            self._literal(n) for n in (d.printed_default.min, d.printed_default.max, "highest")
        )
        answers = returns(self.spec.reading(d.reading))
        yield Goal(
            f"{d.word}_printed_default", "refutation", (d.id,),
            f"the default as it is printed, {d.printed_default.max}, limits a finite number",
            f"lt {high} {most} /\\ forall y: t. {answers} {most} {low} {high} y -> y = {high}",
        )  # fmt: skip

    def _after(self, d: Dialect) -> Iterator[Goal]:
        """What a newer version changes: with given bounds nothing, without bounds nothing or what it says."""
        before = next((p for p in of_type(self.spec, self.etype) if p.id == d.after), None)
        if before is None:
            return
        ours, theirs = (returns(self.spec.reading(p.reading)) for p in (d, before))
        every = "forall x l m y: t."
        given = ", whatever they become" if before.converts_to(self.etype.id) else ""
        region = self._region(d.widens)
        yield Goal(
            f"{d.word}_after_{before.word}", "theorem", (d.id, before.id),
            f"with bounds{given}, {d.id} allows no result that {before.id} did not"
            + (" outside of what it widens" if region else ""),
            f"{every} {f'not {region} -> ' if region else ''}{ours} x l m y -> {theirs} x l m y",
        )  # fmt: skip
        if region:
            more = " \\/ ".join(f"{ours} x l m {y} /\\ not {theirs} x l m {y}" for y in "xlm")
            yield Goal(
                f"{d.word}_after_{before.word}_widened", "theorem", (d.id, before.id),
                f"with bounds{given}, {d.id} allows in all that it widens a result that {before.id} did not",
                f"{every.replace('x l m y', 'x l m')} {region} -> {more}",
            )  # fmt: skip
        new, old = defaults(self.spec, d, self.etype), defaults(self.spec, before, self.etype)
        if new is None or old is None:
            return
        (low, high), (low0, high0) = self._pair(new), self._pair(old)
        if self.etype.id not in d.changes:
            yield Goal(
                f"{d.word}_after_{before.word}_without_bounds", "theorem", (d.id, before.id),
                f"without bounds, {d.id} allows no result that {before.id} did not",
                f"forall x y: t. {ours} x {low} {high} y -> {theirs} x {low0} {high0} y",
            )  # fmt: skip
        else:
            text = d.changes[self.etype.id]
            x = self._literal(text)
            yield Goal(
                f"{d.word}_after_{before.word}_changed", "refutation", (d.id, before.id),
                f"without bounds, {d.id} does not give the result of {before.id} for {text}",
                f"forall y z: t. {ours} {x} {low} {high} y -> {theirs} {x} {low0} {high0} z ->"
                " not same_value y z",
            )  # fmt: skip

    def _equivalence(self, d: Dialect) -> Iterator[Goal]:
        """Whether a dialect equals what its page says: it does, or numbers refute it and a region remains."""
        if d.equivalence is None:
            return
        other = self.spec.reading(d.equivalence.to)
        ours, theirs = returns(self.spec.reading(d.reading)), returns(other)
        name, shows = f"{d.word}_is_{other.word}", (d.id, other.id)
        claim = f"{ours} x l m y -> {theirs} x l m z -> same_value y z"
        region = self._region(d.equivalence.where)
        if region is None:
            yield Goal(
                name,
                "theorem",
                shows,
                f"{d.id} has the values of {other.id}",
                f"forall x l m y z: t. {claim}",
            )
            return
        mine, its = ["x", "l", "m"], ["x", "l", "m", self._literal("nan"), self._literal("-nan")]
        apart = " \\/ ".join(
            f"{ours} x l m {y} /\\ {theirs} x l m {z} /\\ not same_value {y} {z}"
            for y in mine
            for z in its
            if y != z
        )
        numbers = d.equivalence.fails_at[self.etype.family].texts()
        lets = " ".join(f"let {n} = {self._literal(numbers[n.upper()])} in" for n in "xlm")
        yield Goal(
            f"{name}_refuted", "refutation", shows,
            f"refuted: {d.id} has the values of {other.id}, as its page says", f"{lets} {apart}",
        )  # fmt: skip
        yield Goal(
            f"{name}_repaired", "theorem", shows,
            f"in a region {d.id} has the values of {other.id}", f"forall x l m y z: t. {region} -> {claim}",
        )  # fmt: skip
        yield Goal(
            f"{name}_nowhere_else", "theorem", shows,
            f"outside that region {d.id} and {other.id} allow different values",
            f"forall x l m: t. not {region} -> {apart}",
        )  # fmt: skip

    def _literal(self, text: str) -> str:
        return Printer(self.etype, {}).literal(text)

    def _pair(self, bounds: tuple[Value, Value]) -> tuple[str, str]:
        value = Printer(self.etype, {}).value
        return value(bounds[0]), value(bounds[1])

    def _told(self, bounds: tuple[Value, Value]) -> str:
        ends = encode("lowest", self.etype), encode("highest", self.etype)
        if bounds == ends:
            return f"the least and the greatest number of {self.etype.id}"
        return f"{show(bounds[0], self.etype)} and {show(bounds[1], self.etype)}"
