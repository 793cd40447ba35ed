"""The tensors that a Clip node takes and gives, with what the model and shape inference say of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from sonnx_clip.lint.load import malformed
from sonnx_clip.lint.operator_versions import attributes, inputs
from sonnx_clip.lint.tensors import Dims, TensorInfo, compatible, quoted, show_dims

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sonnx_clip.lint.profile import OnnxOperand, OperatorHead
    from sonnx_clip.lint.scopes import ClipNode


@dataclass(frozen=True)
class Argument:
    """One tensor of a node.

    Attributes:
        operand: what the specification says of it.
        name: its name in the model, None where the input is not set.
        declared: every declaration that the model makes of it.
        inferred: what shape inference finds.
        derived: the same, where no declaration of a computed value is believed.
    """

    operand: OnnxOperand
    name: str | None
    declared: tuple[TensorInfo, ...] = ()
    inferred: TensorInfo | None = None
    derived: TensorInfo | None = None

    @property
    def id(self) -> str:
        """Its name in the specification, such as X."""
        return self.operand.id

    @property
    def element_types(self) -> tuple[str, ...]:
        """The declared element types, each once; more than one is a contradiction."""
        return tuple(dict.fromkeys(info.element_type for info in self.declared if info.element_type))

    @property
    def shapes(self) -> tuple[Dims, ...]:
        """The declared shapes, each once."""
        return tuple(dict.fromkeys(info.dims for info in self.declared if info.dims is not None))

    @property
    def declared_contradiction(self) -> str | None:
        """Two declared shapes that no tensor can have both."""
        for number, other in enumerate(self.shapes):
            for one in self.shapes[:number]:
                if not compatible(one, other):
                    return f"declared with two shapes: {show_dims(one)} and {show_dims(other)}"
        return None

    @property
    def computed_contradiction(self) -> str | None:
        """A declared shape and one found by inference that no tensor can have both."""
        found = self.derived_dims
        for one in self.shapes:
            if found is not None and not compatible(one, found):
                return f"declared with shape {show_dims(one)}, but inference finds {show_dims(found)}"
        return None

    @property
    def contradiction(self) -> str | None:
        """Two shapes, declared or found by inference, that no tensor can have both."""
        return self.declared_contradiction or self.computed_contradiction

    @property
    def not_tensor(self) -> str | None:
        """The kind of a value that is declared, or found by inference, to be no tensor."""
        infos = (*self.declared, *([self.derived] if self.derived else []))
        return next((info.not_tensor for info in infos if info.not_tensor), None)

    @property
    def sparse(self) -> str | None:
        """Where it is declared, or found by inference, to be sparse."""
        infos = (*self.declared, self.inferred, self.derived)
        return next((info.origin for info in infos if info is not None and info.sparse), None)

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
    def derived_type(self) -> str | None:
        """The element type that it finds without believing declarations of computed values."""
        return self.derived.element_type if self.derived else None

    @property
    def derived_dims(self) -> Dims | None:
        """The shape that it finds so."""
        return self.derived.dims if self.derived else None

    @property
    def known_type(self) -> str | None:
        """The element type on which all that is known of it agrees."""
        found = {*self.element_types, *(name for name in (self.inferred_type, self.derived_type) if name)}
        return found.pop() if len(found) == 1 else None

    @property
    def known_dims(self) -> Dims | None:
        """The declared shape, or else what inference finds; None where they contradict each other."""
        if self.contradiction:
            return None
        if self.dims is not None:
            return self.dims
        return self.inferred_dims if self.derived_dims is None else self.derived_dims

    @property
    def value(self) -> int | float | None:
        """The entry of a bound that is stored in the model, and that no caller gives."""
        if any(info.origin == "graph input" for info in self.declared):
            return None
        text = next((info.value for info in self.declared if info.value is not None), None)
        if text is None:
            return None
        return int(text) if text.removeprefix("-").isdecimal() else float(text)


def arguments(node: ClipNode, path: Path, head: OperatorHead) -> tuple[Argument, ...]:
    """The operands of a node in the order of the head, then its result.

    Raises:
        UserError: the node has too few or too many inputs or outputs for its version of the operator, an
            attribute that this version does not have, or an input that nothing defines.
    """
    names, outputs = list(node.proto.input), list(node.proto.output)
    most = len(inputs(head.operator, node.version))
    if not names or not names[0] or len(names) > most:
        accepted = f"1 to {most} inputs, the first of them set" if most > 1 else "exactly one input"
        raise malformed(f"{node.operator} takes {accepted}; here: {names}", path, node.place)
    if len(outputs) != 1 or not outputs[0]:
        raise malformed(f"{head.operator} gives exactly one output; here: {outputs}", path, node.place)
    foreign = _foreign_attribute(node, head)
    if foreign is not None:
        raise malformed(f"{node.operator} has no attribute {quoted(foreign)}", path, node.place)
    names += [""] * (len(head.operands) - len(names))
    pairs = [*zip(head.operands, names, strict=True), (head.result, outputs[0])]
    first, *others, result = (_argument(node, path, operand, name or None) for operand, name in pairs)
    return (first, *others, _with_shape_of(first, result))


def scalars(tensors: Iterable[Argument]) -> list[Argument]:
    """The scalars among the operands of a node: what Clip calls its bounds."""
    return [tensor for tensor in tensors if tensor.operand.role == "scalar"]


def _foreign_attribute(node: ClipNode, head: OperatorHead) -> str | None:
    """An attribute that its version does not have; the restrictions speak of one whose input is not set."""
    taken = inputs(head.operator, node.version)
    unset = (name for name, given in zip_longest(taken, node.proto.input) if not given)
    had = attributes(head.operator, node.version).union(unset)
    return next((attribute.name for attribute in node.proto.attribute if attribute.name not in had), None)


def _with_shape_of(x: Argument, y: Argument) -> Argument:
    """The result, which has the shape of the first operand (C1) even where inference found nothing."""
    if y.contradiction or y.derived_dims is not None:
        return y
    dims = x.dims if x.derived_dims is None else x.derived_dims
    if dims is None:
        return y
    derived = y.derived or TensorInfo(f"shape of {x.id} (C1)")
    return replace(y, derived=replace(derived, dims=dims))


def _argument(node: ClipNode, path: Path, operand: OnnxOperand, name: str | None) -> Argument:
    if name is None:
        return Argument(operand, None)
    found = node.known(name)
    if not found.defined:
        what = f"input {operand.id} is the tensor {quoted(name)}, which nothing defines"
        raise malformed(what, path, node.place)
    return Argument(operand, name, found.declared, found.inferred, found.derived)
