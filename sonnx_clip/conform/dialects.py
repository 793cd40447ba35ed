"""A dialect of Clip as the reference of a check: `check --against`.

The oracle of the dialect gives the expected bits, and its text is the latitude. Calls are made in forms of a
model: every way to give or omit bounds that the dialect takes, in the first and the last operator set of its
nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.conform.plan import bounds_of
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.oracle.dialect import named
from sonnx_clip.root.dtypes import Array, bits_type, from_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import GIVEN, Given, ModelForm
from sonnx_clip.runtimes.opsets import clip_version, newest_opset, opsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle

_NO_BOUND = {"float": ("-inf", "inf"), "int": ("lowest", "highest")}
_READ_AS_ZERO = {
    (0,): "an absent min is read as 0",
    (1,): "an absent max is read as 0",
    (0, 1): "an absent min and an absent max are read as 0",
}


@dataclass(frozen=True, eq=False)
class DialectOperator(CheckedOperator):
    """Clip as defined by one dialect."""

    of_version: DialectOracle

    @property
    def dialect(self) -> str:
        """Its id: ``onnx-11``."""
        return self.of_version.id

    @property
    def element_types(self) -> Sequence[str]:
        """The ids of the element types of the dialect that NumPy has."""
        types = self.of_version.row["element_types"]
        return tuple(id_ for id_ in types if self.spec.element_type(id_).numpy is not None)

    @property
    def opsets(self) -> tuple[int, ...]:
        """The first and the last operator set of its nodes."""
        return opsets_of(judged_dialects()[self.dialect])

    @property
    def has_attributes(self) -> bool:
        """Whether its bounds are attributes."""
        return bool(self.of_version.row["bounds"] == "attributes")

    @property
    def forms(self) -> Sequence[ModelForm]:
        """Every way to give or omit bounds that it allows, in each of its operator sets."""
        bounds: Any = "attributes" if self.has_attributes else "inputs"
        ways: Iterable[Given] = GIVEN if self.of_version.row["missing"] else ("both",)
        return [
            ModelForm(bounds, "symbolic", 1, opset, optimised=True, given=way)
            for opset in self.opsets
            for way in ways
            if not (self.has_attributes and "empty" in way)
        ]

    def table_of_form(self, etype: ElementType, form: ModelForm, *, few: bool) -> Table:
        """The expected results of special values of X under pairs of bounds that reach every class.

        A missing bound is replaced by the dialect's default. A float64 that is an attribute is a FLOAT.
        """
        bits = bits_type(etype.id)
        if self.has_attributes and etype.id == "float64":
            narrow = np.array(bounds_of(self.spec.element_type("float32"), few=few)).view(np.float32)
            with np.errstate(invalid="ignore"):
                pairs = narrow.astype(np.float64).view(bits)
        else:
            pairs = np.array(bounds_of(etype, few=few))
        for side in (0, 1):
            if ("l", "m")[side] in form.missing_bounds:
                pairs[side] = self.of_version.bounds(numpy_type(etype.id))[side].view(bits)
        scalars = tuple(np.ascontiguousarray(part) for part in np.unique(pairs, axis=1))
        return tabulate(etype, [np.array(special_patterns(etype), bits)], scalars, self)

    def explanation(self, etype: ElementType, form: ModelForm, triple: Sequence[int], got: int) -> str | None:
        """Words for an answer in which a missing bound is no bound, or is 0; None for others."""
        sides = [side for side, name in enumerate(("l", "m")) if name in form.missing_bounds]
        if not sides:
            return None
        ends = [int(encode(text, etype)) for text in _NO_BOUND[etype.family]]
        if self._result_with(etype, triple, {side: ends[side] for side in sides}) == got:
            return "treats a missing bound as absent"
        zero = int(encode("0", etype))
        # One bound alone comes first: where that gives the answer, the other need not be 0.
        for zeros in (*([side] for side in sides), sides):
            if self._result_with(etype, triple, dict.fromkeys(zeros, zero)) == got:
                return _READ_AS_ZERO[tuple(zeros)]
        return None

    def _result_with(self, etype: ElementType, triple: Sequence[int], bounds: Mapping[int, int]) -> int:
        """The bits of the result with some bounds replaced: the sides are 0 for min and 1 for max."""
        x, *own_bounds = triple
        replaced = [bounds.get(side, bound) for side, bound in enumerate(own_bounds)]
        operands = [from_bits([value], etype.id) for value in (x, *replaced)]
        return int(self.result(*operands).view(bits_type(etype.id))[0])

    def scope(self) -> tuple[str, str]:
        """What is compared with the dialect, and the blind spots, each as a sentence."""
        missing = self.of_version.row["missing"]
        ways = "every way to give or omit bounds" if missing else "both bounds given, which it requires"
        compared = (
            "compared: every special value of X under pairs of special bounds that reach every class, with"
            f" {ways}, in operator set {' and '.join(map(str, self.opsets))}."
        )
        windows = "DirectML, which needs Windows and a Direct3D 12 device"
        return compared, f"Not seen: other values; other ranks and lengths of X; {windows}."


def versions_of_onnx() -> dict[str, int]:
    """The versions of ONNX's Clip by their ids, ``onnx-11``."""
    return {f"onnx-{v}": v for v in sorted({clip_version(n) for n in range(1, newest_opset() + 1)})}


def judged_dialects() -> dict[str, int]:
    """The dialects that models can be compared with, each with the version of its nodes."""
    versions = versions_of_onnx()
    given = {d.id: d.node_of for d in clip_operator().spec.dialects}
    return versions | {id_: versions[node] for id_, node in given.items() if node in versions}


def dialect_operator(id_: str) -> DialectOperator:
    """Clip as a dialect defines it; UserError if models cannot be compared with it."""
    known = judged_dialects()
    if id_ not in known:
        todo = f"choose {', '.join(known)}, or onnx for all of ONNX"
        raise UserError(f"runtimes cannot be compared with `{id_}`", "--against", todo)
    clip, of = clip_operator(), named(id_)
    readings, reading = clip.oracle.READINGS, of.row["reading"]
    latitude = {
        family: {reading: partial(_allows, found[reading])} if reading in found else {}
        for family, found in readings.items()
    }
    kept = {name: getattr(clip.oracle, name) for name in ("SPEC_DIGEST", "CLASSES", "CASE_OF_CLASS")}
    oracle = SimpleNamespace(**kept, READINGS=readings, LATITUDE=latitude, ALWAYS=())
    setattr(oracle, clip.spec.head.function, lambda *given: of.answer(*np.broadcast_arrays(*given)))
    return DialectOperator(clip.spec, oracle, of)


@np.errstate(invalid="ignore")
def _allows(reading: Callable[..., Any], x: Array, l: Array, m: Array, _: Array, got: Array) -> Array:
    """Whether a reading allows answers, with any payload of a NaN that it allows."""
    found = np.asarray(reading(x, l, m, got))
    for operand in (x, l, m):
        nan = np.not_equal(operand, operand) & np.not_equal(got, got)
        found = found | nan & reading(x, l, m, operand)
    return found
