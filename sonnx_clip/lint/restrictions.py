"""The restrictions of the SONNX page, its list of element types and C1, judged on one Clip node.

An input that is not set is neither sparse nor without shape nor of another type: only `is_set` concerns it
(spec/clip.yaml, `restrictions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.lint.operator_versions import EXPORT_AGAIN, LIMITS, inputs, schema, type_problem
from sonnx_clip.lint.safe_text import show_dims, show_number, shown
from sonnx_clip.lint.tensors import Argument, Dims, numbers, symbols
from sonnx_clip.lint.verdict import (
    ASSUME_FINITE,
    NORMALISE,
    SEE,
    Judgement,
    Problem,
    Verdict,
    declares,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.lint.clip_nodes import ClipNode
    from sonnx_clip.lint.profile import LintRule, Profile

_INLINE = "inline the function first: onnx.inliner.inline_local_functions"
_DECLARE = "(value_info, or the type of the graph's input or output)"
_SHAPE = "shape"
_TYPE = "element type"
_NO_TYPE = "no declared element type"


def judge(
    node: ClipNode, tensors: Sequence[Argument], profile: Profile, *, accept_inferred: bool = False
) -> tuple[Judgement, ...]:
    """Judge a node with its operands and its result; inferred shapes and types may count as declared."""
    judge = _Judge(node, tensors, profile, accept_inferred)
    problems_of = {rule.id: judge.problems(rule) for rule in profile.restrictions}
    problems_of["element_types"] = [judge.element_type()]
    problems_of["C1"] = [judge.constraint()]
    judgements = []
    for rule, problems in problems_of.items():
        judgements.append(Judgement(rule, tuple(filter(None, problems))))
    return tuple(judgements)


def _violates(tensor: Argument, message: str, remedy: str, *, follows: bool = False) -> Problem:
    return Problem(tensor.id, Verdict.VIOLATES, message, remedy, follows)


def _unknown(
    tensor: Argument, message: str, remedy: str, *, lacks: str = "", inferred: str = ""
) -> Problem:
    return Problem(tensor.id, Verdict.UNKNOWN, message, remedy, lacks=lacks, inferred=inferred)


@dataclass(frozen=True)
class _Judge:
    """The judgement of one node."""

    node: ClipNode
    tensors: Sequence[Argument]
    profile: Profile
    accept_inferred: bool

    @property
    def x(self) -> Argument:
        return self.tensors[0]

    def problems(self, rule: LintRule) -> list[Problem | None]:
        """What each tensor that a restriction concerns has against it."""
        concerned = [tensor for tensor in self.tensors if tensor.id in rule.of]
        present = [tensor for tensor in concerned if tensor.name is not None]
        match rule.word:
            case "is_set":
                return [self.unset_bound(tensor) for tensor in concerned if tensor.name is None]
            case "is_sparse":
                return [self.density(tensor) for tensor in present]
            case "has_explicit_shape":
                return [self.shape(tensor) for tensor in present]
            case "same_type":
                first = next((tensor for tensor in present if self.types(tensor)), None)
                return [self.same_type(tensor, first) for tensor in present]
            case "is_scalar":
                return [self.scalar(tensor) for tensor in present]
        raise ValueError(f"lint has no check for the word {rule.word} of {rule.id}")

    # --- R1, R2: the bounds are set -------------------------------------------------------------------------

    def unset_bound(self, bound: Argument) -> Problem:
        node = self.node
        name = bound.operand.onnx
        position = bound.operand.position
        value = self.attribute(name)
        if name not in inputs(node.proto.op_type, node.version):
            source = f"the bound is the attribute {name} = {value}"
            if value is None:
                source = f"its attribute {name} is also not set, {self.default(name)}"
            message = f"{node.operator} has no input {bound.id}; {source}"
            return _violates(bound, message, EXPORT_AGAIN)
        title = f"input {bound.id} ({name})"
        how = "is the empty name" if len(node.proto.input) > position else "is absent"
        message = f"{title} is not set: input {position} of the node {how}"
        if value is not None:
            message += f"; the attribute {name} = {value} has no effect in {node.operator}"
            return _violates(
                bound, message, f"set {title} to a scalar {value} of {self.x.id}'s element type"
            )
        return _violates(bound, message, self.bound_remedy(bound))

    def attribute(self, name: str) -> str | None:
        attribute = next((one for one in self.node.proto.attribute if one.name == name), None)
        if attribute is None:
            return None
        caller = attribute.ref_attr_name
        return (
            f"(the caller's attribute '{shown(caller)}')"
            if caller
            else show_number(attribute.f, "FLOAT")
        )

    def default(self, name: str) -> str:
        attribute = schema(self.node.proto.op_type, self.node.opset).attributes.get(name)
        if attribute is None or not attribute.default_value.name:
            return "and it has no default"
        default = show_number(attribute.default_value.f, "FLOAT")
        return f"so its default {default} applies"

    def bound_remedy(self, bound: Argument) -> str:
        limit = LIMITS.get(bound.operand.onnx)
        etype = self.profile.element_type(self.x.known_type)
        by_hand = (
            f"set input {bound.id} ({bound.operand.onnx}) to a scalar of {self.x.id}'s element type"
        )
        if limit is None or etype is None:
            return by_hand
        if type_problem(self.node.proto.op_type, self.node.version, etype.onnx):
            return EXPORT_AGAIN
        without = f"without {bound.operand.onnx} ONNX takes {limit.words}"
        if self.node.in_function:
            return f"{by_hand}; {without}. For sonnx-clip normalise, {_INLINE}"
        if etype.family == "float":
            return (
                f"{NORMALISE} {ASSUME_FINITE} sets it, if no infinity reaches the node; {without}"
            )
        return f"{NORMALISE} sets it to the {limit.number} {etype.onnx}; {without}"

    # --- R3, R4, C1: dense, with an explicit shape, which is that of X --------------------------------------

    def density(self, tensor: Argument) -> Problem | None:
        if tensor.sparse is None:
            return None
        return _violates(
            tensor, f"sparse ({tensor.sparse})", "store or declare the tensor as dense"
        )

    def shape(self, tensor: Argument) -> Problem | None:
        """The shape is declared, and every dimension of it is a number."""
        inferred, derived = tensor.inferred.dims, tensor.derived.dims
        explicit = numbers(inferred)
        is_result = tensor.operand.role == "result"  # that it has another shape than X is C1
        contradiction = tensor.declared_contradiction if is_result else tensor.contradiction
        if contradiction:
            return _violates(tensor, contradiction, "declare the actual shape of the tensor")
        if self.accept_inferred and explicit is not None:
            return None
        if tensor.dims is None:
            if tensor.not_tensor:
                return _violates(
                    tensor, f"no shape: it is a {tensor.not_tensor}", "give Clip a tensor"
                )
            message = "no shape" if explicit is None else "known only by inference"
        else:
            sizes = [_no_size(axis, text) for axis, text in symbols(tensor.dims)]
            if not sizes:
                return None
            message = f"{'; '.join(sizes)} in the declared shape {show_dims(tensor.dims)}"
        known = explicit is not None or numbers(derived) is not None
        problem = _violates(
            tensor, message, self.shape_remedy(inferred, explicit), follows=not known
        )
        if tensor.dims is not None:
            return problem
        by_command = explicit is not None and not self.node.in_function
        fact = f"{_SHAPE} {show_dims(explicit or ())}" if by_command else ""
        return replace(problem, lacks=_SHAPE, inferred=fact)

    def shape_remedy(self, inferred: Dims | None, explicit: Dims | None) -> str:
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

    def types(self, tensor: Argument) -> tuple[str, ...]:
        inferred = tensor.inferred.element_type
        return tensor.element_types or ((inferred,) if self.accept_inferred and inferred else ())

    def same_type(self, tensor: Argument, first: Argument | None) -> Problem | None:
        """The tensors have one declared element type. Two known types differ whatever the others are."""
        if tensor.not_tensor:
            return _violates(
                tensor, f"it is a {tensor.not_tensor}, not a tensor", "give Clip a tensor"
            )
        types, derived = self.types(tensor), tensor.derived.element_type
        if len(types) > 1:
            return _violates(
                tensor, f"declared with two element types: {', '.join(types)}", "declare one"
            )
        if types and derived is not None and derived != types[0]:
            message = f"declared with element type {types[0]}, but inference finds {derived}"
            return _violates(
                tensor, message, f"declare {derived}, or put a Cast to {types[0]} before the node"
            )
        if not types or first is None:
            inferred = tensor.inferred.element_type
            fact = f"{_TYPE} {inferred}" if inferred and not self.node.in_function else ""
            remedy = self.type_remedy(inferred)
            return _unknown(tensor, _NO_TYPE, remedy, lacks=_TYPE, inferred=fact)
        wanted = self.types(first)[0]
        if types[0] == wanted:
            return None
        return _violates(
            tensor,
            f"element type {types[0]}, but {first.id} has {wanted}",
            f"give {tensor.id} the element type {wanted}: store it so, or put a Cast before the node",
        )

    def type_remedy(self, inferred: str | None) -> str:
        if self.node.in_function:
            return f"declare it in the function's value_info, or {_INLINE}"
        if inferred is not None:
            return declares(f"{_TYPE} {inferred}")
        return f"declare it {_DECLARE}"

    def scalar(self, tensor: Argument) -> Problem | None:
        """The page, section Inputs: the tensor must be a scalar (empty shape)."""
        inferred = tensor.inferred.dims
        if tensor.contradiction:
            dims = next((dims for dims in (*tensor.shapes, tensor.derived.dims) if dims), None)
        else:
            dims = inferred if tensor.dims is None and self.accept_inferred else tensor.dims
        if dims is None:
            hint = f"; inference finds {show_dims(inferred)}" if inferred is not None else ""
            message = "its shape is not declared, so it may not be empty"
            return _unknown(tensor, message, f"{SEE}R4{hint}", lacks=_SHAPE)
        if not dims:
            return None
        remedy = "make the bound a scalar: shape []"
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
        known = [etype.onnx for etype in self.profile.element_types]
        for name in types:
            if name not in known:
                message = f"element type {name}, for which the profile does not define clip"
                return _violates(x, message, f"use one of {', '.join(known)}")
        for name in types:
            problem = type_problem(self.node.proto.op_type, self.node.version, name)
            if problem is not None:
                return _violates(x, problem, f"{EXPORT_AGAIN}, or put Casts around the node")
        return None


def _no_size(axis: int, text: str) -> str:
    if text.removeprefix("-").isdecimal():
        return f"dimension {text} (axis {axis}) is negative"
    return f"symbolic dimension {text} (axis {axis})"
