"""Compares a runtime of ONNX models with every Clip that ONNX has had: `check --against`."""

from __future__ import annotations

import json
import platform
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import onnx

import sonnx_clip
from sonnx_clip.conform.conditions import conditions
from sonnx_clip.conform.dialect_forms import clip_version, dialect_forms, newest_opset, opsets_of
from sonnx_clip.conform.dialect_report import (
    DialectCell,
    DialectDeviation,
    DialectReport,
    dialect_oracle_digest,
)
from sonnx_clip.conform.kept import Keeper
from sonnx_clip.language.show import show
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits
from sonnx_clip.runtimes.model_process import ModelRunner
from sonnx_clip.runtimes.worker import RuntimeDiedError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.conform.dialect_forms import DialectForm
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer
    from sonnx_clip.spec import Spec

OBLIGATIONS = "generated/why3/obligations.json"
_UNORDERED = "it refuses exactly the bounds for which min <= max is false"
_NO_BOUND = "it takes a missing bound as no bound"


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
        on_opset: is called with each operator set before it is compared.

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
                        cells += [_compared(spec, process, form) for form in forms]
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


def kept_or_compared(
    runtime: str, versions: Sequence[int], types: Sequence[str], *,
    kept: Path, again: bool, on_opset: Callable[[int], None],
) -> DialectReport:  # fmt: skip
    """The report of an earlier run under the same conditions, if it is whole; else as `compare_dialects`.

    Args:
        runtime: as for `compare_dialects`, and likewise the others.
        versions: likewise.
        types: likewise.
        kept: the folder in which reports are kept.
        again: compare in any case.
        on_opset: likewise.
    """
    options = {"versions": sorted(set(versions)), "types": sorted(set(types)), "limits": LIMITS}
    keeper = Keeper(kept, lambda: conditions(runtime, [__name__], options, [OBLIGATIONS]))
    name = ("dialects", runtime)
    found = None if again else keeper.take(*name)
    if found is not None:
        with suppress(ValueError):
            return DialectReport.model_validate_json(found.text).model_copy(update={"kept": found.made})
    report = compare_dialects(runtime, versions, types, on_opset=on_opset)
    if not any(cell.verdict == "crashed" for cell in report.cells):  # that may be the machine's fault
        keeper.keep(report.model_dump_json(), *name)
    return report


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
    """The process of a runtime; another is started when it has died."""

    def __init__(self, runtime: str, limits: Limits) -> None:
        self._runtime, self._limits = runtime, limits
        self._runner: ModelRunner | None = None
        self.version = runtime

    def runner(self) -> ModelRunner:
        if self._runner is None:
            self._runner = ModelRunner(self._runtime, self._limits)
            self.version = self._runner.version
        return self._runner

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
            self._runner = None


# --- The verdict on one form --------------------------------------------------------------------------------


def _compared(spec: Spec, process: _Process, form: DialectForm) -> DialectCell:
    try:
        answer = process.runner().answered(form.calls)
    except RuntimeDiedError as error:
        process.close()
        words = f"{error} in call {max(0, error.died.call)}"
        return _cell(form, "crashed", words=words)
    return judge(spec, form, answer)


def judge(spec: Spec, form: DialectForm, answer: Answer) -> DialectCell:
    """The verdict on the answers of a form: bits first, the text of the version where they differ."""
    served = np.array([call not in answer.failures for call in range(len(form.lower))])
    words = next((failure.words for failure in answer.failures.values()), None)
    refused = int((~served).sum())
    if not served.any() and all(failure.raised for failure in answer.failures.values()):
        return _cell(form, "refused", refused=refused, words=words)
    rows = np.flatnonzero(served)
    got, due = answer.bits[rows].view(form.x.dtype), form.due[rows]
    bits = bits_type(form.etype.id)
    same = got.view(bits) == due.view(bits)
    own = str(form.dialect.row["reading"])
    accepted = same if same.all() else same | _allows(form, own, rows, got)
    violating = ~accepted
    cause: str | None = None
    proved: tuple[str, ...] = ()
    deviation = None
    if violating.any():
        cause, proved = _cause(spec, form, rows, got)
        deviation = _deviation(form, rows, got, violating)
    elif refused:
        if all(f.raised for f in answer.failures.values()) and np.array_equal(served, _ordered(form)):
            cause = _UNORDERED
        deviation = _without_result(form, int(np.flatnonzero(~served)[0]), words)
    return _cell(
        form,
        "violates" if deviation else "conforms" if same.all() else "acceptable",
        compared=got.size,
        acceptable=int((accepted & ~same).sum()),
        violating=int(violating.sum()),
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
def _allows(
    form: DialectForm, reading: str, rows: Array, got: Array, bounds: tuple[Array, Array] | None = None
) -> Array:
    """Whether a reading allows each answer, with any payload of a NaN that it allows; shape of `got`."""
    oracle = load_oracle()
    family = oracle.FAMILY_OF[form.etype.id]
    allows = oracle.READINGS[family][reading]
    lower, upper = (bound[rows] for bound in bounds or (form.lower, form.upper))
    x = form.every_x[rows]
    found: Array = np.asarray(allows(x, lower, upper, got))
    if family == "float":
        for operand in (x, lower, upper):
            nan = np.broadcast_to(np.not_equal(operand, operand), got.shape)
            same = np.ascontiguousarray(np.broadcast_to(operand, got.shape))
            found = found | nan & np.not_equal(got, got) & allows(x, lower, upper, same)
    return found


def _cause(spec: Spec, form: DialectForm, rows: Array, got: Array) -> tuple[str | None, tuple[str, ...]]:
    """The first rule that allows every answer, with the obligations that prove that it differs."""
    own, word = spec.reading(str(form.dialect.row["reading"])), form.dialect.id.replace("-", "_")
    missing = "bounds" if len(form.form.missing) == 2 else "".join(form.form.missing)
    no_bound = (f"{word}_infinities", f"{word}_without_{missing}")
    bounds = form.unbounded()
    if missing and _allows(form, own.id, rows, got, bounds).all():
        return _NO_BOUND, _known(form, no_bound)
    others = [reading for reading in spec.readings if reading.id != own.id]
    for reading in others:
        if _allows(form, reading.id, rows, got).all():
            goals = f"{own.word}_agrees", f"{reading.word}_agrees"
            return f"it answers as the reading {reading.id} allows", _known(form, goals)
    for reading in others if missing else ():
        if _allows(form, reading.id, rows, got, bounds).all():
            both = (f"{own.word}_agrees", f"{reading.word}_agrees", *no_bound)
            return f"{_NO_BOUND}, and answers as the reading {reading.id} allows", _known(form, both)
    return None, _known(form, (f"{word}_is_sonnx",))


def _known(form: DialectForm, goals: Sequence[str]) -> tuple[str, ...]:
    ids = (f"{form.etype.id}.{goal}" for goal in goals)
    return tuple(id_ for id_ in dict.fromkeys(ids) if id_ in known_obligations())


@cache
def known_obligations() -> frozenset[str]:
    """The ids of all obligations of the theories."""
    rows = json.loads(repo_file(OBLIGATIONS).read_text(encoding="utf-8"))["obligations"]
    return frozenset(row["id"] for row in rows)


@np.errstate(invalid="ignore")
def _ordered(form: DialectForm) -> Array:
    """Where min <= max, as they are given or as they stand for missing ones, shape (p,)."""
    lower, upper = (
        form.given.get(name, bound[:, 0]) for name, bound in (("min", form.lower), ("max", form.upper))
    )
    found: Array = np.less_equal(lower, upper)
    return found


def _deviation(form: DialectForm, rows: Array, got: Array, where: Array) -> DialectDeviation:
    """The first answer of some, of shape (k, n) where `rows` has k calls."""
    row, column = (int(index[0]) for index in np.nonzero(where))
    call, bits, name = int(rows[row]), bits_type(form.etype.id), form.etype.id
    x, answered, due = (
        int(part.view(bits)) for part in (form.x[column], got[row, column], form.due[call, column])
    )
    shown = [show(value, form.etype) for value in (x, answered, due)]
    return _of_call(
        form, call, f"X = {shown[0]}, {_bounds(form, call)}: got {shown[1]}, expected {shown[2]}",
        x=hex_bits(x, name), got=hex_bits(answered, name), expected=hex_bits(due, name),
    )  # fmt: skip


def _without_result(form: DialectForm, call: int, words: str | None) -> DialectDeviation:
    return _of_call(form, call, f"{_bounds(form, call)}: no result", words=words)


def _of_call(form: DialectForm, call: int, shown: str, **fields: str | None) -> DialectDeviation:
    bounds = {
        name: None if pattern is None else hex_bits(pattern, form.bound_type)
        for name, pattern in _patterns(form, call)
    }
    return DialectDeviation(bound_type=form.bound_type, shown=shown, **bounds, **fields)


def _patterns(form: DialectForm, call: int) -> Iterator[tuple[str, int | None]]:
    for name in ("min", "max"):
        found = form.given.get(name)
        yield name, None if found is None else int(found.view(bits_type(form.bound_type))[call])


def _bounds(form: DialectForm, call: int) -> str:
    of = load_spec().element_type(form.bound_type)
    return ", ".join(
        f"no {name}" if pattern is None else f"{name} = {show(pattern, of)}"
        for name, pattern in _patterns(form, call)
    )
