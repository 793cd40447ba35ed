"""A version of ONNX's Clip as the operator that a check compares with: `check --against`.

The oracle of the dialect gives the expected bits, and the text of the version is the latitude. Calls are made
in forms of a model: every way to give or omit bounds, in the first and the last operator set of the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.conform.judge_forms import judge_form
from sonnx_clip.conform.plan import bounds_of
from sonnx_clip.conform.results import Counts
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import GIVEN, ModelForm
from sonnx_clip.runtimes.opsets import clip_version, newest_opset, opsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.session import Session
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle

_SUBSTITUTE = {"float": ("-inf", "inf"), "int": ("lowest", "highest")}


@dataclass(frozen=True, eq=False)
class DialectOperator(CheckedOperator):
    """Clip as one version of ONNX has it."""

    of_version: DialectOracle

    @property
    def dialect(self) -> str:
        """Its id: ``onnx-11``."""
        return self.of_version.id

    @property
    def element_types(self) -> Sequence[str]:
        """The ids of the element types that the version takes."""
        return tuple(self.of_version.row["element_types"])

    @property
    def opsets(self) -> tuple[int, ...]:
        """The first and the last operator set that mean it."""
        return opsets_of(int(self.of_version.row["version"]))

    @property
    def has_attributes(self) -> bool:
        """Whether its bounds are attributes."""
        return bool(self.of_version.row["bounds"] == "attributes")

    def defaults(self, etype: ElementType) -> tuple[Array, ...]:
        """Bits of the values that replace a missing min and a missing max, of shape ()."""
        bits = bits_type(etype.id)
        return tuple(end.view(bits) for end in self.of_version.bounds(numpy_type(etype.id)))

    def explanation(self, etype: ElementType, form: ModelForm, triple: Sequence[int], got: int) -> str | None:
        """Whether an answer takes a missing bound as no bound, in words."""
        ends = [int(encode(text, etype)) for text in _SUBSTITUTE[etype.family]]
        given = [name in form.bound_names for name in ("l", "m")]
        bounds = [bound if there else end for bound, there, end in zip(triple[1:], given, ends, strict=True)]
        operands = [
            np.array([bits], bits_type(etype.id)).view(numpy_type(etype.id)) for bits in (triple[0], *bounds)
        ]
        same = not all(given) and int(self.result(*operands).view(bits_type(etype.id))[0]) == got
        return "it takes a missing bound as no bound" if same else None


def versions_of_onnx() -> dict[str, int]:
    """The versions of ONNX's Clip by their ids, ``onnx-11``."""
    return {f"onnx-{v}": v for v in sorted({clip_version(n) for n in range(1, newest_opset() + 1)})}


def dialect_operator(id_: str) -> DialectOperator:
    """Clip as a version of ONNX has it; UserError if there is no such version."""
    known = versions_of_onnx()
    if id_ not in known:
        todo = f"choose {', '.join(known)}, or onnx for all"
        raise UserError(f"runtimes cannot be compared with `{id_}`", "--against", todo)
    clip, of = clip_operator(), dialect("onnx", known[id_])
    kept = ("SPEC_DIGEST", "CLASSES", "CASE_OF_CLASS", "READINGS", "CONSTANTS")
    oracle = SimpleNamespace(**{name: getattr(clip.oracle, name) for name in kept})
    reading = of.row["reading"]
    oracle.ALWAYS = ()
    oracle.LATITUDE = {
        family: {reading: partial(_allows, readings[reading])}
        for family, readings in clip.oracle.READINGS.items()
        if reading in readings
    }
    setattr(oracle, clip.spec.head.function, lambda *given: of.answer(*np.broadcast_arrays(*given)))
    return DialectOperator(clip.spec, oracle, of)


@np.errstate(invalid="ignore")
def _allows(reading: Callable[..., Any], x: Array, l: Array, m: Array, _: Array, got: Array) -> Array:
    """Whether the text of a version allows answers, with any payload of a NaN that it allows."""
    found = np.asarray(reading(x, l, m, got))
    for operand in (x, l, m):
        nan = np.not_equal(operand, operand) & np.not_equal(got, got)
        found = found | nan & reading(x, l, m, operand)
    return found


def dialect_forms(of: DialectOperator) -> list[ModelForm]:
    """The forms of a model in which a version is compared."""
    ways = [way for way in GIVEN if not (of.has_attributes and "empty" in way)]
    bounds = "attributes" if of.has_attributes else "inputs"
    return [
        ModelForm(bounds, "symbolic", 1, opset, optimised=True, given=way)  # type: ignore[arg-type]
        for opset in of.opsets
        for way in ways
    ]


def dialect_table(of: DialectOperator, etype: ElementType, form: ModelForm, *, few: bool = False) -> Table:
    """What is expected in a form: every special value of X under pairs of bounds that reach every class.

    A missing bound is replaced by the dialect's default.
    """
    x = np.array(special_patterns(etype), bits_type(etype.id))
    pairs = _bounds(of, etype, few=few)
    for side, name in enumerate(("l", "m")):
        if name not in form.bound_names:
            pairs[side] = of.defaults(etype)[side]
    return tabulate(etype, [x], tuple(np.ascontiguousarray(part) for part in np.unique(pairs, axis=1)), of)


def _bounds(of: DialectOperator, etype: ElementType, *, few: bool) -> Array:
    """Bits of pairs of bounds, shape (2, p); a float64 that is an attribute is a FLOAT."""
    width = etype.width or 0
    if not of.has_attributes or width <= np.dtype(np.float32).itemsize * 8:
        return np.array(bounds_of(etype, few=few))
    narrow = np.array(bounds_of(of.spec.element_type("float32"), few=few)).view(np.float32)
    with np.errstate(invalid="ignore"):
        return narrow.astype(np.float64).view(np.uint64)


def judge_dialect(
    session: Session, etype: ElementType, policy: Policy, of: CheckedOperator
) -> dict[str, Any]:
    """The fields of a unit's result: the counts of all forms together, and the report on each form.

    A form that is refused in one operator set and served in the other is not counted: what a runtime refuses
    there is the operator set.

    Raises:
        UserError: the runtime runs no ONNX models.
    """
    assert isinstance(of, DialectOperator)
    if not session.worker.models:
        todo = "choose onnxruntime or onnx-reference, or give --onnx or --onnx-cmd"
        raise UserError(f"the runtime {session.worker.name} runs no ONNX models", todo=todo)
    counts, reports, stopped = Counts(of={}, raised={}, answers=""), list[Any](), False
    refused: dict[str, list[Counts]] = {}
    for form in dialect_forms(of):
        table = dialect_table(of, etype, form, few=session.worker.few)
        report, stopped, found = judge_form(session, etype, policy, form, of, table, counts.known)
        raised = {str(form): one for one in found.raised.values()}  # all of one layout
        found = Counts(of=found.of, raised=raised, answers="")
        if report.verdict == "refused":
            refused.setdefault(form.given, []).append(found)
        else:
            counts += found
        reports.append(report)
        if stopped:
            break
    served = {report.given for report in reports if report.verdict != "refused"}
    for found in (of for given, every in refused.items() if given not in served for of in every):
        counts += found
    return {"tally": counts, "forms": tuple(reports), "forms_stopped": stopped}


def dialect_scope(of: CheckedOperator) -> tuple[str, str]:
    """What is compared with a version, and what is not seen, each as a sentence."""
    assert isinstance(of, DialectOperator)
    opsets = " and ".join(map(str, of.opsets))
    compared = (
        "compared: every special value of X under pairs of special bounds that reach every class, with every"
        f" way to give or omit bounds, in operator set {opsets}."
    )
    windows = "DirectML, which needs Windows and a Direct3D 12 device"
    return compared, f"Not seen: other values; other ranks and lengths of X; {windows}."
