"""An operator as a node of a model, for the process of a runtime, which reads no specification."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OperatorNode:
    """A node: its operator in ONNX, the names of its inputs in a model and in Python, and those in words."""

    op_type: str
    operands: tuple[str, ...]
    called: tuple[str, ...]

    @property
    def call(self) -> str:
        """The operands as the arguments of a call."""
        return ", ".join(self.operands)

    @property
    def signature(self) -> str:
        """What a function is called with, in words."""
        return f"({', '.join((self.called[0].lower(), *self.called[1:]))})"


CLIP_NODE = OperatorNode("Clip", ("x", "l", "m"), ("X", "min", "max"))
"""Where no other operator is asked for."""
