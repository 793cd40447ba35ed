"""`sonnx-clip check --model FILE.onnx`: the windows of the Clips of a model, judged and printed."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
from rich.console import Console

from sonnx_clip.cli.loaded_model import with_messages
from sonnx_clip.contexts.own_model import (
    WEIGHTS_OF_ONE,
    OwnModelReport,
    feeds_of,
    judge_window,
    window_for,
)
from sonnx_clip.contexts.windows import cut_windows
from sonnx_clip.lint.changes import fitting_shapes
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import make_folder, write_whole
from sonnx_clip.root.terminal import counted, progress
from sonnx_clip.runtimes.model_runs import ModelWorker
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.contexts.own_model import WindowDeviation, WindowReport
    from sonnx_clip.contexts.windows import Window
    from sonnx_clip.runtimes.runtime import Limits

_SHOWN = 3  # names of Clips of a window


def check_own_model(
    runtime: str,
    model: Path,
    shapes: Mapping[str, Sequence[int]],
    usual_shapes: Mapping[str, Sequence[int]],
    limits: Limits,
    *,
    as_json: bool,
    repro: Path | None,
) -> int:
    """Judge a runtime on the windows of a model, and print the report.

    Returns 1 if a window deviates or nothing was compared, else 0. UserError for a file that is no model or
    has no Clip, an unknown runtime, and one that opens no models.
    """
    # Shapes of the command line win over those of the settings, which may be for other models.
    cut = with_messages(
        model,
        lambda proto: cut_windows(proto, {**fitting_shapes(proto, usual_shapes), **shapes}),
    )
    # Where all Clips are left out, the report says why.
    if not cut.windows and not cut.left_out:
        todo = "name a model with Clip; `sonnx-clip lint` lists its nodes"
        raise UserError("the graph of the model has no Clip", shown(str(model)), todo)
    try:
        worker = ModelWorker(runtime, limits)
    except (UnsupportedError, RuntimeDiedError) as error:
        todo = "choose onnxruntime or onnx-reference, or use --onnx, --onnx-cmd or --optimiser"
        raise UserError(f"{runtime} cannot run models: {error}", "--model", todo) from None
    # One process for all windows: what it has imported and opened stays.
    windows: list[WindowReport] = []
    try:
        with progress(runtime, len(cut.windows), "windows", Console(stderr=True)) as show:
            for window in cut.windows:
                windows.append(judge_window(worker, window))
                show(len(windows), window.chain)
    except RuntimeDiedError as error:
        raise UserError(f"{runtime} dies on every graph: {error}", str(model)) from None
    finally:
        worker.close()
    report = OwnModelReport(
        model=shown(str(model)),
        runtime_version=worker.version,
        windows=tuple(windows),
        left_out=cut.left_out,
        runs=worker.runs,
    )
    if repro is not None:
        _write_windows(repro, cut.windows, report, worker)
    if as_json:
        print(report.model_dump_json(indent=1))
    else:
        print("\n".join(_lines(report)))
    return int(report.failed)


def _lines(report: OwnModelReport) -> Iterator[str]:
    yield f"{report.runtime_version}, {report.model}"
    for number, window in enumerate(report.windows, 1):
        yield ""
        clips_of_window = len(window.clips)
        names = ", ".join(window.clips[:_SHOWN])
        more = f" and {clips_of_window - _SHOWN} more" if clips_of_window > _SHOWN else ""
        yield f"window {number}: {window.chain}; {counted(clips_of_window, 'Clip')}: {names}{more}"
        for line in _of_window(window):
            yield f"  {line}"
    if report.left_out:
        yield ""
        for name, why in report.left_out.items():
            yield f"not asked: {name}: {why}"
    wrong = sum(bool(window.deviations) for window in report.windows)
    clips = sum(len(window.clips) for window in report.windows)
    compared = sum(window.compared for window in report.windows)
    yield ""
    # In every report: what was not judged must not be taken for right.
    yield "Not asked: larger windows, Clips in functions and in bodies, other shapes, other processors."
    judged = f"{counted(len(report.windows), 'window')} of {counted(clips, 'Clip')}"
    yield (
        f"{judged}: {wrong} differ from one node at a time; {compared:,} results compared,"
        f" {report.runs:,} models run"
    )


def _of_window(window: WindowReport) -> Iterator[str]:
    if window.words:
        yield f"no result: {' '.join(window.words.split())}"
    if not window.compared:
        return
    for deviation in window.deviations:
        yield _of_deviation(deviation)
    if not window.deviations:
        too = ", some with weights of one," if WEIGHTS_OF_ONE in window.feeds else ""
        yield f"{window.compared:,} results{too} are those of one node at a time, but for rounding"
    if window.alone:
        yield f"Clip alone is wrong for {window.alone:,} results: see `sonnx-clip check` without --model"
    if window.not_reached:
        behind = f" (behind {window.producer})" if window.producer else ""
        yield f"not reached at Clip: {', '.join(window.not_reached)}{behind}"


def _of_deviation(deviation: WindowDeviation) -> str:
    plain = "" if deviation.plain is None else f"; without optimisation {deviation.plain}"
    return (
        f"{deviation.kind}: {deviation.results:,} results of {deviation.output}, fed with {deviation.feed}:"
        f" got {deviation.got}, one node at a time {deviation.one_by_one}{plain}"
    )


def _write_windows(
    folder: Path, windows: Sequence[Window], report: OwnModelReport, worker: ModelWorker
) -> None:
    """Write each window that deviates as a model with its inputs, and a script that runs it."""
    make_folder(folder)
    lines = ["# Runs each window that deviates, and prints the result that is wrong. sh again.sh"]
    # Numbered as in the report, so that the files of a window can be found from its lines.
    for number, (window, judged) in enumerate(zip(windows, report.windows, strict=True), 1):
        if not judged.deviations:
            continue
        first = judged.deviations[0]
        name = f"window-{number}"
        # A window may be fed with other weights: the model is the one that deviates.
        judged_window = window_for(window, first.feed)
        onnx.save(judged_window.whole(first.output), folder / f"{name}.onnx")
        inputs = feeds_of(judged_window, first.feed)
        np.savez(folder / f"{name}.npz", *inputs.values())
        code = _code_that_runs(name, window, first, worker)
        command = shlex.join([sys.executable, "-c", code])
        lines += [f"\n# {_of_deviation(first)}", command]
    # A script in any case: that of an earlier run would still be there.
    if not any(judged.deviations for judged in report.windows):
        lines = ["# No window deviates."]
    write_whole(folder / "again.sh", "\n".join([*lines, ""]))


def _code_that_runs(
    name: str, window: Window, deviation: WindowDeviation, worker: ModelWorker
) -> str:
    """Python that runs the model of a name with its inputs, and prints the entry that deviates."""
    set_up, result = worker.texts[True]  # optimised, as the window was run
    names = ", ".join(f'"{input_name}"' for input_name in window.inputs)
    statements = [
        "import numpy as np, onnx, onnx.parser",
        worker.imports,
        f'p = onnx.load("{name}.onnx")',
    ]
    # A runtime that opens the model in the call itself has no statements before it.
    if set_up:
        statements.append(set_up)
    statements += [
        f'd = dict(zip([{names}], np.load("{name}.npz").values()))',
        f"y = {result}",
        f"print(np.asarray(y).reshape(-1)[{deviation.entry}])",
    ]
    return "\n".join(statements)
