"""Claims on tensors in one element type: the constraints, of any shape, and what refutes them; and claims
on the restrictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.claims.nodes import all_of, call, free_names, negation, stated, tensor, use, value
from sonnx_clip.claims.templates import expanded
from sonnx_clip.language.tree import Call, Kind, conjuncts, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec import Spec, evaluator
from sonnx_clip.spec.evaluate import DECLARED_WORDS, DeclaredTensor, broken_example, declared_example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType

SUBJECT = "restrictions"
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
        yield from expanded(
            spec, etype, "constraints", c, y=head.result, listed=listed(head.operands), sonnx=etype.sonnx,
            stated=stated(head, c, Kind.TENSOR), **{c.id: True},
            by_hand=use(c.id.lower(), *(tensor(name) for name in head.all if name in used)),
            before=tuple(part for part in before if head.result not in free_names(part)),
        )  # fmt: skip


def refutation_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are not so."""
    for c in spec.constraints:
        if etype.family in c.refuted_for:
            texts = c.refuted_for[etype.family].texts()
            entry = evaluator(spec, etype).result(*(encode(text, etype) for text in texts.values()))
            refuting = " ".join(f"refuting_{name.lower()}" for name in texts)
            yield from expanded(spec, etype, "refuted constraints", c, refuting=refuting, entry=value(entry))


# --- The restrictions: equivalent to the hand-written ones, consistent, and independent ---------------------

# What a model may declare: one tensor of each kind that a restriction tells from the others.
_DIMENSIONS = (None, (), (1,), (7,), (0,), (2, 3), ("N",), (2, "N"), ("N", 5), (-1,), (2, -1))
_DECLARED: tuple[DeclaredTensor | None, ...] = (
    None,
    *(DeclaredTensor("float32", dims) for dims in _DIMENSIONS),
    DeclaredTensor("float64", ()),
    DeclaredTensor("float32", (), sparse=True),
)


def restriction_claims(spec: Spec) -> Iterator[Claim]:
    """All that is claimed of the restrictions."""
    if spec.operator not in WRITTEN or not spec.restrictions:
        return
    conditions = {r.id: stated(spec.head, r, Kind.DECLARED) for r in spec.restrictions}
    fields = " ".join(f"n.{name.lower()}" for name in spec.head.all)
    for id_ in conditions:
        title = f"the {id_} of the YAML is the hand-written one"
        formula = Written((f"forall n: node. stated_{id_} {fields} <-> {id_.lower()} n",))
        yield Claim(SUBJECT, f"{id_}_is_written", "written", "equivalence", (id_,), title, formula)
    example = {name: value(of, Kind.DECLARED) for name, of in declared_example(spec).items()}
    title, holds = "one node meets every restriction", all_of(*conditions.values())
    yield Claim(
        SUBJECT, "consistent", "consistent", "theorem", tuple(conditions), title, holds, witness=example
    )
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
    short = [(a, t) for a, t in every if t is None or t.dims == ()]
    for word, holds in DECLARED_WORDS.items():
        if word == "same_type":
            told = [(call(word, a, b), holds(t, u)) for a, t in short for b, u in short]
        else:
            told = [(call(word, a), holds(t)) for a, t in every]
        title = f"{word} of the YAML is the hand-written one, on tensors of every kind"
        agree = all_of(*(said if true else negation(said) for said, true in told))
        yield _worded(spec, word, f"{word}_is_stated", title, agree)
    formula = "forall t: description, s: dims. t.dims = Dims s -> (is_scalar (Present t) <-> s = NoMore)"
    title = "of the declared shapes the empty one alone is that of a scalar"
    yield _worded(spec, "is_scalar", "scalar_means_the_empty_shape", title, Written((formula,)))


def _worded(spec: Spec, word: str, name: str, title: str, holds: Expr | Written) -> Claim:
    """A claim on a word; it shows the restrictions that are stated in it."""
    shows = (
        r.id
        for r in spec.restrictions
        if any(isinstance(part, Call) and part.function == word for part in subtrees(r.holds))
    )
    return Claim(SUBJECT, name, "worded", "equivalence", tuple(shows), title, holds)
