"""The operator that is checked: its specification, and the oracle that is generated of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sonnx_clip.oracle import load_oracle
from sonnx_clip.runtimes.operator_node import OperatorNode
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from types import ModuleType, SimpleNamespace

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.spec import Spec


@dataclass(frozen=True, eq=False)
class CheckedOperator:
    """What runtimes are held against.

    Args:
        spec: the specification.
        oracle: the module that is generated from it, or `evaluated_oracle`.
    """

    spec: Spec
    oracle: ModuleType | SimpleNamespace

    @property
    def is_clip(self) -> bool:
        """Whether it is Clip, of which more is stated: readings, and the forms of a model."""
        return self.spec.operator == "Clip"

    @property
    def tensors(self) -> int:
        """How many of its operands are tensors; they stand before the scalars."""
        return len(self.spec.head.tensors)

    @property
    def scalars(self) -> int:
        """How many are scalars."""
        return len(self.spec.operands) - self.tensors

    @property
    def node(self) -> OperatorNode:
        """The operator as a node of a model."""
        given = self.spec.operands
        called = tuple(o.id if o.role == "tensor" else o.onnx for o in given)
        return OperatorNode(self.spec.operator, tuple(o.id.lower() for o in given), called)

    def result(self, *operands: Array) -> Any:
        """What the oracle gives."""
        return getattr(self.oracle, self.spec.head.function)(*operands)

    def class_ids(self, family: str) -> tuple[str, ...]:
        """The classes of a family, in the order of the YAML."""
        return tuple(self.oracle.CLASSES[family])


@cache
def clip_operator() -> CheckedOperator:
    """Clip, as spec/clip.yaml and generated/ have it."""
    return CheckedOperator(load_spec(), load_oracle())
