"""The entries of a specification, each with its source, what shows it, its vectors and its classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sonnx_clip.evidence.cells import cell_of
from sonnx_clip.evidence.evidence_model import ALL_TYPES, SHOWN, Cell, Entry
from sonnx_clip.evidence.rewrites import SECTION as REWRITES
from sonnx_clip.evidence.rewrites import rewrite_entries
from sonnx_clip.explain import readings_matrix
from sonnx_clip.explain.dialects_table import dialect_row
from sonnx_clip.explain.finding_views import quoted_words
from sonnx_clip.language import encode, show_bits, unparse
from sonnx_clip.language.tree import Call, Connective, names_in, subtrees
from sonnx_clip.root.terminal import capitalised
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.dialects import ComputedBy, DialectExample, bounds_of
from sonnx_clip.spec.quotes import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sonnx_clip.evidence.records import ProvedOperator
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.types import Source
    from sonnx_clip.prove.coq import CoqTheorem
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Example, Property

    Facts = tuple[tuple[str, str], ...]
    Vector = dict[str, Any]
    Covers = Callable[[str, Vector], bool]

ByType: TypeAlias = "dict[str, list[Outcome]]"
"""Outcomes by the element type that their obligations are about."""

RESULT_CONSTRAINTS = ("C1", "C3")
"""The constraints on a result that the checker judges call by call."""
_VECTOR_KEYS = ("x", "min", "max", "expected")
"""The operands and the result of Clip in a vector; vectors of other operators are in no evidence."""


def entries_of(
    operator: ProvedOperator,
    outcomes: Sequence[Outcome],
    theorems: Sequence[CoqTheorem] = (),
) -> Iterator[Entry]:
    """Every entry that the evidence shows, section by section.

    Args:
        operator: the operator whose entries they are.
        outcomes: those of all obligations of the operator.
        theorems: what Coq's kernel has checked.
    """
    spec = operator.spec
    shown_by = _by_entry(outcomes, [etype.id for etype in spec.element_types])
    requirements = {(section, entry.id) for section, entry in spec.requirements()}
    for section in SHOWN:
        if (
            section.name == REWRITES
        ):  # of spec/rewrites.yaml: those that the obligations of the operator show
            yield from rewrite_entries(shown_by)
            continue
        for entry in _listed(spec, section.name):
            trace = _Trace(
                operator=operator,
                section=section.name,
                entry=entry,
                is_requirement=(section.name, entry.id) in requirements,
                outcomes=shown_by.get(entry.id, {}),
                theorems=tuple(t.id for t in theorems if entry.id in t.shows),
            )
            yield _traced(trace)


@dataclass(frozen=True)
class _Trace:
    """What is traced to an entry in the same way in every section."""

    operator: ProvedOperator
    section: str
    entry: Any
    is_requirement: bool
    outcomes: ByType
    theorems: tuple[str, ...]

    def evidence(
        self,
        *,
        title: str,
        statement: str,
        role: str,
        families: Sequence[str],
        facts: Facts = (),
        covers: Covers = lambda _type, _vector: False,
        refuted: Sequence[str] = (),
        types: Sequence[str] | None = None,
        once: bool = False,
    ) -> Entry:
        """The entry as the evidence has it.

        Args:
            title: its title.
            statement: what it states.
            role: its part in the specification.
            families: those of which it speaks.
            facts: what else its section has on it.
            covers: whether a vector of an element type is a test of it.
            refuted: the families for which it is refuted as it stands.
            types: the element types of which it speaks; all of the families if it is None.
            once: whether it speaks of no element type.
        """
        spec, entry = self.operator.spec, self.entry
        covering = self._covering(families, covers)
        classes = covering.classes
        if entry.id in RESULT_CONSTRAINTS:
            # A report has a row for each of these, as it has for a class.
            classes = (entry.id,)
        # Only the entries of some sections have these.
        source: Source | None = getattr(entry, "source", None)
        aliases = getattr(entry, "aliases", {})
        is_property = self.section == "properties"
        cells = tuple(self._cells(families, types, refuted))
        if once:
            # An entry that speaks of no type has this cell even without an obligation: it is then a gap.
            cells = (self._cell_of_all_types(),)
        return Entry(
            id=entry.id,
            section=self.section,
            title=title,
            statement=statement,
            role=role,
            requirement=self.is_requirement,
            families=tuple(families),
            aliases={str(text): alias for text, alias in aliases.items()},
            facts=facts,
            source=quoted_words(spec, source) if source else None,
            lines=lines_of(spec, source) if source else (),
            cells=cells,
            classes=classes,
            vectors=covering.counts,
            theorems=self.theorems,
            violated_by=_violated_by(self.operator, entry) if is_property else (),
        )

    def _covering(self, families: Sequence[str], covers: Covers) -> _Covering:
        """The vectors that are tests of the entry; an element type without one has no count."""
        spec = self.operator.spec
        counts: dict[str, int] = {}
        classes: set[str] = set()
        for type_id, vectors in self.operator.vectors.items():
            if spec.element_type(type_id).family not in families:
                continue
            classes_of_type = [v["class"] for v in vectors if covers(type_id, v)]
            if classes_of_type:
                counts[type_id] = len(classes_of_type)
                classes.update(classes_of_type)
        # In the order of the specification: a set has none.
        ordered = tuple(klass.id for klass in spec.classes if klass.id in classes)
        return _Covering(counts, ordered)

    def _cell_of_all_types(self) -> Cell:
        """What is shown for all element types at once: a gap without an obligation."""
        return cell_of(ALL_TYPES, self.outcomes.get(ALL_TYPES, ()))

    def _cells(
        self, families: Sequence[str], types: Sequence[str] | None, refuted: Sequence[str]
    ) -> Iterator[Cell]:
        """What is shown for all element types at once, where there is such, then for each of them."""
        # An element type without an obligation has a cell all the same, which is a gap.
        if ALL_TYPES in self.outcomes:
            yield self._cell_of_all_types()
        for etype in self.operator.spec.element_types:
            if etype.family not in families:
                continue
            if types is None or etype.id in types:
                outcomes = self.outcomes.get(etype.id, ())
                yield cell_of(etype.id, outcomes, refuted=etype.family in refuted)


class _Covering(NamedTuple):
    """The vectors that cover an entry: how many of each element type, and the classes of any."""

    counts: dict[str, int]
    classes: tuple[str, ...]


def _by_entry(outcomes: Sequence[Outcome], types: Sequence[str]) -> dict[str, ByType]:
    """The outcomes of the obligations that show an entry, by element type; those about all types together."""
    by_entry: dict[str, ByType] = {}
    for outcome in outcomes:
        # The subject of others is a theory, such as that of the restrictions or of the tensors.
        subject = outcome.obligation.subject
        if subject not in types:
            subject = ALL_TYPES
        for id_ in outcome.obligation.shows:
            by_entry.setdefault(id_, {}).setdefault(subject, []).append(outcome)
    return by_entry


# --- What is shown of the entries of each section -----------------------------------------------------------


def _listed(spec: Spec, section: str) -> Sequence[Any]:
    # The evidence has both kinds of examples in one section; `_traced` tells them apart.
    if section == "examples":
        return (*spec.examples, *spec.dialect_examples)
    return spec.dialects if section == "dialects" else getattr(spec, section)


def _traced(trace: _Trace) -> Entry:
    """An entry with what its section has on it."""
    spec, entry = trace.operator.spec, trace.entry
    all_families = tuple(family.id for family in spec.families)
    # The sections of `SHOWN`, in their order; rewrites are not among these.
    match trace.section:
        case "restrictions":
            facts: Facts = (("holds when", unparse(entry.holds)), ("origin", entry.origin))
            facts += _interpretation(entry)
            return trace.evidence(
                title=entry.statement,
                statement=entry.statement,
                role=entry.role,
                families=entry.families,
                facts=facts,
                once=True,
            )
        case "constraints":
            facts = (("holds when", unparse(entry.holds)), *_refutation(entry))
            return trace.evidence(
                title=entry.title,
                statement=entry.statement,
                role=entry.role,
                families=entry.families,
                facts=facts,
                # Whatever the operands are, a result has a shape, a type and values to be judged.
                covers=lambda _type, _vector: True,
                refuted=tuple(entry.refuted_for),
            )
        case "cases":
            when = unparse(entry.when)
            return trace.evidence(
                title=entry.title,
                statement=f"Y = {entry.result_text} when {when}",
                role="definition",
                families=all_families,
                facts=(("when", when), ("result", entry.result_text)),
                covers=lambda _, v: v["case"] == entry.id,
            )
        case "properties":
            return _property(trace, entry)
        case "examples":
            of_dialect = isinstance(entry, DialectExample)
            return _dialect_example(trace, entry) if of_dialect else _example(trace, entry)
        case "classes":
            return trace.evidence(
                title=capitalised(entry.title),
                statement=f"{capitalised(entry.matters)}.",
                role="class",
                families=entry.families,
                facts=(("case", entry.case), ("condition within the case", unparse(entry.when))),
                covers=lambda _, v: v["class"] == entry.id,
            )
        case "latitude":
            kept = "kept by the strict policy" if entry.always else "off under the strict policy"
            return trace.evidence(
                title=f"Latitude {entry.id}",
                statement=entry.reason,
                role="latitude",
                families=("float",),
                facts=(
                    ("when", unparse(entry.when)),
                    ("accepts", unparse(entry.accepts)),
                    ("policy", kept),
                ),
                covers=lambda _, v: any(a["latitude"] == entry.id for a in v["acceptable"]),
            )
        case "readings":
            return trace.evidence(
                title=f"Reading {entry.id}",
                statement=entry.title,
                role="reading",
                families=all_families,
                facts=_reading(spec, entry),
            )
        case "dialects":
            return _dialect(trace, entry)
        case _:
            return _element_type(trace, entry)


def _interpretation(entry: Any) -> Facts:
    interpretation = entry.interpretation
    if interpretation is None:
        return ()
    return (
        ("our interpretation", interpretation.ours),
        ("alternative", interpretation.alternative),
    )


def _refutation(entry: Any) -> Facts:
    """The counterexample of each family that refutes an entry, then the repaired conditions."""
    facts = []
    for family, witness in entry.refuted_for.items():
        facts.append((f"refuted for {family}", _witness(witness)))
    for family, when in entry.repaired.items():
        facts.append((f"repaired for {family}", unparse(when)))
    return tuple(facts)


def _witness(witness: Any) -> str:
    return ", ".join(f"{name} = {text}" for name, text in witness.texts().items())


def _bracketed(tensor: str | Sequence[str]) -> str:
    """A scalar as it is, the elements of a tensor in brackets."""
    return tensor if isinstance(tensor, str) else f"[{', '.join(tensor)}]"


def _example(trace: _Trace, entry: Example) -> Entry:
    spec = trace.operator.spec
    facts = []
    for name, tensor in entry.values.items():
        facts.append((name, tensor if isinstance(tensor, str) else ", ".join(tensor)))
    if entry.not_representable_in:
        facts.append(("not representable in", ", ".join(entry.not_representable_in)))
    etypes = [t for t in spec.types_of(entry.family) if t.id not in entry.not_representable_in]
    # A vector is recognised by its element type and the bits of its operands.
    triples: set[tuple[str, ...]] = set()
    for etype in etypes:
        if etype.width:  # vectors are bit patterns, which only machine types have
            for texts in entry.given:
                triples.add((etype.id, *_bits(texts, etype)))
    *operands, y = map(_bracketed, entry.values.values())
    return trace.evidence(
        title=f"Worked example {entry.id}",
        statement=f"{spec.signature.function}({', '.join(operands)}) = {y}",
        role="example",
        families=(entry.family,),
        facts=tuple(facts),
        covers=_is_one_of(triples),
        types=[etype.id for etype in etypes],
    )


def _dialect_example(trace: _Trace, entry: DialectExample) -> Entry:
    spec = trace.operator.spec
    etype = spec.element_type(entry.type)
    texts = {}
    for name in spec.signature.ids:
        texts[name] = _bracketed(entry.values.get(name, "missing"))
    y = entry.Y
    result = f"{y.reading} with {_witness(y)}" if isinstance(y, ComputedBy) else _bracketed(y)
    # A bound that the example lacks is the default of the dialect: the vector has its bits.
    bounds = [show_bits(bound, etype) for bound in bounds_of(spec, entry)]
    triples: set[tuple[str, ...]] = set()
    for x, _ in entry.pairs:
        triples.add((etype.id, *_bits([x], etype), *bounds))
    call = f"{spec.signature.function}({', '.join(texts.values())})"
    return trace.evidence(
        title=f"Worked example {entry.id}",
        statement=f"{entry.dialect}: {call} = {result}",
        role="example",
        families=(etype.family,),
        facts=(("dialect", entry.dialect), ("type", entry.type), *texts.items(), ("Y", result)),
        covers=_is_one_of(triples),
        types=[entry.type],
    )


def _bits(texts: Iterable[str], etype: ElementType) -> Iterator[str]:
    """Numbers as the vectors of a type have them."""
    for text in texts:
        yield show_bits(encode(text, etype), etype)


def _is_one_of(triples: set[tuple[str, ...]]) -> Covers:
    """Whether a vector has the element type and the bit patterns of one of the triples."""
    return lambda type_id, vector: (type_id, vector["x"], vector["min"], vector["max"]) in triples


def _property(trace: _Trace, entry: Property) -> Entry:
    claim = unparse(entry.claim)
    facts = [("claim", claim), *_refutation(entry)]
    if entry.in_coq:
        facts.append(("in Coq", entry.in_coq))
    if entry.shows:
        facts.append(("shows", ", ".join(entry.shows)))
    return trace.evidence(
        title=entry.title,
        statement=claim,
        role="consequence",
        families=entry.families,
        facts=tuple(facts),
        covers=_meets_premise(trace.operator.spec, entry),
        refuted=tuple(entry.refuted_for),
    )


def _reading(spec: Spec, entry: Any) -> Facts:
    # A family that the regions leave out has no condition: there the reading agrees everywhere.
    facts = [("allows Y when", unparse(entry.returns))]
    for regions, witnesses, how in (
        (entry.agrees, entry.differs_at, "has the value of the cases"),
        (entry.agrees_bitwise, entry.differs_bitwise_at, "has their bits"),
    ):
        for family in spec.families:
            region = "everywhere"
            if family.id in regions:
                condition = unparse(regions[family.id])
                region = f"exactly where {condition}; not at {_witness(witnesses[family.id])}"
            facts.append((f"{how} in {family.id}", region))
    facts += _interpretation(entry)
    if entry.interpretation is not None:
        facts.append(("shown by", readings_matrix.shown_by(entry.interpretation)))
    if entry.reference:
        facts.append(("defined in", entry.reference))
    return tuple(facts)


def _dialect(trace: _Trace, entry: Any) -> Entry:
    spec = trace.operator.spec
    row = dialect_row(spec, entry)
    facts = [*row.words.items()]
    for aspect, source in row.says.items():
        facts.append((aspect.replace("_", " "), source.words))
    for aspect, consequence in row.unsaid.items():
        facts.append((f"{aspect.replace('_', ' ')}, unspecified", consequence))
    supported = {spec.element_type(id_).family for id_ in entry.element_types}
    families = tuple(family.id for family in spec.families if family.id in supported)
    return trace.evidence(
        title=entry.title,
        statement=entry.title,
        role="dialect",
        families=families,
        facts=tuple(facts),
        types=entry.element_types,
    )


def _element_type(trace: _Trace, entry: ElementType) -> Entry:
    names = {
        "SONNX": entry.sonnx,
        "ONNX": entry.onnx,
        "DirectML": entry.directml,
        "NumPy": entry.numpy,
        "C": entry.c,
        "WhyML": entry.why3,
        "width": str(entry.width) if entry.width else None,  # the reals have none
    }
    return trace.evidence(
        title=f"Element type {entry.id}",
        statement=f"{entry.id} is an ordered element type of the family {entry.family}",
        role="element type",
        families=(entry.family,),
        facts=tuple((place, name or "none") for place, name in names.items()),
        covers=lambda type_id, _vector: type_id == entry.id,
        types=[entry.id],
    )


# --- Properties: which vectors meet the premise, which recorded answers make the claim false ----------------


def _meets_premise(spec: Spec, entry: Property) -> Covers:
    """Whether a vector meets the premise of a property: the left side of its `implies`, if it has one."""
    claim = entry.claim
    if not isinstance(claim, Connective) or claim.operator != "implies":
        return lambda _type, _vector: True
    premise = claim.left
    if not names_in(premise).issubset(spec.signature.all_ids):
        return lambda _type, _vector: True  # a second input: every vector can be its first

    def met(type_id: str, vector: Vector) -> bool:
        environment = {}
        for name, key in zip(spec.signature.all_ids, _VECTOR_KEYS, strict=True):
            environment[name] = int(vector[key], 16)
        evaluate = evaluator(spec, spec.element_type(type_id))
        return bool(evaluate(premise, environment))

    return met


def _violated_by(operator: ProvedOperator, entry: Property) -> tuple[str, ...]:
    """The runtimes and element types of which a recorded answer makes a property false."""
    spec = operator.spec
    # A claim on two results of the operator says nothing of one answer.
    calls = {node.function for node in subtrees(entry.claim) if isinstance(node, Call)}
    if spec.signature.second in names_in(entry.claim) or spec.signature.function in calls:
        return ()

    # As keys, in order: a place with many wrong answers is named once.
    violated: dict[str, None] = {}
    for name, report in operator.reports.items():
        for type_id, klass, _, deviation in report.deviations:
            etype = spec.element_type(type_id)
            # C1 and C3 are broken by a shape or a type, which the bits of a deviation do not show.
            judged = deviation.kind == "violates" and klass not in RESULT_CONSTRAINTS
            if not judged or etype.family not in entry.families:
                continue
            answer = deviation.environment(spec.signature)
            if not answer:  # the call gave no result, of which no claim can be false
                continue
            evaluate = evaluator(spec, etype)
            # A property that is refuted as written holds under its condition: only there is an
            # answer that breaks it the fault of the runtime.
            repaired = entry.repaired.get(etype.family)
            meets_condition = repaired is None or evaluate(repaired, answer)
            if meets_condition and not evaluate(entry.claim, answer):
                violated[f"{name}, {type_id}"] = None
    return tuple(violated)
