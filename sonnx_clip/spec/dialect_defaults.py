"""What stands for the missing bounds of a dialect, in each element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.convert import convert
from sonnx_clip.language.values import encode

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.model import Spec


def bound_type(spec: Spec, dialect: Dialect, etype: ElementType) -> ElementType:
    """The type in which a dialect is given the bounds for an X of an element type."""
    return etype if dialect.bound_type == "tensor" else spec.element_type(dialect.bound_type)


def given_defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds before any conversion; None if they are refused."""
    if dialect.missing is None:
        return None
    of = etype if dialect.missing.of == "element" else bound_type(spec, dialect, etype)
    return encode(dialect.missing.min, of), encode(dialect.missing.max, of)


def defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds as numbers of the element type; None if they are refused."""
    given = given_defaults(spec, dialect, etype)
    if given is None or dialect.missing is None or dialect.missing.of == "element":
        return given
    of = bound_type(spec, dialect, etype)
    if of.id == etype.id:
        return given
    low, high = (convert(value, of, etype) for value in given)
    assert low is not None
    assert high is not None
    return low, high
