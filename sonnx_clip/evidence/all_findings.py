"""What the project found about the source, refuted, not representable or ambiguous: findings of the YAML, and
what follows from refutations.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sonnx_clip.evidence.evidence_model import Cell, Finding, Witness
from sonnx_clip.language import decode, encode, hex_float, show, show_bits, unparse
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import result_value
from sonnx_clip.spec.finding_checks import names_of
from sonnx_clip.spec.findings import Lack, Refutation, SharedTag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.evidence.evidence_model import Entry
    from sonnx_clip.explain.findings_told import FindingTold
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Example, Property
    from sonnx_clip.spec.findings import SourceFinding


def with_source_findings(
    spec: Spec, told: Sequence[FindingTold], derived: Iterable[Finding]
) -> Iterator[Finding]:
    """The findings of the YAML, each with the numbers of the derived ones that it covers; then the others."""
    rest = {finding.id: finding for finding in derived}
    for entry, words in zip(spec.findings, told, strict=True):
        covered = [rest.pop(id_) for id_ in _covers(spec, entry) if id_ in rest]
        names = tuple(dict.fromkeys(name for witness in entry.witnesses for name in names_of(witness)))
        # The table of numbers in every type, and the repair, are those of the derived finding.
        table = next((finding for finding in covered if finding.witnesses), None)
        yield Finding(
            id=entry.id,
            kind=entry.kind,
            about=table.about if table else next(iter(names), entry.id),
            names=names,
            family=table.family if table else "all",
            said=entry.title,
            found=entry.found,
            details=tuple(finding.found for finding in covered if not finding.witnesses),
            repaired=table.repaired if table else None,
            witnesses=table.witnesses if table else (),
            told=words,
        )
    yield from rest.values()


def _covers(spec: Spec, entry: SourceFinding) -> Iterator[str]:
    """The ids of the derived findings that say nothing beyond this one."""
    lacking: dict[str, set[str]] = {}
    for witness in entry.witnesses:
        match witness:
            case Refutation():
                yield f"refuted-{witness.refutes}-{spec.element_type(witness.type).family}"
            case SharedTag():
                yield f"ambiguous-{witness.tag}"
            case Lack():
                lacking.setdefault(witness.example, set()).add(witness.type)
            case _:
                pass
    for example, types in lacking.items():
        if types >= set(spec.example(example).not_representable_in):
            yield f"not-representable-{example}"


# --- What the project found about the source: refuted as it stands, not representable, ambiguous ------------


Numbers = tuple[tuple[str, str, str], ...]


def findings_of(spec: Spec, entries: Mapping[tuple[str, str], Entry]) -> Iterator[Finding]:
    """Every finding, in the order of the specification.

    Args:
        spec: the specification.
        entries: the entries by section and id, with the obligations of each element type.
    """
    for constraint in spec.constraints:
        yield from _refuted(spec, constraint, constraint.statement, entries["constraints", constraint.id])
    yield from _numbers_used_twice(spec)
    for entry in spec.properties:
        yield from _refuted(spec, entry, entry.title, entries["properties", entry.id])
    for example in spec.examples:
        if example.not_representable_in:
            yield _not_representable(spec, example)


def _refuted(spec: Spec, entry: Constraint | Property, said: str, traced: Entry) -> Iterator[Finding]:
    cells = {cell.type: cell for cell in traced.cells}
    proved = all(
        cells[t.id].status == "proved" for family in entry.refuted_for for t in spec.types_of(family)
    )
    found = "Refuted as it stands by the numbers below" + (
        ", and the refutation is proved." if proved else "."
    )
    for family, numbers in entry.refuted_for.items():
        when = entry.repaired.get(family)
        texts = {k: v for k, v in numbers.model_dump().items() if v is not None}
        yield Finding(
            id=f"refuted-{entry.id}-{family}",
            kind="refuted",
            about=entry.id,
            family=family,
            said=said,
            found=found,
            repaired=unparse(when) if when is not None else None,
            witnesses=tuple(_witness(spec, t, texts, cells[t.id]) for t in spec.types_of(family)),
        )


def _witness(spec: Spec, etype: ElementType, texts: dict[str, Any], cell: Cell) -> Witness:
    """The numbers of a witness in an element type, and what the cases make of them."""
    inputs = texts["X"] if isinstance(texts["X"], tuple) else (texts["X"],)
    values: list[tuple[str, Value]] = [(name, encode(texts[name], etype)) for name in ("L", "M")]
    low, high = (value for _, value in values)
    xs = [encode(text, etype) for text in inputs]
    results = [result_value(spec, etype, x, low, high) for x in xs]
    extra = [(name, encode(text, etype)) for name, text in texts.items() if name not in ("X", "L", "M")]
    listed = isinstance(texts["X"], tuple)
    named = [(f"X[{i}]" if listed else "X", x) for i, x in enumerate(xs)]
    named += [*extra, *values]
    named += [(f"Y[{i}]" if listed else "Y", y) for i, y in enumerate(results)]
    numbers: Numbers = tuple(
        (name, _exact(value, etype), show_bits(value, etype) if etype.width else "") for name, value in named
    )
    return Witness(type=etype.id, values=numbers, obligations=cell.obligations, status=cell.status)


def _exact(value: Value, etype: ElementType) -> str:
    """The shortest decimal where it is the number itself, else the hex float, which always is."""
    text = show(value, etype)
    number = decode(value, etype)
    same = isinstance(number, str) or Fraction(text) == number
    return text if same else hex_float(value, etype)


def _numbers_used_twice(spec: Spec) -> Iterator[Finding]:
    """A local number of the page that stands for different constraints in different places."""
    uses: dict[str, list[tuple[str, Constraint]]] = {}
    for constraint in spec.constraints:
        for tensor, alias in constraint.aliases.items():
            uses.setdefault(alias, []).append((tensor, constraint))
    for alias, places in uses.items():
        if len({constraint.id for _, constraint in places}) > 1:
            listed = "; ".join(f"below {tensor} it is {c.title} ({c.id})" for tensor, c in places)
            yield Finding(
                id=f"ambiguous-{alias}",
                kind="ambiguous",
                about=places[0][1].id,
                family="all",
                said=f"The page calls a constraint [{alias}] below several tensors.",
                found=f"The number stands for different constraints: {listed}.",
            )


def _not_representable(spec: Spec, example: Example) -> Finding:
    texts = dict.fromkeys((*example.X, example.L, example.M, *example.Y))
    lacking = {
        type_id: [text for text in texts if not _has(spec.element_type(type_id), text)]
        for type_id in example.not_representable_in
    }
    listed = "; ".join(f"{type_id} lacks {', '.join(numbers)}" for type_id, numbers in lacking.items())
    return Finding(
        id=f"not-representable-{example.id}",
        kind="not representable",
        about=example.id,
        family=example.family,
        said=f"clip([{', '.join(example.X)}], {example.L}, {example.M}) = [{', '.join(example.Y)}]",
        found=f"The chapter lists element types that lack a number of its own example: {listed}.",
    )


def _has(etype: ElementType, text: str) -> bool:
    try:
        encode(text, etype)
    except UserError:
        return False
    return True
