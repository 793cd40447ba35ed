"""Where a known rewrite would be wrong in a model: the static half of `check --model`.

Each Clip is looked at with its producer and its one consumer, if these are operators of spec/ with constant
operands. The rewrites of spec/rewrites.yaml that fit are decided for the constants of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from onnx import helper, numpy_helper

from sonnx_clip.contexts.explain import unified
from sonnx_clip.rewrites.critical_points import difference
from sonnx_clip.rewrites.decide import Differs, shown_difference
from sonnx_clip.rewrites.model import known_rewrites
from sonnx_clip.rewrites.terms import meaning, operators, read_term
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.rewrites.model import Rewrite

_LETTERS = "ABCDEFGH"


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
    graph = _Constants(model)
    in_use = [rewrite for rewrite in known_rewrites() if rewrite.entry.seen]
    for node in model.graph.node:
        if node.op_type != "Clip" or node.domain not in ("", "ai.onnx"):
            continue
        name = node.name or f"Clip that gives {node.output[0]}"
        for nodes in graph.around(node):
            term = read_term(nodes.text, name)
            for rewrite in in_use:
                found = _decided(rewrite, term, nodes)
                if found is not None:
                    yield IllegalRewrite(
                        node=name,
                        nodes=nodes.shown,
                        rewrite=rewrite.id,
                        after=rewrite.entry.after,
                        type=nodes.etype,
                        differs=found,
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


class _Constants:
    """The constants of a graph, and who reads and gives a value."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._values = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        self._producer: dict[str, onnx.NodeProto] = {}
        self._readers: dict[str, list[onnx.NodeProto]] = {}
        self._types = _element_types(model)
        for node in model.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self._values[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            for name in node.output:
                self._producer[name] = node
            for name in node.input:
                self._readers.setdefault(name, []).append(node)

    def around(self, clip: onnx.NodeProto) -> Iterator[_Nodes]:
        """A Clip alone, with its producer, with its only reader, and with both."""
        before = self._producer.get(clip.input[0])
        readers = self._readers.get(clip.output[0], [])
        after = readers[0] if len(readers) == 1 else None
        chains: list[Sequence[onnx.NodeProto | None]] = [
            [clip],
            [before, clip],
            [clip, after],
            [before, clip, after],
        ]
        for chain in chains:
            nodes = [node for node in chain if node is not None]
            found = self._as_term(nodes) if len(nodes) == len(chain) else None
            if found is not None:
                yield found

    def _as_term(self, nodes: Sequence[onnx.NodeProto]) -> _Nodes | None:
        """Nodes in a row as a term; None if one is no operator of spec/, or reads two values."""
        by_operator = {spec.operator: function for function, spec in operators().items()}
        text = "X"
        constants: dict[str, Array] = {}
        shown: list[str] = []
        etype = ""
        for node in nodes:
            given = self._constants_of(node)
            if given is None or node.op_type not in by_operator:
                return None
            letters = [_LETTERS[len(constants) + place] for place in range(len(given))]
            constants |= dict(zip(letters, given, strict=True))
            text = f"{by_operator[node.op_type]}({', '.join([text, *letters])})"
            values = ", ".join(f"{value:g}" for value in given)
            shown.append(f"{node.op_type}({values})" if given else node.op_type)
            etype = etype or next((value.dtype.name for value in given), "")
        etype = etype or self._types.get(nodes[0].input[0], "")
        if etype not in [known.id for known in operators()["clip"].element_types]:
            return None
        same = {name: value for name, value in constants.items() if value.dtype.name == etype}
        return (
            _Nodes(text, constants, ", ".join(shown), etype)
            if len(same) == len(constants)
            else None
        )

    def _constants_of(self, node: onnx.NodeProto) -> list[Array] | None:
        """The scalar constants beside the one value that a node reads; None if it has others."""
        wanted = {"Clip": 2, "Max": 1, "Min": 1}.get(node.op_type, 0)
        if node.op_type == "Clip" and node.attribute:
            attributes = {one.name: np.asarray(one.f, np.float32) for one in node.attribute}
            both = [attributes.get(name) for name in ("min", "max")]
            return [one for one in both if one is not None] if None not in both else None
        names = list(node.input)
        if node.op_type in ("Max", "Min") and len(names) == wanted + 1 and names[0] in self._values:
            names.reverse()
        found = [self._values.get(name) for name in names[1:]]
        if len(found) != wanted or names[0] in self._values:
            return None
        scalars = [one.reshape(()) for one in found if one is not None and one.size == 1]
        return scalars if len(scalars) == wanted else None


def _element_types(model: onnx.ModelProto) -> dict[str, str]:
    declared = [*model.graph.input, *model.graph.value_info, *model.graph.output]
    return {
        value.name: helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).name
        for value in declared
        if value.type.HasField("tensor_type") and value.type.tensor_type.elem_type
    }
