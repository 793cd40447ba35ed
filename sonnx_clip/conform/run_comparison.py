"""A comparison: one runtime, every operator set, every element type and form of the Clip of each."""

from __future__ import annotations

import platform
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import onnx

import sonnx_clip
from sonnx_clip.conform.comparison_explanations import OBLIGATIONS
from sonnx_clip.conform.comparison_inputs import clip_version, newest_opset, questions
from sonnx_clip.conform.comparison_judge import Groups, judge
from sonnx_clip.conform.comparison_record import ComparisonCell, ComparisonRecord, oracle_digest
from sonnx_clip.conform.conditions import conditions
from sonnx_clip.conform.kept import Keeper
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits
from sonnx_clip.runtimes.model_process import ModelRunner
from sonnx_clip.runtimes.worker import RuntimeDiedError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.conform.comparison_inputs import ComparedForm
    from sonnx_clip.oracle.dialect import DialectOracle
    from sonnx_clip.spec import Spec


def compare_dialects(
    runtime: str,
    opsets: Sequence[int] = (),
    types: Sequence[str] = (),
    *,
    limits: Limits = LIMITS,
    spec: Spec | None = None,
    on_opset: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> ComparisonRecord:
    """Compare a runtime with ONNX's dialects.

    Args:
        runtime: ``onnxruntime``, ``onnx-reference``, or ``module:function`` for a function that takes a
            serialised model and returns a function of its inputs.
        opsets: operator sets; if empty, every one that the installed onnx knows.
        types: ids of element types; if empty, every one that the dialects take.
        limits: how long the runtime may take, for a call and to be imported.
        spec: the specification; that of the project if None.
        on_opset: is called with each operator set before it is compared.
        stopped: whether to give up; asked before each form.

    Raises:
        Stopped: it gave up.
        UserError: the runtime, an operator set or an element type is not known, a package is missing, or
            what was generated is not that of the specification.
    """
    spec, began = spec or load_spec(), time.monotonic()
    if spec.digest != load_oracle().SPEC_DIGEST:
        raise UserError("generated/ is not that of spec/clip.yaml", todo="run `sonnx-clip generate`")
    module_of(runtime)
    for id_ in types:
        _require_taken(spec, id_)
    wanted = sorted(set(opsets)) or [*range(1, newest_opset() + 1)]
    taken = {id_ for opset in wanted for id_ in _oracle(opset).row["element_types"]}
    if types and not taken & set(types):
        what = f"no operator set that was named has a Clip of {', '.join(types)}"
        raise UserError(what, todo=f"choose from {', '.join(sorted(taken))}, or other operator sets")
    caller, groups = _Caller(runtime, limits), Groups()
    try:
        every = _every_question(spec, wanted, types, on_opset)
        cells = []
        for asked in every:
            if stopped():
                raise Stopped
            cells.append(_compared(spec, caller, asked, groups))
    finally:
        caller.close()
    return ComparisonRecord(
        tool=f"sonnx-clip {sonnx_clip.__version__}",
        spec_sha256=spec.digest,
        oracle_sha256=oracle_digest(),
        runtime=runtime,
        runtime_version=caller.version,
        onnx=onnx.__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        machine=platform.machine(),
        complete=wanted == [*range(1, newest_opset() + 1)] and not types,
        seconds=round(time.monotonic() - began, 1),
        cells=tuple(cells),
        groups=groups.all(),
    )


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The comparison was given up."""


def kept_or_compared(
    runtime: str, opsets: Sequence[int], types: Sequence[str], *,
    kept: Path, again: bool, on_opset: Callable[[int], None], stopped: Callable[[], bool],
) -> ComparisonRecord:  # fmt: skip
    """The record of an earlier run under the same conditions, if it is whole; else as `compare_dialects`.

    Args:
        runtime: as for `compare_dialects`.
        opsets: likewise.
        types: likewise.
        kept: the folder in which records are kept.
        again: compare in any case.
        on_opset: as for `compare_dialects`.
        stopped: likewise.
    """
    options = {"opsets": sorted(set(opsets)), "types": sorted(set(types)), "limits": LIMITS}
    keeper = Keeper(kept, lambda: conditions(runtime, [__name__], options, [OBLIGATIONS]))
    name = ("dialects", runtime)
    found = None if again else keeper.take(*name)
    if found is not None:
        with suppress(ValueError):
            return ComparisonRecord.model_validate_json(found.text).model_copy(update={"kept": found.made})
    record = compare_dialects(runtime, opsets, types, on_opset=on_opset, stopped=stopped)
    if not any(cell.crashed for cell in record.cells):  # that may be the machine's fault
        keeper.keep(record.model_dump_json(), *name)
    return record


def _require_taken(spec: Spec, type_id: str) -> None:
    spec.element_type(type_id)
    if not any(type_id in d.element_types for d in spec.dialects if d.system == "onnx"):
        raise UserError(f"no Clip of ONNX takes {type_id}", todo="choose another type")


def _oracle(opset: int) -> DialectOracle:
    return dialect("onnx", clip_version(opset))


def _every_question(
    spec: Spec, opsets: Sequence[int], types: Sequence[str], on_opset: Callable[[int], None]
) -> Iterator[ComparedForm]:
    """All bounds in the first operator set that means a version of Clip, a third of them in the others."""
    met: set[str] = set()
    for opset in opsets:
        on_opset(opset)
        oracle = _oracle(opset)
        for type_id in oracle.row["element_types"]:
            if not types or type_id in types:
                yield from questions(spec, oracle, opset, spec.element_type(type_id), brief=oracle.id in met)
        met.add(oracle.id)


def _compared(spec: Spec, caller: _Caller, asked: ComparedForm, groups: Groups) -> ComparisonCell:
    try:
        answer = caller.runner().answered(asked.calls)
    except RuntimeDiedError as error:
        caller.close()
        return ComparisonCell(
            opset=asked.opset, dialect=asked.dialect.id, type=asked.etype.id, form=asked.form.id,
            calls=len(asked.lower), crashed=True, words=f"{error} in call {max(0, error.died.call)}",
        )  # fmt: skip
    judged = judge(spec, asked, answer)
    groups.add(judged)
    return judged.cell


class _Caller:
    """Keeps a runtime's process, and starts another when it has died."""

    def __init__(self, runtime: str, limits: Limits) -> None:
        self._runtime = runtime
        self._limits = limits
        self._runner: ModelRunner | None = None
        self.version = runtime

    def runner(self) -> ModelRunner:
        """The process."""
        if self._runner is None:
            self._runner = ModelRunner(self._runtime, self._limits)
            self.version = self._runner.version
        return self._runner

    def close(self) -> None:
        """End the process."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
