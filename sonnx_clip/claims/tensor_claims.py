"""What is claimed of tensors in one element type: the constraints, of any shape, what refutes them; and the
restrictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim, Written
from sonnx_clip.claims.nodes import (
    STATED,
    all_of,
    call,
    free_names,
    group,
    iff,
    let,
    negation,
    numbers,
    operator_of,
    tensor,
    use,
    value,
)
from sonnx_clip.claims.written_claims import STEPS, WRITTEN_CONSTRAINTS, WRITTEN_ON_TENSORS
from sonnx_clip.language.tree import Call, Kind, conjuncts, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec import Spec, result_value
from sonnx_clip.spec.evaluate import DECLARED_WORDS, DeclaredTensor, broken_example, declared_example

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.entries import Constraint, Restriction


def constraint_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints on tensors of any shape, and their equivalence with the hand-written ones."""
    variables = spec.head.all
    for c in spec.constraints:
        if etype.family not in c.families:
            continue
        if c.id not in WRITTEN_CONSTRAINTS:
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors")
        yield Claim(
            etype.id, named.written(c.id), "written", "equivalence", (c.id,),
            f"the {c.id} of the YAML is the hand-written one",
            iff(operator_of(spec).stated(c, Kind.TENSOR), use(c.id.lower(), *_spoken_of(c, variables))),
            binders=(Binder(variables, Kind.TENSOR),),
        )  # fmt: skip
        yield from _constraint(spec, etype, c)


def of_tensors(spec: Spec, body: Expr) -> Expr:
    """A condition on the result as one on that of the operator on tensors."""
    result = call(WRITTEN_ON_TENSORS, *map(tensor, spec.head.operands), kind=Kind.TENSOR)
    return let(spec.head.result, result, body)


def all_tensors(spec: Spec) -> Binder:
    """All values of the operands, as tensors."""
    return Binder(spec.head.operands, Kind.TENSOR)


def _spoken_of(c: Constraint, variables: Sequence[str]) -> Iterator[Expr]:
    """The variables that a constraint speaks of: the hand-written one has no others."""
    spoken_of = free_names(c.holds)
    return (tensor(name) for name in variables if name in spoken_of)


def _constraint(spec: Spec, etype: ElementType, c: Constraint) -> Iterator[Claim]:
    stated = operator_of(spec).stated(c, Kind.TENSOR)
    every = (all_tensors(spec),)
    if etype.family in c.refuted_for:
        yield from _steps(etype)
        condition = group(c.repaired[etype.family])
        yield Claim(
            etype.id, named.repaired(c.id), "repaired", "theorem", (c.id,), f"under its condition: {c.title}",
            of_tensors(spec, stated), premises=(condition,), binders=every,
        )  # fmt: skip
        yield Claim(
            etype.id, named.nowhere_else(named.repaired(c.id)), "nowhere else", "theorem", (c.id,),
            f"false outside its condition: {c.title}",
            of_tensors(spec, negation(stated)), premises=(negation(condition),), binders=every,
        )  # fmt: skip
        return
    if c.id == "C2":
        yield from _steps(etype)
    is_precondition = "precondition" in c.role.split()
    result = spec.head.result
    before = [part for part in conjuncts(c.holds) if is_precondition and result not in free_names(part)]
    yield Claim(
        etype.id, c.id, "holds", "theorem", (c.id,), c.title,
        of_tensors(spec, stated), premises=tuple(before), binders=every,
    )  # fmt: skip
    if c.id == "C3":
        yield Claim(
            etype.id, "C3_of_the_entries", "holds", "theorem", (c.id,),
            f"where the tags of {listed(spec.head.operands)} say {etype.sonnx}, as their entries are, "
            f"that of {result} does",
            of_tensors(spec, all_of(stated, call("typed", tensor(result)))),
            premises=tuple(call("typed", tensor(name)) for name in spec.head.operands), binders=every,
        )  # fmt: skip


def _steps(etype: ElementType) -> Iterator[Claim]:
    for name, title, text in STEPS:
        yield Claim(etype.id, name, "step", "theorem", ("C2",), title, Written(text))


def refutation_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are not so."""
    for c in spec.constraints:
        if etype.family not in c.refuted_for:
            continue
        witness = c.refuted_for[etype.family]
        texts, y = witness.texts(), spec.head.result.lower()
        operands = " ".join(f"refuting_{name.lower()}" for name in texts)
        entry = result_value(spec, etype, *(encode(text, etype) for text in texts.values()))
        yield Claim(
            etype.id, f"{c.id}_refuting_entry", "step", "theorem", (c.id,),
            f"the entry that refutes: {c.title}",
            Written(
                f"({WRITTEN_ON_TENSORS} {operands}).entry (At 0 Origin) = {{entry}}",
                {"entry": value(entry)},
            ),
            witness=numbers(texts),
        )  # fmt: skip
        yield Claim(
            etype.id, named.refuted(c.id), "refuted", "refutation", (c.id,), f"refuted: {c.title}",
            Written(
                f"let {y} = {WRITTEN_ON_TENSORS} {operands} in not {STATED}{c.id} {operands} {y}",
            ),
            witness=numbers(texts),
        )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------
# What is claimed of the restrictions: equivalent to the hand-written ones, consistent, and independent


SUBJECT = "restrictions"
# What a model may declare: one tensor of each kind that a restriction tells from the others.
_DECLARED: tuple[DeclaredTensor | None, ...] = (
    None,
    *(
        DeclaredTensor("float32", dims)
        for dims in (None, (), (1,), (7,), (0,), (2, 3), ("N",), (2, "N"), ("N", 5), (-1,), (2, -1))
    ),
    DeclaredTensor("float64", ()),
    DeclaredTensor("float32", (), sparse=True),
)


def restriction_claims(spec: Spec) -> Iterator[Claim]:
    """All that is claimed of the restrictions."""
    if not spec.restrictions:
        return
    stated = {r.id: operator_of(spec).stated(r, Kind.DECLARED) for r in spec.restrictions}
    fields = " ".join(f"n.{name.lower()}" for name in spec.head.all)
    for r in spec.restrictions:
        yield Claim(
            SUBJECT, named.written(r.id), "written", "equivalence", (r.id,),
            f"the {r.id} of the YAML is the hand-written one",
            Written(f"forall n: node. stated_{r.id} {fields} <-> {r.id.lower()} n"),
        )  # fmt: skip
    yield Claim(
        SUBJECT, "consistent", "consistent", "theorem", tuple(r.id for r in spec.restrictions),
        "one node meets every restriction", all_of(*stated.values()),
        witness={name: value(of, Kind.DECLARED) for name, of in declared_example(spec).items()},
    )  # fmt: skip
    for r in spec.restrictions:
        broken = broken_example(spec, r)
        others = (holds for id_, holds in stated.items() if id_ != r.id)
        yield Claim(
            SUBJECT, f"{r.id}_independent", "independent", "theorem", (r.id,),
            f"a node breaks {r.id} and nothing else", all_of(negation(stated[r.id]), *others),
            witness={name: value(broken[name], Kind.DECLARED) for name in r.broken_alone_by},
        )  # fmt: skip
    yield from _same_words(spec)


def _same_words(spec: Spec) -> Iterator[Claim]:
    """The words that restrictions are stated in mean the same to the provers and to the evaluator."""
    every = [(value(tensor, Kind.DECLARED), tensor) for tensor in _DECLARED]
    for word, holds in DECLARED_WORDS.items():
        if word == "same_type":
            short = [row for row in every if row[1] is None or row[1].dims == ()]
            told = [(call(word, a, b), holds(t, u)) for a, t in short for b, u in short]
        else:
            told = [(call(word, a), holds(t)) for a, t in every]
        yield Claim(
            SUBJECT, f"{word}_is_stated", "worded", "equivalence", speaking(spec, word),
            f"{word} of the YAML is the hand-written one, on tensors of every kind",
            all_of(*(said if true else negation(said) for said, true in told)),
        )  # fmt: skip
    yield Claim(
        SUBJECT, "scalar_means_the_empty_shape", "worded", "equivalence", speaking(spec, "is_scalar"),
        "of the declared shapes the empty one alone is that of a scalar",
        Written("forall t: description, s: dims. t.dims = Dims s -> (is_scalar (Present t) <-> s = NoMore)"),
    )  # fmt: skip


def speaking(spec: Spec, word: str) -> tuple[str, ...]:
    """The ids of the restrictions that are stated in a word."""
    return tuple(r.id for r in spec.restrictions if _speaks(r, word))


def _speaks(restriction: Restriction, word: str) -> bool:
    return any(isinstance(part, Call) and part.function == word for part in subtrees(restriction.holds))
