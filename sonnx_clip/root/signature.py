"""What an operator takes and gives: one value for the language, theories, runtimes, reports, and `lint`.

The specification states it (`Spec.signature`). The processes of runtimes and `lint` read no specification,
and are given it: it imports nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["tensor", "scalar", "result"]


@dataclass(frozen=True)
class Operand:
    """An operand of an operator, or its result."""

    id: str  # its variable in conditions: X
    # onnx: its name in ONNX, of an input, or in older versions of an attribute; or of the output
    onnx: str
    role: Role  # a tensor, entry by entry; a scalar, one element for all entries; or the result
    position: int  # among the inputs of a node, or among its outputs

    @property
    def parameter(self) -> str:
        """Its name in programs, models and theories: ``x``, ``l``."""
        return self.id.lower()

    @property
    def key(self) -> str:
        """What it is called in vectors and options: a tensor by its variable, a scalar as in ONNX."""
        return self.onnx if self.role == "scalar" else self.parameter

    @property
    def shown(self) -> str:
        """What sentences about numbers call it: ``X``, ``min``."""
        return self.onnx if self.role == "scalar" else self.id


@dataclass(frozen=True)
class Signature:
    """The name of an operator in ONNX, its operands in the order of the inputs of a node, and its result.

    Tensors precede scalars.
    """

    op_type: str
    operands: tuple[Operand, ...]
    result: Operand

    @property
    def function(self) -> str:
        """The name of its result in conditions and programs: ``clip``."""
        return self.op_type.lower()

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The variables of the operands: ``X``, ``L``, ``M``."""
        return tuple(operand.id for operand in self.operands)

    @cached_property
    def all_ids(self) -> tuple[str, ...]:
        """The variables of the operands and of the result."""
        return (*self.ids, self.result.id)

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """The variables of the operands that are tensors."""
        return tuple(operand.id for operand in self.operands if operand.role == "tensor")

    @cached_property
    def scalars(self) -> tuple[str, ...]:
        """The variables of the operands that are scalars."""
        return tuple(operand.id for operand in self.operands if operand.role == "scalar")

    @property
    def second(self) -> str:
        """The variable for other entries of the first tensor, where a property compares two inputs."""
        return f"{self.tensors[0]}2" if self.tensors else ""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The operands in programs and models: ``x``, ``l``, ``m``."""
        return tuple(operand.parameter for operand in self.operands)

    @property
    def arguments(self) -> str:
        """The operands in theories: ``x l m``."""
        return " ".join(self.parameters)

    @property
    def arguments_and_result(self) -> str:
        """The operands and the result in theories: ``x l m y``."""
        return f"{self.arguments} {self.result.parameter}"

    @property
    def call(self) -> str:
        """The arguments of a call in programs: ``x, l, m``."""
        return ", ".join(self.parameters)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """What sentences about numbers call the operands: ``X``, ``min``, ``max``."""
        return tuple(operand.shown for operand in self.operands)

    @property
    def accepted(self) -> str:
        """The parameters of a function of the operands, for messages: ``(x, min, max)``."""
        return f"({', '.join(self.keys)})"

    @property
    def keys(self) -> tuple[str, ...]:
        """What the operands are called in vectors and options: ``x``, ``min``, ``max``."""
        return tuple(operand.key for operand in self.operands)


NO_SIGNATURE = Signature("", (), Operand("", "", "result", 0))
"""That of conditions without an operator."""

CLIP_SIGNATURE = Signature(
    "Clip",
    (
        Operand("X", "input", "tensor", 0),
        Operand("L", "min", "scalar", 1),
        Operand("M", "max", "scalar", 2),
    ),
    Operand("Y", "output", "result", 0),
)
"""That of Clip, which runtimes implement if they do not say otherwise."""
