"""Witnesses of findings that are in the texts or in the entries, and not in what a reading answers."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Not
from sonnx_clip.language.unparse import unparse
from sonnx_clip.language.values import encode, identical
from sonnx_clip.language.walk import conjuncts
from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec.answers import evaluator, result_value
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.tensors import DeclaredTensor, TensorValue
from sonnx_clip.spec.texts import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.findings import Overlap, SameStatement, Stands
    from sonnx_clip.spec.model import Spec

_BEGINS_ANOTHER = ("#", "<a id")  # a heading, or the anchor in front of one


def check_stands(witness: Stands, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """The text stands at these lines, at all of them, and ends its section where that is said."""
    path = repo_file(spec.page(witness.page).file)
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = fold(witness.text).casefold()
    found = tuple(number for number, line in enumerate(lines, 1) if wanted in fold(line).casefold())
    if found != witness.stands_at:
        told = f"stands at {', '.join(map(str, found))}" if found else "stands nowhere"
        yield Diagnostic((*way, "stands_at"), f"`{witness.text}` {told} of {path.name}")
    elif witness.ends and (follows := next((n for n in found if not _ends(lines, n, wanted)), None)):
        what = f"something follows `{witness.text}` at line {follows} of {path.name}"
        yield Diagnostic((*way, "ends"), what, "say where the section ends with it")


def _ends(lines: Sequence[str], number: int, wanted: str) -> bool:
    rest = [line.strip() for line in lines[number:] if line.strip()]
    ends_line = fold(lines[number - 1]).casefold().endswith(wanted)
    return ends_line and (not rest or rest[0].startswith(_BEGINS_ANOTHER))


def check_overlap(witness: Overlap, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """Both rows apply to the numbers, but for the order in which they are read, and their results differ."""
    etype = spec.element_type(witness.type)
    numbers = {name: encode(getattr(witness, name), etype) for name in ("X", "L", "M")}
    cases = [spec.case(id_) for id_ in witness.rows]
    conditions = [{unparse(part): part for part in conjuncts(case.when)} for case in cases]
    for position, (case, own) in enumerate(zip(cases, conditions, strict=True)):
        other = conditions[1 - position]
        for part in own.values():
            first = isinstance(part, Not) and unparse(part.operand) in other
            if not first and not evaluator(spec, etype)(part, numbers):
                what = f"the row `{case.id}` does not apply: {unparse(part)} is false"
                yield Diagnostic((*way, "rows", position), what)
    one, two = (numbers[case.result] for case in cases)
    if identical(one, two):
        yield Diagnostic(
            (*way, "rows"), f"both rows give {show(one, etype)}", "give numbers for which they differ"
        )


def other_result(witness: Overlap, spec: Spec) -> str:
    """The variable that the row gives which is not the result of the cases."""
    etype = spec.element_type(witness.type)
    x, l, m = (encode(text, etype) for text in (witness.X, witness.L, witness.M))
    result = result_value(spec, etype, x, l, m)
    values = {"X": x, "L": l, "M": m}
    return next(
        case.result for case in map(spec.case, witness.rows) if not identical(values[case.result], result)
    )


def check_same(witness: SameStatement, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """For all element types that X, L, M and Y can have, one holds exactly if the other does.

    Four types are enough: what is said of four tensors is whether they have the same one.
    """
    restriction, constraint = spec.restriction(witness.restriction), spec.constraint(witness.same_as)
    types = [etype.id for etype in spec.element_types[: len("XLMY")]]
    evaluate = evaluator(spec, spec.element_types[0])
    for given in product(types, repeat=len("XLMY")):
        named = dict(zip("XLMY", given, strict=True))
        declared = {name: DeclaredTensor(type_, ()) for name, type_ in named.items()}
        values = {name: TensorValue(type_, (), (0,)) for name, type_ in named.items()}
        if evaluate(restriction.holds, declared) != evaluate(constraint.holds, values):
            told = ", ".join(f"{name}: {type_}" for name, type_ in named.items())
            yield Diagnostic(way, f"`{restriction.id}` and `{constraint.id}` are not the same for {told}")
            return
