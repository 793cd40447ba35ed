"""The operator that is checked: its specification and its oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.runtime import OperatorNode
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType, SimpleNamespace

    from sonnx_clip.conform.check_report import TypeReport
    from sonnx_clip.conform.form_plan import FormBounds
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.spec import Spec


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator with its specification, and the generated oracle or one with the same attributes."""

    spec: Spec
    oracle: ModuleType | SimpleNamespace

    def __reduce__(self) -> tuple[Callable[[], Operator], tuple[()]]:
        """Pickle Clip by name, for Dask; no other operator is sent to workers."""
        assert self is clip_operator()
        return clip_operator, ()

    @property
    def dialect(self) -> str:
        """The id of the dialect, ``onnx-11``; empty for the specification itself."""
        return ""

    @property
    def forms(self) -> Sequence[ModelForm]:
        """The forms of a model in which a dialect is compared; empty for others."""
        return ()

    @property
    def element_types(self) -> Sequence[str]:
        """The ids of the element types that NumPy has."""
        return [etype.id for etype in self.spec.element_types if etype.numpy is not None]

    @property
    def is_clip(self) -> bool:
        """Whether it is Clip, which alone has readings, forms of a model, and all levels."""
        return self.spec.operator == "Clip"

    @property
    def tensors(self) -> int:
        """The number of its operands that are tensors; they precede the scalars."""
        return len(self.spec.head.tensors)

    @property
    def scalars(self) -> int:
        """The number of its operands that are scalars."""
        return len(self.spec.operands) - self.tensors

    @property
    def node(self) -> OperatorNode:
        """The operator as a node of a model."""
        given = self.spec.operands
        called = tuple(o.id if o.role == "tensor" else o.onnx for o in given)
        return OperatorNode(self.spec.operator, tuple(o.id.lower() for o in given), called)

    def result(self, *operands: Array) -> Any:
        """The result of the oracle."""
        return getattr(self.oracle, self.spec.head.function)(*operands)

    def class_ids(self, family: str) -> tuple[str, ...]:
        """The classes of a family, in the order of the YAML."""
        return tuple(self.oracle.CLASSES[family])

    def bounds_of_form(
        self, etype: ElementType, form: ModelForm, *, few: bool
    ) -> FormBounds | None:
        """The bounds in a form of a model with expected results, if they depend on the form."""

    def scope(self, types: Sequence[TypeReport]) -> tuple[str, str] | None:
        """What a run compared and its blind spots, as two sentences; None if they depend on the level."""


@cache
def clip_operator() -> Operator:
    """Clip, from spec/clip.yaml and generated/."""
    return Operator(load_spec(), load_oracle())


def machine_types(ids: Sequence[str] = (), of: Operator | None = None) -> list[ElementType]:
    """The element types with these ids; all that NumPy has, if empty. UserError if one is unknown."""
    of = of or clip_operator()
    spec = of.spec
    if spec.digest != of.oracle.SPEC_DIGEST:
        raise UserError(f"generated/ is stale for {spec.file}", todo="run: sonnx-clip generate")
    known = [spec.element_type(id_) for id_ in of.element_types]
    wanted = [spec.element_type(id_) for id_ in dict.fromkeys(ids)] or known
    for etype in wanted:
        if etype not in known:
            what = f"{etype.id} is not a machine type: no runtime has values of it"
            if of.dialect:
                what = f"{etype.id} is not an element type of {of.dialect}"
            raise UserError(what, todo=f"choose from {', '.join(of.element_types)}")
    return wanted
