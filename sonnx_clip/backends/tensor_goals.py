"""The goals of one element type on tensors: the constraints, of any shape, and what refutes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import AND, Printer, names
from sonnx_clip.language.values import encode
from sonnx_clip.language.walk import conjuncts
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import Spec, clip_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec.entries import Constraint

TENSORS = "forall x l m: tensor."


@dataclass(frozen=True)
class TensorGoals:
    """Builds the goals of one element type on tensors."""

    spec: Spec
    etype: ElementType

    @property
    def family(self) -> FamilyId:
        """The family of the type."""
        return self.etype.family

    def _printer(self) -> Printer:
        return Printer(self.etype, {})

    def constraints(self) -> Iterator[Goal]:
        """C1 to C3 on tensors of any shape, and their equivalence with the hand-written ones."""
        arguments = {"C1": "x y", "C2": "l m y", "C3": "x l m y"}
        for c in self.spec.constraints:
            if self.family not in c.families:
                continue
            if c.id not in arguments:
                what = f"the constraint {c.id} has no hand-written counterpart"
                raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the printer")
            written = f"{c.id.lower()} {arguments[c.id]}"
            yield Goal(
                f"{c.id}_is_written",
                "equivalence",
                (c.id,),
                f"the {c.id} of the YAML is the hand-written one",
                f"forall x l m y: tensor. stated_{c.id} x l m y <-> {written}",
            )
            yield from self._constraint(c)

    def _constraint(self, c: Constraint) -> Iterator[Goal]:
        printer = tensor_printer(self.etype)
        result = f"let y = clip_tensor x l m in stated_{c.id} x l m y"
        before = (
            [part for part in conjuncts(c.holds) if "Y" not in names(part)]
            if "precondition" in c.role.split()
            else []
        )
        if self.family not in c.refuted_for:
            if c.id == "C2":
                yield from _interval_steps()
            given = "".join(f"{printer.operand(part, AND)} -> " for part in before)
            yield Goal(c.id, "theorem", (c.id,), c.title, f"{TENSORS} {given}{result}")
            if c.id == "C3":
                yield self._of_the_entries()
            return
        yield from _interval_steps()
        condition = printer.show(c.repaired[self.family])
        yield Goal(
            f"{c.id}_repaired",
            "theorem",
            (c.id,),
            f"under its condition: {c.title}",
            f"{TENSORS} ({condition}) -> {result}",
        )

    def _of_the_entries(self) -> Goal:
        """Where the tags of X, L and M are of the type of their entries, that of Y is."""
        typed = "".join(f"typed {name} -> " for name in "xlm")
        return Goal(
            "C3_of_the_entries",
            "theorem",
            ("C3",),
            f"where the tags of X, L and M say {self.etype.sonnx}, as their entries are, that of Y does",
            f"{TENSORS} {typed}let y = clip_tensor x l m in stated_C3 x l m y /\\ typed y",
        )

    def refutations(self) -> Iterator[Goal]:
        """The constraints that the page states and that are not so."""
        for c in self.spec.constraints:
            if self.family in c.refuted_for:
                yield from self._refutation(c)

    def _refutation(self, c: Constraint) -> Iterator[Goal]:
        yield Goal(
            f"{c.id}_refuting_entry",
            "theorem",
            (c.id,),
            f"the entry that refutes: {c.title}",
            f"(clip_tensor refuting_x refuting_l refuting_m).entry (At 0 Origin) = {self._refuting_entry(c)}",
        )
        yield Goal(
            f"{c.id}_refuted",
            "refutation",
            (c.id,),
            f"refuted: {c.title}",
            "let y = clip_tensor refuting_x refuting_l refuting_m in "
            f"not stated_{c.id} refuting_x refuting_l refuting_m y",
        )

    def refuting_tensors(self) -> dict[str, str]:
        """The tensors that refute a constraint, as WhyML records; empty where nothing is refuted."""
        refuted = [c.refuted_for[self.family] for c in self.spec.constraints if self.family in c.refuted_for]
        if not refuted:
            return {}
        (witness,) = refuted
        (entry,) = witness.X
        shapes = {"x": ("Dim 1 Scalar", entry), "l": ("Scalar", witness.L), "m": ("Scalar", witness.M)}
        literal = self._printer().literal
        return {
            name: f"{{ element = {self.etype.why3}; shape = {shape}; entry = fun _ -> {literal(number)} }}"
            for name, (shape, number) in shapes.items()
        }

    def _refuting_entry(self, c: Constraint) -> str:
        """The entry that the cases give for the witness, as a literal."""
        witness = c.refuted_for[self.family]
        numbers = [encode(text, self.etype) for text in (witness.X[0], witness.L, witness.M)]
        return self._printer().value(clip_value(self.spec, self.etype, *numbers))


def tensor_printer(etype: ElementType) -> Printer:
    """A printer for conditions on tensor values: the bounds stand for their only entry."""
    return Printer(etype, {"X": "x", "L": "value l", "M": "value m", "Y": "y"})


def _interval_steps() -> Iterator[Goal]:
    yield Goal(
        "C2_when_inverted",
        "theorem",
        ("C2",),
        "inverted bounds make every entry M",
        "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
        " lt (value m) (value l) -> eq ((clip_tensor x l m).entry i) (value m)",
    )
    yield Goal(
        "C2_when_ordered",
        "theorem",
        ("C2",),
        "else every entry of numbers lies between the bounds",
        "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
        " not nan (x.entry i) -> not nan (value l) -> not nan (value m) ->"
        " not lt (value m) (value l) -> let y = clip_tensor x l m in"
        " le (value l) (y.entry i) /\\ le (y.entry i) (value m)",
    )
