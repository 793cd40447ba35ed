"""Judges mutants of the YAML: killed by a claim that is false of them, or proved equivalent by both provers.

A claim is evaluated in the first element type of a kind that has it, as `check_claims` does. Claims that are
computed from the meaning itself (the comparison of two readings, readings class by class) judge no mutant: a
changed meaning would change them too.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.declared import declarations_used
from sonnx_clip.backends.theory import Goal, Module
from sonnx_clip.backends.whyml_printer import AND, element_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.evaluation import ClaimTruth, bound_names, evaluated_claims, is_evaluated, samples
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode
from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running
from sonnx_clip.spec.evaluate import NoCaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.mutants.yaml_mutants import YamlMutant
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.evaluate import Function
    from sonnx_clip.spec.findings import Allowed

_NOT_JUDGING = frozenset({"differs from", "written"})
_FURTHER = {
    "real": ("-1", "0", "0.5", "1", "2"),
    "int": ("lowest", "0", "1", "2", "highest"),
    "float": ("nan", "-inf", "lowest", "-0", "smallest_subnormal", "1", "highest", "inf"),
}
"""Values at which claims are evaluated that are true at the usual samples."""
_QUOTING = {
    "readings": ("readings",),
    "properties": ("properties",),
    "constraints": ("constraints", "refuted constraints"),
    "latitude": ("latitude", "latitude and readings"),
}
"""The groups of claims in which the conditions of a section stand themselves, and are not used by name."""
_SECONDS = 5  # for each question to a prover


class ClaimJudge:
    """Evaluates the claims of a specification on its mutants."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._claims: dict[str, dict[str, Claim]] = defaultdict(dict)
        self._used: dict[str, set[str]] = {}
        for etype, claim in evaluated_claims(spec):
            if claim.role not in _NOT_JUDGING:
                self._claims[etype.id][claim.id] = claim
                self._used[claim.id] = _entries_used(spec, etype, claim)

    def killer(self, mutant: YamlMutant) -> str:
        """The first obligation that a mutant falsifies; empty if there is none."""
        changed, entry = mutant.applied(self.spec), mutant.place.entry.id
        families = {mutant.place.family} if mutant.place.family else {f.id for f in self.spec.families}
        types = [t for t in self.spec.element_types if self._claims[t.id] and t.family in families]
        for sampled, etype in product((samples, _further_samples), types):
            truth, claims = ClaimTruth(changed, etype), self._claims[etype.id]
            try:
                quoting = {c.id: c for c in _quoting(mutant, changed, etype) if c.id in claims}
            except UserError:  # no witness meets a changed `repaired`: `generate` refuses to state this
                return f"{etype.id}.{entry}_repaired_inhabited"
            using = {id_: c for id_, c in claims.items() if entry in self._used[id_]}
            for id_, claim in (quoting | {i: c for i, c in using.items() if i not in quoting}).items():
                holds = truth.truth_of(claim)
                with suppress(NoCaseError):  # the claim that the cases are complete is false
                    if not all(holds(at) for at in sampled(self.spec, etype, claim)):
                        return id_
        return ""


class _Recorder(ClaimTruth):
    """Notes the entries that a claim uses by their names, when it is made a function."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        super().__init__(spec, etype)
        self.entries: set[str] = set()

    def _entry(self, name: str) -> tuple[tuple[str, ...], Function]:
        self.entries.add(name)
        return super()._entry(name)

    def _allowed(self, of: Allowed) -> tuple[tuple[str, ...], Function]:
        self.entries.add(of.reading)
        return super()._allowed(of)


def _entries_used(spec: Spec, etype: ElementType, claim: Claim) -> set[str]:
    recorder = _Recorder(spec, etype)
    recorder.truth_of(claim)
    return recorder.entries


def _sort(etype: ElementType) -> object:
    """Types of one sort have the same claims: floats, or integers with or without sign."""
    return etype.family, getattr(etype.bits, "signed", None)


def _further_samples(spec: Spec, etype: ElementType, claim: Claim) -> Sequence[Mapping[str, Any]]:
    """Further values of the operands; none for a claim that speaks of tensors or of answers."""
    names = bound_names(claim)
    operands = (*spec.head.operands, spec.head.second)
    if any(name.kind is not Kind.ELEMENT for name in claim.variables) or not set(names) <= set(operands):
        return ()
    values = [encode(text, etype) for text in _FURTHER[etype.family]]
    return [dict(zip(names, numbers, strict=True)) for numbers in product(values, repeat=len(names))]


def _quoting(mutant: YamlMutant, changed: Spec, etype: ElementType) -> Iterator[Claim]:
    """The claims in which a changed condition stands itself, and is not used by its name."""
    if mutant.kind == "readings":
        changed = changed.model_copy(update={"readings": (changed.reading(mutant.place.entry.id),)})
    if mutant.kind in _QUOTING:
        yield from filter(is_evaluated, claims_of(changed, etype.id, *_QUOTING[mutant.kind]))


# --- Proved equivalent by both provers -------------------------------------------------------------------


def proved_equivalent(spec: Spec, mutants: Iterable[YamlMutant], build: Path) -> list[str]:
    """The keys of the mutants that both provers prove to mean the same in each sort of element types."""
    questions: dict[str, list[tuple[YamlMutant, str]]] = defaultdict(list)
    for mutant in mutants:
        for etype in _types(spec, mutant):
            if question := _equality(spec, mutant, etype):
                questions[etype.id].append((mutant, question))
    keys = {m.key for group in questions.values() for m, _ in group}
    why3, running, limits = configure(build), Running(), ProverLimits(_SECONDS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = folder / "equal.mlw"
        for etype_id, group in questions.items():
            file.write_text(_theory(spec, spec.element_type(etype_id), group), encoding="utf-8")
            for prover in find_provers():
                printed = print_tasks(why3, prover, (str(file),))[str(file)]
                if printed.complaint:
                    raise UserError(f"Why3 refuses a question about a mutant: {printed.complaint}", str(file))
                for (_, goal), task in printed.tasks.items():
                    if ask(prover, task.text, task.digest, limits, folder, running).verdict != "valid":
                        keys.discard(group[int(goal.removeprefix("equal_"))][0].key)
    return sorted(keys)


def _types(spec: Spec, mutant: YamlMutant) -> Iterable[ElementType]:
    """The first element type of each sort of which the changed entry speaks."""
    _, entry, _, family = mutant.place
    families = (
        ("float",) if mutant.kind == "latitude" else (family,) if family else getattr(entry, "families", None)
    )
    found = (etype for etype in reversed(spec.element_types) if families is None or etype.family in families)
    return {_sort(etype): etype for etype in found}.values()


def _equality(spec: Spec, mutant: YamlMutant, etype: ElementType) -> str:
    """The goal that says so; a class is asked about within its case. Empty where nothing can be asked."""
    if mutant.place.field == "result" or mutant.kind == "constraints":
        return ""
    printer = element_printer(spec, etype)
    one, other = (printer.operand(e, AND) for e in (mutant.original, mutant.changed))
    if kind_of(mutant.original) is Kind.ELEMENT:
        return f"({one}) = ({other})"
    if mutant.kind == "classes":
        return f"{mutant.place.entry.case} x l m -> (({one}) <-> ({other}))"
    of_any_answer = mutant.kind == "definitions" or mutant.place.field == "returns"
    given = "" if of_any_answer else "let y = cases x l m in "
    return f"{given}(({one}) <-> ({other}))"


def _theory(spec: Spec, etype: ElementType, group: list[tuple[YamlMutant, str]]) -> str:
    goals = []
    for number, (mutant, question) in enumerate(group):
        entry = mutant.place.entry
        names = getattr(entry, "parameters", ()) or (*spec.head.all, "A", spec.head.second)
        statement = f"forall {' '.join(names).lower()}: t. {question}"
        goals.append(Goal(f"equal_{number}", "theorem", (entry.id,), mutant.key, statement))
    parts = declarations_used(spec, etype, [goal.statement for goal in goals])
    return Module("Equal", "Mutants and originals.", [f"use elements.{etype.why3}"], parts, goals).text
