"""The four tensors X, L, M, Y of a Clip node, with what the model and shape inference say of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from onnx import defs

from sonnx_clip.graph.declared_tensors import Dims, TensorInfo, quoted, show_dims, shown
from sonnx_clip.graph.graph_names import resolve
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from onnx import NodeProto

    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.graph_names import Scope

BOUNDS_ARE_INPUTS_SINCE = 11
INPUTS = ("X", "L", "M")
ARGUMENTS = (*INPUTS, "Y")


@dataclass(frozen=True)
class Argument:
    """One tensor of a node.

    Attributes:
        role: X, L, M or Y.
        name: its name in the model, None where the input is not set.
        declared: every declaration the model makes of it.
        inferred: what shape inference says of it.
        in_function: it lies in a local function.
        derived: what shape inference says of it without believing declarations of computed values.
        left_out: it is a formal input of a function, which the call leaves out; `name` then is None.
    """

    role: str
    name: str | None
    declared: tuple[TensorInfo, ...] = ()
    inferred: TensorInfo | None = None
    in_function: bool = False
    derived: TensorInfo | None = None
    left_out: str | None = None

    @property
    def element_types(self) -> tuple[str, ...]:
        """The declared element types, each once; more than one is a contradiction."""
        return tuple(dict.fromkeys(info.element_type for info in self.declared if info.element_type))

    @property
    def shapes(self) -> tuple[Dims, ...]:
        """The declared shapes, each once."""
        return tuple(dict.fromkeys(info.dims for info in self.declared if info.dims is not None))

    @property
    def contradiction(self) -> str | None:
        """Two shapes, declared or found by inference, that no tensor can have both."""
        return self.declared_contradiction or self.computed_contradiction

    @property
    def declared_contradiction(self) -> str | None:
        """Two declared shapes that no tensor can have both."""
        for number, other in enumerate(self.shapes):
            for one in self.shapes[:number]:
                if not _compatible(one, other):
                    return f"declared with two shapes: {show_dims(one)} and {show_dims(other)}"
        return None

    @property
    def computed_contradiction(self) -> str | None:
        """A declared shape and one found by inference that no tensor can have both."""
        found = self.derived.dims if self.derived else None
        for one in self.shapes:
            if found is not None and not _compatible(one, found):
                return f"declared with shape {show_dims(one)}, but inference finds {show_dims(found)}"
        return None

    @property
    def not_tensor(self) -> str | None:
        """The kind of a value that is declared, or found by inference, to be no tensor."""
        infos = (*self.declared, *([self.derived] if self.derived else []))
        return next((info.not_tensor for info in infos if info.not_tensor), None)

    @property
    def dims(self) -> Dims | None:
        """The declared shape. A symbol in any declaration stays one: the others bind nobody."""
        if not self.shapes or self.contradiction:
            return None
        return tuple(
            next((dim for dim in sizes if isinstance(dim, str)), sizes[0])
            for sizes in zip(*self.shapes, strict=True)
        )

    @property
    def inferred_type(self) -> str | None:
        """The element type that shape inference finds."""
        return self.inferred.element_type if self.inferred else None

    @property
    def inferred_dims(self) -> Dims | None:
        """The shape that shape inference finds."""
        return self.inferred.dims if self.inferred else None


def _compatible(a: Dims, b: Dims) -> bool:
    if len(a) != len(b):
        return False
    return all(x == y or isinstance(x, str) or isinstance(y, str) for x, y in zip(a, b, strict=True))


def operator_version(node: ClipNode, opset: int | None = None) -> int:
    """The version of Clip that the imported operator set, or this one, means: 1, 6, 11, 12 or 13."""
    return clip_version(node.opset if opset is None else opset)


@cache
def clip_version(opset: int) -> int:
    """The version of Clip that an operator set means."""
    known = min(opset, defs.onnx_opset_version())  # a greater one need not fit the C++ int behind it
    return int(defs.get_schema("Clip", known, "").since_version)


@cache
def operator_types(version: int) -> frozenset[str]:
    """The ONNX names of the element types that a version of Clip is defined for."""
    (constraint,) = defs.get_schema("Clip", version, "").type_constraints
    names = {text.removeprefix("tensor(").removesuffix(")") for text in constraint.allowed_type_strs}
    return frozenset(name.upper() for name in names)


def type_problem(version: int, element_type: str) -> str | None:
    """Why a version of Clip with this element type is no operator of ONNX; None where it is one."""
    if element_type in operator_types(version):
        return None
    newer = [v for v in (11, 12, 13) if v > version and element_type in operator_types(v)]
    hint = f"; Clip-{newer[0]} is, from operator set {newer[0]} on" if newer else ""
    return f"Clip-{version} is not defined for {element_type}{hint}"


def arguments(node: ClipNode, path: Path) -> tuple[Argument, ...]:
    """X, L, M and Y of a node.

    Raises:
        UserError: the node has too few or too many inputs or outputs for its version of Clip, an attribute
            that this version does not have, or an input that nothing defines.
    """
    version = operator_version(node)
    inputs, outputs = list(node.proto.input), list(node.proto.output)
    most = len(INPUTS) if version >= BOUNDS_ARE_INPUTS_SINCE else 1
    if not inputs or not inputs[0] or len(inputs) > most:
        accepted = "1 to 3 inputs, the first of them set" if most > 1 else "exactly one input"
        raise _malformed(node, path, f"Clip-{version} takes {accepted}; here: {inputs}")
    if len(outputs) != 1 or not outputs[0]:
        raise _malformed(node, path, f"Clip gives exactly one output; here: {outputs}")
    foreign = _foreign_attribute(node.proto, version)
    if foreign is not None:
        raise _malformed(node, path, f"Clip-{version} has no attribute {quoted(foreign)}")
    names: list[str | None] = [name or None for name in inputs]
    names += [None] * (len(INPUTS) - len(names))
    roles = zip((*INPUTS, "Y"), (*names, outputs[0]), strict=True)
    found = tuple(_argument(node, path, role, name) for role, name in roles)
    if found[0].name is None:
        what = f"input X is the function's input {quoted(inputs[0])}, which the call leaves out"
        raise _malformed(node, path, what)
    return (*found[:3], _with_shape_of(found[0], found[3]))


def _foreign_attribute(node: NodeProto, version: int) -> str | None:
    """An attribute that a version of Clip does not have; R1 and R2 speak of one whose input is not set."""
    if not node.attribute:
        return None
    had = {*defs.get_schema("Clip", version, "").attributes}
    if version >= BOUNDS_ARE_INPUTS_SINCE:
        set_here = [*map(bool, node.input), *(False,) * len(INPUTS)]
        had |= {name for position, name in ((1, "min"), (2, "max")) if not set_here[position]}
    return next((attribute.name for attribute in node.attribute if attribute.name not in had), None)


def _with_shape_of(x: Argument, y: Argument) -> Argument:
    """Y, which has the shape of X (C1) even where inference of the whole model found nothing."""
    if y.contradiction or (y.derived and y.derived.dims is not None):
        return y
    dims = x.derived.dims if x.derived and x.derived.dims is not None else x.dims
    if dims is None:
        return y
    derived = y.derived or TensorInfo("shape of X (C1)")
    return replace(y, derived=replace(derived, dims=dims))


def known_of(scope: Scope, name: str) -> Hashable:
    """Equal for names of which the same is known.

    What is known is compared by identity: in one scope the same type of the same origin is one object.
    """
    if scope.outer is None and name not in scope.unset:  # the usual case, without an object of its own
        infos = (scope.inferred.get(name), scope.derived.get(name), *scope.declared.get(name, ()))
        return (name in scope.defined, None, *map(id, infos))
    found = resolve(scope, name)
    unset = name if found.unset else None
    return (found.defined, unset, *map(id, (found.inferred, found.derived, *found.declared)))


def _argument(node: ClipNode, path: Path, role: str, name: str | None) -> Argument:
    if name is None:
        return Argument(role, None)
    found = resolve(node.scope, name)
    if not found.defined:
        raise _malformed(node, path, f"input {role} is the tensor {quoted(name)}, which nothing defines")
    if found.unset:
        return Argument(role, None, in_function=True, left_out=name)
    return Argument(role, name, found.declared, found.inferred, node.scope.in_function, found.derived)


def _malformed(node: ClipNode, path: Path, what: str) -> UserError:
    return UserError(
        what,
        where=f"{shown(str(path))}, {node.place}",
        todo="correct the model; onnx.checker.check_model says more",
    )
