"""`sonnx-clip check --against`: compares runtimes with versions of ONNX's Clip."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.conform import dialects as dialects_here
from sonnx_clip.conform.dialect_report import (
    FOLDER,
    NOT_DIRECTML,
    RUNTIMES,
    DialectReport,
    print_dialects,
    summary,
)
from sonnx_clip.conform.identity import cache_identity
from sonnx_clip.conform.store import CACHE, Store
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.terminal import progress
from sonnx_clip.runtimes.opsets import clip_version, newest_opset, opsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def check_against(
    runtimes: Sequence[str], dialects: Sequence[str], types: Sequence[str], *,
    as_json: bool, build: Path, brief: bool = False,
    jobs: int | None = None, again: bool = False,
) -> int:  # fmt: skip
    """Compare runtimes with versions of ONNX's Clip, print what was found, and write a report of each.

    Args:
        runtimes: `RUNTIMES`, if empty.
        dialects: versions, such as ``onnx-6``, or ``onnx`` for all.
        types: ids of element types; all, if empty.
        as_json: print the reports as JSON, and the summaries on standard error.
        build: the build folder, where the reports go and are kept.
        brief: print the summaries alone.
        jobs: how many runtimes are compared at once; all cores by default.
        again: compare also what was compared before under the same conditions.

    Returns:
        1 if a runtime violates a version or dies, or if nothing was compared in one of them; else 0.

    Raises:
        UserError: a runtime, a version or an element type is not known, a package is missing, or a report
            cannot be written.
    """
    known = sorted({clip_version(opset) for opset in range(1, newest_opset() + 1)})
    names = {f"onnx-{version}": version for version in known}
    if unknown := [dialect for dialect in dialects if dialect != "onnx" and dialect not in names]:
        todo = f"choose {', '.join(names)}, or onnx for all"
        raise UserError(f"runtimes cannot be compared with `{unknown[0]}`", "--against", todo)
    versions = [] if "onnx" in dialects else [names[dialect] for dialect in dialects]
    make_folder(build / FOLDER)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    chosen, begun = list(dict.fromkeys(runtimes)) or list(RUNTIMES), count()
    total = sum(len(opsets_of(version)) for version in versions or known) * len(chosen)
    status, reports = 0, []
    with (
        progress("comparing", total, "operator sets", Console(stderr=True)) as show_progress,
        ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool,
    ):

        def report_on(runtime: str) -> DialectReport:
            def at(opset: int) -> None:
                show_progress(next(begun), f"{runtime}, opset {opset}")

            return kept_or_compared(runtime, versions, types, build=build, again=again, on_opset=at)

        for report in pool.map(report_on, chosen):
            text = report.model_dump_json(indent=1)
            write_whole(build / FOLDER / f"{report.runtime.replace(':', '-')}.json", text + "\n")
            reports.append(text)
            status = max(status, int(report.failed))
            if as_json:
                print(summary(report), file=sys.stderr)
            elif brief:
                print(summary(report))
            else:
                print_dialects(report, Console())
    print(f"[{','.join(reports)}]" if as_json else NOT_DIRECTML)
    return status


def kept_or_compared(
    runtime: str, versions: Sequence[int], types: Sequence[str], *,
    build: Path, again: bool, on_opset: Callable[[int], None],
) -> DialectReport:  # fmt: skip
    """The report of an earlier run under the same conditions, if it is whole; else as `compare_dialects`."""
    key = cache_identity(runtime, [dialects_here.OBLIGATIONS])
    if key is None:
        return dialects_here.compare_dialects(runtime, versions, types, on_opset=on_opset)
    digest = digest_of_parts([key, "dialects", str(sorted({*versions})), str(sorted({*types}))])
    with closing(Store(build / CACHE, key, is_cache=True)) as store:
        found = None if again else store.take(digest, "dialects", DialectReport)
        if found is not None:
            return found[0].model_copy(update={"kept": found[1]})
        report = dialects_here.compare_dialects(runtime, versions, types, on_opset=on_opset)
        if not any(cell.verdict == "crashed" for cell in report.cells):  # that may be the machine's fault
            store.keep(digest, "dialects", report, report.seconds, replace=again)
    return report
