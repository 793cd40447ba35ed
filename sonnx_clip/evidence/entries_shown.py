"""The entries of spec/clip.yaml, each with its source, what shows it, its vectors and its verdicts; a
property is violated by an answer alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.evidence.evidence_model import Entry, Section, SourceWords
from sonnx_clip.evidence.runtime_verdicts import FORMS, verdicts_for
from sonnx_clip.evidence.vector_records import Vector, count, speaks_of_example, speaks_of_property
from sonnx_clip.explain import dialects_text
from sonnx_clip.explain.dialects_text import dialect_table
from sonnx_clip.explain.readings_matrix import shown_by
from sonnx_clip.language import encode, unparse
from sonnx_clip.language.tree import Call, Name, subtrees
from sonnx_clip.spec import class_of, evaluator
from sonnx_clip.spec.dialect_examples import ComputedBy, bounds_of
from sonnx_clip.spec.sections import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.conform.check_report import Report, TypeReport
    from sonnx_clip.evidence.evidence_model import RuntimeEvidence, Shown
    from sonnx_clip.evidence.trace import Trace
    from sonnx_clip.evidence.vector_records import Vectors
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Source, Spec
    from sonnx_clip.spec.dialect_examples import DialectExample
    from sonnx_clip.spec.entries import Example, Property

    Speaks = Callable[[str, Vector], bool]


Verdicts: TypeAlias = "dict[str, dict[str, Shown]]"
"""By runtime and element type."""


def verdicts_on_property(
    spec: Spec, entry: Property, reports: Mapping[str, Report], shown: Verdicts
) -> Verdicts:
    """The verdicts of the classes of a property, as far as they are verdicts on the property.

    Args:
        spec: the specification.
        entry: the property.
        reports: by runtime.
        shown: by runtime and element type the worst verdict of its classes: an answer that deviates there
            is a wrong result, and may well have the property.
    """
    return {
        runtime: {
            type_id: _judged(spec, entry, reports.get(runtime), type_id, verdict)
            for type_id, verdict in of_type.items()
        }
        for runtime, of_type in shown.items()
    }


def _judged(spec: Spec, entry: Property, report: Report | None, type_id: str, verdict: Shown) -> Shown:
    found = next((t for t in report.types if t.type == type_id), None) if report else None
    if verdict != "violates" or found is None:
        return verdict
    return "violates" if violated(spec, entry, spec.element_type(type_id), found) else "undecided"


def violated(spec: Spec, entry: Property, etype: ElementType, found: TypeReport) -> bool:
    """Whether a recorded answer makes the claim false, where the property holds of Clip.

    A claim on two results of Clip says nothing of one answer.
    """
    names = {node.id for node in subtrees(entry.claim) if isinstance(node, Name)}
    calls = {node.function for node in subtrees(entry.claim) if isinstance(node, Call)}
    if "X2" in names or "clip" in calls or etype.family not in entry.families:
        return False
    ask, repaired = evaluator(spec, etype), entry.repaired.get(etype.family)
    for klass in found.classes:
        for d in klass.deviations if klass.id not in FORMS else ():
            if (environment := d.environment(spec.head)) is None:
                continue
            if (repaired is None or ask(repaired, environment)) and not ask(entry.claim, environment):
                return True
    return False


# --- The entries of spec/clip.yaml, each with its source, what shows it, its vectors and its verdicts -------


@dataclass(frozen=True)
class Materials:
    """What the entries are made of: the specification and what was found about it."""

    spec: Spec
    trace: Trace
    vectors: Vectors
    runtimes: Sequence[RuntimeEvidence]
    reports: Mapping[str, Report]


def entries_of(found: Materials) -> Iterator[Entry]:
    """Every entry that the evidence shows, section by section."""
    for section in SHOWN:
        yield from _MAKERS[section.name](found)


def _restrictions(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.restrictions:
        facts: tuple[tuple[str, str], ...] = (("holds when", unparse(entry.holds)), ("origin", entry.origin))
        if entry.interpretation is not None:
            facts += (
                ("our interpretation", entry.interpretation.ours),
                ("it could also mean", entry.interpretation.alternative),
            )
        yield _entry(
            found, "restrictions", entry, title=entry.statement, statement=entry.statement, role=entry.role,
            facts=facts, families=entry.families, speaks=None, once=True,
        )  # fmt: skip


def _constraints(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.constraints:
        yield _entry(
            found, "constraints", entry, title=entry.title, statement=entry.statement, role=entry.role,
            facts=(("holds when", unparse(entry.holds)), *_refutation(entry)),
            refuted=tuple(entry.refuted_for),
            aliases={str(tensor): alias for tensor, alias in entry.aliases.items()},
            families=entry.families, classes=(entry.id,) if entry.id in FORMS else None,
        )  # fmt: skip


def _cases(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.cases:
        facts = (("when", unparse(entry.when)), ("result", entry.result))
        yield _entry(
            found, "cases", entry, title=entry.title,
            statement=f"Y = {entry.result} when {unparse(entry.when)}",
            role="definition", facts=facts, speaks=_of_case(entry.id), families=_every(found.spec),
        )  # fmt: skip


def _properties(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.properties:
        shows = (("shows", ", ".join(entry.shows)),) if entry.shows else ()
        yield _entry(
            found, "properties", entry, title=entry.title, statement=unparse(entry.claim), role="consequence",
            facts=(("claim", unparse(entry.claim)), *_refutation(entry), *shows),
            refuted=tuple(entry.refuted_for),
            families=entry.families, speaks=speaks_of_property(found.spec, entry),
            judge=partial(verdicts_on_property, found.spec, entry, found.reports),
        )  # fmt: skip


def _examples(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.examples:
        facts = [("X", ", ".join(entry.X)), ("L", entry.L), ("M", entry.M), ("Y", ", ".join(entry.Y))]
        if entry.not_representable_in:
            facts.append(("not representable in", ", ".join(entry.not_representable_in)))
        yield _entry(
            found, "examples", entry, title=f"Worked example {entry.id}", statement=_example_text(entry),
            role="example", families=(entry.family,), facts=tuple(facts),
            classes=_example_classes(found.spec, entry), speaks=speaks_of_example(found.spec, entry),
            except_types=entry.not_representable_in,
        )  # fmt: skip
    for of_dialect in found.spec.dialect_examples:
        yield _dialect_example(found, of_dialect)


def _dialect_example(found: Materials, entry: DialectExample) -> Entry:
    """An example of a dialect, in its one element type; its vectors are those with its X and bounds."""
    etype = found.spec.element_type(entry.type)
    others = tuple(t.id for t in found.spec.types_of(etype.family) if t.id != etype.id)
    x = entry.X if isinstance(entry.X, str) else f"[{', '.join(entry.X)}]"
    y = entry.Y
    told = f"{y.reading} with L = {y.L}, M = {y.M}" if isinstance(y, ComputedBy) else f"[{', '.join(y)}]"
    facts = [("dialect", entry.dialect), ("type", entry.type), ("X", x)]
    facts += [("L", entry.L or "missing"), ("M", entry.M or "missing"), ("Y", told)]
    low, high = bounds_of(found.spec, entry)
    triples = {(int(encode(text, etype)), int(low), int(high)) for text, _ in entry.pairs}
    return _entry(
        found, "examples", entry, title=f"Worked example {entry.id}",
        statement=f"{entry.dialect}: clip({x}, {entry.L or 'missing'}, {entry.M or 'missing'}) = {told}",
        role="example", families=(etype.family,), facts=tuple(facts), except_types=others,
        speaks=lambda type_id, vector: type_id == etype.id and vector.triple in triples,
    )  # fmt: skip


def _example_classes(spec: Spec, entry: Example) -> tuple[str, ...]:
    """The classes in which the entries of an example lie."""
    etype = next(t for t in spec.types_of(entry.family) if t.id not in entry.not_representable_in)
    l, m = (encode(text, etype) for text in (entry.L, entry.M))
    return tuple(dict.fromkeys(class_of(spec, etype, encode(x, etype), l, m).id for x in entry.X))


def _example_text(entry: Example) -> str:
    return f"clip([{', '.join(entry.X)}], {entry.L}, {entry.M}) = [{', '.join(entry.Y)}]"


def _classes(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.classes:
        yield _entry(
            found, "classes", entry, title=f"{entry.title[0].upper()}{entry.title[1:]}",
            statement=f"{entry.matters[0].upper()}{entry.matters[1:]}.", role="cell for coverage",
            facts=(("case", entry.case), ("beyond its case", unparse(entry.when))),
            speaks=_of_class(entry.id), classes=(entry.id,), families=entry.families,
        )  # fmt: skip


def _latitude(found: Materials) -> Iterator[Entry]:
    spec = found.spec
    for entry in spec.latitude:
        used = {v.klass for vectors in found.vectors.values() for v in vectors if entry.id in v.latitudes}
        kept = "kept by the strict policy" if entry.always else "off under the strict policy"
        yield _entry(
            found, "latitude", entry, title=f"Latitude {entry.id}", statement=entry.reason, role="latitude",
            facts=(("when", unparse(entry.when)), ("accepts", unparse(entry.accepts)), ("policy", kept)),
            speaks=_with_latitude(entry.id),
            classes=tuple(c.id for c in spec.classes if c.id in used), families=("float",),
        )  # fmt: skip


def _readings(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.readings:
        facts = [("allows Y when", unparse(entry.returns))]
        for key, how in (("agrees", "has the value of the cases"), ("agrees_bitwise", "has their bits")):
            regions = getattr(entry, key)
            witnesses = entry.differs_at if key == "agrees" else entry.differs_bitwise_at
            for family in (f.id for f in found.spec.families):
                where = f"exactly where {unparse(regions[family])}" if family in regions else "everywhere"
                differs = f"; not at {_witness(witnesses[family])}" if family in regions else ""
                facts.append((f"{how} in {family}", where + differs))
        if entry.interpretation is not None:
            facts.append(("our interpretation", entry.interpretation.ours))
            facts.append(("it could also mean", entry.interpretation.alternative))
            facts.append(("shown by", shown_by(entry.interpretation)))
        if entry.reference:
            facts.append(("defined in", entry.reference))
        yield _entry(
            found, "readings", entry, title=f"Reading {entry.id}", statement=entry.title, role="reading",
            facts=tuple(facts), families=_every(found.spec), speaks=None,
        )  # fmt: skip


def _dialects(found: Materials) -> Iterator[Entry]:
    columns = dialects_text.COLUMNS[1:]
    for entry, row in zip(found.spec.whole_dialects, dialect_table(found.spec).rows, strict=True):
        facts = [*zip(columns, dialects_text.cells(row, found.spec)[1:], strict=True)]
        facts += [(f"{aspect.replace('_', ' ')}, said", source.quote) for aspect, source in row.says.items()]
        facts += [(f"{aspect.replace('_', ' ')}, not said", what) for aspect, what in row.unsaid.items()]
        types = entry.element_types
        families = tuple(
            f.id for f in found.spec.families if any(t.id in types for t in found.spec.types_of(f.id))
        )
        yield _entry(
            found, "dialects", entry, title=entry.title, statement=entry.title, role="dialect",
            facts=tuple(facts), families=families, speaks=None,
            except_types=tuple(t.id for t in found.spec.element_types if t.id not in types),
        )  # fmt: skip


def _element_types(found: Materials) -> Iterator[Entry]:
    for entry in found.spec.element_types:
        names = {"SONNX": entry.sonnx, "ONNX": entry.onnx, "DirectML": entry.directml, "NumPy": entry.numpy}
        names |= {"C": entry.c, "WhyML": entry.why3, "width": str(entry.width) if entry.width else None}
        others = tuple(other.id for other in found.spec.element_types if other.id != entry.id)
        yield _entry(
            found, "element_types", entry, title=f"Element type {entry.id}",
            statement=f"{entry.id} is an ordered element type of the family {entry.family}",
            role="element type",
            facts=tuple((place, name or "none") for place, name in names.items()),
            families=(entry.family,), except_types=others,
        )  # fmt: skip


_MAKERS: dict[str, Callable[[Materials], Iterator[Entry]]] = {
    "restrictions": _restrictions, "constraints": _constraints, "cases": _cases, "properties": _properties,
    "examples": _examples, "classes": _classes, "latitude": _latitude, "readings": _readings,
    "dialects": _dialects, "element_types": _element_types,
}  # fmt: skip


def _refutation(entry: Any) -> tuple[tuple[str, str], ...]:
    refuted = [(f"refuted for {family}", _witness(witness)) for family, witness in entry.refuted_for.items()]
    repaired = [(f"repaired for {family}", unparse(when)) for family, when in entry.repaired.items()]
    return (*refuted, *repaired)


def _witness(witness: Any) -> str:
    shown = {name: value for name, value in witness.model_dump().items() if value is not None}
    texts = {name: f"[{', '.join(v)}]" if isinstance(v, tuple) else v for name, v in shown.items()}
    return ", ".join(f"{name} = {text}" for name, text in texts.items())


def _words(spec: Spec, source: Source | None) -> SourceWords | None:
    if source is None:
        return None
    page = spec.page(source.page)
    return SourceWords(
        page=page.id,
        title=page.title,
        file=page.file,
        section=source.section,
        lines=source.at,
        quote=source.quote,
    )


def _every(spec: Spec) -> tuple[str, ...]:
    return tuple(family.id for family in spec.families)


def _anything(_type: str, _vector: Vector) -> bool:
    return True


def _of_case(id_: str) -> Speaks:
    return lambda _type, vector: vector.case == id_


def _of_class(id_: str) -> Speaks:
    return lambda _type, vector: vector.klass == id_


def _with_latitude(id_: str) -> Speaks:
    return lambda _type, vector: id_ in vector.latitudes


def _entry(
    found: Materials, section: Section, entry: Any, *, title: str, statement: str, role: str,
    families: tuple[str, ...], facts: tuple[tuple[str, str], ...] = (), speaks: Speaks | None = _anything,
    refuted: tuple[str, ...] = (), aliases: dict[str, str] | None = None,
    classes: tuple[str, ...] | None = None, except_types: tuple[str, ...] = (), once: bool = False,
    judge: Callable[[Verdicts], Verdicts] = lambda shown: shown,
) -> Entry:  # fmt: skip
    """One entry. Its classes are those of the vectors that speak of it, unless they are given."""
    spec = found.spec
    types = [t.id for t in spec.element_types if t.family in families and t.id not in except_types]
    vectors = count(found.vectors, types, speaks) if speaks else {}
    touched = {klass for by_class in vectors.values() for klass in by_class}
    if classes is None:
        classes = tuple(c.id for c in spec.classes if c.id in touched)
    return Entry(
        id=entry.id,
        section=section,
        title=title,
        statement=statement,
        role=role,
        requirement=entry.id in {r.id for r in spec.requirements() if r.section == section},
        families=families,
        aliases=aliases or {},
        facts=facts,
        source=_words(spec, getattr(entry, "source", None)),
        cells=found.trace.cells(entry.id, families, refuted=refuted, except_types=except_types, once=once),
        classes=classes,
        vectors=vectors,
        verdicts=judge(verdicts_for(found.runtimes, types, classes)) if classes else {},
    )
