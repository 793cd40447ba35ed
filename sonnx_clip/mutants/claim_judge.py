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
from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running
from sonnx_clip.spec.evaluate import NoCaseError
from sonnx_clip.spec.findings import allowed_answers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.mutants.yaml_mutants import YamlMutant
    from sonnx_clip.spec import Spec

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
_RESOURCES = {"Z3": 15_000_000, "cvc5": 250_000}  # of each prover for a question: some seconds


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
        changed, entry = mutant.applied(self.spec), mutant.place.entry
        answers = allowed_answers(self.spec).items()
        names = {entry.id, *(name for name, of in answers if of.reading == entry.id)}
        alone = {"readings": (changed.reading(entry.id),)} if mutant.kind == "readings" else {}
        restating, groups = changed.model_copy(update=alone), _RESTATING.get(mutant.kind)
        types = map(self.spec.element_type, self._claims)
        for etype in (etype for etype in types if etype.family in mutant.families):
            truth = ClaimTruth(changed, etype)
            try:
                restated = (
                    {c.id: c for c in claims_of(restating, etype.id, *groups)} if groups else {}
                )
            except (
                UserError
            ):  # no witness meets a changed `repaired`: `generate` refuses to state this
                return f"{etype.id}.{entry.id}_repaired_inhabited"
            for claim, used in self._claims[etype.id]:
                judging = restated.get(claim.id, claim if names & used else None)
                if judging is not None and self._is_false(judging, truth):
                    return claim.id
        return ""

    def _is_false(self, claim: Claim, truth: ClaimTruth) -> bool:
        at = [*samples(self.spec, truth.etype, claim)]
        names, operands = bound_names(claim), {*self.spec.signature.ids, self.spec.signature.second}
        if truth.etype.family == "float" and not claim.of_tensors and operands.issuperset(names):
            values = [encode(text, truth.etype) for text in _FURTHER]
            at += (dict(zip(names, few, strict=True)) for few in product(values, repeat=len(names)))
        try:
            return not all(map(truth.truth_of(claim), at))
        except NoCaseError:  # the claim that the cases are complete is false
            return False


# --- Proved equivalent by both provers -------------------------------------------------------------------


def proved_equivalent(spec: Spec, mutants: Iterable[YamlMutant], build: Path) -> list[str]:
    """The keys of the mutants that both provers prove to mean the same in a type of each kind."""
    questions: dict[str, dict[str, Goal]] = defaultdict(dict)
    asked = (m for m in mutants if m.place.field != "result" and m.kind != "constraints")
    first = {kind_of_type(etype): etype for etype in reversed(spec.element_types)}.values()
    for mutant in asked:
        for etype in (etype for etype in first if etype.family in mutant.families):
            goal, statement = f"equal_{len(questions[etype.id])}", _equality(spec, mutant, etype)
            questions[etype.id][mutant.key] = Goal(goal, "theorem", (), mutant.key, statement)
    equal = {key for goals in questions.values() for key in goals}
    why3, running = configure(build), Running()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "equal.mlw")
        for etype_id, goals in questions.items():
            etype, keys = (
                spec.element_type(etype_id),
                {goal.name: key for key, goal in goals.items()},
            )
            parts = declarations_used(spec, etype, [goal.statement for goal in goals.values()])
            module = Module(
                "Equal",
                "Mutants and originals.",
                [f"use elements.{etype.why3}"],
                parts,
                [*goals.values()],
            )
            file.write_text(module.text, encoding="utf-8")
            for prover in find_provers():
                limits = ProverLimits(_RESOURCES[prover.name])
                printed = print_tasks(why3, prover, (str(file),))[str(file)]
                if printed.complaint:
                    raise UserError(
                        f"Why3 rejects the task of a mutant: {printed.complaint}", str(file)
                    )
                for (_, name), task in printed.tasks.items():
                    answer = ask(prover, task.text, task.digest, limits, Path(folder), running)
                    if answer.verdict != "valid":
                        equal.discard(keys[name])
    return sorted(equal)


def _equality(spec: Spec, mutant: YamlMutant, etype: ElementType) -> str:
    """The statement that mutant and original are equal; a class is compared within its case."""
    printer, entry = element_printer(spec, etype), mutant.place.entry
    names = getattr(entry, "parameters", ()) or (
        *spec.signature.all_ids,
        "A",
        spec.signature.second,
    )
    one, other = (printer.operand(e, AND) for e in (mutant.original, mutant.changed))
    equal = (
        f"({one}) = ({other})"
        if kind_of(mutant.original) is Kind.ELEMENT
        else f"(({one}) <-> ({other}))"
    )
    words = set(re.findall(r"\w+", equal))  # Why3 1.8 warns of a variable that is not used
    if mutant.kind == "classes":
        equal, words = f"{entry.case} x l m -> {equal}", words | {"x", "l", "m"}
    elif mutant.kind != "definitions" and mutant.place.field != "returns" and "y" in words:
        equal, words = f"let y = cases x l m in {equal}", words - {"y"} | {"x", "l", "m"}
    return f"forall {' '.join(name for name in map(str.lower, names) if name in words)}: t. {equal}"
