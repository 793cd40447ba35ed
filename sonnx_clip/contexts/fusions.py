"""Where a known rewrite would be wrong in a model: the static half of `check --model`.

Each Clip is looked at with its producer and its one consumer, if these are operators of spec/ with constant
operands. The rewrites of spec/rewrites.yaml that fit are decided for the constants of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import helper

from sonnx_clip.contexts.context import clip_has_type
from sonnx_clip.contexts.explain import is_about, unified
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
    # A rewrite that nobody makes harms no model.
    in_use = [rewrite for rewrite in known_rewrites() if rewrite.entry.seen]
    # Two Clips in a row have rows in common: each is decided once, under the name of the first.
    rows: dict[tuple[int, ...], str] = {}
    for clip in graph.clips():
        name = name_of(graph.nodes[clip])
        for row in _rows_around(graph, clip):
            rows.setdefault(row, name)
    for row, name in rows.items():
        nodes = _as_term(graph, row)
        if nodes is None:
            continue
        term = read_term(nodes.text, name)
        for rewrite in in_use:
            differs = _decided(rewrite, term, nodes)
            if differs is None:
                continue
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
    etype = nodes.etype
    if not is_about(rewrite, etype):
        return None
    constants = unified(rewrite.before, term, nodes.constants, etype)
    if constants is None:
        return None
    patterns: dict[str, int] = {}
    for name, value in constants.items():
        patterns[name] = int(value.view(bits_type(etype)))
    in_type = meaning(etype)
    # A rewrite that only changes the sign of a zero is not listed: docs/contexts.md promises values.
    counterexample = difference(in_type, rewrite.before, rewrite.after, patterns, "value")
    if counterexample is None:
        return None
    return shown_difference(counterexample, in_type)


# --- Nodes in a row, as terms -------------------------------------------------------------------------------


def _rows_around(graph: ModelGraph, clip: int) -> Iterator[tuple[int, ...]]:
    """The places of a Clip alone, behind its producer, before its reader, and between both.

    A neighbour counts only if nothing else reads what is between: an optimiser could not remove it.
    """
    node = graph.nodes[clip]
    x, y = node.input[0], node.output[0]
    before = graph.producer(x)
    if graph.only_reader(x) is None:
        before = None
    after = graph.only_reader(y)
    # Alone, too: some rewrites are about the bounds of one Clip.
    yield (clip,)
    if before is not None:
        yield before, clip
    if after is not None:
        yield clip, after
    if before is not None and after is not None:
        yield before, clip, after


def _as_term(graph: ModelGraph, row: Sequence[int]) -> _Nodes | None:
    """Nodes in a row as a term; None if one is no operator of spec/, or reads two values."""
    functions = {spec.operator: function for function, spec in operators().items()}
    nodes = [graph.nodes[place] for place in row]
    # The nodes are in the order of the model, so each call has the text so far as its X.
    text = "X"
    constants: dict[str, Array] = {}
    shown: list[str] = []
    for node in nodes:
        operands = _constant_operands(graph, node)
        if operands is None or node.op_type not in functions:
            return None
        # A letter for each constant, even for equal ones: a rewrite compares their values.
        begin = len(constants)
        letters = _LETTERS[begin : begin + len(operands)]
        constants.update(zip(letters, operands, strict=True))
        arguments = ", ".join([text, *letters])
        text = f"{functions[node.op_type]}({arguments})"
        shown.append(_call_text(node, operands))
    etype = _common_type(graph, nodes[0].input[0], constants)
    if etype is None:
        return None
    return _Nodes(text, constants, ", ".join(shown), etype)


def _call_text(node: onnx.NodeProto, operands: Sequence[Array]) -> str:
    """A node with its constants: ``Clip(nan, 1)``, or ``Relu``."""
    if not operands:
        return str(node.op_type)
    values = ", ".join(f"{value:g}" for value in operands)
    return f"{node.op_type}({values})"


def _common_type(graph: ModelGraph, x: str, constants: Mapping[str, Array]) -> str | None:
    """The element type of constants, or else of X; None if there are several, or Clip has none of it."""
    types = {value.dtype.name for value in constants.values()}
    if not types:
        types = {_element_type(graph, x)}
    if len(types) != 1:
        return None
    etype = str(types.pop())
    return etype if clip_has_type(etype) else None


def _constant_operands(graph: ModelGraph, node: onnx.NodeProto) -> list[Array] | None:
    """The scalar constants beside the one value that a node reads; None if it reads other values."""
    is_commutative = node.op_type in _COMMUTATIVE
    # The first input is X of the term, but of Max and Min either may be.
    if graph.is_constant(node.input[0]) and not is_commutative:
        return None
    if node.op_type == "Clip":
        low, high = graph.bounds(node)
        if low is None or high is None:
            return None
        return [low, high]
    if not is_commutative:
        return [] if len(node.input) == 1 else None
    scalars: list[Array] = []
    for name in node.input:
        value = graph.constant(name)
        if value is not None and value.size == 1:
            scalars.append(value.reshape(()))
    has_one_of_each = len(node.input) == 2 and len(scalars) == 1
    return scalars if has_one_of_each else None


def _element_type(graph: ModelGraph, name: str) -> str:
    """The declared element type of a value; empty if there is none."""
    declared = graph.declared.get(name)
    if declared is None:
        return ""
    code = declared.type.tensor_type.elem_type
    if not code:
        return ""
    dtype = helper.tensor_dtype_to_np_dtype(code)
    return str(dtype.name)
