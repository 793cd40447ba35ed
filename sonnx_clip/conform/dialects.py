"""Compares a runtime of ONNX models with every Clip that ONNX has had: `check --against`.

A dialect is another expectation of the one comparison: its oracle gives the expected bits, and its reading,
the text of the version, is the latitude.
"""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import onnx
from onnx import helper

import sonnx_clip
from sonnx_clip.conform.compare import compare
from sonnx_clip.conform.dialect_report import (
    DialectCell,
    DialectDeviation,
    DialectReport,
    dialect_oracle_digest,
)
from sonnx_clip.language.show import show
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.dtypes import bits_type, hex_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits
from sonnx_clip.runtimes.model_process import ModelCalls, ModelRunner
from sonnx_clip.runtimes.opsets import clip_version, newest_opset, opsets_of
from sonnx_clip.runtimes.worker import RuntimeDiedError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.language import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer
    from sonnx_clip.spec import Spec

    Bounds: TypeAlias = tuple[Array, Array]

OBLIGATIONS = "generated/why3/obligations.json"
_IR_VERSION = 8  # known to every runtime: what is refused is the operator set, not the file
_UNORDERED = "it refuses exactly the bounds for which min <= max is false"
_NO_BOUND = "it takes a missing bound as no bound"

FLOATS = (
    "0", "-0", "1", "-1", "0.1", "10", "inf", "-inf", "nan", "highest", "lowest", "65504", "65520", "-65520",
    "0x1p-149", "-0x1p-149", "0x1p-25",
)  # fmt: skip
"""The FLOATs that bounds are where they are attributes; some become infinite, zero or another float16."""


@dataclass(frozen=True)
class BoundsForm:
    """How bounds are given: inputs of the node after X, of which an empty name is missing, or attributes."""

    id: str
    inputs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The bounds that are not given."""
        return tuple(name for name in ("min", "max") if name not in (*self.inputs, *self.attributes))


_AS_ATTRIBUTES = (
    BoundsForm("both", attributes=("min", "max")),
    BoundsForm("no min", attributes=("max",)),
    BoundsForm("no max", attributes=("min",)),
    BoundsForm("none"),
)
_AS_INPUTS = (
    BoundsForm("both", ("min", "max")),
    BoundsForm("no min", ("", "max")),
    BoundsForm("no max", ("min",)),
    BoundsForm("no max, empty name", ("min", "")),
    BoundsForm("none"),
    BoundsForm("none, empty names", ("", "")),
)


@dataclass(frozen=True)
class DialectForm:
    """Calls of one form: every special value of X under every pair of bounds.

    Args:
        opset: the operator set.
        dialect: the oracle of its Clip.
        etype: the element type.
        form: how bounds are given.
        x: the special values, shape (n,), of the element type.
        given: the bounds as given, by name, each of shape (p,): FLOATs where they are attributes, else of the
            element type.
        lower: min as the dialect takes it, shape (p, 1), of the element type.
        upper: max, likewise.
    """

    opset: int
    dialect: DialectOracle
    etype: ElementType
    form: BoundsForm
    x: Array
    given: dict[str, Array]
    lower: Array
    upper: Array

    @property
    def calls(self) -> ModelCalls:
        """The calls as the process of a runtime makes them."""
        columns = [self.given[name].tolist() for name in self.form.attributes]
        rows = zip(*columns, strict=True) if columns else [()]
        models = tuple(self._model(dict(zip(self.form.attributes, row, strict=True))) for row in rows)
        bits = bits_type(self.etype.id)
        bounds = {name: self.given[name].view(bits) for name in self.form.inputs if name}
        return ModelCalls(self.etype.id, models, self.x.view(bits), bounds, len(self.lower))

    def _model(self, attributes: dict[str, float]) -> bytes:
        """A model of one Clip node: X of one dimension, bounds that are inputs of none."""
        of = helper.np_dtype_to_tensor_dtype(numpy_type(self.etype.id))
        inputs = [helper.make_tensor_value_info("x", of, [None])]
        inputs += [helper.make_tensor_value_info(name, of, []) for name in self.form.inputs if name]
        node = helper.make_node("Clip", ["x", *self.form.inputs], ["y"])
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        graph = helper.make_graph([node], "clip", inputs, [helper.make_tensor_value_info("y", of, [None])])
        opset = helper.make_opsetid("", self.opset)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    @property
    def bound_type(self) -> str:
        """The element type of the bounds as given."""
        return "float32" if self.dialect.row["bounds"] == "attributes" else self.etype.id

    @cached_property
    def every_x(self) -> Array:
        """X beside every pair of bounds, shape (p, n)."""
        return np.broadcast_to(self.x, (len(self.lower), len(self.x)))

    @cached_property
    def due(self) -> Array:
        """The expected results, shape (p, n)."""
        return self.dialect.answer(self.every_x, self.lower, self.upper)

    @property
    def unbounded(self) -> Bounds:
        """Min and max with the ends of the type in the place of a missing one."""
        texts = ("-inf", "inf") if self.etype.family == "float" else ("lowest", "highest")
        found = []
        for name, text, bound in zip(("min", "max"), texts, (self.lower, self.upper), strict=True):
            end = np.array(int(encode(text, self.etype)), bits_type(self.etype.id)).view(self.x.dtype)
            found.append(np.full_like(bound, end) if name in self.form.missing else bound)
        return found[0], found[1]

    def shown_bounds(self, call: int) -> tuple[dict[str, str | None], str]:
        """The bits of the bounds of a call as given, None where one is missing; and both in words."""
        of, bits, words = load_spec().element_type(self.bound_type), dict[str, str | None](), []
        for name in ("min", "max"):
            given = self.given.get(name)
            pattern = None if given is None else int(given.view(bits_type(of.id))[call])
            bits[name] = None if pattern is None else hex_bits(pattern, of.id)
            words.append(f"no {name}" if pattern is None else f"{name} = {show(pattern, of)}")
        return bits, ", ".join(words)


def dialect_forms(spec: Spec, oracle: DialectOracle, opset: int, etype: ElementType) -> Iterator[DialectForm]:
    """The calls of each form in which an operator set takes bounds, in an element type that it takes."""
    dtype = numpy_type(etype.id)
    x = np.array(special_patterns(etype), bits_type(etype.id)).view(dtype)
    attributes, axis = oracle.row["bounds"] == "attributes", x
    if attributes:
        of = spec.element_type("float32")
        axis = np.array([int(encode(text, of)) for text in FLOATS], np.uint32).view(np.float32)
    tensors = oracle.row["bound_type"] == "tensor"
    # Each value as min and as max; what stands for a missing bound comes last.
    taken = [oracle.bounds(dtype, value, value) for value in (
        *(axis[i, ...] if tensors else axis[i] for i in range(len(axis))), None,
    )]  # fmt: skip
    ends = {name: np.stack([pair[side] for pair in taken]) for side, name in enumerate(("min", "max"))}
    count = len(axis)
    for form in _AS_ATTRIBUTES if attributes else _AS_INPUTS:
        if form.missing:
            places = {name: np.arange(count) for name in ("min", "max") if name not in form.missing}
        else:
            places = {"min": np.repeat(np.arange(count), count), "max": np.tile(np.arange(count), count)}
        missing = np.full(max(map(len, places.values()), default=1), -1)
        lower, upper = (ends[name][places.get(name, missing)][:, None] for name in ("min", "max"))
        given = {name: axis[where] for name, where in places.items()}
        yield DialectForm(opset, oracle, etype, form, x, given, lower, upper)


def compare_dialects(
    runtime: str,
    versions: Sequence[int] = (),
    types: Sequence[str] = (),
    *,
    limits: Limits = LIMITS,
    spec: Spec | None = None,
    on_opset: Callable[[int], None] = lambda _: None,
) -> DialectReport:
    """Compare a runtime with versions of ONNX's Clip, in the first and the last operator set of each.

    Args:
        runtime: ``onnxruntime``, ``onnx-reference``, or ``module:function`` for a function that takes a
            serialised model and returns a function of its inputs.
        versions: of Clip, such as 6; all, if empty.
        types: ids of element types; all that the versions take, if empty.
        limits: how long the runtime may take, for a call and to be imported.
        spec: the specification; that of the project if None.
        on_opset: called with each operator set before it is compared.

    Raises:
        UserError: the runtime or an element type is not known, a package is missing, or generated/ is not
            that of the specification.
    """
    spec, began = spec or load_spec(), time.monotonic()
    if spec.digest != load_oracle().SPEC_DIGEST:
        raise UserError("generated/ is not that of spec/clip.yaml", todo="run `sonnx-clip generate`")
    module_of(runtime)
    every = sorted({clip_version(opset) for opset in range(1, newest_opset() + 1)})
    wanted = sorted(set(versions)) or every
    _require_taken(spec, wanted, types)
    process, cells = _Process(runtime, limits), []
    try:
        for version in wanted:
            oracle = dialect("onnx", version)
            for opset in opsets_of(version):
                on_opset(opset)
                for type_id in oracle.row["element_types"]:
                    if not types or type_id in types:
                        forms = dialect_forms(spec, oracle, opset, spec.element_type(type_id))
                        cells += [process.compared(spec, form) for form in forms]
    finally:
        process.close()
    return DialectReport(
        tool=f"sonnx-clip {sonnx_clip.__version__}",
        spec_sha256=spec.digest,
        oracle_sha256=dialect_oracle_digest(),
        runtime=runtime,
        runtime_version=process.version,
        onnx=onnx.__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        machine=platform.machine(),
        complete=wanted == every and not types,
        seconds=round(time.monotonic() - began, 1),
        cells=tuple(cells),
    )


def _require_taken(spec: Spec, versions: Sequence[int], types: Sequence[str]) -> None:
    taken = {id_ for version in versions for id_ in dialect("onnx", version).row["element_types"]}
    for type_id in types:
        spec.element_type(type_id)
    if types and not taken & set(types):
        names = ", ".join(f"Clip-{version}" for version in versions)
        raise UserError(
            f"{', '.join(types)} is no element type of {names}",
            todo=f"choose from {', '.join(sorted(taken))}",
        )


class _Process:
    """The process of a runtime, started again after a crash."""

    def __init__(self, runtime: str, limits: Limits) -> None:
        self._runtime, self._limits = runtime, limits
        self._runner: ModelRunner | None = None
        self.version = runtime

    def compared(self, spec: Spec, form: DialectForm) -> DialectCell:
        """The verdict on a form."""
        if self._runner is None:
            self._runner = ModelRunner(self._runtime, self._limits)
            self.version = self._runner.version
        try:
            return judge(spec, form, self._runner.answered(form.calls))
        except RuntimeDiedError as error:
            self.close()
            return _cell(form, "crashed", words=f"{error} in call {max(0, error.died.call)}")

    def close(self) -> None:
        """End it."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None


# --- The verdict on one form --------------------------------------------------------------------------------


def judge(spec: Spec, form: DialectForm, answer: Answer) -> DialectCell:
    """The verdict on the answers of a form: bits first, the text of the version where they differ."""
    served = np.array([call not in answer.failures for call in range(len(form.lower))])
    words = next((failure.words for failure in answer.failures.values()), None)
    raised = all(failure.raised for failure in answer.failures.values())
    refused = int((~served).sum())
    if not served.any() and raised:
        return _cell(form, "refused", refused=refused, words=words)
    rows = np.flatnonzero(served)
    got, bits = answer.bits[rows], bits_type(form.etype.id)
    operands = [part[rows].view(bits) for part in (form.every_x, form.lower[:, 0], form.upper[:, 0])]
    own = str(form.dialect.row["reading"])
    accepts = {own: lambda x, low, high, _, y: _allows(form, own, x, low, high, y)}
    found = compare(form.etype, got, form.due[rows].view(bits), operands, accepts)
    violating = np.flatnonzero(found.latitude < 0)
    cause, proved, deviation = None, tuple[str, ...](), None
    if len(violating):
        cause, proved = _cause(spec, form, rows, got)
        row, column = int(found.rows[violating[0]]), int(found.columns[violating[0]])
        deviation = _deviation(form, int(rows[row]), column, int(got[row, column]))
    elif refused:
        if raised and np.array_equal(served, _ordered(form)):
            cause = _UNORDERED
        bounds, shown = form.shown_bounds(int(np.flatnonzero(~served)[0]))
        shown = f"{shown}: no result"
        deviation = DialectDeviation(bound_type=form.bound_type, shown=shown, words=words, **bounds)
    return _cell(
        form,
        "violates" if deviation else "acceptable" if len(found.rows) else "conforms",
        compared=got.size,
        acceptable=len(found.rows) - len(violating),
        violating=len(violating),
        refused=refused,
        words=words,
        cause=cause,
        obligations=proved,
        deviation=deviation,
    )


def _cell(form: DialectForm, verdict: Verdict, **fields: object) -> DialectCell:
    return DialectCell.model_validate({
        "opset": form.opset, "dialect": form.dialect.id, "type": form.etype.id, "form": form.form.id,
        "verdict": verdict, "calls": len(form.lower), **fields,
    })  # fmt: skip


@np.errstate(invalid="ignore")
def _allows(form: DialectForm, reading: str, x: Array, lower: Array, upper: Array, got: Array) -> Array:
    """Whether a reading allows each answer, with any payload of a NaN that it allows; shape of `got`."""
    allows = load_oracle().READINGS[form.etype.family][reading]
    found: Array = np.asarray(allows(x, lower, upper, got))
    for operand in (x, lower, upper) if form.etype.family == "float" else ():
        nan = np.broadcast_to(np.not_equal(operand, operand), got.shape)
        same = np.ascontiguousarray(np.broadcast_to(operand, got.shape))
        found = found | nan & np.not_equal(got, got) & allows(x, lower, upper, same)
    return found


def _cause(spec: Spec, form: DialectForm, rows: Array, got: Array) -> tuple[str | None, tuple[str, ...]]:
    """The first rule that allows every answer, with the obligations which prove that it differs."""
    word = form.dialect.id.replace("-", "_")
    own = spec.reading(str(form.dialect.row["reading"]))
    others = [reading for reading in spec.readings if reading.id != own.id]
    rules: list[tuple[str, str, Bounds, tuple[str, ...]]] = [
        (f"it answers as the reading {other.id} allows", other.id, (form.lower, form.upper),
         (f"{own.word}_agrees", f"{other.word}_agrees"))
        for other in others
    ]  # fmt: skip
    if form.form.missing:
        missing = "bounds" if len(form.form.missing) == 2 else "".join(form.form.missing)
        no_bound, ends = (f"{word}_infinities", f"{word}_without_{missing}"), form.unbounded
        rules.insert(0, (_NO_BOUND, own.id, ends, no_bound))
        rules += [
            (f"{_NO_BOUND}, and answers as the reading {other.id} allows", other.id, ends,
             (f"{own.word}_agrees", f"{other.word}_agrees", *no_bound))
            for other in others
        ]  # fmt: skip
    answers, x = got.view(form.x.dtype), form.every_x[rows]
    for words, reading, (lower, upper), proved in rules:
        if _allows(form, reading, x, lower[rows], upper[rows], answers).all():
            return words, _known(form, proved)
    return None, _known(form, (f"{word}_is_sonnx",))


def _known(form: DialectForm, proved: Sequence[str]) -> tuple[str, ...]:
    ids = (f"{form.etype.id}.{goal}" for goal in proved)
    return tuple(id_ for id_ in dict.fromkeys(ids) if id_ in known_obligations())


@cache
def known_obligations() -> frozenset[str]:
    """The ids of all obligations of the theories."""
    rows = json.loads(repo_file(OBLIGATIONS).read_text(encoding="utf-8"))["obligations"]
    return frozenset(row["id"] for row in rows)


@np.errstate(invalid="ignore")
def _ordered(form: DialectForm) -> Array:
    """Where min <= max, as given or as they stand for missing ones, shape (p,)."""
    lower, upper = form.given.get("min", form.lower[:, 0]), form.given.get("max", form.upper[:, 0])
    found: Array = np.less_equal(lower, upper)
    return found


def _deviation(form: DialectForm, call: int, column: int, got: int) -> DialectDeviation:
    bits, name = bits_type(form.etype.id), form.etype.id
    x, due = (int(part.view(bits)) for part in (form.x[column], form.due[call, column]))
    shown = [show(value, form.etype) for value in (x, got, due)]
    bounds, words = form.shown_bounds(call)
    return DialectDeviation(
        bound_type=form.bound_type,
        shown=f"X = {shown[0]}, {words}: got {shown[1]}, expected {shown[2]}",
        x=hex_bits(x, name), got=hex_bits(got, name), expected=hex_bits(due, name), **bounds,
    )  # fmt: skip
