"""Claims on single elements, tensors and restrictions: sections of claims.yaml, expanded for each entry."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import free_names, names, numbers, result_of, stated, variables_of
from sonnx_clip.claims.templates import Listed, entries_of, expanded
from sonnx_clip.language.tree import Call, Kind, Let, Use, Value, conjuncts, subtrees
from sonnx_clip.language.values import encode, float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.evaluate import (
    DECLARED_WORDS,
    DeclaredTensor,
    broken_example,
    declared_example,
    readings_of_latitude,
)
from sonnx_clip.spec.findings import types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Property

WRITTEN = frozenset({"Clip"})
"""The operators with hand-written theories and kernels."""


# --- Single elements ----------------------------------------------------------------------------------------


def encoding_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The symbols of the element type mean what its bits say."""
    if etype.family == "int":
        yield from expanded(spec, etype, "encoding of integers", etype)
    elif etype.family == "float":
        known = {definition.id: True for definition in spec.definitions}
        form = float_bits(etype)
        bits = {"zero": 0, "normal": 1 << (form.significand - 1), "infinity": infinity(form)}
        yield from expanded(spec, etype, "encoding of floats", etype, **_literals(bits), **known)


def integer_route_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Floats can be clipped as integers: lemmas of a float format."""
    if etype.family == "float":
        sign, most = sign_bit(float_bits(etype)), infinity(float_bits(etype))
        bits = {"plus_zero": 0, "minus_zero": sign, "infinity": most, "n": most + 1}
        bits |= {"minus_infinity": sign | most, "magnitude": sign - 1}
        yield from expanded(spec, etype, "integer route", etype, **_literals(bits))


def _literals(bits: Mapping[str, int]) -> dict[str, Expr]:
    return {name: Value(of, Kind.ELEMENT) for name, of in bits.items()}


def _parts(ids: list[str]) -> dict[str, Any]:
    """The ids of cases or classes, and that no two of them hold."""
    pairs = (f"not ({a} and {b})" for a, b in combinations(ids, 2))
    return {"ids": Listed(ids), "no_two_of": Listed(pairs)}


def cases_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and are the hand-written Clip."""
    result = f"{spec.head.function}({', '.join(spec.head.operands)})"
    results = Listed(f"({c.id} implies identical({result}, {c.result}))" for c in spec.cases)
    parts = _parts([case.id for case in spec.cases])
    yield from expanded(spec, etype, "cases", **parts, results=results, by_hand=spec.operator in WRITTEN)
    for case in spec.cases:
        yield from expanded(spec, etype, "inhabited", case)


def classes_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes partition each case, and each is inhabited."""
    for case in spec.cases:
        classes = spec.classes_of(etype.family, case.id)
        yield from expanded(spec, etype, "classes", case, **_parts([c.id for c in classes]))
        for c in classes:
            yield from expanded(spec, etype, "inhabited", c)


def properties_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property holds; or is refuted at its witness, and holds exactly under its condition."""
    for p in entries_of(spec, etype, "properties"):
        met_at = _numbers_that_meet(spec, etype, p) if etype.family in p.refuted_for else None
        bound = " ".join(variables_of(spec.head, p.claim))
        yield from expanded(spec, etype, "properties", p, bound=bound, met_at=met_at)


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, Expr]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in reversed(spec.classes_of(etype.family)):
        texts = c.inhabited_by.texts()
        texts[spec.head.second] = texts[spec.head.operands[0]]
        if ask(p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}):
            return numbers(texts)
    what = f"no witness of a class meets the condition of {p.id} for {etype.family}: it may be empty"
    raise UserError(what, spec.file, "weaken the condition")


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    for entry in entries_of(spec, etype, "latitude"):
        yield from expanded(spec, etype, "latitude", entry, narrow=_narrow(spec))


def _narrow(spec: Spec) -> str:
    """The most that latitude may accept: the value of the result, or the NaN of the first operand."""
    return f"A == Y or is_nan(A) and is_nan(Y) or is_nan(A) and is_nan({spec.head.operands[0]})"


def latitude_and_readings_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Latitude accepts what some reading answers, and all that these readings answer within its limits."""
    entries, asked = entries_of(spec, etype, "latitude"), ", ".join((*spec.head.operands, "A"))
    for entry in entries:
        given = Listed(f"{spec.reading(id_).predicate}({asked})" for id_ in entry.given_by)
        yield from expanded(spec, etype, "latitude and readings", entry, given=given)
    granted = [f"group(group(_when{i}) and group(_accepts{i}))" for i in range(len(entries))]
    conditions = {f"when{i}": entry.when for i, entry in enumerate(entries)}
    conditions |= {f"accepts{i}": entry.accepts for i, entry in enumerate(entries)}
    for reading in readings_of_latitude(spec) if entries else ():
        yield from expanded(
            spec, etype, "readings and latitude", reading, narrow=_narrow(spec), granted=Listed(granted),
            latitude=Listed(entry.id for entry in entries), **conditions,
        )  # fmt: skip


def examples_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    head = spec.head
    for example in entries_of(spec, etype, "examples"):
        entries, texts = list[str](), dict[str, str]()
        for row, given in enumerate(example.given):
            at = {name: f"_{name}{row}" if name in head.tensors else name for name in head.operands}
            entries.append(f"identical({head.function}({', '.join(at.values())}), _Y{row})")
            texts |= {f"{name}{row}": text for name, text in zip(at, given, strict=True)}
            texts[f"Y{row}"] = example.Y[row]
        scalars = numbers({name: getattr(example, name) for name in head.scalars})
        every = Listed(entries)
        yield from expanded(
            spec, etype, "examples", example, entries=every, scalars=scalars, **numbers(texts)
        )


def findings_claims(spec: Spec, etype: ElementType, *, tensors: bool = False) -> Iterator[Claim]:
    """The theorems of findings on single elements; or on tensors, where Y is the result of the operator."""
    head = spec.head
    section = "findings on tensors" if tensors else "findings"
    for finding in entries_of(spec, etype, "findings"):
        for part in finding.theorems:
            if part.tensors == tensors and etype in types_of_claim(spec, part):
                holds = part.holds
                if tensors:
                    holds = Let(head.result, result_of(head, tensors=True), part.holds)
                given = {"goal": finding.goal(part), "every": " ".join(head.all), "holds": holds}
                yield from expanded(spec, etype, section, finding, part, **given)


# --- Tensors ------------------------------------------------------------------------------------------------


def constraints_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints on tensors of any shape, and their equivalence with the hand-written ones."""
    head = spec.head
    for c in entries_of(spec, etype, "constraints"):
        if c.id not in ("C1", "C2", "C3"):
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors")
        used = free_names(c.holds)  # the hand-written constraint has no other variables
        tensors = names((name for name in head.all if name in used), Kind.TENSOR)
        before = conjuncts(c.holds) if "precondition" in c.role.split() else []
        yield from expanded(
            spec, etype, "constraints", c, y=head.result, listed=listed(head.operands), sonnx=etype.sonnx,
            stated=stated(head, c, Kind.TENSOR), by_hand=Use(c.id.lower(), tensors, Kind.BOOL),
            before=tuple(part for part in before if head.result not in free_names(part)), **{c.id: True},
        )  # fmt: skip


def refuted_constraints_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are false, each with its counterexample."""
    for c in spec.constraints:
        if etype.family in c.refuted_for:
            texts = c.refuted_for[etype.family].texts()
            entry = evaluator(spec, etype).result(*(encode(text, etype) for text in texts.values()))
            refuting = " ".join(f"refuting_{name.lower()}" for name in texts)
            literal = Value(entry, Kind.ELEMENT)
            yield from expanded(spec, etype, "refuted constraints", c, refuting=refuting, entry=literal)


# --- The restrictions: equivalent to the hand-written ones, consistent, and independent ---------------------

# What a model may declare: one tensor of each kind that a restriction distinguishes from the others.
_DIMENSIONS = (None, (), (1,), (7,), (0,), (2, 3), ("N",), (2, "N"), ("N", 5), (-1,), (2, -1))
_DECLARED: tuple[DeclaredTensor | None, ...] = (
    None,
    *(DeclaredTensor("float32", dims) for dims in _DIMENSIONS),
    DeclaredTensor("float64", ()),
    DeclaredTensor("float32", (), sparse=True),
)


def restrictions_claims(spec: Spec) -> Iterator[Claim]:
    """The restrictions, and the words that they are stated in, are the hand-written ones; none is implied."""
    if spec.operator not in WRITTEN or not spec.restrictions:
        return
    fields = " ".join(f"n.{name.lower()}" for name in spec.head.all)
    conditions = {r.id: stated(spec.head, r, Kind.DECLARED) for r in spec.restrictions}
    for r in spec.restrictions:
        yield from expanded(spec, None, "restrictions", r, fields=fields, by_hand=r.id.lower())
    texts = {id_: f"_{id_}" for id_ in conditions}
    given = {"ids": Listed(texts), "every": Listed(texts.values()), **conditions}
    example = _declared(declared_example(spec))
    yield from expanded(spec, None, "all restrictions", example=example, **given)
    for r in spec.restrictions:
        broken = broken_example(spec, r)
        at = _declared({name: broken[name] for name in r.broken_alone_by})
        given["every"] = Listed((f"not _{r.id}", *(texts[id_] for id_ in texts if id_ != r.id)))
        yield from expanded(spec, None, "one restriction", r, broken=at, **given)
    tensors = _declared({f"t{i}": tensor for i, tensor in enumerate(_DECLARED)})
    scalars = [i for i, tensor in enumerate(_DECLARED) if tensor is None or tensor.dims == ()]
    for word, holds in DECLARED_WORDS.items():
        agree = []
        for of in product(scalars, repeat=2) if word == "same_type" else zip(range(len(_DECLARED))):
            text = f"{word}({', '.join(f'_t{i}' for i in of)})"
            agree.append(text if holds(*(_DECLARED[i] for i in of)) else f"not {text}")
        users = (r.id for r in spec.restrictions if word in _words(r.holds))
        yield from expanded(spec, None, "words", id=word, of=Listed(users), agree=Listed(agree), **tensors)
    users = (r.id for r in spec.restrictions if "is_scalar" in _words(r.holds))
    yield from expanded(spec, None, "shape of a scalar", of=Listed(users))


def _words(condition: Expr) -> set[str]:
    return {part.function for part in subtrees(condition) if isinstance(part, Call)}


def _declared(tensors: Mapping[str, DeclaredTensor | None]) -> dict[str, Expr]:
    return {name: Value(of, Kind.DECLARED) for name, of in tensors.items()}
