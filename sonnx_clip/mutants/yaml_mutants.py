"""Mutants of spec/clip.yaml: one condition or result changed, killed by a claim or proved equivalent.

A claim is evaluated in the first element type of a kind that has it, as `check_claims` does. Claims that are
computed from the meaning itself (the comparison of two readings, readings class by class) judge no mutant: a
changed meaning would change them too.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sonnx_clip.backends.declared import cases_and_result, definitions, definitions_used
from sonnx_clip.backends.theory import Goal, Module
from sonnx_clip.backends.whyml_printer import AND, element_printer, tensor_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.evaluation import ClaimTruth, bound_names, evaluated_claims, is_evaluated, samples
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Kind, parts_of, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running
from sonnx_clip.spec.findings import allowed_answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

CONDITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "cases": ("when",),
    "definitions": ("is_",),
    "classes": ("when",),
    "properties": ("claim", "repaired"),
    "constraints": ("holds", "repaired"),
    "latitude": ("when", "accepts"),
    "readings": ("returns", "agrees", "agrees_bitwise"),
}
"""The conditions that are mutated, by section; those of `repaired` and `agrees` are by family."""

_NOT_JUDGING = frozenset({"differs from", "written"})
_FURTHER = {
    "real": ("-1", "0", "0.5", "1", "2"),
    "int": ("lowest", "0", "1", "2", "highest"),
    "float": ("nan", "-inf", "lowest", "-0", "smallest_subnormal", "1", "highest", "inf"),
}
"""Values at which claims are evaluated that are true at the usual samples."""

_SECONDS = 5  # for each question to a prover
_SIGNS = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("<=",)}
_WORDS = {"and": "or", "or": "and", "implies": "iff", "iff": "implies"}


@dataclass(frozen=True)
class YamlMutant:
    """A specification with one change.

    Args:
        section: the section of the YAML.
        entry: the id of the changed entry.
        field: the changed field.
        family: the family whose condition it is; empty where all families share it.
        original: the condition, or the operand that a case returns.
        changed: what replaces it.
        change: both, in WhyML, cut down to the changed part.
    """

    section: str
    entry: str
    field: str
    family: str
    original: Any
    changed: Any
    change: str

    @property
    def kind(self) -> str:
        """The section, under which the record counts it."""
        return self.section

    @property
    def name(self) -> str:
        """The place in the YAML."""
        return ".".join(filter(None, (self.section, self.entry, self.field.rstrip("_"), self.family)))

    @property
    def key(self) -> str:
        """Place and change: unique among all mutants."""
        return f"{self.name}: {self.change}"

    def applied(self, spec: Spec) -> Spec:
        """The changed specification."""
        entry, value = self.entry_in(spec), self.changed
        if self.family:
            value = {**getattr(entry, self.field), self.family: value}
        changed = entry.model_copy(update={self.field: value})
        entries = (changed if other is entry else other for other in getattr(spec, self.section))
        return spec.model_copy(update={self.section: tuple(entries)})

    def entry_in(self, spec: Spec) -> Any:
        """The entry that is changed, as it is in a specification."""
        return next(entry for entry in getattr(spec, self.section) if entry.id == self.entry)

    def types(self, spec: Spec) -> Iterator[ElementType]:
        """The first element type of each kind of which the changed entry speaks."""
        families = (self.family,) if self.family else getattr(self.entry_in(spec), "families", None)
        if self.section == "latitude":
            families = ("float",)
        kinds = set()
        for etype in spec.element_types:
            kind = (etype.family, getattr(etype.bits, "signed", None))
            if (families is None or etype.family in families) and kind not in kinds:
                kinds.add(kind)
                yield etype


# --- Changes ---------------------------------------------------------------------------------------------


def yaml_mutants(spec: Spec) -> Iterator[YamlMutant]:
    """Every mutant, in the order of the YAML."""
    for section, conditions in CONDITIONS.items():
        for entry in getattr(spec, section):
            for field in conditions:
                found = getattr(entry, field)
                for family, condition in (found if isinstance(found, dict) else {"": found}).items():
                    yield from _of_condition(spec, section, entry, field, family, condition)
            for other in spec.head.operands if section == "cases" else ():
                if other != entry.result:
                    change = f"{entry.result} => {other}"
                    yield YamlMutant(section, entry.id, "result", "", entry.result, other, change)


def _of_condition(
    spec: Spec, section: str, entry: Any, field: str, family: str, condition: Expr
) -> Iterator[YamlMutant]:
    families = (family,) if family else getattr(entry, "families", None) or [f.id for f in spec.families]
    etype = spec.types_of(families[-1])[0]
    printer = (tensor_printer if section == "constraints" else element_printer)(spec, etype)
    names = getattr(entry, "parameters", ()) or spec.head.operands
    seen, repeated = {printer.show(condition)}, Counter[str]()
    for part, other, whole in changed_conditions(condition, names):
        text = printer.show(whole)
        if text not in seen:
            seen.add(text)
            change = f"{printer.show(part)} => {printer.show(other)}"
            repeated[change] += 1
            if repeated[change] > 1:
                change = f"{change} (place {repeated[change]})"
            yield YamlMutant(section, entry.id, field, family, condition, whole, change)


def changed_conditions(expr: Expr, names: tuple[str, ...]) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Each changed part of a condition, what replaces it, and the whole condition."""
    yield from ((expr, other, other) for other in _edits(expr, names))
    is_atom = not isinstance(expr, tree.Not | tree.Connective | tree.If | tree.Subscript)
    if is_atom and kind_of(expr) is Kind.BOOL:
        yield expr, tree.Not(expr), tree.Not(expr)
    for part in parts_of(expr) if not isinstance(expr, tree.Subscript) else ():
        for old, new, whole in changed_conditions(part, names):
            yield old, new, tree.with_parts(expr, [whole if of is part else of for of in parts_of(expr)])


def _edits(expr: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """What a small mistake puts in the place of a node: one arm for each kind of mistake."""
    match expr:
        case tree.Compare(operator=operator) if expr.kind not in (Kind.SHAPE, Kind.ELEMENT_TYPE):
            yield from (replace(expr, operator=other) for other in _SIGNS[operator])
        case tree.Connective(operator=operator, left=left, right=right):
            yield from (replace(expr, operator=_WORDS[operator]), left, right)
        case tree.Not(operand=operand):
            yield operand
        case tree.If(then=then, otherwise=otherwise):
            yield from (replace(expr, then=otherwise, otherwise=then), then, otherwise)
        case tree.Name(id=name, kind=Kind.ELEMENT) if name in names:
            yield from (replace(expr, id=other) for other in names if other != name)
        case tree.Number(text=text) if text.lstrip("-").isdigit():
            yield replace(expr, text=str(int(text) + 1))
        case tree.Number(text="lowest" | "highest" as text):
            yield replace(expr, text="highest" if text == "lowest" else "lowest")
        case tree.Number(text=text, constant=name) if name != "nan":
            yield replace(expr, text=text[1:] if text.startswith("-") else f"-{text}")


# --- Killed by claims ------------------------------------------------------------------------------------


class ClaimJudge:
    """Evaluates the claims of a specification on its mutants."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._claims: dict[str, list[Claim]] = defaultdict(list)
        for etype, claim in evaluated_claims(spec):
            if claim.role not in _NOT_JUDGING:
                self._claims[etype.id].append(claim)
        self._uses = self._entries_used()
        self._reached = {c.id: self._reach(c) for found in self._claims.values() for c in found}

    def killer(self, mutant: YamlMutant) -> str:
        """The first obligation that a mutant falsifies; empty if there is none."""
        changed = mutant.applied(self.spec)
        for sampled in (samples, _further_samples):
            for id_, claims in self._claims.items():
                etype = self.spec.element_type(id_)
                if mutant.family not in ("", etype.family) or not claims:
                    continue
                truth = ClaimTruth(changed, etype)
                try:
                    affected = list(self._affected(mutant, changed, etype, claims))
                except UserError:  # no witness meets a changed `repaired`: `generate` refuses to state this
                    return f"{etype.id}.{mutant.entry}_repaired_inhabited"
                for claim in affected:
                    holds = truth.truth_of(claim)
                    try:
                        if not all(holds(at) for at in sampled(self.spec, etype, claim)):
                            return claim.id
                    except ValueError:  # no case holds: the claim that the cases are complete is false
                        continue
        return ""

    def _affected(
        self, mutant: YamlMutant, changed: Spec, etype: ElementType, claims: list[Claim]
    ) -> Iterator[Claim]:
        """The claims that a mutant may falsify; those that quote the condition, with the changed one."""
        ids = {claim.id for claim in claims}
        quoting = {claim.id: claim for claim in _quoting(mutant, changed, etype) if claim.id in ids}
        yield from quoting.values()
        for claim in claims:
            if claim.id not in quoting and mutant.entry in self._reached[claim.id]:
                yield claim

    def _entries_used(self) -> dict[str, set[str]]:
        """For each name of the language, the names that its conditions use."""
        uses: dict[str, set[str]] = defaultdict(set)
        spec = self.spec
        for case in spec.cases:
            uses[case.id] |= _names(case.when)
            uses["cases"] |= {case.id}
        for d in spec.definitions:
            uses[d.id] |= _names(d.is_)
        for klass in spec.classes:
            uses[klass.id] |= {klass.case, *_names(klass.when)}
        for p in spec.properties:
            uses[p.id] |= {"cases", *_names(p.claim)}
        for c in spec.constraints:
            uses[c.id] |= {"cases", *_names(c.holds)}
            uses[f"stated_{c.id}"] |= {c.id}
        for name, known in allowed_answers(self.spec).items():
            uses[name] |= {known.reading, *_names(self.spec.reading(known.reading).returns)}
        return uses

    def _reach(self, claim: Claim) -> frozenset[str]:
        """The entries on which a claim rests."""
        assert not isinstance(claim.conclusion, Written)
        parts = (claim.conclusion, *claim.premises, *claim.witness.values())
        pending = set[str]().union(*map(_names, parts))
        found: set[str] = set()
        while pending:
            name = pending.pop()
            found.add(name)
            pending |= self._uses[name] - found
        return frozenset(found)


def _names(expr: Expr) -> set[str]:
    """What an expression uses by its name; the result of the operator stands for all cases."""
    nodes = [*subtrees(expr)]
    calls = (node for node in nodes if isinstance(node, tree.Call))
    of_cases = any(isinstance(c, tree.CasesResult) or c.function == "clip_tensor" for c in calls)
    return {node.id for node in nodes if isinstance(node, tree.Use)} | ({"cases"} if of_cases else set())


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
    if mutant.section == "readings":
        changed = changed.model_copy(update={"readings": (changed.reading(mutant.entry),)})
    groups = {
        "readings": ("readings",),
        "properties": ("properties",),
        "constraints": ("constraints", "refuted constraints"),
        "latitude": ("latitude", "latitude and readings"),
    }
    if mutant.section in groups:
        yield from filter(is_evaluated, claims_of(changed, etype.id, *groups[mutant.section]))


# --- Proved equivalent by both provers -------------------------------------------------------------------


def proved_equivalent(spec: Spec, mutants: Iterable[YamlMutant], build: Path) -> list[str]:
    """The keys of the mutants that both provers prove to mean the same in each type of a kind."""
    questions: dict[str, list[tuple[YamlMutant, str]]] = defaultdict(list)
    for mutant in mutants:
        for etype in mutant.types(spec):
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
                    answer = ask(prover, task.text, task.digest, limits, folder, running)
                    if answer.verdict != "valid":
                        keys.discard(group[int(goal.removeprefix("equal_"))][0].key)
    return sorted(keys)


def _equality(spec: Spec, mutant: YamlMutant, etype: ElementType) -> str:
    """The goal that says so; a class is asked about within its case. Empty where nothing can be asked."""
    if mutant.field == "result" or mutant.section == "constraints":
        return ""
    printer = element_printer(spec, etype)
    one, other = (printer.operand(e, AND) for e in (mutant.original, mutant.changed))
    if kind_of(mutant.original) is Kind.ELEMENT:
        return f"({one}) = ({other})"
    if mutant.section == "classes":
        return f"{spec.klass(mutant.entry).case} x l m -> (({one}) <-> ({other}))"
    of_any_answer = mutant.section == "definitions" or mutant.field == "returns"
    given = "" if of_any_answer else "let y = cases x l m in "
    return f"{given}(({one}) <-> ({other}))"


def _theory(spec: Spec, etype: ElementType, group: list[tuple[YamlMutant, str]]) -> str:
    trees = [tree for m, _ in group for tree in (m.original, m.changed)]
    goals = []
    for number, (mutant, question) in enumerate(group):
        names = getattr(mutant.entry_in(spec), "parameters", ()) or (*spec.head.all, "A", spec.head.second)
        statement = f"forall {' '.join(names).lower()}: t. {question}"
        goals.append(Goal(f"equal_{number}", "theorem", (mutant.entry,), mutant.key, statement))
    parts = [
        *cases_and_result(spec, element_printer(spec, etype)),
        *definitions(spec, etype, definitions_used(spec, trees)),
    ]
    return Module("Equal", "Mutants and originals.", [f"use elements.{etype.why3}"], parts, goals).text
