"""The forms of models of one Clip: their axes, the forms that are judged, and the Python text of a model."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from sonnx_clip.runtimes.runtime import CLIP_NODE, OperatorNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Bounds: TypeAlias = Literal["inputs", "initializers", "Constant nodes", "attributes"]
Given: TypeAlias = Literal[
    "both", "no min", "no max", "no max, empty name", "no bounds", "no bounds, empty names"
]
Shape: TypeAlias = Literal["static", "symbolic", "no rank"]
Choice: TypeAlias = Literal["default", "all"]

BOUNDS: tuple[Bounds, ...] = ("inputs", "initializers", "Constant nodes")
GIVEN: dict[Given, tuple[str, ...]] = {
    "both": ("l", "m"), "no min": ("", "m"), "no max": ("l",), "no bounds": (),
    "no max, empty name": ("l", ""), "no bounds, empty names": ("", ""),
}  # fmt: skip
"""The inputs of a node behind X; one with an empty name is missing."""
SHAPES: tuple[Shape, ...] = ("no rank", "static", "symbolic")
RANKS = (1, 0, 2, 4)

FIRST_OPSET = 13
"""The first operator set that means the Clip on which the SONNX page is based."""


@dataclass(frozen=True)
class ModelForm:
    """A form of a model."""

    bounds: Bounds  # how the model has min and max
    shape: Shape  # how it declares the shape of X
    rank: int  # of X
    opset: int
    optimised: bool  # the runtime may optimise the graph, as by default
    given: Given = "both"  # the bounds that it has

    def __str__(self) -> str:
        """``initializers, static shape, rank 2, opset 13, optimised``."""
        shape = self.shape if self.shape == "no rank" else f"{self.shape} shape"
        optimised = "optimised" if self.optimised else "not optimised"
        missing = "" if self.given == "both" else f", {self.given}"
        return f"{self.bounds}, {shape}, rank {self.rank}, opset {self.opset}, {optimised}{missing}"

    @property
    def bound_names(self) -> list[str]:
        """The operands of the bounds that are given."""
        return [name for name in GIVEN[self.given] if name]

    @property
    def missing_bounds(self) -> list[str]:
        """The operands of the bounds that the model lacks."""
        return [name for name in GIVEN["both"] if name not in self.bound_names]


_NAMES = tuple(field.name for field in fields(ModelForm))
_AXES = tuple(name for name in _NAMES if name != "given")  # of the forms of this Clip
_WORDS = {
    "bounds": "bounds as {}", "shape": "{}", "rank": "rank {}", "opset": "opset {}", "optimised": "{}",
    "given": "{}",
}  # fmt: skip
_VALUES: dict[Any, str] = {
    "static": "static shape", "symbolic": "symbolic shape", True: "optimisation", False: "no optimisation",
    "both": "both bounds",
}  # fmt: skip
_SHOWN = 3


def base(opset: int = FIRST_OPSET) -> ModelForm:
    """The form of calls that are not about forms: one model serves all bounds and all shapes."""
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
    return set(combinations([(name, getattr(form, name)) for name in _AXES], 2))


def described(some: Sequence[ModelForm], every: Sequence[ModelForm]) -> str:
    """What some forms have in common that no other of `every` has, in words: ``bounds as initializers``.

    Values of one axis, else of two; else the forms themselves.
    """
    for count in (1, 2):
        for names in combinations(_NAMES, count):
            values = [{getattr(form, name) for form in some} for name in names]
            alike = [
                f
                for f in every
                if all(getattr(f, n) in v for n, v in zip(names, values, strict=True))
            ]
            if len(alike) == len(some):
                return " and ".join(_in_words(name, some) for name in names)
    shown = "; ".join(str(form) for form in some[:_SHOWN])
    return f"{shown}; and {len(some) - _SHOWN} more forms" if len(some) > _SHOWN else shown


def every_value(forms: Sequence[ModelForm]) -> str:
    """The values of each axis that forms have, in words."""
    return ", ".join(_in_words(name, forms) for name in _AXES)


def _in_words(name: str, forms: Iterable[ModelForm]) -> str:
    values = sorted({getattr(form, name) for form in forms})
    # Only optimisation has values of the type bool: 0 and 1 are ranks.
    texts = [str(_VALUES.get(v, v) if isinstance(v, (str, bool)) else v) for v in values]
    return _WORDS[name].format(" or ".join(texts))


# --- Models of a form as ONNX's text, and as Python text for `models` and for reproducers -------------------
#
# Nothing here needs onnx: the checker writes reproducers where the runtime may not be installed.

_NODE_OPSET = 14  # of other operators: the first in which Relu takes integers
_ONNX_NAMES = {"float32": "float", "float64": "double"}
_CONSTANTS = {
    "initializers": "p.graph.initializer.extend([onnx.numpy_helper.from_array(v, n) for n, v in bounds])",
    "Constant nodes": (
        '[p.graph.node.insert(0, onnx.helper.make_node("Constant", [], [n],'
        " value=onnx.numpy_helper.from_array(v))) for n, v in bounds]"
    ),
    "attributes": (
        "p.graph.node[0].attribute.extend([onnx.helper.make_attribute(n, float(v)) for n, v in bounds])"
    ),
}
_ATTRIBUTES = {"l": "min", "m": "max"}
"""The attributes that bounds were below operator set 11."""


def model_text(etype: str, opset: int, shapes: dict[str, str], nodes: str) -> str:
    """The text of a model with these inputs, whose output ``y`` has the shape of the first."""
    t = _ONNX_NAMES.get(etype, etype)
    inputs = ", ".join(f"{t}{shape} {name}" for name, shape in shapes.items())
    result = f"{t}{next(iter(shapes.values()))} y"
    return f'<ir_version: 8, opset_import: ["": {opset}]> g ({inputs}) => ({result}) {{ {nodes} }}'


def inputs_of(form: ModelForm, node: OperatorNode = CLIP_NODE) -> tuple[str, ...]:
    """The operands that are inputs of the models of a form."""
    if node != CLIP_NODE:
        return node.operands
    return (node.operands[0], *(form.bound_names if form.bounds == "inputs" else ()))


def text_of_form(
    etype: str, form: ModelForm, shape: Sequence[int] = (), node: OperatorNode = CLIP_NODE
) -> str:
    """The text of a form for X of a shape; bounds that are no inputs are yet to be added.

    The operands of another node than Clip have any shape.
    """
    x, *bounds = inputs_of(form, node)
    if node != CLIP_NODE:
        shapes = dict.fromkeys(node.operands, "[]")
        return model_text(etype, _NODE_OPSET, shapes, f"y = {node.op_type}({node.call})")
    dimensions = list("ABCD"[: len(shape)]) if form.shape == "symbolic" else list(map(str, shape))
    declared = f"[{', '.join(dimensions)}]" if dimensions else ""
    shapes = {x: "[]" if form.shape == "no rank" else declared, **dict.fromkeys(bounds, "")}
    given = () if form.bounds == "attributes" else GIVEN[form.given]
    names = [x, *(name or '""' for name in given)]
    return model_text(etype, form.opset, shapes, f"y = {node.op_type}({', '.join(names)})")


def model_statements(
    etype: str, form: ModelForm, shape: Sequence[int], node: OperatorNode = CLIP_NODE
) -> list[str]:
    """Python statements that make the model ``p`` of a form for X of a shape; bounds may be constants of it.

    They have no single quotes, so that a shell can quote them.
    """
    found = [f"p = onnx.parser.parse_model({json.dumps(text_of_form(etype, form, shape, node))})"]
    if form.bounds != "inputs":
        called = (
            _ATTRIBUTES
            if form.bounds == "attributes"
            else {name: name for name in form.bound_names}
        )
        named = ", ".join(f'("{called[name]}", {name})' for name in form.bound_names)
        found += [f"bounds = [{named}]", _CONSTANTS[form.bounds]]
    return found


def call_statements(
    etype: str, form: ModelForm, shape: Sequence[int], set_up: str, node: OperatorNode = CLIP_NODE
) -> list[str]:
    """Python statements that make the model, open it by `set_up`, and make its inputs ``d``."""
    inputs = ", ".join(f"{name}={name}" for name in inputs_of(form, node))
    return [
        *model_statements(etype, form, shape, node),
        *([set_up] if set_up else []),
        f"d = dict({inputs})",
    ]
