"""The restrictions of the SONNX page, its list of element types and C1, judged on one Clip node.

An input that is not set is neither sparse nor without shape nor of another type: only `is_set` concerns it
(spec/clip.yaml, `restrictions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.lint.operator_versions import EXPORT_AGAIN, LIMITS, inputs, schema, type_problem
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import show_dims, show_number, shown
from sonnx_clip.lint.tensors import Dims, NodeTensor, static_dims, symbolic_dims
from sonnx_clip.lint.verdict import (
    ASSUME_FINITE,
    NORMALISE,
    SEE,
    Problem,
    Verdict,
    declares,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.lint.clip_nodes import ClipNode
    from sonnx_clip.lint.profile import LintRule

_INLINE = "inline the function first: onnx.inliner.inline_local_functions"
_DECLARE = "(value_info, or the type of the graph's input or output)"
_SHAPE = "shape"
_TYPE = "element type"
_NO_TYPE = "no declared element type"


def judge(
    node: ClipNode,
    tensors: Sequence[NodeTensor],
    *,
    accept_inferred: bool = False,
) -> tuple[Problem, ...]:
    """The problems of a node with each rule; inferred shapes and types may count as declared."""
    node_judge = _Judge(node, tensors, accept_inferred)
    # In the order of `Profile.rules`, which reports rely on.
    problems_by_rule = {}
    for rule in profile().restrictions:
        problems_by_rule[rule.id] = node_judge.problems(rule)
    problems_by_rule["element_types"] = [node_judge.element_type()]
    problems_by_rule["C1"] = [node_judge.constraint()]
    judged = []
    for rule_id, problems in problems_by_rule.items():
        for problem in filter(None, problems):
            judged.append(replace(problem, rule=rule_id))
    return tuple(judged)


def _violates(
    tensor: NodeTensor,
    message: str,
    remedy: str,
    *,
    follows: bool = False,
) -> Problem:
    return Problem(tensor.id, Verdict.VIOLATES, message, remedy, follows)


def _unknown(
    tensor: NodeTensor,
    message: str,
    remedy: str,
    *,
    lacks: str = "",
    inferred: str = "",
) -> Problem:
    return Problem(tensor.id, Verdict.UNKNOWN, message, remedy, lacks=lacks, inferred=inferred)


@dataclass(frozen=True)
class _Judge:
    """The judgement of one node."""

    node: ClipNode
    tensors: Sequence[NodeTensor]
    accept_inferred: bool

    @property
    def x(self) -> NodeTensor:
        return self.tensors[0]

    def problems(self, rule: LintRule) -> list[Problem | None]:
        """What each tensor that a restriction concerns has against it."""
        absent = []
        present = []
        for tensor in self.tensors:
            if tensor.id not in rule.of:
                continue
            if tensor.name is None:
                absent.append(tensor)
            else:
                present.append(tensor)
        match rule.word:
            case "is_set":
                return [*map(self.unset_bound, absent)]
            case "is_sparse":
                return [*map(self.density, present)]
            case "has_explicit_shape":
                return [*map(self.shape, present)]
            case "same_type":
                # With X itself in its place, a missing type of X would leave all others uncompared.
                first = next(filter(self.types, present), None)
                return [self.same_type(tensor, first) for tensor in present]
            case "is_scalar":
                return [*map(self.scalar, present)]
        raise ValueError(f"lint has no check for the word {rule.word} of {rule.id}")

    # --- R1, R2: the bounds are set -------------------------------------------------------------------------

    def unset_bound(self, bound: NodeTensor) -> Problem:
        node = self.node
        name = bound.operand.onnx
        position = bound.operand.position
        value = self.attribute(name)
        # Clip-1 and Clip-6 have the bounds as attributes, which mean nothing at nodes of later versions.
        if name not in inputs(node.proto.op_type, node.version):
            source = f"the bound is the attribute {name} = {value}"
            if value is None:
                source = f"its attribute {name} is also not set, {self.default(name)}"
            message = f"{node.operator} has no input {bound.id}; {source}"
            return _violates(bound, message, EXPORT_AGAIN)
        title = f"input {bound.id} ({name})"
        how = "is the empty name" if len(node.proto.input) > position else "is absent"
        message = f"{title} is not set: input {position} of the node {how}"
        if value is None:
            return _violates(bound, message, self.bound_remedy(bound))
        # The attribute shows which bound was meant, so the remedy is its value and not the numeric limit.
        message += f"; the attribute {name} = {value} has no effect in {node.operator}"
        remedy = f"set {title} to a scalar {value} of {self.x.id}'s element type"
        return _violates(bound, message, remedy)

    def attribute(self, name: str) -> str | None:
        """The value of an attribute of the node for people, None where it is not set."""
        for attribute in self.node.proto.attribute:
            if attribute.name == name:
                caller = attribute.ref_attr_name
                if caller:
                    return f"(the caller's attribute '{shown(caller)}')"
                return show_number(attribute.f, "FLOAT")
        return None

    def default(self, name: str) -> str:
        """What a version of the operator takes where an attribute is not set, as a clause."""
        attribute = schema(self.node.proto.op_type, self.node.opset).attributes.get(name)
        if attribute is None or not attribute.default_value.name:
            return "and it has no default"
        default = show_number(attribute.default_value.f, "FLOAT")
        return f"so its default {default} applies"

    def bound_remedy(self, bound: NodeTensor) -> str:
        """How to set a bound, in the order in which `NodeChange` decides whether normalise can."""
        name = bound.operand.onnx
        limit = LIMITS.get(name)
        etype = profile().element_type(self.x.known_type)
        by_hand = f"set input {bound.id} ({name}) to a scalar of {self.x.id}'s element type"
        if limit is None or etype is None:
            return by_hand
        if type_problem(self.node.proto.op_type, self.node.version, etype.onnx):
            return EXPORT_AGAIN
        without = f"without {name} ONNX takes {limit.words}"
        if self.node.in_function:
            return f"{by_hand}; {without}. For sonnx-clip normalise, {_INLINE}"
        if etype.family == "float":
            condition = "if no infinity reaches the node"
            return f"{NORMALISE} {ASSUME_FINITE} sets it, {condition}; {without}"
        return f"{NORMALISE} sets it to the {limit.number} {etype.onnx}; {without}"

    # --- R3, R4, C1: dense, with an explicit shape, which is that of X --------------------------------------

    def density(self, tensor: NodeTensor) -> Problem | None:
        if tensor.sparse is None:
            return None
        message = f"sparse ({tensor.sparse})"
        return _violates(tensor, message, "store or declare the tensor as dense")

    def shape(self, tensor: NodeTensor) -> Problem | None:
        """The shape is declared, and every dimension of it is a number."""
        inferred = tensor.inferred.dims
        explicit = static_dims(inferred)
        is_result = tensor.operand.role == "result"  # that it has another shape than X is C1
        contradiction = tensor.declared_contradiction if is_result else tensor.contradiction
        if contradiction:
            return _violates(tensor, contradiction, "declare the actual shape of the tensor")
        if self.accept_inferred and explicit is not None:
            return None

        # A shape that inference finds no numbers for either follows from a root cause. Reports then name
        # the cause once, in place of each shape.
        is_open = explicit is None and static_dims(tensor.derived.dims) is None
        remedy = self.shape_remedy(inferred, explicit)
        if tensor.dims is not None:
            sizes = [_no_size(axis, text) for axis, text in symbolic_dims(tensor.dims)]
            if not sizes:
                return None
            message = f"{'; '.join(sizes)} in the declared shape {show_dims(tensor.dims)}"
            return _violates(tensor, message, remedy, follows=is_open)
        if tensor.not_tensor:
            message = f"no shape: it is a {tensor.not_tensor}"
            return _violates(tensor, message, "give Clip a tensor")
        message = "no shape" if explicit is None else "known only by inference"
        problem = _violates(tensor, message, remedy, follows=is_open)
        fact = ""
        if explicit is not None and not self.node.in_function:
            fact = f"{_SHAPE} {show_dims(explicit)}"
        return replace(problem, lacks=_SHAPE, inferred=fact)

    def shape_remedy(self, inferred: Dims | None, explicit: Dims | None) -> str:
        """How to declare a shape; `explicit` is the inferred one if all its dimensions are numbers."""
        if self.node.in_function:
            return f"declare a shape of numbers in the function's value_info, or {_INLINE}"
        if explicit is not None:
            return declares(f"{_SHAPE} {show_dims(explicit)}")
        hint = "" if inferred is None else f"inference finds only {show_dims(inferred)}; "
        return f"{hint}declare a shape of numbers {_DECLARE}"

    def constraint(self) -> Problem | None:
        """C1: the result has the shape of the first operand."""
        y = self.tensors[-1]
        if y.declared_contradiction or not y.computed_contradiction:
            return None
        return _violates(y, y.computed_contradiction, f"declare the shape that {self.x.id} has")

    # --- R5, scalar_bounds, element_types -------------------------------------------------------------------

    def types(self, tensor: NodeTensor) -> tuple[str, ...]:
        """The element types that count as declared."""
        inferred = tensor.inferred.element_type
        if not tensor.element_types and self.accept_inferred and inferred:
            return (inferred,)
        return tensor.element_types

    def same_type(self, tensor: NodeTensor, first: NodeTensor | None) -> Problem | None:
        """The tensors have one declared element type. Two known types differ whatever the others are."""
        if tensor.not_tensor:
            message = f"it is a {tensor.not_tensor}, not a tensor"
            return _violates(tensor, message, "give Clip a tensor")
        types = self.types(tensor)
        if len(types) > 1:
            message = f"declared with two element types: {', '.join(types)}"
            return _violates(tensor, message, "declare one")
        derived = tensor.derived.element_type
        if types and derived is not None and derived != types[0]:
            message = f"declared with element type {types[0]}, but inference finds {derived}"
            remedy = f"declare {derived}, or put a Cast to {types[0]} before the node"
            return _violates(tensor, message, remedy)
        # Without a declared type nothing contradicts the others, and nothing shows that it agrees.
        if not types or first is None:
            inferred = tensor.inferred.element_type
            fact = f"{_TYPE} {inferred}" if inferred and not self.node.in_function else ""
            remedy = self.type_remedy(inferred)
            return _unknown(tensor, _NO_TYPE, remedy, lacks=_TYPE, inferred=fact)
        expected = self.types(first)[0]
        if types[0] == expected:
            return None
        message = f"element type {types[0]}, but {first.id} has {expected}"
        how = "store it so, or put a Cast before the node"
        return _violates(tensor, message, f"give {tensor.id} the element type {expected}: {how}")

    def type_remedy(self, inferred: str | None) -> str:
        """How to declare an element type."""
        if self.node.in_function:
            return f"declare it in the function's value_info, or {_INLINE}"
        if inferred is not None:
            return declares(f"{_TYPE} {inferred}")
        return f"declare it {_DECLARE}"

    def scalar(self, tensor: NodeTensor) -> Problem | None:
        """The page, section Inputs: the tensor must be a scalar (empty shape)."""
        inferred = tensor.inferred.dims
        if tensor.contradiction:
            # Of two shapes that contradict each other at least one has axes.
            dims = next((dims for dims in (*tensor.shapes, tensor.derived.dims) if dims), None)
        elif tensor.dims is None and self.accept_inferred:
            dims = inferred
        else:
            dims = tensor.dims
        if dims is None:
            hint = f"; inference finds {show_dims(inferred)}" if inferred is not None else ""
            # The missing declaration is R4's; here it only leaves open whether the bound is a scalar.
            message = "its shape is not declared, so it may not be empty"
            return _unknown(tensor, message, f"{SEE}R4{hint}", lacks=_SHAPE)
        if not dims:
            return None
        remedy = "make the bound a scalar: shape []"
        # The conditions of `NodeChange._obstacle_to_scalar`: normalise leaves every other shape as it is.
        one_entry = dims == (1,) and not tensor.contradiction and tensor.sparse is None
        if one_entry and self.x.known_dims and not self.node.in_function:
            remedy = f"{NORMALISE} makes the bound a scalar"
        message = f"shape {show_dims(dims)} where the empty shape is required"
        return _violates(tensor, message, remedy)

    def element_type(self) -> Problem | None:
        """The signature of the page lists the element types. By R5 all tensors are of the type of the first.

        A node that its version of ONNX does not define is no Clip of the profile either.
        """
        x = self.x
        types = list(self.types(x))
        if not types:
            return _unknown(x, _NO_TYPE, f"{SEE}R5", lacks=_TYPE)
        if x.derived.element_type:
            types.append(x.derived.element_type)
        known = [etype.onnx for etype in profile().element_types]
        for name in types:
            if name not in known:
                message = f"element type {name}, for which the profile does not define clip"
                return _violates(x, message, f"use one of {', '.join(known)}")
        for name in types:
            # What the page lists, the version of the operator in ONNX may lack.
            problem = type_problem(self.node.proto.op_type, self.node.version, name)
            if problem is not None:
                return _violates(x, problem, f"{EXPORT_AGAIN}, or put Casts around the node")
        return None


def _no_size(axis: int, text: str) -> str:
    """Why a dimension is no size, for people."""
    # A negative number is kept as text, as symbols are.
    if text.removeprefix("-").isdecimal():
        return f"dimension {text} (axis {axis}) is negative"
    return f"symbolic dimension {text} (axis {axis})"
