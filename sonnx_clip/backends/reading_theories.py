"""The theories of the readings, the dialects, their worked examples, and what findings claim: a file for each
element type that some of them speak of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import (
    cases_and_result,
    declared_readings,
    definitions,
    definitions_used,
    reading_trees,
    stated,
)
from sonnx_clip.backends.theory import CLIP, TENSORS, Declared, Module, comment, declare
from sonnx_clip.backends.whyml_printer import WhymlPrinter, element_printer, goals, tensor_printer
from sonnx_clip.claims.all_claims import READINGS, claims_of
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.claims.nodes import free_names
from sonnx_clip.claims.templates import entries_of
from sonnx_clip.language.tree import Call, CasesResult, Use, subtrees
from sonnx_clip.spec.dialects import ComputedBy, defaults
from sonnx_clip.spec.findings import allowed_answers, types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Property
    from sonnx_clip.spec.findings import Allowed, Theorem

SAME_VALUE = Declared(
    "predicate same_value (a b: t)", "eq a b \\/ nan a /\\ nan b",
    "The same value, zeros of both signs and all NaNs taken together.",
)  # fmt: skip


def _of_readings(
    spec: Spec,
    etype: ElementType,
    name: str,
    about: str,
    claims: Iterable[Claim],
    *,
    readings: Iterable[str],
    trees: Sequence[Expr],
    uses: Sequence[str] = (),
) -> Module:
    """A module with the cases, the definitions that trees use, and the readings with these ids."""
    printer, wanted = element_printer(spec, etype), set(readings)
    return Module(
        name,
        about,
        [f"use elements.{etype.why3}", *uses],
        [
            *cases_and_result(spec, printer),
            comment("Definitions."),
            *definitions(spec, etype, definitions_used(spec, trees)),
            SAME_VALUE.text,
            comment("Readings: whether y is an answer that one allows."),
            *declared_readings(spec, [r for r in spec.readings if r.id in wanted], printer),
        ],
        list(goals(claims, printer)),
        f"smoke_{name.lower()}",
    )


def reading_modules(spec: Spec, etype: ElementType) -> list[Module]:
    """Where the readings agree with the cases."""
    if not spec.readings:
        return []
    of_latitude = [tree for entry in spec.latitude for tree in (entry.when, entry.accepts)]
    where = f"Where the readings of {spec.operator} agree in {etype.id}"
    return [
        _of_readings(
            spec,
            etype,
            "Readings",
            f"{where}: with the cases, and with one another.",
            claims_of(spec, etype.id, *READINGS),
            readings=(r.id for r in spec.readings),
            trees=reading_trees(spec) + of_latitude * (etype.family == "float"),
            uses=[CLIP] * (spec.operator in WRITTEN),
        )
    ]


def dialect_modules(spec: Spec, etype: ElementType) -> list[Module]:
    """Where the dialects agree with the cases, and what they add to them."""
    dialects = entries_of(spec, etype, "dialects")
    if not dialects:
        return []
    equivalences = [d.equivalence for d in dialects if d.equivalence is not None]
    # What their words allow, what decides between answers, and what they are said to be.
    used = {id_ for d in dialects for id_ in (d.reading, d.answers)} | {e.to for e in equivalences}
    readings = [r for r in spec.readings if r.id in used]
    regions = [of for r in readings for of in (r.agrees, r.agrees_bitwise)]
    regions += [d.widens for d in dialects] + [e.where for e in equivalences]
    converts = any(d.converts_to(etype.id) for d in dialects)
    scales = etype.family == "float" and any(d.scale_bias for d in dialects)
    return [
        _of_readings(
            spec,
            etype,
            "Dialects",
            f"The dialects of Clip in {etype.id}: where each is the Clip of SONNX, what its missing bounds"
            " do, what its\n    conversions do to bounds, and what a newer one changes.",
            claims_of(spec, etype.id, "dialects"),
            readings=used,
            trees=[r.returns for r in readings] + [of[etype.family] for of in regions if etype.family in of],
            uses=[
                *_conversions(etype, converts),
                *[f"use scale_bias.Scale{etype.why3}"] * scales,
                CLIP,
            ],
        )
    ]


def example_modules(spec: Spec, etype: ElementType) -> list[Module]:
    """The worked examples of dialects: each is an obligation, entry by entry or for all X."""
    examples = entries_of(spec, etype, "dialect_examples")
    used = {spec.dialect(example.dialect).reading for example in examples}
    used |= {example.Y.reading for example in examples if isinstance(example.Y, ComputedBy)}
    about = f"The worked examples of dialects in {etype.id}."
    claims = claims_of(spec, etype.id, "dialect examples")
    trees = [r.returns for r in spec.readings if r.id in used]
    return [_of_readings(spec, etype, "Examples", about, claims, readings=used, trees=trees)] * bool(examples)


def _conversions(etype: ElementType, converts: bool) -> list[str]:
    return ["use elements.Float32 as FLOAT", f"use convert.To{etype.why3}"] * converts


# --- What findings claim ------------------------------------------------------------------------------------


def finding_modules(spec: Spec, etype: ElementType) -> list[Module]:
    """What the findings about the sources claim of elements, and of tensors of any shape."""
    parts = [p for f in spec.findings for p in f.theorems if etype in types_of_claim(spec, p)]
    of_tensors = _of_tensors(spec, etype, parts) if spec.operator in WRITTEN else ()
    return [*_of_elements(spec, etype, parts), *of_tensors]


def _of_elements(spec: Spec, etype: ElementType, parts: Sequence[Theorem]) -> Iterator[Module]:
    printer = element_printer(spec, etype)
    claims = list(goals(claims_of(spec, etype.id, "findings"), printer))
    if not claims:
        return
    known, used = allowed_answers(spec), _used(parts)
    named = [name for name in known if name in used]
    decide = {known[name].reading for name in named}
    readings = [r for r in spec.readings if r.id in decide]
    properties = [p for p in spec.properties if p.id in used]
    trees = [part.holds for part in parts if not part.tensors]
    converts = any(
        isinstance(node, Call) and node.function == "becomes" for tree in trees for node in subtrees(tree)
    )
    trees += [r.returns for r in readings] + [p.claim for p in properties]
    own = definitions_used(spec, trees)
    dialects = [_dialect(spec, etype, printer, name, known[name]) for name in named if known[name].dialect]
    answers = [*declared_readings(spec, readings, printer), *dialects]
    of_cases = _speak_of_cases(spec, [*trees, *(d.is_ for d in own)])
    yield Module(
        "Findings",
        f"What the findings about the sources claim of elements of {etype.id}.",
        [f"use elements.{etype.why3}", *_conversions(etype, converts)],
        [
            *(cases_and_result(spec, printer) if of_cases else []),
            *definitions(spec, etype, own),
            *([comment("Whether y is an answer that a reading or a dialect allows.")] if answers else []),
            *answers,
            *([comment("What is claimed of the cases.")] if properties else []),
            *(_property(spec, printer, p) for p in properties),
        ],
        claims,
        "smoke_findings",
    )


def _of_tensors(spec: Spec, etype: ElementType, parts: Sequence[Theorem]) -> Iterator[Module]:
    printer, used = tensor_printer(spec, etype), _used(parts)
    of_stated = replace(printer, of_result=True, prefix="stated_")
    claims = list(goals(claims_of(spec, etype.id, "findings on tensors"), of_stated))
    if not claims:
        return
    constraints = [c for c in spec.constraints if c.id in used]
    trees = [part.holds for part in parts if part.tensors] + [c.holds for c in constraints]
    given = spec.head.arguments_and_result
    yield Module(
        "TensorFindings",
        f"What the findings about the sources claim of tensors of {etype.id}, of any shape.",
        [f"use elements.{etype.why3}", CLIP, TENSORS],
        [
            *definitions(spec, etype, definitions_used(spec, trees)),
            *(stated(c, given, "tensor", printer) for c in constraints),
        ],
        claims,
        "smoke_tensor_findings",
    )


def _used(parts: Sequence[Theorem]) -> set[str]:
    return {node.id for part in parts for node in subtrees(part.holds) if isinstance(node, Use)}


def _property(spec: Spec, printer: WhymlPrinter, p: Property) -> str:
    claim, given = printer.show(p.claim), spec.head.arguments
    body = f"let y = cases {given} in {claim}" if "Y" in free_names(p.claim) else claim
    return declare(p.id, given, "t", body, p.title).text


def _dialect(spec: Spec, etype: ElementType, printer: WhymlPrinter, name: str, of: Allowed) -> str:
    """Whether a dialect allows an answer, with the default bounds where bounds are left out."""
    assert of.dialect is not None
    dialect, head = spec.dialect(of.dialect), spec.head
    given = {variable: variable.lower() for variable in of.parameters}
    title = f"{dialect.id} allows the answer y"
    if len(given) < len(head.all):
        ends = defaults(spec, dialect, etype)
        assert ends is not None
        given = dict(zip(head.scalars, map(printer.value, ends), strict=True)) | given
        title += f", without {name.rpartition('_')[2]}"
    body = " ".join((spec.reading(of.reading).predicate, *(given[v] for v in head.all)))
    return declare(name, " ".join(v.lower() for v in of.parameters), "t", body, title).text


def _speak_of_cases(spec: Spec, trees: Sequence[Expr]) -> bool:
    """Whether trees speak of the cases or of their result; a property is printed with that."""
    named = {case.id for case in spec.cases} | {p.id for p in spec.properties}
    return any(
        isinstance(node, CasesResult) or (isinstance(node, Use) and node.id in named)
        for tree in trees
        for node in subtrees(tree)
    )
