"""Mutants of spec/rewrites.yaml: one change in the term that replaces another, or in a condition.

An obligation kills a mutant if it is false of it: the changed rewrite is wrong where it is said to be legal
(`..._legal`), or right where it is said to be illegal (`..._exact`). That is decided for a few constants
of one element type of each family, at the critical points of X.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from sonnx_clip.backends.rewrites_equality import Equality, equalities
from sonnx_clip.language import encode, unparse
from sonnx_clip.language.types import FamilyId
from sonnx_clip.mutants import Mutant
from sonnx_clip.mutants.equality import proved_by_all
from sonnx_clip.mutants.yaml_mutants import mutations
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.rewrites.critical_points import Strength, difference
from sonnx_clip.rewrites.rewrite import ALWAYS, NEVER, Rewrite, known_rewrites, rewrite_of
from sonnx_clip.rewrites.terms import ELEMENT, meaning, operators
from sonnx_clip.rewrites.views import goal_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.values import Value

KIND: Final = "rewrites"
Stated: TypeAlias = tuple[FamilyId, Strength]
"""The family and the strength that a condition is about."""
Legality: TypeAlias = "Iterable[tuple[Mapping[str, Value], bool]]"
"""Constants, and whether a rewrite is legal for them."""

_TYPES: Final = {"real": "real", "int": "int8", "float": "float16"}
# Four constants can be in every order.
_CONSTANTS: Final = {
    "real": ("-1", "0", "1", "2"),
    "int": ("-1", "0", "1", "2"),
    "float": ("-1", "-0", "0", "1", "inf", "nan"),
}
# Tried too where a rewrite has fewer than four constants: of four there would be too many choices.
_FURTHER_CONSTANTS: Final = {
    "real": ("-2",),
    "int": ("lowest", "highest"),
    "float": ("-inf", "2", "-2"),
}
_MANY: Final = 4


@dataclass(frozen=True)
class RewriteMutant(Mutant):
    """A rewrite with one change.

    Args:
        original: the rewrite of spec/rewrites.yaml.
        changed: the same with the mistake.
        stated: the condition that is changed; None if it is the term `after` or the condition `given`.
        parts: the term or condition before and after the change; None for `always` and `never`.
    """

    original: Rewrite
    changed: Rewrite
    stated: Stated | None
    parts: tuple[Expr, Expr] | None

    @property
    def judged(self) -> tuple[Stated, ...]:
        """The conditions that the change may falsify: all, if it is no condition that is changed."""
        if self.stated is None:
            return self.original.stated()
        return (self.stated,)

    @property
    def question(self) -> tuple[str, ...]:
        """What decides whether it is killed."""
        # A result is kept until one of these changes: terms are evaluated by the specifications.
        operator_digests = [spec.digest for spec in operators().values()]
        constants = repr((_CONSTANTS, _FURTHER_CONSTANTS))
        rewrite = self.original.entry.model_dump_json()
        return (*operator_digests, constants, rewrite, self.key)


def rewrite_mutants() -> Iterator[RewriteMutant]:
    """Every mutant, in the order of the file."""
    for rewrite in known_rewrites():
        yield from _mutants_of(rewrite, "after", rewrite.after)
        if rewrite.given is not None:
            yield from _mutants_of(rewrite, "given", rewrite.given)
        for stated in rewrite.stated():
            yield from _mutants_of_condition(rewrite, stated)


def _mutants_of(
    rewrite: Rewrite,
    field: str,
    original: Expr,
) -> Iterator[RewriteMutant]:
    """The mutants of the term `after` or of the condition `given`."""
    name = f"{KIND}.{rewrite.id}.{field}"
    names = rewrite.constants
    if field == "after":
        # A term has X, too; a condition is about constants alone.
        names = (ELEMENT, *names)
    for change, mutant in _changes(original, names):
        yield RewriteMutant(
            KIND,
            name,
            change,
            original=rewrite,
            changed=_with(rewrite, {field: unparse(mutant)}),
            stated=None,
            parts=(original, mutant),
        )


def _mutants_of_condition(rewrite: Rewrite, stated: Stated) -> Iterator[RewriteMutant]:
    """The mutants of a condition on the constants."""
    family, strength = stated
    name = f"{KIND}.{rewrite.id}.legal_when.{family}.{strength}"

    def changed_to(text: str) -> Rewrite:
        by_strength = {**rewrite.entry.legal_when[family], strength: text}
        legal_when = {**rewrite.entry.legal_when, family: by_strength}
        return _with(rewrite, {"legal_when": legal_when})

    original = rewrite.condition(family, strength)
    # `always` and `never` have no parts to change: one is taken for the other.
    if original is None or isinstance(original, bool):
        text, opposite = (ALWAYS, NEVER) if original else (NEVER, ALWAYS)
        change = f"{text} => {opposite}"
        yield RewriteMutant(
            KIND,
            name,
            change,
            original=rewrite,
            changed=changed_to(opposite),
            stated=stated,
            parts=None,
        )
        return
    for change, mutant in _changes(original, rewrite.constants):
        yield RewriteMutant(
            KIND,
            name,
            change,
            original=rewrite,
            changed=changed_to(unparse(mutant)),
            stated=stated,
            parts=(original, mutant),
        )


def _with(rewrite: Rewrite, fields: Mapping[str, object]) -> Rewrite:
    """A rewrite with other fields in its entry."""
    return Rewrite(rewrite.entry.model_copy(update=fields), rewrite.place)


def _changes(expr: Expr, names: tuple[str, ...]) -> Iterator[tuple[str, Expr]]:
    """Each mutation of an expression, described as no other one is."""
    texts = {unparse(expr)}
    descriptions: set[str] = set()
    for part, replacement, mutant in mutations(expr, names):
        # Of mutants that are written alike, the first is enough.
        text = unparse(mutant)
        if text in texts:
            continue
        description = f"{unparse(part)} => {unparse(replacement)}"
        if description in descriptions:
            description += f" in {text}"
        texts.add(text)
        descriptions.add(description)
        yield description, mutant


def killer_of_rewrite(mutant: RewriteMutant) -> str:
    """The id of an obligation that is false of a mutant; empty if none was met."""
    for family, strength in mutant.judged:
        part = _false_part(mutant, family, strength)
        if part:
            return f"{KIND}.{goal_prefix(mutant.changed, family, strength)}_{part}"
    return ""


def _false_part(mutant: RewriteMutant, family: FamilyId, strength: Strength) -> str:
    """How the obligation ends that is false of a mutant; empty if none was met."""
    condition = mutant.changed.condition(family, strength)
    in_type = meaning(_TYPES[family])
    # Where only a condition is changed, the rewrite is legal where it was: that is computed once.
    if mutant.stated is None:
        cases = _legality(mutant.changed, family, strength)
    else:
        cases = _legality_in_file(mutant.original.id, family, strength)
    for constants, is_legal in cases:
        if condition is None or isinstance(condition, bool):
            is_stated = condition is True
        else:
            is_stated = in_type.holds(condition, constants)
        if is_stated != is_legal:
            return "legal" if is_stated else "exact"
    return ""


@cache
def _legality_in_file(id_: str, family: FamilyId, strength: Strength) -> Legality:
    """The legality of a rewrite without a change, which all mutants of a condition are compared with."""
    return tuple(_legality(rewrite_of(id_), family, strength))


def _legality(rewrite: Rewrite, family: FamilyId, strength: Strength) -> Legality:
    """The legality of a rewrite for constants that its conditions are about."""
    in_type = meaning(_TYPES[family])
    count = len(rewrite.constants)
    texts = _CONSTANTS[family]
    if count < _MANY:
        texts += _FURTHER_CONSTANTS[family]
    numbers = [encode(text, in_type.etype) for text in texts]
    for choice in product(numbers, repeat=count):
        constants = dict(zip(rewrite.constants, choice, strict=True))
        # Where `given` does not hold, nothing is stated.
        if rewrite.given is None or in_type.holds(rewrite.given, constants):
            first = difference(in_type, rewrite.before, rewrite.after, constants, strength)
            is_legal = first is None
            yield constants, is_legal


def rewrites_proved_equivalent(mutants: Iterable[RewriteMutant], build: Path) -> list[str]:
    """The keys of the mutants that both provers prove to mean the same in each of their families."""
    keys: dict[str, str] = {}
    questions: dict[FamilyId, list[Equality]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        if mutant.parts is None:
            continue
        goal = f"equal_{number}"
        keys[goal] = mutant.key
        question = _equality(mutant, mutant.parts, goal)
        # Once for each family: equal terms are the same in every strength.
        for family in {family for family, _ in mutant.judged}:
            questions[family].append(question)
    if not questions:
        return []
    # All of them, until one family has a goal that a prover does not prove.
    equivalent = set(keys)
    why3 = configure(build)
    with tempfile.TemporaryDirectory() as folder:
        for family, of_family in questions.items():
            module = equalities(family, of_family)
            goals = {goal.name for goal in module.goals}
            proved = proved_by_all(module, why3, Path(folder))
            equivalent -= goals - proved
    return sorted(keys[goal] for goal in equivalent)


def _equality(mutant: RewriteMutant, parts: tuple[Expr, Expr], goal: str) -> Equality:
    """What is to be proved of a mutant: for the constants of `given`, unless that is changed."""
    original, changed = parts
    same_given = mutant.changed.entry.given == mutant.original.entry.given
    given = mutant.original.given if same_given else None
    return Equality(goal, original, changed, given)
