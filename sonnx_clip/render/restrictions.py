"""Renders the restrictions: their equivalence with the hand-written ones, consistency and independence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.render.goal import Goal
from sonnx_clip.render.templating import template
from sonnx_clip.render.theory import declare, header, obligations_of, smoke
from sonnx_clip.render.whyml import Printer
from sonnx_clip.spec.entries import Change, Declaration, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.render.obligation import Obligation
    from sonnx_clip.spec import Spec

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
        changes = "; ".join(
            f"{name.lower()} = {_tensor(spec, name, change)}" for name, change in r.broken_alone_by.items()
        )
        yield Goal(
            f"{r.id}_independent",
            "theorem",
            (r.id,),
            f"a node breaks {r.id} and nothing else",
            f"let n = {{ example with {changes} }} in not stated_{r.id} n.x n.l n.m n.y{others}",
        )


def _example(spec: Spec) -> str:
    """The node that meets every restriction, as a WhyML record with a line a tensor."""
    fields = [f"{name.lower()} = {_tensor(spec, name, None)}" for name in _TENSORS]
    return "{ " + ";\n    ".join(fields) + " }"


def _tensor(spec: Spec, name: Tensor, change: str | Change | None) -> str:
    if change == "absent":
        return "Absent"
    declared: Declaration = getattr(spec.declared_example, name)
    if isinstance(change, Change):
        declared = declared.model_copy(update=change.model_dump(exclude_unset=True))
    tag = spec.element_type(declared.type).why3
    return f"Present {{ element = {tag}; sparse = {declared.sparse}; dims = {_dims(declared)} }}"


def _dims(declared: Declaration) -> str:
    if declared.dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(declared.dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        shown = f"Known {dim}" if isinstance(dim, int) else f"Symbolic {symbols.index(dim)}"
        text = f"And ({shown}) ({text})" if " " in text else f"And ({shown}) {text}"
    return f"Dims ({text})" if " " in text else f"Dims {text}"
