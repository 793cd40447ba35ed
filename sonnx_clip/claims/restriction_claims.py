"""What is claimed of the restrictions: equivalent to the hand-written ones, consistent, and independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import all_of, call, negation, operator_of, value
from sonnx_clip.language.tree import Call, Kind
from sonnx_clip.language.walk import subtrees
from sonnx_clip.spec.evaluate import DECLARED_WORDS
from sonnx_clip.spec.tensors import DeclaredTensor, broken_example, declared_example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Restriction

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
