"""Claims on single elements, tensors and restrictions: sections of claims.yaml, expanded for each entry."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import free_names, names, numbers, stated, values
from sonnx_clip.claims.templates import Listed, expanded, templates
from sonnx_clip.language.tree import Call, Expr, Kind, Use, conjuncts, subtrees
from sonnx_clip.language.types import ElementType, FloatBits
from sonnx_clip.language.values import encode, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec import DeclaredTensor, Spec, broken_example, declared_example, evaluator
from sonnx_clip.spec.evaluate import DECLARED_WORDS
from sonnx_clip.spec.findings import types_of_claim
from sonnx_clip.spec.operators import has_written_theory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.spec.entries import Property


# --- Single elements ----------------------------------------------------------------------------------------


def format_claims(spec: Spec, etype: ElementType, about: str = "encoding") -> Iterator[Claim]:
    """The symbols of an element type mean what its bits say; and how floats are clipped as integers."""
    given: dict[str, Any] = {definition.id: True for definition in spec.definitions}
    if isinstance(form := etype.bits, FloatBits):
        sign, most = sign_bit(form), infinity(form)
        bits = {
            "zero": 0,
            "minus_zero": sign,
            "normal": 1 << (form.significand - 1),
            "magnitude": sign - 1,
        }
        bits |= {"infinity": most, "minus_infinity": sign | most, "n": most + 1}
        given |= values(bits)
    if (section := f"{about} of {etype.family}") in templates():
        yield from expanded(spec, etype, section, etype, **given)


def _parts(ids: list[str]) -> dict[str, Any]:
    """The ids of cases or classes, and that no two of them hold."""
    pairs = (f"not ({a} and {b})" for a, b in combinations(ids, 2))
    return {"ids": Listed(ids), "no_two_of": Listed(pairs)}


def cases_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and are the hand-written Clip."""
    result = f"{spec.signature.function}({', '.join(spec.signature.ids)})"
    results = Listed(
        f"({case.id} implies identical({result}, {case.result_text}))"
        for case in spec.giving_cases(etype.family)
    )
    parts = _parts([case.id for case in spec.cases])
    yield from expanded(
        spec, etype, "cases", **parts, results=results, by_hand=has_written_theory(spec)
    )
    for case in spec.cases:
        if etype.family in case.not_for:
            reason = case.not_for[etype.family]
            yield from expanded(spec, etype, "empty", case, reason=reason)
        else:
            yield from expanded(spec, etype, "inhabited", case)


def classes_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes partition each case, and each is inhabited."""
    for case in spec.cases:
        if etype.family in case.not_for:
            continue
        classes = spec.classes_of(etype.family, case.id)
        yield from expanded(spec, etype, "classes", case, **_parts([c.id for c in classes]))
        for c in classes:
            yield from expanded(spec, etype, "inhabited", c)


def properties_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property holds; or is refuted at its witness, and holds exactly under its condition."""
    for p in (p for p in spec.properties if etype.family in p.families):
        met_at = _numbers_that_meet(spec, etype, p) if etype.family in p.refuted_for else None
        yield from expanded(spec, etype, "properties", p, met_at=met_at)


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, Expr]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in reversed(spec.classes_of(etype.family)):
        texts = c.inhabited_by.texts()
        texts[spec.signature.second] = texts[spec.signature.ids[0]]
        if ask(
            p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}
        ):
            return numbers(texts)
    what = f"the condition of {p.id} may be empty for {etype.family}: it holds for no example of a class"
    raise UserError(what, spec.file, "weaken the condition")


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    for entry in spec.latitude if etype.family == "float" else ():
        yield from expanded(spec, etype, "latitude", entry)


def latitude_and_readings_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Latitude accepts what some reading answers, and all that these readings answer within its limits."""
    entries = spec.latitude if etype.family == "float" else ()
    operands = ", ".join(spec.signature.ids)
    for entry in entries:
        answers = Listed(f"{spec.reading(id_).predicate}({operands}, A)" for id_ in entry.given_by)
        yield from expanded(spec, etype, "latitude and readings", entry, answers=answers)
    given = {
        f"{key}{i}": getattr(of, key) for i, of in enumerate(entries) for key in ("when", "accepts")
    }
    given["granted"] = Listed(
        f"group(group(_when{i}) and group(_accepts{i}))" for i in range(len(entries))
    )
    given["latitude"] = Listed(entry.id for entry in entries)
    named = {id_ for entry in entries for id_ in entry.given_by}
    for reading in (r for r in spec.readings if r.id in named):
        yield from expanded(spec, etype, "readings and latitude", reading, **given)


def examples_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    signature = spec.signature
    for example in spec.examples:
        if example.family != etype.family or etype.id in example.not_representable_in:
            continue
        entries, texts = list[str](), dict[str, str]()
        for row, given in enumerate(example.given):
            at = {
                name: f"_{name}{row}" if name in signature.tensors else name
                for name in signature.ids
            }
            entries.append(f"identical({signature.function}({', '.join(at.values())}), _Y{row})")
            texts |= {f"{name}{row}": text for name, text in zip(at, given, strict=True)}
            texts[f"Y{row}"] = example.Y[row]
        scalars = numbers({name: getattr(example, name) for name in signature.scalars})
        placeholders = {"entries": Listed(entries), "scalars": scalars, **numbers(texts)}
        yield from expanded(spec, etype, "examples", example, **placeholders)


def findings_claims(spec: Spec, etype: ElementType, *, tensors: bool = False) -> Iterator[Claim]:
    """The theorems of findings on single elements; or on tensors, where Y is the result of the operator."""
    section = "findings on tensors" if tensors else "findings"
    for finding in spec.findings:
        for part in finding.theorems:
            if part.tensors == tensors and etype in types_of_claim(spec, part):
                yield from expanded(spec, etype, section, finding, part, goal=finding.goal(part))


# --- Tensors ------------------------------------------------------------------------------------------------


def constraints_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints on tensors of any shape, and their equivalence with the hand-written ones."""
    signature = spec.signature
    for c in (c for c in spec.constraints if etype.family in c.families):
        if c.id not in ("C1", "C2", "C3"):
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(
                what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors"
            )
        used = free_names(c.holds)  # the hand-written constraint has no other variables
        tensors = names((name for name in signature.all_ids if name in used), Kind.TENSOR)
        before = conjuncts(c.holds) if "precondition" in c.role.split() else []
        of_operands = (part for part in before if signature.result.id not in free_names(part))
        yield from expanded(
            spec, etype, "constraints", c, listed=listed(signature.ids), sonnx=etype.sonnx,
            stated=stated(signature, c, Kind.TENSOR), by_hand=Use(c.id.lower(), tensors, Kind.BOOL),
            before=tuple(of_operands), **{c.id: True},
        )  # fmt: skip


def refuted_constraints_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are false, each with its counterexample."""
    for c in spec.constraints:
        if etype.family in c.refuted_for:
            texts = c.refuted_for[etype.family].texts()
            entry = evaluator(spec, etype).result(*(encode(text, etype) for text in texts.values()))
            refuting = " ".join(f"refuting_{name.lower()}" for name in texts)
            literal = values({"entry": entry})
            yield from expanded(spec, etype, "refuted constraints", c, refuting=refuting, **literal)


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
    if not (spec.restrictions and has_written_theory(spec)):
        return
    fields = " ".join(f"n.{name.lower()}" for name in spec.signature.all_ids)
    for r in spec.restrictions:
        yield from expanded(spec, None, "restrictions", r, fields=fields, by_hand=r.id.lower())
    yield from _independent_restrictions(spec)
    yield from _words_of_restrictions(spec)


def _independent_restrictions(spec: Spec) -> Iterator[Claim]:
    """All restrictions hold together, and each is broken by an example that keeps all others."""
    conditions = {r.id: stated(spec.signature, r, Kind.DECLARED) for r in spec.restrictions}
    texts = {id_: f"_{id_}" for id_ in conditions}
    given = {"ids": Listed(texts), "every": Listed(texts.values()), **conditions}
    example = values(declared_example(spec), Kind.DECLARED)
    yield from expanded(spec, None, "all restrictions", example=example, **given)
    for r in spec.restrictions:
        broken = broken_example(spec, r)
        changed = values({name: broken[name] for name in r.broken_alone_by}, Kind.DECLARED)
        kept = [text for id_, text in texts.items() if id_ != r.id]
        given["every"] = Listed((f"not _{r.id}", *kept))
        yield from expanded(spec, None, "one restriction", r, broken=changed, **given)


def _words_of_restrictions(spec: Spec) -> Iterator[Claim]:
    """Each word, such as `is_scalar`, has the meaning of the hand-written one at tensors of every kind."""
    tensors = values({f"t{i}": tensor for i, tensor in enumerate(_DECLARED)}, Kind.DECLARED)
    every = [(i,) for i in range(len(_DECLARED))]
    scalars = [i for i, tensor in enumerate(_DECLARED) if tensor is None or tensor.dims == ()]
    users: dict[str, dict[str, None]] = defaultdict(
        dict
    )  # the restrictions that use a word, once each
    for r in spec.restrictions:
        for part in subtrees(r.holds):
            if isinstance(part, Call):
                users[part.function][r.id] = None
    for word, holds in DECLARED_WORDS.items():
        places = product(scalars, repeat=2) if word == "same_type" else every
        agree = []
        for indices in places:
            text = f"{word}({', '.join(f'_t{i}' for i in indices)})"
            is_true = holds(*(_DECLARED[i] for i in indices))
            agree.append(text if is_true else f"not {text}")
        used_by = Listed(users[word])
        yield from expanded(
            spec, None, "words", id=word, of=used_by, agree=Listed(agree), **tensors
        )
    yield from expanded(spec, None, "shape of a scalar", of=Listed(users["is_scalar"]))
