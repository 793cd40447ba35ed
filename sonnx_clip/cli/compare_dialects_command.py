"""`sonnx-clip check --against`: runs the comparisons, prints them and writes the records."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.conform.comparison_inputs import clip_version, newest_opset
from sonnx_clip.conform.comparison_record import FOLDER, RUNTIMES
from sonnx_clip.conform.comparison_text import NOT_DIRECTML, print_record, summary
from sonnx_clip.conform.kept import FOLDER as KEPT
from sonnx_clip.conform.run_comparison import kept_or_compared
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import make_folder, write_whole
from sonnx_clip.root.terminal import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.conform.comparison_record import ComparisonRecord


def compare(
    runtimes: Sequence[str], dialects: Sequence[str], types: Sequence[str], *,
    as_json: bool, build: Path, brief: bool = False,
    jobs: int | None = None, again: bool = False,
) -> int:  # fmt: skip
    """Compare runtimes with ONNX's dialects, print what was found, and write a record of each.

    Args:
        runtimes: `RUNTIMES`, if empty.
        dialects: versions of ONNX's Clip, such as ``onnx-6``, or ``onnx`` for all.
        types: ids of element types; all, if empty.
        as_json: print the records as JSON, and the summaries on standard error.
        build: the build folder, where the records go and are kept.
        brief: print the summaries alone.
        jobs: how many runtimes are compared at once; all cores by default.
        again: compare also what was compared before under the same conditions.

    Returns:
        1 if a disagreement is unexplained, a runtime died, or nothing was compared in one of them; else 0.

    Raises:
        UserError: a runtime, a dialect or an element type is not known, a package is missing, or a
            record cannot be written.
    """
    opsets = _opsets(dialects)
    make_folder(build / FOLDER)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    asked = list(dict.fromkeys(runtimes)) or list(RUNTIMES)
    status, texts = 0, []
    for record in _records(asked, opsets, types, build / KEPT, jobs or os.cpu_count() or 1, again=again):
        text = record.model_dump_json(indent=1)
        write_whole(build / FOLDER / f"{record.runtime.replace(':', '-')}.json", text + "\n")
        texts.append(text)
        status = max(status, int(record.failed))
        if as_json:
            print(summary(record), file=sys.stderr)
        elif brief:
            print(summary(record))
        else:
            print_record(record, Console())
    if as_json:
        print(f"[{','.join(texts)}]")
    else:
        print(NOT_DIRECTML)
    return status


def _opsets(dialects: Sequence[str]) -> list[int]:
    """The operator sets whose Clip has one of these versions; none stands for all."""
    if "onnx" in dialects:
        return []
    by_version: dict[str, list[int]] = {}
    for opset in range(1, newest_opset() + 1):
        by_version.setdefault(f"onnx-{clip_version(opset)}", []).append(opset)
    if unknown := [dialect for dialect in dialects if dialect not in by_version]:
        known = ", ".join(by_version)
        raise UserError(
            f"runtimes cannot be compared with `{unknown[0]}`",
            "--against",
            f"choose {known}, or onnx for all",
        )
    return [opset for dialect in dict.fromkeys(dialects) for opset in by_version[dialect]]


def _records(
    runtimes: Sequence[str], opsets: Sequence[int], types: Sequence[str], kept: Path, jobs: int, *,
    again: bool,
) -> Iterator[ComparisonRecord]:  # fmt: skip
    """The record of each runtime in their order; they are compared side by side."""
    stop, begun = threading.Event(), count()
    total = (len(set(opsets)) or newest_opset()) * len(runtimes)
    bar = progress("comparing", total, "operator sets", Console(stderr=True))
    with bar as show, ThreadPoolExecutor(jobs) as pool:

        def record(runtime: str) -> ComparisonRecord:
            def at(opset: int) -> None:
                show(next(begun), f"{runtime}, opset {opset}")

            return kept_or_compared(
                runtime, opsets, types, kept=kept, again=again, on_opset=at, stopped=stop.is_set
            )

        try:
            yield from pool.map(record, runtimes)
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
