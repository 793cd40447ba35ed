"""The goals of one element type on single elements: what has to be shown of the cases, in WhyML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import Printer, names
from sonnx_clip.language.values import encode, float_bits, infinity
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Example, Latitude, Property

ALL = "forall x l m: t."


@dataclass(frozen=True)
class TypeGoals:
    """Builds the goals of one element type."""

    spec: Spec
    etype: ElementType

    @property
    def family(self) -> FamilyId:
        """The family of the type."""
        return self.etype.family

    def printer(self, **extra: str) -> Printer:
        """A printer for conditions on X, L, M and what `extra` adds."""
        return Printer(self.etype, {"X": "x", "L": "l", "M": "m", "Y": "y", **extra})

    def at(self, numbers: Mapping[str, str], body: str) -> str:
        """The body at a witness: ``let x = … in`` for each number that it uses."""
        literal, used = self.printer().literal, set(re.findall(r"\w+", body))
        lets = [
            f"let {name.lower()} = {literal(text)} in"
            for name, text in numbers.items()
            if name.lower() in used
        ]
        return " ".join([*lets, body])

    def cases(self) -> Iterator[Goal]:
        """The cases are complete, disjoint and inhabited, and mean the hand-written Clip."""
        ids = tuple(case.id for case in self.spec.cases)
        yield Goal("cases_complete", "theorem", ids, "every input falls into a case", f"{ALL} {_one_of(ids)}")
        yield Goal(
            "cases_disjoint", "theorem", ids, "no input falls into two cases", f"{ALL} {_no_two_of(ids)}"
        )
        results = " /\\ ".join(f"({c.id} x l m -> cases x l m = {c.result.lower()})" for c in self.spec.cases)
        yield Goal(
            "cases_results", "theorem", ids, "each case gives the result that it names", f"{ALL} {results}"
        )
        yield Goal(
            "clip_is_cases",
            "equivalence",
            ids,
            "the cases of the YAML are the hand-written Clip",
            f"{ALL} cases x l m = clip x l m",
        )
        for case in self.spec.cases:
            yield Goal(
                f"{case.id}_inhabited",
                "theorem",
                (case.id,),
                f"some input falls into {case.id}",
                self.at(case.inhabited_by.texts(), f"{case.id} x l m"),
            )

    def classes(self) -> Iterator[Goal]:
        """The classes part each case, and each is inhabited."""
        for case in self.spec.cases:
            ids = tuple(c.id for c in self.spec.classes_of(self.family, case.id))
            shows = (case.id, *ids)
            yield Goal(
                f"classes_of_{case.id}_complete",
                "theorem",
                shows,
                f"every input of {case.id} falls into a class",
                f"{ALL} {case.id} x l m <-> {_one_of(ids)}",
            )
            if len(ids) > 1:
                yield Goal(
                    f"classes_of_{case.id}_disjoint",
                    "theorem",
                    shows,
                    f"no input of {case.id} falls into two classes",
                    f"{ALL} {_no_two_of(ids)}",
                )
            for c in self.spec.classes_of(self.family, case.id):
                yield Goal(
                    f"{c.id}_inhabited",
                    "theorem",
                    (c.id,),
                    f"some input falls into {c.id}",
                    self.at(c.inhabited_by.texts(), f"{c.id} x l m"),
                )

    def properties(self) -> Iterator[Goal]:
        """Each property: proved, or refuted at its witness and proved under its condition."""
        for p in self.spec.properties:
            if self.family in p.families:
                yield from self._property(p)

    def _property(self, p: Property) -> Iterator[Goal]:
        printer = self.printer(X2="x2")
        shows = (p.id, *p.shows)
        claim = printer.show(p.claim)
        with_y = f"let y = cases x l m in {claim}" if "Y" in names(p.claim) else claim
        variables = "forall x x2 l m: t." if "X2" in names(p.claim) else ALL
        if self.family in p.holds_for:
            yield Goal(p.id, "theorem", shows, p.title, f"{variables} {with_y}")
            return
        yield Goal(
            f"{p.id}_refuted",
            "refutation",
            shows,
            f"refuted: {p.title}",
            self.at(
                p.refuted_for[self.family].texts(),
                f"let y = cases x l m in not ({claim})" if "Y" in names(p.claim) else f"not ({claim})",
            ),
        )
        condition = printer.show(p.repaired[self.family])
        yield Goal(
            f"{p.id}_repaired",
            "theorem",
            shows,
            f"under its condition: {p.title}",
            f"{variables} ({condition}) -> {with_y}",
        )
        met = self._numbers_that_meet(p)
        yield Goal(
            f"{p.id}_repaired_inhabited",
            "theorem",
            shows,
            f"some numbers meet the condition of: {p.title}",
            self.at(met, condition),
        )

    def _numbers_that_meet(self, p: Property) -> dict[str, str]:
        """The first of the classes' witnesses that meets the condition under which a property holds."""
        ask = evaluator(self.spec, self.etype)
        for c in self.spec.classes_of(self.family):
            texts = {**c.inhabited_by.texts(), "X2": c.inhabited_by.X}
            if ask(p.repaired[self.family], {name: encode(text, self.etype) for name, text in texts.items()}):
                return texts
        what = f"no witness of a class meets the condition of {p.id} for {self.family}: it may be empty"
        raise UserError(what, "spec/clip.yaml", "weaken the condition")

    def latitude(self) -> Iterator[Goal]:
        """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
        if self.family == "float":
            for entry in self.spec.latitude:
                yield self._latitude(entry)
                yield self._narrow(entry)

    def _narrow(self, entry: Latitude) -> Goal:
        printer = self.printer(A="a")
        return Goal(
            f"{entry.word}_is_narrow",
            "theorem",
            (entry.id,),
            f"what {entry.id} accepts has the value of the result, or is the NaN of X",
            f"forall x l m a: t. let y = cases x l m in ({printer.show(entry.when)}) -> "
            f"({printer.show(entry.accepts)}) -> eq a y \\/ nan a /\\ nan y \\/ nan a /\\ nan x",
        )

    def _latitude(self, entry: Latitude) -> Goal:
        printer = self.printer(A="a")
        return Goal(
            f"{entry.word}_inhabited",
            "theorem",
            (entry.id,),
            f"some answer other than that of the cases uses {entry.id}",
            self.at(
                entry.inhabited_by.texts(),
                f"let y = cases x l m in ({printer.show(entry.when)}) /\\ "
                f"({printer.show(entry.accepts)}) /\\ a <> y",
            ),
        )

    def examples(self) -> Iterator[Goal]:
        """The worked examples of the page, entry by entry."""
        for example in self.spec.examples:
            if example.family == self.family and self.etype.id not in example.not_representable_in:
                yield self._example(example)

    def _example(self, example: Example) -> Goal:
        literal = self.printer().literal
        bounds = f"let l = {literal(example.L)} in let m = {literal(example.M)} in"
        entries = [
            f"cases {literal(x)} l m = {literal(y)}" for x, y in zip(example.X, example.Y, strict=True)
        ]
        return Goal(
            f"example_{example.id}",
            "theorem",
            (example.id,),
            f"the worked example {example.id}",
            f"{bounds} " + " /\\ ".join(entries),
        )

    def encoding(self) -> Iterator[Goal]:
        """What the symbols of the element type mean, in bits; the named constants are what they say."""
        if self.family == "real":
            return
        shows = (self.etype.id,)
        low, high = (self.printer().literal(text) for text in ("lowest", "highest"))
        if self.family == "int":
            yield Goal(
                "extremes",
                "theorem",
                shows,
                "no element is below lowest or above highest",
                f"forall a: t. le {low} a /\\ le a {high}",
            )
            return
        minus, plus = (self.printer().literal(text) for text in ("-inf", "inf"))
        yield Goal(
            "extremes",
            "theorem",
            shows,
            "the infinities bound all numbers, lowest and highest all finite ones",
            f"forall a: t. not nan a -> le {minus} a /\\ le a {plus} /\\ "
            f"(lt {minus} a -> le {low} a) /\\ (lt a {plus} -> le a {high})",
        )
        for name, title, left, right in (
            ("nan", "a NaN has all bits of the exponent and some of the fraction", "nan a", "nan_bits a"),
            ("le", "less than or equal orders sign and magnitude", "le a b", "le_bits a b"),
            (
                "lt",
                "less than orders sign and magnitude strictly",
                "lt a b",
                "le_bits a b /\\ not le_bits b a",
            ),
            (
                "eq",
                "equal is the same sign and magnitude, or two zeros",
                "eq a b",
                "le_bits a b /\\ le_bits b a",
            ),
        ):
            variables = "a" if name == "nan" else "a b"
            yield Goal(
                f"encoding_{name}", "equivalence", shows, title, f"forall {variables}: t. {left} <-> {right}"
            )
        yield from self._named_values()

    def _named_values(self) -> Iterator[Goal]:
        """The definitions that speak of one float mean what IEEE 754 says of its bits."""
        form, value = float_bits(self.etype), self.printer().value
        zero, normal = value(0), value(1 << (form.significand - 1))
        known = {d.id for d in self.spec.definitions}
        for id_, title, bits in (
            ("is_signed_zero", "a zero has no bit but that of the sign", f"magnitude a = {zero}"),
            (
                "is_infinite",
                "an infinity has all bits of the exponent and none of the fraction",
                f"magnitude a = {value(infinity(form))}",
            ),
            (
                "is_subnormal",
                "a subnormal number has no bit of the exponent and some of the fraction",
                f"ult {zero} (magnitude a) /\\ ult (magnitude a) {normal}",
            ),
        ):
            if id_ in known:
                statement = f"forall a: t. {id_} a <-> {bits}"
                yield Goal(f"encoding_{id_}", "equivalence", (self.etype.id,), title, statement)


def _one_of(ids: tuple[str, ...]) -> str:
    return " \\/ ".join(f"{id_} x l m" for id_ in ids)


def _no_two_of(ids: tuple[str, ...]) -> str:
    return " /\\ ".join(f"not ({a} x l m /\\ {b} x l m)" for a, b in combinations(ids, 2))
