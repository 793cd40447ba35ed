"""Which results a latitude accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.root.dtypes import numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array

    Accepts: TypeAlias = Mapping[str, Callable[..., Array]]

Policy: TypeAlias = Literal["default", "strict"]


def latitudes(etype: ElementType, policy: Policy, operator: Operator) -> Accepts:
    """The latitudes of a policy: functions of operands, expected results and results."""
    oracle = operator.oracle
    of_family: Accepts = oracle.LATITUDE[etype.family]
    if policy == "default":
        return of_family
    return {id_: accepts for id_, accepts in of_family.items() if id_ in oracle.ALWAYS}


def accepted_by(etype: ElementType, values: Sequence[Array], accepts: Accepts) -> Array:
    """The index of the first latitude that accepts a result, -1 if none does, shape (d,).

    Args:
        etype: the element type.
        values: bits of each operand, of the expected result and of the result, of shape (d,) or (1,).
        accepts: as from `latitudes`.
    """
    dtype = numpy_type(etype.id)
    typed = [part.view(dtype) for part in values]
    got = values[-1]
    first = np.full(len(got), -1, np.int8)
    # Backwards, so that the first latitude is written last.
    numbered = list(enumerate(accepts.values()))
    for index, is_accepted in reversed(numbered):
        mask = np.broadcast_to(is_accepted(*typed), first.shape)
        np.putmask(first, mask, index)
    return first
