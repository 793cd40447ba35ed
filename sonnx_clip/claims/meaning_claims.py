"""Claims on single elements, tensors and restrictions: sections of claims.yaml, expanded for each entry."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import free_names, number_nodes, stated, values, variable_nodes
from sonnx_clip.claims.templates import Listed, claim_templates, expanded
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
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.spec.entries import Latitude, Property


# --- Single elements ----------------------------------------------------------------------------------------


def format_claims(spec: Spec, etype: ElementType, about: str = "encoding") -> Iterator[Claim]:
    """The symbols of an element type mean what its bits say; and how floats are clipped as integers."""
    section = f"{about} of {etype.family}"
    if section not in claim_templates():  # of reals, say, which have no bits
        return
    # A claim about a definition is made where the operator has it.
    placeholders: dict[str, Any] = {definition.id: True for definition in spec.definitions}
    layout = etype.bits
    if isinstance(layout, FloatBits):
        sign = sign_bit(layout)
        plus_infinity = infinity(layout)
        patterns = {
            "zero": 0,
            "minus_zero": sign,
            "normal": 1 << (layout.significand - 1),
            "magnitude": sign - 1,
            "infinity": plus_infinity,
            "minus_infinity": sign | plus_infinity,
            "n": plus_infinity + 1,  # the first NaN
        }
        placeholders |= values(patterns)
    yield from expanded(spec, etype, section, etype, **placeholders)


def _parts(ids: list[str]) -> dict[str, Any]:
    """The ids of cases or classes, and that no two of them hold."""
    # Empty for a single id: claims.yaml then leaves out the claim that no two of them hold.
    pairs = [f"not ({a} and {b})" for a, b in combinations(ids, 2)]
    return {"ids": Listed(ids), "no_two_of": Listed(pairs)}


def cases_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and are the hand-written Clip."""
    call = f"{spec.signature.function}({', '.join(spec.signature.ids)})"
    results = []
    for case in spec.giving_cases(etype.family):
        same_result = f"identical({call}, {case.result_text})"
        results.append(f"({case.id} implies {same_result})")
    parts = _parts([case.id for case in spec.cases])
    yield from expanded(
        spec,
        etype,
        "cases",
        **parts,
        results=Listed(results),
        by_hand=has_written_theory(spec),
    )
    for case in spec.cases:
        if etype.family in case.not_for:
            # The file gives a reason why the family lacks the case; the claim proves it.
            reason = case.not_for[etype.family]
            yield from expanded(spec, etype, "empty", case, reason=reason)
        else:
            yield from expanded(spec, etype, "inhabited", case)


def classes_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes partition each case, and each is inhabited."""
    for case in spec.cases:
        if etype.family in case.not_for:
            continue  # an empty case has no classes
        classes = spec.classes_of(etype.family, case.id)
        parts = _parts([klass.id for klass in classes])
        yield from expanded(spec, etype, "classes", case, **parts)
        for klass in classes:
            yield from expanded(spec, etype, "inhabited", klass)


def properties_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property holds; or is refuted at its witness, and holds exactly under its condition."""
    for p in spec.properties:
        if etype.family not in p.families:
            continue
        met_at = None
        if etype.family in p.refuted_for:
            # A condition that no numbers meet would make "holds where …" vacuous.
            met_at = _numbers_that_meet(spec, etype, p)
        yield from expanded(spec, etype, "properties", p, met_at=met_at)


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, Expr]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    evaluate = evaluator(spec, etype)
    condition = p.repaired[etype.family]
    first_operand = spec.signature.ids[0]
    second_entry = spec.signature.second
    for c in reversed(spec.classes_of(etype.family)):
        texts = c.inhabited_by.texts()
        # A condition on two entries of X is tried at two equal ones.
        texts[second_entry] = texts[first_operand]
        witness = {name: encode(text, etype) for name, text in texts.items()}
        if evaluate(condition, witness):
            return number_nodes(texts)
    message = f"the condition of {p.id} may be empty for {etype.family}: it holds for no example of a class"
    raise UserError(message, spec.file, "weaken the condition")


def _latitude(spec: Spec, etype: ElementType) -> tuple[Latitude, ...]:
    """The latitude that a type has: it is about zeros and NaNs, which floats alone have several of."""
    return spec.latitude if etype.family == "float" else ()


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    for entry in _latitude(spec, etype):
        yield from expanded(spec, etype, "latitude", entry)


def latitude_and_readings_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Latitude accepts what some reading answers, and all that these readings answer within its limits."""
    entries = _latitude(spec, etype)
    operands = ", ".join(spec.signature.ids)
    for entry in entries:
        answers = []
        for id_ in entry.given_by:
            predicate = spec.reading(id_).predicate
            answers.append(f"{predicate}({operands}, A)")  # A: what the runtime answers
        yield from expanded(spec, etype, "latitude and readings", entry, answers=Listed(answers))

    # The other way round, each reading is held against all entries at once: one of them has to accept.
    conditions: dict[str, Expr] = {}
    granted: list[str] = []
    # By numbers: ids of latitudes have hyphens, which no placeholder may have.
    for i, entry in enumerate(entries):
        conditions[f"when{i}"] = entry.when
        conditions[f"accepts{i}"] = entry.accepts
        granted.append(f"group(group(_when{i}) and group(_accepts{i}))")

    named_readings: set[str] = set()
    for entry in entries:
        named_readings.update(entry.given_by)
    ids = Listed(entry.id for entry in entries)
    for reading in spec.readings:
        if reading.id not in named_readings:
            continue
        yield from expanded(
            spec,
            etype,
            "readings and latitude",
            reading,
            **conditions,
            granted=Listed(granted),
            latitude=ids,
        )


def examples_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    signature = spec.signature
    for example in spec.examples:
        if example.family != etype.family or etype.id in example.not_representable_in:
            continue
        entries: list[str] = []
        texts: dict[str, str] = {}
        for row, operands in enumerate(example.given):
            arguments: list[str] = []
            for name, text in zip(signature.ids, operands, strict=True):
                # Tensors have an entry in each row; scalars are the witness of the whole claim.
                arguments.append(f"_{name}{row}" if name in signature.tensors else name)
                texts[f"{name}{row}"] = text
            texts[f"Y{row}"] = example.Y[row]
            call = f"{signature.function}({', '.join(arguments)})"
            entries.append(f"identical({call}, _Y{row})")
        scalars = {name: getattr(example, name) for name in signature.scalars}
        yield from expanded(
            spec,
            etype,
            "examples",
            example,
            entries=Listed(entries),
            scalars=number_nodes(scalars),
            **number_nodes(texts),
        )


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
    result = signature.result.id
    for c in spec.constraints:
        if etype.family not in c.families:
            continue
        if c.id not in ("C1", "C2", "C3"):  # those of why3/tensor.mlw
            raise UserError(
                f"the constraint {c.id} has no hand-written counterpart",
                "spec/clip.yaml",
                "add it to why3/tensor.mlw and to the claims on tensors",
            )
        used = free_names(c.holds)  # the hand-written constraint has no other variables
        names_used = [name for name in signature.all_ids if name in used]
        tensors = variable_nodes(names_used, Kind.TENSOR)
        # What a precondition says of the operands is a premise of what it says of the result.
        before = conjuncts(c.holds) if "precondition" in c.role.split() else []
        of_operands = [part for part in before if result not in free_names(part)]
        yield from expanded(
            spec,
            etype,
            "constraints",
            c,
            listed=listed(signature.ids),
            sonnx=etype.sonnx,
            stated=stated(signature, c, Kind.TENSOR),
            by_hand=Use(c.id.lower(), tensors, Kind.BOOL),
            before=tuple(of_operands),
            **{c.id: True},
        )


def refuted_constraints_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are false, each with its counterexample."""
    for c in spec.constraints:
        if etype.family not in c.refuted_for:
            continue
        texts = c.refuted_for[etype.family].texts()
        operands = [encode(text, etype) for text in texts.values()]
        entry = evaluator(spec, etype).result(*operands)
        # Tensors that the theory declares, with the operands of the witness as their only entries.
        refuting = [f"refuting_{name.lower()}" for name in texts]
        yield from expanded(
            spec,
            etype,
            "refuted constraints",
            c,
            refuting=" ".join(refuting),
            **values({"entry": entry}),
        )


# --- The restrictions: equivalent to the hand-written ones, consistent, and independent ---------------------

# What a model may declare: one tensor of each kind that a restriction distinguishes from the others.
_DIMENSIONS = (
    None,
    (),
    (1,),
    (7,),
    (0,),
    (2, 3),
    ("N",),
    (2, "N"),
    ("N", 5),
    (-1,),
    (2, -1),
)
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
    ids = Listed(conditions)
    yield from expanded(
        spec,
        None,
        "all restrictions",
        example=values(declared_example(spec), Kind.DECLARED),
        ids=ids,
        every=Listed(f"_{id_}" for id_ in ids),
        **conditions,
    )
    for r in spec.restrictions:
        broken_node = broken_example(spec, r)
        changed = {name: broken_node[name] for name in r.broken_alone_by}
        kept = [f"_{id_}" for id_ in ids if id_ != r.id]
        yield from expanded(
            spec,
            None,
            "one restriction",
            r,
            broken=values(changed, Kind.DECLARED),
            ids=ids,
            every=Listed((f"not _{r.id}", *kept)),
            **conditions,
        )


def _words_of_restrictions(spec: Spec) -> Iterator[Claim]:
    """Each word, such as `is_scalar`, has the meaning of the hand-written one at tensors of every kind."""
    tensors = {f"t{i}": tensor for i, tensor in enumerate(_DECLARED)}
    single = [(name,) for name in tensors]
    # `same_type` depends on the types alone: pairs of scalars are enough.
    scalars = [name for name, tensor in tensors.items() if tensor is None or tensor.dims == ()]
    users = _restrictions_by_word(spec)
    for word, holds in DECLARED_WORDS.items():
        choices = product(scalars, repeat=2) if word == "same_type" else single
        agree: list[str] = []
        for names_of_tensors in choices:
            arguments = [tensors[name] for name in names_of_tensors]
            placeholders = ", ".join(f"_{name}" for name in names_of_tensors)
            text = f"{word}({placeholders})"
            # What the evaluator says of these tensors, the hand-written word has to say as well.
            agree.append(text if holds(*arguments) else f"not {text}")
        yield from expanded(
            spec,
            None,
            "words",
            id=word,
            of=Listed(users[word]),
            agree=Listed(agree),
            **values(tensors, Kind.DECLARED),
        )
    yield from expanded(spec, None, "shape of a scalar", of=Listed(users["is_scalar"]))


def _restrictions_by_word(spec: Spec) -> Mapping[str, Mapping[str, None]]:
    """The ids of the restrictions that use a word, once each, in the order of the specification."""
    users: dict[str, dict[str, None]] = defaultdict(dict)
    for r in spec.restrictions:
        for part in subtrees(r.holds):
            if isinstance(part, Call):
                users[part.function][r.id] = None
    return users
