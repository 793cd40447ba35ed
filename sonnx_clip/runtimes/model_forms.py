"""The axes along which models of one Clip differ, which of their forms are judged, and the text of a model of
one node in a form.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.runtimes.operator_node import OperatorNode


Bounds: TypeAlias = Literal["inputs", "initializers", "Constant nodes"]
Shape: TypeAlias = Literal["static", "symbolic", "no rank"]
Choice: TypeAlias = Literal["default", "all"]

BOUNDS: tuple[Bounds, ...] = ("inputs", "initializers", "Constant nodes")
SHAPES: tuple[Shape, ...] = ("no rank", "static", "symbolic")
RANKS = (1, 0, 2, 4)

FIRST_OPSET = 13
"""The first operator set that means the Clip on which the SONNX page is based."""


@dataclass(frozen=True)
class ModelForm:
    """A form of a model.

    Args:
        bounds: what min and max are.
        shape: what the model says about the shape of X: all of it, its rank, or nothing.
        rank: that of X.
        opset: the operator set.
        optimised: whether the runtime may change the graph as it does by default.
    """

    bounds: Bounds
    shape: Shape
    rank: int
    opset: int
    optimised: bool

    def __str__(self) -> str:
        """``initializers, static shape, rank 2, opset 13, optimised``."""
        shape = self.shape if self.shape == "no rank" else f"{self.shape} shape"
        optimised = "optimised" if self.optimised else "not optimised"
        return f"{self.bounds}, {shape}, rank {self.rank}, opset {self.opset}, {optimised}"


_NAMES = tuple(field.name for field in fields(ModelForm))
_WORDS = {"bounds": "bounds as {}", "shape": "{}", "rank": "rank {}", "opset": "opset {}", "optimised": "{}"}
_VALUES: dict[Any, str] = {
    "static": "static shape", "symbolic": "symbolic shape", True: "optimisation", False: "no optimisation",
}  # fmt: skip
_SHOWN = 3


def base(opset: int = FIRST_OPSET) -> ModelForm:
    """The form in which the rest of the checker asks: one model serves all bounds and all shapes."""
    return ModelForm("inputs", "no rank", 1, opset, optimised=True)


SYMBOLIC: Final = ModelForm("inputs", "symbolic", 1, FIRST_OPSET, optimised=True)
"""The form for runtimes that open no model without a rank: one model serves all bounds, and X of a rank."""


def every_form(opsets: Iterable[int], optimisations: Iterable[bool]) -> tuple[ModelForm, ...]:
    """Every form, that of `base` first. At rank 0 a symbolic shape is a static one, and is left out."""
    axes = product(BOUNDS, SHAPES, RANKS, opsets, optimisations)
    return tuple(
        ModelForm(bounds, shape, rank, opset, optimised)
        for bounds, shape, rank, opset, optimised in axes
        if rank or shape != "symbolic"
    )


def covering(forms: Sequence[ModelForm]) -> tuple[ModelForm, ...]:
    """Some of these forms, in which each pair of values occurs that occurs in one of these."""
    missing = {pair for form in forms for pair in _pairs(form)}
    chosen: list[ModelForm] = []
    while missing:
        chosen.append(max(forms, key=lambda form: len(_pairs(form) & missing)))
        missing -= _pairs(chosen[-1])
    return tuple(chosen)


def _pairs(form: ModelForm) -> set[tuple[tuple[str, Any], ...]]:
    return set(combinations([(name, getattr(form, name)) for name in _NAMES], 2))


def described(some: Sequence[ModelForm], every: Sequence[ModelForm]) -> str:
    """What some forms have in common that no other has, in words: ``bounds as initializers``.

    Values of one axis, else of two; else the forms themselves.

    Args:
        some: forms of which something holds.
        every: the forms that were judged, these among them.
    """
    for count in (1, 2):
        for names in combinations(_NAMES, count):
            values = [{getattr(form, name) for form in some} for name in names]
            alike = [f for f in every if all(getattr(f, n) in v for n, v in zip(names, values, strict=True))]
            if len(alike) == len(some):
                return " and ".join(_in_words(name, some) for name in names)
    shown = "; ".join(str(form) for form in some[:_SHOWN])
    return f"{shown}; and {len(some) - _SHOWN} more forms" if len(some) > _SHOWN else shown


def every_value(forms: Sequence[ModelForm]) -> str:
    """The values of each axis that forms have, in words."""
    return ", ".join(_in_words(name, forms) for name in _NAMES)


def _in_words(name: str, forms: Iterable[ModelForm]) -> str:
    values = sorted({getattr(form, name) for form in forms})
    # Only optimisation has values of the type bool: 0 and 1 are ranks.
    texts = [str(_VALUES.get(v, v) if isinstance(v, (str, bool)) else v) for v in values]
    return _WORDS[name].format(" or ".join(texts))


# --- Models of one Clip node in ONNX's textual syntax, and the Python text that makes one of a form ---------
#
# Nothing here needs onnx: the checker writes reproducers where the runtime may not be installed.


# Opset 13 is the version on which the SONNX page is based. X has any rank, the bounds rank 0.
OPSET = 13
_NODE_OPSET = 14  # of other operators: the first in which Relu takes integers
ONNX_NAMES = {"float32": "float", "float64": "double"}
_DIMENSIONS = "ABCD"

_CONSTANTS = {
    "inputs": "",
    "initializers": "p.graph.initializer.extend([onnx.numpy_helper.from_array(v, n) for n, v in c])",
    "Constant nodes": (
        '[p.graph.node.insert(0, onnx.helper.make_node("Constant", [], [n],'
        " value=onnx.numpy_helper.from_array(v))) for n, v in c]"
    ),
}


def model_text(etype: str, opset: int = OPSET, shape: str = "[]", *, bounds_are_inputs: bool = True) -> str:
    """The model as text; bounds that are no inputs are yet to be added.

    Args:
        etype: the id of an element type.
        opset: the operator set.
        shape: of X: ``[2, 3]``, ``[A, B]``, empty at rank 0, and ``[]`` for one that is not declared.
        bounds_are_inputs: whether min and max are.
    """
    t = ONNX_NAMES.get(etype, etype)
    first, *bounds = CLIP_NODE.operands
    inputs = [f"{t}{shape} {first}", *(f"{t} {name}" for name in bounds if bounds_are_inputs)]
    return graph_text(opset, ", ".join(inputs), f"{t}{shape} y", _node(CLIP_NODE))


def node_text(etype: str, node: OperatorNode) -> str:
    """The model of a node whose operands have any shape."""
    t = ONNX_NAMES.get(etype, etype)
    inputs = ", ".join(f"{t}[] {name}" for name in node.operands)
    return graph_text(_NODE_OPSET, inputs, f"{t}[] y", _node(node))


def _node(node: OperatorNode) -> str:
    return f"y = {node.op_type}({node.call})"


def graph_text(opset: int, inputs: str, output: str, nodes: str) -> str:
    """A model as text, of the text of its inputs, its output and its nodes."""
    head = f'<ir_version: 8, opset_import: ["": {opset}]>'
    return f"{head} g ({inputs}) => ({output}) {{ {nodes} }}"


def text_of_form(etype: str, form: ModelForm, shape: Sequence[int]) -> str:
    """The text of a form, as by `model_text`, for X of a shape."""
    dimensions = list(_DIMENSIONS[: len(shape)]) if form.shape == "symbolic" else list(map(str, shape))
    declared = f"[{', '.join(dimensions)}]" if dimensions else ""
    if form.shape == "no rank":
        declared = "[]"
    return model_text(etype, form.opset, declared, bounds_are_inputs=form.bounds == "inputs")


def statements(etype: str, form: ModelForm, shape: Sequence[int]) -> list[str]:
    """Python statements that make the model ``p`` and its inputs ``d`` of the operands.

    Without single quotes, for the sake of shells.
    """
    constant = form.bounds != "inputs"
    made = f"p = onnx.parser.parse_model({json.dumps(text_of_form(etype, form, shape))})"
    first, *bounds = CLIP_NODE.operands
    named = ", ".join(f'("{name}", {name})' for name in bounds)
    given = [f"c = [{named}]", _CONSTANTS[form.bounds]] if constant else []
    given_alone = replace(CLIP_NODE, operands=(first,)) if constant else CLIP_NODE
    return [made, *given, f"d = {given_alone.inputs}"]
