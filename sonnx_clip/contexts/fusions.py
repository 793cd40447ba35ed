"""Where a known rewrite would be wrong in a model: the static half of `check --model`.

Each Clip is looked at with its producer and its one consumer, if these are operators of spec/ with constant
operands. The rewrites of spec/rewrites.yaml that fit are decided for the constants of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import helper

from sonnx_clip.contexts.explain import unified
from sonnx_clip.contexts.model_graph import ModelGraph, name_of
from sonnx_clip.rewrites.critical_points import difference
from sonnx_clip.rewrites.decide import Differs, shown_difference
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.rewrites.terms import meaning, operators, read_term
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.rewrites.rewrite import Rewrite

_LETTERS = "ABCDEFGH"
_COMMUTATIVE = ("Max", "Min")


class IllegalRewrite(Stored):
    """A rewrite that would change values of a model.

    Args:
        node: the name of the Clip.
        nodes: the operators with their constants: ``Relu, Clip(nan, 1)``.
        rewrite: the id in spec/rewrites.yaml.
        after: what it puts in their place.
        type: the element type.
        differs: an X, and both results.
        seen: who makes it.
    """

    node: str
    nodes: str
    rewrite: str
    after: str
    type: str
    differs: Differs
    seen: tuple[str, ...]


@dataclass(frozen=True)
class _Nodes:
    """Nodes in a row, as a term with its constants."""

    text: str
    constants: Mapping[str, Array]
    shown: str
    etype: str


def illegal_rewrites(model: onnx.ModelProto) -> Iterator[IllegalRewrite]:
    """The rewrites of spec/rewrites.yaml that are in use and would be wrong in the graph of a model."""
    graph = ModelGraph(model)
    in_use = [rewrite for rewrite in known_rewrites() if rewrite.entry.seen]
    for place in graph.clips():
        name = name_of(graph.nodes[place])
        for nodes in _rows_around(graph, place):
            term = read_term(nodes.text, name)
            for rewrite in in_use:
                differs = _decided(rewrite, term, nodes)
                if differs is not None:
                    yield IllegalRewrite(
                        node=name,
                        nodes=nodes.shown,
                        rewrite=rewrite.id,
                        after=rewrite.entry.after,
                        type=nodes.etype,
                        differs=differs,
                        seen=tuple(map(str, rewrite.entry.seen)),
                    )


def _decided(rewrite: Rewrite, term: Expr, nodes: _Nodes) -> Differs | None:
    """An X for which a rewrite is wrong for these nodes; None if it is right, or about others."""
    family = operators()["clip"].element_type(nodes.etype).family
    types = [known.id for known in rewrite.element_types(family)]
    if nodes.etype not in types or not rewrite.fits(family):
        return None
    constants = unified(rewrite.before, term, nodes.constants, nodes.etype)
    if constants is None:
        return None
    in_type = meaning(nodes.etype)
    values = {name: int(value.view(bits_type(nodes.etype))) for name, value in constants.items()}
    found = difference(in_type, rewrite.before, rewrite.after, values, "value")
    return None if found is None else shown_difference(found, in_type)


# --- Nodes in a row, as terms -------------------------------------------------------------------------------


def _rows_around(graph: ModelGraph, clip: int) -> Iterator[_Nodes]:
    """A Clip alone, behind its producer, before its reader, and between both.

    A neighbour counts only if nothing else reads what is between: an optimiser could not remove it.
    """
    node = graph.nodes[clip]
    before = graph.producer(node.input[0])
    if graph.only_reader(node.input[0]) is None:
        before = None
    after = graph.only_reader(node.output[0])
    rows: list[list[int | None]] = [[clip], [before, clip], [clip, after], [before, clip, after]]
    for row in rows:
        nodes = [graph.nodes[place] for place in row if place is not None]
        term = _as_term(graph, nodes) if len(nodes) == len(row) else None
        if term is not None:
            yield term


def _as_term(graph: ModelGraph, nodes: Sequence[onnx.NodeProto]) -> _Nodes | None:
    """Nodes in a row as a term; None if one is no operator of spec/, or reads two values."""
    functions = {spec.operator: function for function, spec in operators().items()}
    text = "X"
    constants: dict[str, Array] = {}
    shown: list[str] = []
    for node in nodes:
        operands = _constant_operands(graph, node)
        if operands is None or node.op_type not in functions:
            return None
        letters = _LETTERS[len(constants) : len(constants) + len(operands)]
        constants |= dict(zip(letters, operands, strict=True))
        text = f"{functions[node.op_type]}({', '.join([text, *letters])})"
        values = ", ".join(f"{value:g}" for value in operands)
        shown.append(f"{node.op_type}({values})" if operands else node.op_type)
    types = {value.dtype.name for value in constants.values()}
    if not types:
        types = {_element_type(graph, nodes[0].input[0])}
    known_types = {known.id for known in operators()["clip"].element_types}
    if len(types) != 1 or not types <= known_types:
        return None
    return _Nodes(text, constants, ", ".join(shown), types.pop())


def _constant_operands(graph: ModelGraph, node: onnx.NodeProto) -> list[Array] | None:
    """The scalar constants beside the one value that a node reads; None if it has others."""
    if graph.is_constant(node.input[0]) and node.op_type not in _COMMUTATIVE:
        return None
    if node.op_type == "Clip":
        bounds = graph.bounds(node)
        scalars = [bound for bound in bounds if bound is not None]
        return scalars if len(scalars) == len(bounds) else None
    if node.op_type not in _COMMUTATIVE:
        return [] if len(node.input) == 1 else None
    values = [graph.constant(name) for name in node.input]
    scalars = [value.reshape(()) for value in values if value is not None and value.size == 1]
    return scalars if len(node.input) == 2 and len(scalars) == 1 else None


def _element_type(graph: ModelGraph, name: str) -> str:
    """The declared element type of a value; empty if there is none."""
    declared = graph.declared.get(name)
    if declared is None or not declared.type.tensor_type.elem_type:
        return ""
    return str(helper.tensor_dtype_to_np_dtype(declared.type.tensor_type.elem_type).name)
