"""The operator that is checked: its specification and its oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sonnx_clip.oracle.evaluated import oracle_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.operators import DEFAULT_OPERATOR, known_operators, specification

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType, SimpleNamespace

    from sonnx_clip.conform.judged_dialect import JudgedDialect
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.root.signature import Signature
    from sonnx_clip.spec import Spec


# Operators are keys of caches, which compare them by identity.
@dataclass(frozen=True, eq=False)
class Operator:
    """An operator as a value: its specification, its oracle, and the dialect as which it is judged.

    The specification has operands and result (`signature`), families, element types and cases. The oracle is
    the generated one, or one with the same attributes.
    """

    spec: Spec
    oracle: ModuleType | SimpleNamespace
    against: JudgedDialect | None = None

    def __reduce__(self) -> tuple[Callable[[str], Operator], tuple[str]]:
        """Pickle an operator by its name in spec/, for Dask: workers have the same files."""
        return operator_named, (self.name,)

    @property
    def name(self) -> str:
        """Its name in spec/, or else the path of its file."""
        path = self.spec.path
        # A file of one's own may be called clip.yaml, too.
        if known_operators().get(path.stem) == path:
            return path.stem
        return str(path)

    def require_name(self) -> None:
        """UserError if it is no operator of spec/, which Dask workers would not find."""
        if self.name not in known_operators():
            message = f"workers have no {self.name}"
            todo = "name an operator of spec/, or check without --scheduler"
            raise UserError(message, "--scheduler", todo)

    @property
    def dialect(self) -> str:
        """The id of the dialect, ``onnx-11``; empty for the specification itself."""
        return "" if self.against is None else self.against.id

    @property
    def element_types(self) -> Sequence[str]:
        """The ids of the element types that NumPy has, of the dialect if there is one."""
        types = self.spec.element_types
        if self.against is not None:
            types = tuple(map(self.spec.element_type, self.against.element_types))
        return [etype.id for etype in types if etype.numpy is not None]

    @property
    def tensors(self) -> int:
        """The number of its operands that are tensors; they precede the scalars."""
        return len(self.signature.tensors)

    @property
    def scalars(self) -> int:
        """The number of its operands that are scalars."""
        return len(self.scalar_names)

    @property
    def scalar_names(self) -> Sequence[str]:
        """The names of its scalars in ONNX."""
        return [operand.onnx for operand in self.signature.operands if operand.role == "scalar"]

    @property
    def has_ranges(self) -> bool:
        """Whether `range_tables` gives its results: of one tensor, beside constants that the oracle names."""
        # An oracle that is evaluated, or that of a dialect, names none.
        names_constants = hasattr(self.oracle, "CONSTANTS")
        return names_constants and self.tensors == 1 and self.scalars > 0

    @property
    def signature(self) -> Signature:
        """What it takes and gives, and its name in ONNX: all that the process of a runtime knows of it."""
        return self.spec.signature

    def result(self, *operands: Array) -> Any:
        """The result of the oracle."""
        function = getattr(self.oracle, self.signature.function)
        return function(*operands)

    def class_ids(self, family: str) -> tuple[str, ...]:
        """The classes of a family, in the order of the YAML."""
        return tuple(self.oracle.CLASSES[family])


def clip_operator() -> Operator:
    """Clip, from spec/clip.yaml and generated/."""
    return operator_named(DEFAULT_OPERATOR)


@cache
def operator_named(name_or_file: str) -> Operator:
    """The operator of spec/ with a name, or that of a file, which is read but not checked."""
    spec = specification(name_or_file)
    return Operator(spec, oracle_of(spec))


def machine_types(ids: Sequence[str], operator: Operator) -> list[ElementType]:
    """The element types with these ids; all that NumPy has, if empty. UserError if one is unknown."""
    spec = operator.spec
    # Every check comes here first: no verdict is by an oracle of another specification.
    if spec.digest != operator.oracle.SPEC_DIGEST:
        raise UserError(f"generated/ is stale for {spec.file}", todo="run: sonnx-clip generate")
    known = [spec.element_type(id_) for id_ in operator.element_types]
    distinct = dict.fromkeys(ids)
    wanted = [spec.element_type(id_) for id_ in distinct] or known
    for etype in wanted:
        if etype not in known:
            message = f"{etype.id} is not a machine type: no runtime has values of it"
            if operator.dialect:
                message = f"{etype.id} is not an element type of {operator.dialect}"
            raise UserError(message, todo=f"choose from {', '.join(operator.element_types)}")
    return wanted
