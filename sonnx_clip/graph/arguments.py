"""The four tensors X, L, M, Y of a Clip node, with what the model and shape inference say of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import defs

from sonnx_clip.errors import UserError
from sonnx_clip.graph.declared import Dims, TensorInfo, quoted, show_dims, shown, symbols
from sonnx_clip.graph.scope import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.graph.walk import ClipNode

BOUNDS_ARE_INPUTS_SINCE = 11
INPUTS = ("X", "L", "M")


@dataclass(frozen=True)
class Argument:
    """One tensor of a node.

    Attributes:
        role: X, L, M or Y.
        name: its name in the model, None where the input is not set.
        declared: every declaration the model makes of it.
        inferred: what shape inference says of it.
        in_function: it lies in a local function.
    """

    role: str
    name: str | None
    declared: tuple[TensorInfo, ...] = ()
    inferred: TensorInfo | None = None
    in_function: bool = False

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
        """Two declared shapes that no tensor can have both."""
        for other in self.shapes[1:]:
            if not _compatible(self.shapes[0], other):
                return f"{show_dims(self.shapes[0])} and {show_dims(other)}"
        return None

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

    @property
    def complete(self) -> bool:
        """The model itself declares type and shape, so that inference has nothing to add."""
        if self.name is None:
            return True
        return bool(self.element_types) and self.dims is not None and not symbols(self.dims)


def _compatible(a: Dims, b: Dims) -> bool:
    if len(a) != len(b):
        return False
    return all(x == y or isinstance(x, str) or isinstance(y, str) for x, y in zip(a, b, strict=True))


def operator_version(node: ClipNode) -> int:
    """The version of Clip that the imported opset means: 1, 6, 11, 12 or 13."""
    known = min(node.opset, defs.onnx_opset_version())  # a greater one need not fit the C++ int behind it
    return defs.get_schema("Clip", known, "").since_version


def arguments(node: ClipNode, path: Path) -> tuple[Argument, ...]:
    """X, L, M and Y of a node.

    Raises:
        UserError: the node has too few or too many inputs or outputs for its version of Clip, or an input
            that nothing defines.
    """
    version = operator_version(node)
    inputs, outputs = list(node.proto.input), list(node.proto.output)
    most = len(INPUTS) if version >= BOUNDS_ARE_INPUTS_SINCE else 1
    if not inputs or not inputs[0] or len(inputs) > most:
        accepted = "1 to 3 inputs, the first of them set" if most > 1 else "exactly one input"
        raise _malformed(node, path, f"Clip-{version} takes {accepted}; here: {inputs}")
    if len(outputs) != 1 or not outputs[0]:
        raise _malformed(node, path, f"Clip gives exactly one output; here: {outputs}")
    names: list[str | None] = [name or None for name in inputs]
    names += [None] * (len(INPUTS) - len(names))
    roles = zip((*INPUTS, "Y"), (*names, outputs[0]), strict=True)
    return tuple(_argument(node, path, role, name) for role, name in roles)


def _argument(node: ClipNode, path: Path, role: str, name: str | None) -> Argument:
    if name is None:
        return Argument(role, None)
    found = resolve(node.scope, name)
    if not found.defined:
        raise _malformed(node, path, f"input {role} is the tensor {quoted(name)}, which nothing defines")
    return Argument(role, name, found.declared, found.inferred, node.scope.in_function)


def _malformed(node: ClipNode, path: Path, what: str) -> UserError:
    return UserError(
        what,
        where=f"{shown(str(path))}, {node.place}",
        todo="correct the model; onnx.checker.check_model says more",
    )
