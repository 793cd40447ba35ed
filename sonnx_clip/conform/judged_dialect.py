"""A dialect of Clip as the reference of a check: `check --against`.

The oracle of the dialect gives the expected bits, and its text is the latitude. Calls are made in forms of a
model: every way to give or omit bounds that the dialect takes, in the first and the last operator set of its
nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.chosen_bounds import bounds_with_values, chosen_bounds, pairs_with_zero
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.conform.extent import phrases_of_compared
from sonnx_clip.conform.form_plan import FormBounds
from sonnx_clip.conform.operator import Operator
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle.dialect import named
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import GIVEN, Given, ModelForm
from sonnx_clip.runtimes.opsets import clip_version, newest_opset, opsets_of
from sonnx_clip.spec.bounds_in_use import bounds_in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import FormReport, TypeReport
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle
    from sonnx_clip.spec import Spec

_COMPARED = {
    "bounds in use": "the values around the bounds in use under these bounds",
    "special values": "every special value of X under pairs of special bounds that reach every class",
    "bounds with zero": "zero beside each special value as constant bounds",
}
"""What the calls of each purpose are, in forms of a model."""
_WAYS = {"both": "both bounds given"}


@dataclass(frozen=True, eq=False)
class JudgedDialect:
    """What a check against a dialect does in its own way: models, their bounds, and what it compared."""

    of_version: DialectOracle
    opsets: tuple[int, ...]  # the first and the last operator set of its nodes

    @property
    def id(self) -> str:
        """Its id: ``onnx-11``."""
        return self.of_version.id

    @property
    def element_types(self) -> Sequence[str]:
        """The ids of the element types of the dialect."""
        return tuple(self.of_version.row["element_types"])

    @property
    def has_attributes(self) -> bool:
        """Whether its bounds are attributes."""
        return bool(self.of_version.row["bounds"] == "attributes")

    @property
    def forms(self) -> Sequence[ModelForm]:
        """Every way to give or omit bounds that it allows, in each of its operator sets."""
        bounds: Any = "attributes" if self.has_attributes else "inputs"
        ways: Iterable[Given] = GIVEN if self.of_version.row["missing"] else ("both",)
        # An attribute is there or not; an input may have an empty name, too.
        if self.has_attributes:
            ways = [way for way in ways if "empty" not in way]
        return [
            ModelForm(bounds, "symbolic", 1, opset, optimised=True, given=way)
            for opset, way in product(self.opsets, ways)
        ]

    def bounds_of_form(
        self,
        operator: Operator,
        etype: ElementType,
        form: ModelForm,
        *,
        few: bool,
    ) -> FormBounds:
        """The bounds of a form: pairs that reach every class, the bounds in use, and those with a zero.

        A missing bound is replaced by the dialect's default. A float64 that is an attribute is a FLOAT.
        """
        spec = operator.spec
        given_type = self._given_type(spec, etype)
        bits = bits_type(etype.id)
        chosen_scalars = np.array(chosen_bounds(given_type, operator, few=few))
        chosen = self._as_operands(spec, etype, form, chosen_scalars.T.tolist())
        scalars = tuple(np.array(side, bits) for side in zip(*chosen, strict=True))
        special = np.array(special_patterns(etype), bits)

        used_pairs = self._used_pairs(spec, given_type, form)
        used = self._as_operands(spec, etype, form, used_pairs)
        # Attributes are constants: converters see them, as in `pairs_with_zero`.
        with_zero = None
        if self.has_attributes and not few:
            pairs = self._as_operands(spec, etype, form, pairs_with_zero(given_type))
            with_zero = bounds_with_values(etype, pairs, operator)
        return FormBounds(
            special=tabulate(etype, [special], scalars, operator),
            used=bounds_with_values(etype, used, operator),
            with_zero=with_zero,
        )

    def _given_type(self, spec: Spec, etype: ElementType) -> ElementType:
        """The type in which bounds are chosen: attributes are FLOAT, of which a float64 has more values."""
        if self.has_attributes and etype.id == "float64":
            return spec.element_type("float32")
        return etype

    def _used_pairs(
        self,
        spec: Spec,
        etype: ElementType,
        form: ModelForm,
    ) -> Iterator[tuple[int, ...]]:
        """The bounds in use that have the sides of a form; 0 stands for a side that the form lacks."""
        for used in bounds_in_use(spec, etype):
            # A pair without a side is for the forms that lack it; a whole one for these, too.
            pair = []
            for name, value in zip(("l", "m"), used.sides, strict=True):
                if name in form.missing_bounds:
                    pair.append(0)
                elif value is not None:
                    pair.append(value)
            if len(pair) == len(used.sides):
                yield tuple(pair)

    def _as_operands(
        self,
        spec: Spec,
        etype: ElementType,
        form: ModelForm,
        pairs: Iterable[Sequence[int]],
    ) -> list[tuple[int, ...]]:
        """The pairs in the element type, each once, with the dialect's default for a missing side."""
        dtype = numpy_type(etype.id)
        given_type = self._given_type(spec, etype)
        given_bits = np.array(list(pairs), bits_type(given_type.id))
        given = given_bits.view(numpy_type(given_type.id))
        with np.errstate(invalid="ignore"):  # signalling NaNs
            bounds = given.astype(dtype)

        # The expected results are those under the default, which the model itself does not have.
        for side, name in enumerate(("l", "m")):
            if name in form.missing_bounds:
                # Not before: a dialect that requires its bounds has no defaults.
                defaults = self.of_version.bounds(dtype)
                bounds[:, side] = defaults[side]
        rows = bounds.view(bits_type(etype.id)).tolist()
        # Pairs that differed in the missing side alone are equal now.
        distinct = dict.fromkeys(tuple(row) for row in rows)
        return list(distinct)

    def scope(self, types: Sequence[TypeReport]) -> tuple[str, str]:
        """What was compared with the dialect, and the blind spots, each as a sentence."""
        forms: list[FormReport] = []
        for report in types:
            for form_report in report.served_forms:
                if form_report.compared:
                    forms.append(form_report)
        compared = _what_was_compared(forms) if forms else "nothing"
        windows = "DirectML, which needs Windows and a Direct3D 12 device"
        return (
            f"compared: {compared}.",
            f"Not asked: other values; other ranks and lengths of X; {windows}.",
        )


def _what_was_compared(forms: Sequence[FormReport]) -> str:
    """The purposes of the calls in some forms, the ways to give bounds, and the operator sets."""
    named = phrases_of_compared(_COMPARED, [report.tried for report in forms])
    ways = dict.fromkeys(_WAYS.get(report.form.given, report.form.given) for report in forms)
    opsets = sorted({report.form.opset for report in forms})
    sets = " and ".join(map(str, opsets))
    return f"{'; '.join(named)}; with {', '.join(ways)}, in operator set {sets}"


def versions_of_onnx() -> dict[str, int]:
    """The versions of ONNX's Clip by their ids, ``onnx-11``."""
    versions = {clip_version(opset) for opset in range(1, newest_opset() + 1)}
    return {f"onnx-{version}": version for version in sorted(versions)}


def _judged_dialects(spec: Spec) -> dict[str, int]:
    """The dialects that models can be compared with, each with the version of its nodes."""
    versions = versions_of_onnx()
    judged = dict(versions)
    for dialect in spec.dialects:
        if dialect.node_of in versions:
            judged[dialect.id] = versions[dialect.node_of]
    return judged


def dialect_operator(operator: Operator, id_: str) -> Operator:
    """An operator as a dialect of it defines it; UserError if models cannot be compared with it."""
    known = _judged_dialects(operator.spec)
    if id_ not in known:
        todo = f"choose {', '.join(known)}, or onnx for all of ONNX"
        raise UserError(f"runtimes cannot be compared with `{id_}`", "--against", todo)
    dialect = named(id_)
    reading = dialect.row["reading"]
    # The only latitude is what the page of the dialect allows, in the families that its reading is for:
    # what SONNX leaves open is no excuse here.
    latitude: dict[str, dict[str, Any]] = {}
    for family, readings in operator.oracle.READINGS.items():
        latitude[family] = {}
        if reading in readings:
            latitude[family][reading] = partial(_allows, readings[reading])

    def answer(*operands: Array) -> Array:
        return dialect.answer(*np.broadcast_arrays(*operands))

    oracle = SimpleNamespace(
        SPEC_DIGEST=operator.oracle.SPEC_DIGEST,
        CLASSES=operator.oracle.CLASSES,
        CASE_OF_CLASS=operator.oracle.CASE_OF_CLASS,
        READINGS=operator.oracle.READINGS,
        LATITUDE=latitude,
        ALWAYS=(),
    )
    setattr(oracle, operator.signature.function, answer)
    return Operator(operator.spec, oracle, JudgedDialect(dialect, opsets_of(known[id_])))


@np.errstate(invalid="ignore")
def _allows(
    reading: Callable[..., Any],
    x: Array,
    l: Array,
    m: Array,
    _: Array,
    got: Array,
) -> Array:
    """Whether a reading allows answers, with any payload of a NaN that it allows."""
    allowed = np.asarray(reading(x, l, m, got))
    # The text of a dialect does not speak of payloads: a NaN is allowed if any NaN of the operands is.
    for operand in (x, l, m):
        nan = np.not_equal(operand, operand) & np.not_equal(got, got)
        allowed = allowed | nan & reading(x, l, m, operand)
    return allowed
