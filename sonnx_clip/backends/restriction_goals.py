"""Renders the restrictions: their equivalence with the hand-written ones, consistency and independence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.whyml_printer import Printer
from sonnx_clip.language.tree import Call
from sonnx_clip.language.walk import subtrees
from sonnx_clip.spec.evaluate import DECLARED_WORDS
from sonnx_clip.spec.tensors import DeclaredTensor, broken_example, declared_example

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Restriction, Tensor

_TENSORS: tuple[Tensor, ...] = ("X", "L", "M", "Y")


def restrictions_theory(spec: Spec, path: str) -> tuple[str, list[Obligation]]:
    """The theory of the restrictions and the obligations that it holds."""
    printer = Printer(None, {"X": "x", "L": "l", "M": "m", "Y": "y"})
    restrictions = [
        declare(f"stated_{r.id}", "x l m y", "declared", printer.show(r.holds), r.statement)
        for r in spec.restrictions
    ]
    goals = list(_profile_goals(spec))
    text = template("restrictions.mlw.j2").render(
        header=header(spec),
        restrictions=restrictions,
        goals=goals,
        example=_example(spec),
    )
    return text, obligations_of("restrictions", path, "Profile", [*goals, smoke("smoke_restrictions")])


def _profile_goals(spec: Spec) -> Iterable[Goal]:
    ids = [r.id for r in spec.restrictions]
    for r in spec.restrictions:
        yield Goal(
            f"{r.id}_is_written",
            "equivalence",
            (r.id,),
            f"the {r.id} of the YAML is the hand-written one",
            f"forall n: node. stated_{r.id} n.x n.l n.m n.y <-> {r.id.lower()} n",
        )
    yield Goal(
        "consistent",
        "theorem",
        tuple(ids),
        "one node meets every restriction",
        "let n = example in " + " /\\ ".join(f"stated_{id_} n.x n.l n.m n.y" for id_ in ids),
    )
    for r in spec.restrictions:
        others = "".join(f" /\\ stated_{id_} n.x n.l n.m n.y" for id_ in ids if id_ != r.id)
        broken = broken_example(spec, r)
        changes = "; ".join(f"{name.lower()} = {_declared(spec, broken[name])}" for name in r.broken_alone_by)
        yield Goal(
            f"{r.id}_independent",
            "theorem",
            (r.id,),
            f"a node breaks {r.id} and nothing else",
            f"let n = {{ example with {changes} }} in not stated_{r.id} n.x n.l n.m n.y{others}",
        )
    yield from _same_words(spec)


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


def _same_words(spec: Spec) -> Iterable[Goal]:
    """The words that restrictions are stated in mean the same to the provers and to the evaluator."""
    of_word = {word: tuple(r.id for r in spec.restrictions if _speaks(r, word)) for word in DECLARED_WORDS}
    shown = [_atom(_declared(spec, tensor)) for tensor in _DECLARED]
    for word, holds in DECLARED_WORDS.items():
        rows = list(zip(shown, _DECLARED, strict=True))
        if word == "same_type":
            short = [row for row in rows if row[1] is None or row[1].dims == ()]
            told = [(f"{word} {a} {b}", holds(t, u)) for a, t in short for b, u in short]
        else:
            told = [(f"{word} {a}", holds(t)) for a, t in rows]
        yield Goal(
            f"{word}_is_stated",
            "equivalence",
            of_word[word],
            f"{word} of the YAML is the hand-written one, on tensors of every kind",
            " /\\ ".join(said if true else f"not {said}" for said, true in told),
        )

    yield Goal(
        "scalar_means_the_empty_shape",
        "equivalence",
        of_word["is_scalar"],
        "of the declared shapes the empty one alone is that of a scalar",
        "forall t: description, s: dims. t.dims = Dims s -> (is_scalar (Present t) <-> s = NoMore)",
    )


def _speaks(restriction: Restriction, word: str) -> bool:
    return any(isinstance(part, Call) and part.function == word for part in subtrees(restriction.holds))


def _example(spec: Spec) -> str:
    """The node that meets every restriction, as a WhyML record with a line a tensor."""
    example = declared_example(spec)
    fields = [f"{name.lower()} = {_declared(spec, example[name])}" for name in _TENSORS]
    return "{ " + ";\n    ".join(fields) + " }"


def _declared(spec: Spec, tensor: DeclaredTensor | None) -> str:
    if tensor is None:
        return "Absent"
    tag = spec.element_type(tensor.type).why3
    return f"Present {{ element = {tag}; sparse = {tensor.sparse}; dims = {_dims(tensor.dims)} }}"


def _atom(text: str) -> str:
    return f"({text})" if " " in text else text


def _dims(dims: tuple[int | str, ...] | None) -> str:
    if dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        if isinstance(dim, str):
            shown = f"Symbolic {symbols.index(dim)}"
        else:
            shown = f"Known {dim}" if dim >= 0 else f"Known ({dim})"
        text = f"And ({shown}) {_atom(text)}"
    return f"Dims {_atom(text)}"
