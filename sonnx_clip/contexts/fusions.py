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
from sonnx_clip.rewrites.terms import meaning, operators, read_term, type_of_clip
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
    rows: dict[tuple[int, ...], str] = {}
    for clip in graph.clips():
        name = name_of(graph.nodes[clip])
        for row in _rows_around(graph, clip):
            rows.setdefault(row, name)  # two Clips in a row have the same rows
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
    family = type_of_clip(etype).family
    types = [known.id for known in rewrite.element_types(family)]
    if etype not in types or not rewrite.fits(family):
        return None
    constants = unified(rewrite.before, term, nodes.constants, etype)
    if constants is None:
        return None
    patterns: dict[str, int] = {}
    for name, value in constants.items():
        patterns[name] = int(value.view(bits_type(etype)))
    in_type = meaning(etype)
    found = difference(in_type, rewrite.before, rewrite.after, patterns, "value")
    if found is None:
        return None
    return shown_difference(found, in_type)


# --- Nodes in a row, as terms -------------------------------------------------------------------------------


def _rows_around(graph: ModelGraph, clip: int) -> Iterator[tuple[int, ...]]:
    """The places of a Clip alone, behind its producer, before its reader, and between both.

    A neighbour counts only if nothing else reads what is between: an optimiser could not remove it.
    """
    node = graph.nodes[clip]
    before = graph.producer(node.input[0])
    if graph.only_reader(node.input[0]) is None:
        before = None
    after = graph.only_reader(node.output[0])
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
    text = "X"
    constants: dict[str, Array] = {}
    shown: list[str] = []
    for node in nodes:
        operands = _constant_operands(graph, node)
        if operands is None or node.op_type not in functions:
            return None
        begin = len(constants)
        letters = _LETTERS[begin : begin + len(operands)]
        constants.update(zip(letters, operands, strict=True))
        arguments = ", ".join([text, *letters])
        text = f"{functions[node.op_type]}({arguments})"
        values = ", ".join(f"{value:g}" for value in operands)
        shown.append(f"{node.op_type}({values})" if operands else node.op_type)
    etype = _common_type(graph, nodes[0].input[0], constants)
    if etype is None:
        return None
    return _Nodes(text, constants, ", ".join(shown), etype)


def _common_type(graph: ModelGraph, x: str, constants: Mapping[str, Array]) -> str | None:
    """The element type of constants, or else of X; None if there are several, or Clip has none of it."""
    types = {value.dtype.name for value in constants.values()}
    if not types:
        types = {_element_type(graph, x)}
    known_types = {known.id for known in operators()["clip"].element_types}
    if len(types) != 1 or not types <= known_types:
        return None
    return str(types.pop())


def _constant_operands(graph: ModelGraph, node: onnx.NodeProto) -> list[Array] | None:
    """The scalar constants beside the one value that a node reads; None if it has others."""
    is_commutative = node.op_type in _COMMUTATIVE
    if graph.is_constant(node.input[0]) and not is_commutative:
        return None
    if node.op_type == "Clip":
        low, high = graph.bounds(node)
        return None if low is None or high is None else [low, high]
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
    return str(helper.tensor_dtype_to_np_dtype(code).name) if code else ""
