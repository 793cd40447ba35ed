"""Compares a runtime of ONNX models with every version of ONNX's Clip: `check --against`.

A dialect is another expectation of the one comparison: its oracle gives the expected bits, and its reading,
the text of the version, is the latitude.
"""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

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
from sonnx_clip.root.dtypes import Array, bits_type, hex_bits, numpy_type
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
    from sonnx_clip.runtimes.calls import Answer
    from sonnx_clip.spec import Spec

OBLIGATIONS = "generated/why3/obligations.json"
_IR_VERSION = 8  # known to every runtime: what is refused is the operator set, not the file
_BOUNDS = ("min", "max")
_UNORDERED = "it refuses exactly the bounds for which min <= max is false"
_NO_BOUND = "it takes a missing bound as no bound"

FLOATS = (
    "0", "-0", "1", "-1", "0.1", "10", "inf", "-inf", "nan", "highest", "lowest", "65504", "65520", "-65520",
    "0x1p-149", "-0x1p-149", "0x1p-25",
)  # fmt: skip
"""The FLOATs that bounds are where they are attributes; some become infinite, zero or another float16."""

_AS_ATTRIBUTES = {"both": _BOUNDS, "no min": ("max",), "no max": ("min",), "none": ()}
_AS_INPUTS = {
    "both": _BOUNDS, "no min": ("", "max"), "no max": ("min",), "no max, empty name": ("min", ""),
    "none": (), "none, empty names": ("", ""),
}  # fmt: skip
"""The names of the bounds of a node in each form; an input with an empty name is missing."""


@dataclass(frozen=True)
class DialectForm:
    """Calls of one form: every special value of X under every pair of bounds.

    Args:
        opset: the operator set.
        dialect: the oracle of its Clip.
        etype: the element type.
        id: of the form.
        x: the special values, shape (n,), of the element type.
        given: the bounds as given, by name, each of shape (p,): FLOATs where they are attributes, else of the
            element type.
        lower: min as the dialect takes it, shape (p, 1), of the element type.
        upper: max, likewise.
    """

    opset: int
    dialect: DialectOracle
    etype: ElementType
    id: str
    x: Array
    given: dict[str, Array]
    lower: Array
    upper: Array

    @property
    def attributes(self) -> bool:
        """Whether bounds are attributes."""
        return bool(self.dialect.row["bounds"] == "attributes")

    @property
    def missing(self) -> list[str]:
        """The bounds that are not given."""
        return [name for name in _BOUNDS if name not in self.given]

    @property
    def calls(self) -> ModelCalls:
        """The calls as the process of a runtime makes them."""
        bits, bounds = bits_type(self.etype.id), dict[str, Array]()
        if self.attributes:
            columns = zip(*(part.tolist() for part in self.given.values()), strict=True)
            rows = [dict(zip(self.given, row, strict=True)) for row in columns] or [{}]
            models = tuple(self._model((), row) for row in rows)
        else:
            models = (self._model(_AS_INPUTS[self.id], {}),)
            bounds = {name: part.view(bits) for name, part in self.given.items()}
        return ModelCalls(self.etype.id, models, self.x.view(bits), bounds, len(self.lower))

    def _model(self, names: Sequence[str], attributes: dict[str, float]) -> bytes:
        """A model of one Clip node: X of one dimension, bounds that are inputs of none."""
        of = helper.np_dtype_to_tensor_dtype(numpy_type(self.etype.id))
        inputs = [helper.make_tensor_value_info("x", of, [None])]
        inputs += [helper.make_tensor_value_info(name, of, []) for name in names if name]
        node = helper.make_node("Clip", ["x", *names], ["y"])
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        graph = helper.make_graph([node], "clip", inputs, [helper.make_tensor_value_info("y", of, [None])])
        opset = helper.make_opsetid("", self.opset)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    @property
    def bound_type(self) -> str:
        """The element type of the bounds as given."""
        return "float32" if self.attributes else self.etype.id

    @cached_property
    def every_x(self) -> Array:
        """X beside every pair of bounds, shape (p, n)."""
        return np.broadcast_to(self.x, (len(self.lower), len(self.x)))

    @cached_property
    def due(self) -> Array:
        """The expected results, shape (p, n)."""
        return self.dialect.answer(self.every_x, self.lower, self.upper)

    @property
    def unbounded(self) -> tuple[Array, Array]:
        """Min and max with the ends of the type in the place of a missing one."""
        texts = ("-inf", "inf") if self.etype.family == "float" else ("lowest", "highest")
        low, high = (
            np.array(int(encode(text, self.etype)), bits_type(self.etype.id)).view(self.x.dtype)
            for text in texts
        )
        return (
            np.full_like(self.lower, low) if "min" in self.missing else self.lower,
            np.full_like(self.upper, high) if "max" in self.missing else self.upper,
        )

    def deviation(
        self, call: int, words: str | None, column: int = 0, got: int | None = None
    ) -> DialectDeviation:
        """The record of an answer; of a call without a result if `got` is None."""
        name, of = self.etype.id, load_spec().element_type(self.bound_type)
        given = {name: int(part.view(bits_type(of.id))[call]) for name, part in self.given.items()}
        shown = [f"{b} = {show(given[b], of)}" if b in given else f"no {b}" for b in _BOUNDS]
        bits = {b: hex_bits(given[b], of.id) if b in given else None for b in _BOUNDS}
        text, more = f"{', '.join(shown)}: no result", dict[str, str]()
        if got is not None:
            one = bits_type(name)
            x, due = (int(part.view(one)) for part in (self.x[column], self.due[call, column]))
            told = [show(value, self.etype) for value in (x, got, due)]
            text = f"X = {told[0]}, {', '.join(shown)}: got {told[1]}, expected {told[2]}"
            named = (("x", x), ("got", got), ("expected", due))
            more = {key: hex_bits(value, name) for key, value in named}
        return DialectDeviation(bound_type=of.id, shown=text, words=words, **bits, **more)


def dialect_forms(spec: Spec, oracle: DialectOracle, opset: int, etype: ElementType) -> Iterator[DialectForm]:
    """The calls of each form in which an operator set takes bounds, in an element type that it takes."""
    dtype = numpy_type(etype.id)
    x = np.array(special_patterns(etype), bits_type(etype.id)).view(dtype)
    attributes, axis = oracle.row["bounds"] == "attributes", x
    if attributes:
        of = spec.element_type("float32")
        axis = np.array([int(encode(text, of)) for text in FLOATS], np.uint32).view(np.float32)
    # Each value as min and as max; the substitute of a missing bound comes last.
    tensors, count = oracle.row["bound_type"] == "tensor", len(axis)
    values = [axis[i, ...] if tensors else axis[i] for i in range(count)]
    taken = [oracle.bounds(dtype, value, value) for value in (*values, None)]
    ends = {name: np.stack([pair[side] for pair in taken]) for side, name in enumerate(_BOUNDS)}
    for id_, names in (_AS_ATTRIBUTES if attributes else _AS_INPUTS).items():
        places = {name: np.arange(count) for name in _BOUNDS if name in names}
        if len(places) == len(_BOUNDS):
            places = {"min": np.repeat(np.arange(count), count), "max": np.tile(np.arange(count), count)}
        missing = np.full(max(map(len, places.values()), default=1), -1)
        lower, upper = (ends[name][places.get(name, missing)][:, None] for name in _BOUNDS)
        given = {name: axis[where] for name, where in places.items()}
        yield DialectForm(opset, oracle, etype, id_, x, given, lower, upper)


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
        limits: on the time of a call and of the import.
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
    taken = {id_ for version in wanted for id_ in dialect("onnx", version).row["element_types"]}
    if types and not taken & {spec.element_type(type_id).id for type_id in types}:
        names = ", ".join(f"Clip-{version}" for version in wanted)
        what = f"{', '.join(types)} is no element type of {names}"
        raise UserError(what, todo=f"choose from {', '.join(sorted(taken))}")
    process, cells = _Process(runtime, limits), list[DialectCell]()
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


class _Process:
    """The process of a runtime, started again after a crash."""

    def __init__(self, runtime: str, limits: Limits) -> None:
        self._runtime, self._limits = runtime, limits
        self._runner: ModelRunner | None = None
        self.version = runtime

    def compared(self, spec: Spec, form: DialectForm) -> DialectCell:
        """The verdict on a form."""
        self._runner = self._runner or ModelRunner(self._runtime, self._limits)
        self.version = self._runner.version
        try:
            return _judge(spec, form, self._runner.answered(form.calls))
        except RuntimeDiedError as error:
            self.close()
            return _cell(form, "crashed", words=f"{error} in call {max(0, error.died.call)}")

    def close(self) -> None:
        """End it."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None


# --- The verdict on one form --------------------------------------------------------------------------------


def _judge(spec: Spec, form: DialectForm, answer: Answer) -> DialectCell:
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
        deviation = form.deviation(int(rows[row]), None, column, int(got[row, column]))
    elif refused:
        low, high = form.given.get("min", form.lower[:, 0]), form.given.get("max", form.upper[:, 0])
        with np.errstate(invalid="ignore"):
            cause = _UNORDERED if raised and np.array_equal(served, np.less_equal(low, high)) else None
        deviation = form.deviation(int(np.flatnonzero(~served)[0]), words)
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
        "opset": form.opset, "dialect": form.dialect.id, "type": form.etype.id, "form": form.id,
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
    given = form.lower, form.upper
    rules: list[tuple[str, str, tuple[Array, Array], tuple[str, ...]]] = [
        (f"it answers as the reading {other.id} allows", other.id, given,
         (f"{own.word}_agrees", f"{other.word}_agrees"))
        for other in others
    ]  # fmt: skip
    if form.missing:
        missing = "bounds" if len(form.missing) == 2 else form.missing[0]
        goals = (f"{word}_infinities", f"{word}_without_{missing}")
        rules = [
            (_NO_BOUND, own.id, form.unbounded, goals),
            *rules,
            *((f"{_NO_BOUND}, and answers{words.removeprefix('it answers')}", id_, form.unbounded,
               (*more, *goals)) for words, id_, _, more in rules),
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
