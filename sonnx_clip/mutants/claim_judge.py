"""Judges mutants of the YAML: killed by a claim that is false of them, or proved equivalent by both provers.

A claim is evaluated in the first element type of a kind that has it, as `check_claims` does. Claims that are
computed from the meaning itself (the comparison of two readings, readings class by class) judge no mutant: a
changed meaning would change them too.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import declarations_used
from sonnx_clip.backends.theory import Goal, Module
from sonnx_clip.backends.whyml_printer import AND, element_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.evaluation import (
    ClaimTruth,
    bound_names,
    evaluated_claims,
    kind_of_type,
    samples,
)
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode
from sonnx_clip.mutants.equality import proved_by_all
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.evaluate import NoCaseError
from sonnx_clip.spec.findings import allowed_answers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.mutants.yaml_mutants import YamlMutant
    from sonnx_clip.spec import Spec

# Roles of claims that are computed from the meaning itself: see above.
_NOT_JUDGING = frozenset({"differs from", "written"})
_FURTHER = ("nan", "-inf", "lowest", "-0", "smallest_subnormal", "1", "highest", "inf")
"""Floats at which claims on operands alone are evaluated, beside the usual samples."""
_RESTATING = {
    "readings": ("readings",),
    "properties": ("properties",),
    "constraints": ("constraints", "refuted constraints"),
    "latitude": ("latitude", "latitude and readings"),
}
"""The groups of claims in which the conditions of a section stand themselves, and are not used by name."""


class ClaimJudge:
    """Evaluates the claims of a specification on its mutants."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._claims: dict[str, list[tuple[Claim, set[str]]]] = defaultdict(list)
        for etype, claim in evaluated_claims(spec):
            if claim.role not in _NOT_JUDGING:
                truth = ClaimTruth(spec, etype)
                truth.truth_of(claim)
                self._claims[etype.id].append((claim, truth.used))

    def killer(self, mutant: YamlMutant) -> str:
        """The first obligation that a mutant falsifies, or empty."""
        changed = mutant.applied(self.spec)
        entry = mutant.place.entry
        # Claims use a reading by the names of what it and its dialects allow.
        names = {entry.id}
        for name, answer in allowed_answers(self.spec).items():
            if answer.reading == entry.id:
                names.add(name)
        # The types in which claims are evaluated: one of each kind.
        for etype in map(self.spec.element_type, self._claims):
            if etype.family not in mutant.families:
                continue
            # Claims are those of the file; what their names mean is changed.
            truth = ClaimTruth(changed, etype)
            try:
                restated = self._restated(mutant, changed, etype)
            except UserError:
                # No witness meets a changed `repaired`: `generate` refuses to state this.
                return f"{etype.id}.{entry.id}_repaired_inhabited"
            for claim, used in self._claims[etype.id]:
                if claim.id in restated:
                    judging = restated[claim.id]
                elif names & used:
                    judging = claim
                else:
                    continue  # it cannot depend on the change
                if self._is_false(judging, truth):
                    return claim.id
        return ""

    @staticmethod
    def _restated(
        mutant: YamlMutant,
        changed: Spec,
        etype: ElementType,
    ) -> dict[str, Claim]:
        """The claims in which the changed condition itself stands, by their ids."""
        groups = _RESTATING.get(mutant.kind)
        if groups is None:
            return {}
        if mutant.kind == "readings":  # the others do not mention it
            reading = changed.reading(mutant.place.entry.id)
            changed = changed.model_copy(update={"readings": (reading,)})
        return {claim.id: claim for claim in claims_of(changed, etype.id, *groups)}

    def _is_false(self, claim: Claim, truth: ClaimTruth) -> bool:
        """Whether a claim is false at one of the values at which it is evaluated."""
        environments = [*samples(self.spec, truth.etype, claim)]
        names = bound_names(claim)
        operands = {*self.spec.signature.ids, self.spec.signature.second}
        is_float = truth.etype.family == "float"
        if is_float and not claim.of_tensors and operands.issuperset(names):
            values = [encode(text, truth.etype) for text in _FURTHER]
            choices = product(values, repeat=len(names))
            environments += [dict(zip(names, choice, strict=True)) for choice in choices]
        try:
            return not all(map(truth.truth_of(claim), environments))
        except NoCaseError:  # the claim that the cases are complete is false
            return False


# --- Proved equivalent by both provers -------------------------------------------------------------------


def proved_equivalent(
    spec: Spec,
    mutants: Iterable[YamlMutant],
    build: Path,
) -> list[str]:
    """The keys of the mutants that both provers prove to mean the same in a type of each kind."""
    questions: dict[str, dict[str, Goal]] = defaultdict(dict)
    # Reversed, so that the first of each kind is the one that stays.
    first_of_kind = {kind_of_type(etype): etype for etype in reversed(spec.element_types)}
    for mutant in mutants:
        # The statements are about elements, and constraints about tensors.
        if mutant.place.field == "result" or mutant.kind == "constraints":
            continue
        for etype in first_of_kind.values():
            if etype.family not in mutant.families:
                continue
            of_type = questions[etype.id]
            of_type[mutant.key] = Goal(
                f"equal_{len(of_type)}",
                "theorem",
                (),
                mutant.key,
                _equality(spec, mutant, etype),
            )
    # All of them, until one type has a goal that a prover does not prove.
    equal: set[str] = set()
    for goals in questions.values():
        equal.update(goals)
    why3 = configure(build)
    with tempfile.TemporaryDirectory() as folder:
        for etype_id, goals in questions.items():
            etype = spec.element_type(etype_id)
            statements = [goal.statement for goal in goals.values()]
            module = Module(
                "Equal",
                "Mutants and originals.",
                [f"use elements.{etype.why3}"],
                declarations_used(spec, etype, statements),
                [*goals.values()],
            )
            proved = proved_by_all(module, why3, Path(folder))
            equal -= {key for key, goal in goals.items() if goal.name not in proved}
    return sorted(equal)


def _equality(spec: Spec, mutant: YamlMutant, etype: ElementType) -> str:
    """The statement that mutant and original are equal; a class is compared within its case."""
    printer = element_printer(spec, etype)
    entry = mutant.place.entry
    names = getattr(entry, "parameters", ())
    if not names:
        names = (*spec.signature.all_ids, "A", spec.signature.second)
    original = printer.operand(mutant.original, AND)
    changed = printer.operand(mutant.changed, AND)
    sign = "=" if kind_of(mutant.original) is Kind.ELEMENT else "<->"
    equal = f"(({original}) {sign} ({changed}))"
    used = set(re.findall(r"\w+", equal))  # Why3 1.8 warns of a variable that is not used
    # In a definition and in what a reading returns Y is any answer, elsewhere the result of the cases.
    y_is_any = mutant.kind == "definitions" or mutant.place.field == "returns"
    if mutant.kind == "classes":
        equal = f"{entry.case} x l m -> {equal}"
        used |= {"x", "l", "m"}
    elif not y_is_any and "y" in used:
        equal = f"let y = cases x l m in {equal}"
        used = used - {"y"} | {"x", "l", "m"}
    variables = " ".join(name for name in map(str.lower, names) if name in used)
    return f"forall {variables}: t. {equal}"
