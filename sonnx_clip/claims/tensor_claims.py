"""What is claimed of tensors in one element type: the constraints, of any shape, what refutes them; and the
restrictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import (
    all_of,
    call,
    free_names,
    negation,
    numbers,
    stated,
    tensor,
    use,
    value,
)
from sonnx_clip.claims.templates import expanded
from sonnx_clip.language.tree import Call, Kind, conjuncts, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec import Spec, result_value
from sonnx_clip.spec.evaluate import DECLARED_WORDS, DeclaredTensor, broken_example, declared_example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.entries import Restriction

WRITTEN_CONSTRAINTS = frozenset({"C1", "C2", "C3"})
"""The constraints that why3/tensor.mlw states by hand."""


def constraint_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints on tensors of any shape, and their equivalence with the hand-written ones."""
    head = spec.head
    for c in spec.constraints:
        if etype.family not in c.families:
            continue
        if c.id not in WRITTEN_CONSTRAINTS:
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors")
        used = free_names(c.holds)  # the hand-written constraint has no other variables
        before = conjuncts(c.holds) if "precondition" in c.role.split() else []
        texts = {"id": c.id, "title": c.title, "y": head.result}
        as_stated = stated(head, c, Kind.TENSOR)
        by_hand = use(c.id.lower(), *(tensor(name) for name in head.all if name in used))
        yield from expanded(spec, etype, "constraints", **texts, stated=as_stated, by_hand=by_hand)
        if c.id == "C2" or etype.family in c.refuted_for:
            yield from expanded(spec, etype, "steps", id="C2")
        yield from expanded(
            spec, etype, "proved constraints", **texts, stated=as_stated,
            condition=c.repaired[etype.family] if etype.family in c.refuted_for else None,
            before=tuple(part for part in before if head.result not in free_names(part)),
            typed=tuple(call("typed", tensor(name)) for name in head.operands) if c.id == "C3" else (),
            sonnx=etype.sonnx, listed=listed(head.operands),
        )  # fmt: skip


def refutation_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are not so."""
    for c in spec.constraints:
        if etype.family in c.refuted_for:
            texts = c.refuted_for[etype.family].texts()
            entry = result_value(spec, etype, *(encode(text, etype) for text in texts.values()))
            yield from expanded(
                spec, etype, "refuted constraints", id=c.id, title=c.title, refuted_at=numbers(texts),
                refuting=" ".join(f"refuting_{name.lower()}" for name in texts),
                literals={"entry": value(entry)},
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
    conditions = {r.id: stated(spec.head, r, Kind.DECLARED) for r in spec.restrictions}
    fields = " ".join(f"n.{name.lower()}" for name in spec.head.all)
    for r in spec.restrictions:
        yield Claim(
            SUBJECT, f"{r.id}_is_written", "written", "equivalence", (r.id,),
            f"the {r.id} of the YAML is the hand-written one",
            Written(f"forall n: node. stated_{r.id} {fields} <-> {r.id.lower()} n"),
        )  # fmt: skip
    yield Claim(
        SUBJECT, "consistent", "consistent", "theorem", tuple(r.id for r in spec.restrictions),
        "one node meets every restriction", all_of(*conditions.values()),
        witness={name: value(of, Kind.DECLARED) for name, of in declared_example(spec).items()},
    )  # fmt: skip
    for r in spec.restrictions:
        broken = broken_example(spec, r)
        others = (holds for id_, holds in conditions.items() if id_ != r.id)
        yield Claim(
            SUBJECT, f"{r.id}_independent", "independent", "theorem", (r.id,),
            f"a node breaks {r.id} and nothing else", all_of(negation(conditions[r.id]), *others),
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
