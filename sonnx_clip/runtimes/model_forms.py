"""The forms of models of one node: their axes, the forms that are judged, and the Python text of a model."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from itertools import combinations, filterfalse, product, starmap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.root.signature import Signature


Bounds: TypeAlias = Literal["inputs", "initializers", "Constant nodes", "attributes"]
Given: TypeAlias = Literal[
    "both",
    "no min",
    "no max",
    "no max, empty name",
    "no bounds",
    "no bounds, empty names",
    "one operand",
    "operands of one shape",
    "scalar second operand",
]
Shape: TypeAlias = Literal["static", "symbolic", "no rank"]
Choice: TypeAlias = Literal["default", "all"]

# Of each axis, here and below, the first value is that of `base`.
BOUNDS: tuple[Bounds, ...] = ("inputs", "initializers", "Constant nodes")
_LACKING: dict[Given, tuple[str, ...]] = {
    "no min": ("", "m"), "no max": ("l",), "no bounds": (), "no max, empty name": ("l", ""),
    "no bounds, empty names": ("", ""),
}  # fmt: skip
"""The inputs of a node behind X, where a bound is missing; one with an empty name is, too."""
GIVEN: tuple[Given, ...] = ("both", *_LACKING)
"""Every way to give or omit bounds."""
_OF_TENSORS: tuple[Given, ...] = ("operands of one shape", "scalar second operand")
"""The shapes of two tensors: ONNX broadcasts the second one."""
SHAPES: tuple[Shape, ...] = ("no rank", "static", "symbolic")
RANKS = (1, 0, 2, 4)  # 1 first, since `base` is the first of all forms

FIRST_OPSET = 13
"""The first operator set that means the Clip on which the SONNX page is based."""


@dataclass(frozen=True)
class ModelForm:
    """A form of a model."""

    bounds: Bounds  # how the model has the operands behind X, such as min and max
    shape: Shape  # how it declares the shape of X
    rank: int  # of X
    opset: int
    optimised: bool  # the runtime may optimise the graph, as by default
    given: Given = "both"  # the bounds that it has, or which operands it has otherwise

    def __str__(self) -> str:
        """``initializers, static shape, rank 2, opset 13, optimised``."""
        shape = self.shape if self.shape == "no rank" else f"{self.shape} shape"
        optimised = "optimised" if self.optimised else "not optimised"
        given = "" if self.given in ("both", "one operand") else f", {self.given}"
        return f"{self.bounds}, {shape}, rank {self.rank}, opset {self.opset}, {optimised}{given}"

    @property
    def missing_bounds(self) -> list[str]:
        """The operands of the bounds that the model lacks."""
        names = _LACKING.get(self.given, ("l", "m"))
        return [name for name in ("l", "m") if name not in names]

    @property
    def has_scalar(self) -> bool:
        """Whether the second operand of an operator on tensors is a scalar."""
        return self.given == "scalar second operand"

    def others(self, signature: Signature) -> list[str]:
        """The operands behind X that the model has."""
        return [name for name in signature.parameters[1:] if name not in self.missing_bounds]


_NAMES = tuple(field.name for field in fields(ModelForm))
_AXES = tuple(name for name in _NAMES if name != "given")  # of the forms with all bounds
_WORDS = {
    "bounds": "{} as {}", "shape": "{}", "rank": "rank {}", "opset": "opset {}", "optimised": "{}",
    "given": "{}",
}  # fmt: skip
_NOUNS = {"one operand": "operand", **dict.fromkeys(_OF_TENSORS, "second operand")}
"""What `ModelForm.bounds` is about, by `given`, unless it is about bounds."""
_VALUES: dict[Any, str] = {
    "static": "static shape", "symbolic": "symbolic shape", True: "optimisation", False: "no optimisation",
    "both": "both bounds",
}  # fmt: skip
_SHOWN = 3


def base(signature: Signature, opset: int = FIRST_OPSET) -> ModelForm:
    """The form of calls that are not about forms: one model serves all operands and all shapes."""
    return ModelForm("inputs", "no rank", 1, opset, optimised=True, given=_given(signature)[0])


def symbolic(signature: Signature, opset: int) -> ModelForm:
    """The form for runtimes that open no model without a rank: one model serves all operands of a rank."""
    return replace(base(signature, opset), shape="symbolic")


def _given(signature: Signature) -> tuple[Given, ...]:
    """The ways to give operands of a node, all of them."""
    if len(signature.tensors) > 1:
        return _OF_TENSORS
    return ("both",) if len(signature.parameters) > 1 else ("one operand",)


def every_form(
    signature: Signature, opsets: Iterable[int], optimisations: Iterable[bool]
) -> tuple[ModelForm, ...]:
    """Every form of the models of a node, that of `base` first."""
    bounds = BOUNDS if len(signature.parameters) > 1 else BOUNDS[:1]
    axes = product(bounds, SHAPES, RANKS, opsets, optimisations, _given(signature))
    forms = starmap(ModelForm, axes)
    return tuple(filterfalse(_is_another_form, forms))


def _is_another_form(form: ModelForm) -> bool:
    """Whether another form is the same: a symbolic shape of rank 0 is static, and its tensors are scalars."""
    return form.rank == 0 and (form.shape == "symbolic" or form.given == "operands of one shape")


def covering(forms: Sequence[ModelForm]) -> tuple[ModelForm, ...]:
    """Some of these forms, in which each pair of values occurs that occurs in one of these."""
    axes = _axes_of(forms)
    pairs = {form: _pairs(form, axes) for form in forms}
    missing = set().union(*pairs.values())
    chosen: list[ModelForm] = []
    # Greedy: the form with the most pairs that no other has yet; of several the first, so `base` comes first.
    while missing:
        best = max(forms, key=lambda form: len(pairs[form] & missing))
        chosen.append(best)
        missing -= pairs[best]
    return tuple(chosen)


def _axes_of(forms: Iterable[ModelForm]) -> tuple[str, ...]:
    """The axes of forms, without the operands that they give if those are the same in all."""
    ways = {form.given for form in forms}
    return _NAMES if len(ways) > 1 else _AXES


def _pairs(form: ModelForm, axes: Sequence[str]) -> set[tuple[tuple[str, Any], ...]]:
    values = [(name, getattr(form, name)) for name in axes]
    return set(combinations(values, 2))


def described(some: Sequence[ModelForm], every: Sequence[ModelForm]) -> str:
    """What some forms have in common that no other of `every` has, in words: ``bounds as initializers``.

    Values of one axis, else of two; else the forms themselves.
    """
    for count in (1, 2):
        for names in combinations(_NAMES, count):
            # All of `some` have these values: if no more forms do, the values describe them.
            alike = _forms_with_values_of(some, names, every)
            if len(alike) == len(some):
                return " and ".join(_in_words(name, some) for name in names)
    # No axis sets them apart, so some are named.
    shown = "; ".join(map(str, some[:_SHOWN]))
    left = len(some) - _SHOWN
    return f"{shown}; and {left} more forms" if left > 0 else shown


def _forms_with_values_of(
    some: Sequence[ModelForm], names: Sequence[str], every: Sequence[ModelForm]
) -> list[ModelForm]:
    """The forms of `every` whose value of each of these axes is that of one of `some`."""
    alike = list(every)
    for name in names:
        values = {getattr(form, name) for form in some}
        alike = [form for form in alike if getattr(form, name) in values]
    return alike


def every_value(forms: Sequence[ModelForm]) -> str:
    """The values of each axis that forms have, in words."""
    return ", ".join(_in_words(name, forms) for name in _axes_of(forms))


def _in_words(name: str, forms: Sequence[ModelForm]) -> str:
    texts = []
    for value in sorted({getattr(form, name) for form in forms}):
        # Only optimisation has values of the type bool: 0 and 1 are ranks, equal to False and True.
        is_named = isinstance(value, (str, bool))
        text = _VALUES.get(value, value) if is_named else value
        texts.append(str(text))
    parts = [" or ".join(texts)]
    if name == "bounds":
        parts.insert(0, _NOUNS.get(forms[0].given, "bounds"))
    return _WORDS[name].format(*parts)


# --- Models of a form as ONNX's text, and as Python text for `models` and for reproducers -------------------
#
# Nothing here needs onnx: the checker writes reproducers where the runtime may not be installed.

ONNX_NAMES = {"float32": "float", "float64": "double"}
_CONSTANTS = {
    "initializers": "p.graph.initializer.extend([onnx.numpy_helper.from_array(v, n) for n, v in bounds])",
    # Before the operator: the nodes of a graph are in topological order.
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
    type_name = ONNX_NAMES.get(etype, etype)
    inputs = ", ".join(f"{type_name}{shape} {name}" for name, shape in shapes.items())
    first_shape = next(iter(shapes.values()))
    # An old version of the format: runtimes refuse models of a newer one than theirs.
    head = f'<ir_version: 8, opset_import: ["": {opset}]>'
    return f"{head} g ({inputs}) => ({type_name}{first_shape} y) {{ {nodes} }}"


def inputs_of(form: ModelForm, signature: Signature) -> tuple[str, ...]:
    """The operands that are inputs of the models of a form."""
    first = signature.parameters[0]
    if form.bounds != "inputs":
        return (first,)
    return (first, *form.others(signature))


def text_of_form(
    etype: str, form: ModelForm, signature: Signature, shape: Sequence[int] = ()
) -> str:
    """The text of a form for X of a shape; operands that are no inputs are yet to be added."""
    dimensions = [str(size) for size in shape]
    if form.shape == "symbolic":
        dimensions = list("ABCD"[: len(shape)])
    declared = f"[{', '.join(dimensions)}]" if dimensions else ""
    # In ONNX's text, empty brackets are no rank, and no brackets rank 0.
    if form.shape == "no rank":
        declared = "[]"

    tensor_count = 1 if form.has_scalar else len(signature.tensors)
    tensors = signature.parameters[:tensor_count]
    shapes = {}
    for name in inputs_of(form, signature):
        shapes[name] = declared if name in tensors else ""

    names = [signature.parameters[0]]
    if form.bounds != "attributes":
        others = _LACKING.get(form.given, signature.parameters[1:])
        names += [name or '""' for name in others]
    node = f"y = {signature.op_type}({', '.join(names)})"
    return model_text(etype, form.opset, shapes, node)


def model_statements(
    etype: str, form: ModelForm, signature: Signature, shape: Sequence[int]
) -> list[str]:
    """Python statements that make the model ``p`` of a form for X of a shape; operands may be constants.

    They have no single quotes, so that a shell can quote them.
    """
    text = text_of_form(etype, form, signature, shape)
    statements = [f"p = onnx.parser.parse_model({json.dumps(text)})"]
    # The parser has no bits of constants, such as the payload of a NaN: these are added to the model.
    if form.bounds != "inputs":
        name_in_model = _ATTRIBUTES if form.bounds == "attributes" else {}
        pairs = []
        for name in form.others(signature):
            pairs.append(f'("{name_in_model.get(name, name)}", {name})')
        statements.append(f"bounds = [{', '.join(pairs)}]")
        statements.append(_CONSTANTS[form.bounds])
    return statements


def call_statements(
    etype: str, form: ModelForm, signature: Signature, shape: Sequence[int], set_up: str
) -> list[str]:
    """Python statements that make the model, open it by `set_up`, and make its inputs ``d``."""
    statements = model_statements(etype, form, signature, shape)
    if set_up:
        statements.append(set_up)
    inputs = ", ".join(f"{name}={name}" for name in inputs_of(form, signature))
    statements.append(f"d = dict({inputs})")
    return statements
