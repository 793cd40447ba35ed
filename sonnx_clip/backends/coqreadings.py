"""Renders the readings into Coq: what each allows, and exactly where it agrees with the cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.coqterm import (
    FOLDER,
    TACTIC,
    CoqPrinter,
    CoqStatement,
    check_names,
    computed,
    defined,
    of_result,
    preamble,
)
from sonnx_clip.backends.declared import definitions_beyond_readings, definitions_used, reading_trees
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading

# In which files Coq proves what the YAML says of the readings, without the ending.
MODULES: dict[FamilyId, str] = {"real": "RealReadings", "int": "IntReadings", "float": "FloatReadings"}


def render_readings(spec: Spec) -> dict[str, str]:
    """The file of the readings of each family, by its path."""
    return {
        f"{FOLDER}/{MODULES[family.id]}.v": ReadingsFile(spec, family.id).text() for family in spec.families
    }


def theorems_of(reading: Reading, family: FamilyId) -> Iterator[str]:
    """The names of the theorems that a reading has in a family."""
    yield f"{reading.word}_answers"
    for name, regions in (("agrees", reading.agrees), ("agrees_bitwise", reading.agrees_bitwise)):
        yield f"{reading.word}_{name}"
        if family in regions:
            yield f"{reading.word}_{name}_nowhere_else"


@dataclass(frozen=True)
class ReadingsFile:
    """Builds the file of the readings of one family."""

    spec: Spec
    family: FamilyId

    def text(self) -> str:
        """The whole file."""
        used = definitions_used(self.spec, reading_trees(self.spec))
        elsewhere = {d.id for d in definitions_beyond_readings(self.spec)}
        definitions = [defined(self._printer(d.id), d) for d in used if d.id not in elsewhere]
        readings = [statement for r in self.spec.readings for statement in self._reading(r)]
        theorems = [theorem for r in self.spec.readings for theorem in self._theorems(r)]
        own = [d.name for d in (*definitions, *readings)]
        check_names([*(d.id for d in used if d.id in elsewhere), *own], [t.name for t in theorems])
        names = [*reversed([d.name for d in readings]), *(d.id for d in reversed(used)), "cases"]
        names += [case.id for case in reversed(self.spec.cases)]
        module = self.family.capitalize()
        return template("family_readings.v.j2").render(
            header=header(self.spec),
            family=self.family,
            operands=self.spec.head.arguments,
            preamble=preamble(
                self.family, "Readings",
                "From SonnxClip Require Import ByWorlds.\n"
                f"From SonnxClip.Generated Require Import {module}.\n",
            ),
            tactic=TACTIC[self.family],
            definitions=definitions,
            readings=readings,
            names=names,
            theorems=theorems,
        )  # fmt: skip

    # --- Definitions ----------------------------------------------------------------------------------

    def _printer(self, where: str) -> CoqPrinter:
        return CoqPrinter(self.family, where, self.spec.head)

    def _reading(self, r: Reading) -> Iterator[CoqStatement]:
        printer, parameters = self._printer(r.predicate), self.spec.head.arguments_and_result
        yield computed(printer, parameters, r.returns, f"{r.id}: {r.title}")
        if self.family in r.agrees:
            title = f"Where {r.id} has the value of the cases"
            yield self._region(f"{r.word}_region", r.agrees[self.family], title)
        if self.family in r.agrees_bitwise:
            title = f"Where {r.id} has the bits of the cases"
            yield self._region(f"{r.word}_region_bitwise", r.agrees_bitwise[self.family], title)

    def _region(self, name: str, region: Expr, title: str) -> CoqStatement:
        head = self.spec.head
        body = of_result(head, region, self._printer(name).computed(region))
        return CoqStatement(title, name, f"{name} ({head.arguments} : t) : bool", body)

    # --- Theorems -------------------------------------------------------------------------------------

    def _theorems(self, r: Reading) -> Iterator[CoqStatement]:
        head = self.spec.head
        returns, shows = f"{r.predicate} {head.arguments_and_result}", (r.id,)
        y, result = head.result.lower(), f"cases {head.arguments}"
        yield CoqStatement(
            f"{r.id} allows an answer for every input",
            f"{r.word}_answers",
            statement=f"forall {head.arguments} : t, exists {y}, {returns}",
            shows=shows,
            proof="elsewhere",
        )
        of_values, of_bits = f"{r.word}_agrees", f"{r.word}_agrees_bitwise"
        yield from self._agreement(
            r, of_values, self.family in r.agrees, "value", f"Clip.same {y} ({result})"
        )
        yield from self._agreement(r, of_bits, self.family in r.agrees_bitwise, "bits", f"{y} = {result}")

    def _agreement(
        self, r: Reading, name: str, somewhere: bool, what: str, same: str
    ) -> Iterator[CoqStatement]:
        given, answered = self.spec.head.arguments, self.spec.head.arguments_and_result
        returns = f"{r.predicate} {answered}"
        region = f"{r.word}_region{'_bitwise' * (what == 'bits')} {given}"
        y = self.spec.head.result.lower()
        where = "There" if somewhere else "Everywhere"
        yield CoqStatement(
            f"{where} every answer that {r.id} allows has the {what} of the cases",
            name,
            statement=f"forall {answered} : t, {f'{region} -> ' * somewhere}{returns} -> {same}",
            shows=(r.id,),
        )
        if somewhere:
            other = "another value" if what == "value" else "other bits"
            yield CoqStatement(
                f"Elsewhere {r.id} allows an answer of {other}",
                f"{name}_nowhere_else",
                statement=f"forall {given} : t,\n  ~ {region} -> exists {y}, {returns} /\\ ~ ({same})",
                shows=(r.id,),
                proof="elsewhere",
            )
