"""`sonnx-clip check`: runs the checker and prints its report."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.cli.options import CLIP
from sonnx_clip.cli.prove_command import load_checked
from sonnx_clip.conform.campaign import InterruptedCampaignError, run_campaign, version_of
from sonnx_clip.conform.identity import VARIABLES, cache_identity, identity, variables
from sonnx_clip.conform.judge import RemoteJudge
from sonnx_clip.conform.operator import (
    Operator,
    clip_operator,
    machine_types,
)
from sonnx_clip.conform.report_formats import to_junit
from sonnx_clip.conform.report_text import closing_lines, print_report, reproducers, summary
from sonnx_clip.conform.unit_store import CACHE, UnitStore
from sonnx_clip.oracle.evaluated import evaluated_oracle
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import (
    check_target,
    is_standard_output,
    make_folder,
    require_folder_of,
    write_whole,
)
from sonnx_clip.root.terminal import counted, progress
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.runtime import OF_MODELS
from sonnx_clip.spec.operators import part_missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any, Literal

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.units import CheckOptions
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.spec import Spec


INTERRUPTED = 130
"""The exit status after an interrupt, as in shells: 128 plus the number of the signal."""
DIALECTS = "dialects"
"""The folder in the build folder for reports on dialects."""


def operator_of(name_or_file: str) -> Operator:
    """The operator that `--operator` names; UserError as by `load_checked`, which checks all but Clip."""
    if name_or_file == CLIP:
        return clip_operator()
    spec = load_checked(name_or_file)
    return Operator(spec, evaluated_oracle(spec))


def contexts_of(names: str, operator: str) -> tuple[Context, ...]:
    """The contexts that `--contexts` names: ``all``, ids, or a file; UserError for an operator but Clip."""
    if operator != CLIP:
        raise UserError("--contexts are of clip", f"--operator {operator}", "remove one of them")
    from sonnx_clip.contexts.context import chosen_contexts

    return chosen_contexts([] if names == "all" else names.split(","))


def check_runtime(
    options: CheckOptions,
    *,
    form: Literal["text", "json", "junit"] = "text",
    output: Path | None = None,
    brief: bool = False,
    repro: Path | None = None,
    jobs: int | None = None,
    build: Path | None = None,
    again: bool = False,
    journal: Path | None = None,
    scheduler: str | None = None,
) -> int:
    """Judge a runtime, print the report, and write it to the files that the options name.

    Returns 130 after an interrupt, when the report covers the calls made so far; else 2 if the machine lacks
    what the runtime needs, 1 if the run failed, 0 if it passed. UserError for an unknown runtime or type, a
    missing package, a file that cannot be written, and unreachable or different workers.
    """
    if is_standard_output(output):
        form, output = "json" if form == "text" else form, None
    for file in (output, repro, journal):  # before the run, which may take hours
        if file is not None:
            check_target(file)
            require_folder_of(file)
    if journal is not None:
        UnitStore(journal).close()
    sys.path.insert(
        0, ""
    )  # module:function is looked up from where the command runs, as by `python -m`
    module_of(options.runtime)
    interrupted, at_once = False, jobs or os.cpu_count() or 1
    with ExitStack() as left_open:
        version = version_of(options) if journal or scheduler else ""
        judge = None
        if scheduler is not None:
            options.of.require_name()
            from sonnx_clip.machines.dask_workers import DaskWorkers  # imports asyncio

            workers = DaskWorkers(scheduler, VARIABLES, variables())
            left_open.callback(workers.stop)
            judge = RemoteJudge(workers, options.runtime, version, options.of)
        store = _store(
            options, journal, None if build is None or scheduler else build / CACHE, version
        )
        if store is not None:
            left_open.callback(store.close)
            options = replace(options, identity=store.identity)
        known = _plan(
            options, store, version, counted(at_once, "job") if judge is None else judge.name
        )
        units, types = len(options.every_unit), len(options.units)
        unit, rate = ("element types", None) if units == types else ("units", known)
        label = (
            f"{options.runtime} against {options.of.dialect}"
            if options.of.dialect
            else options.runtime
        )
        show = left_open.enter_context(progress(label, units, unit, Console(stderr=True), rate))
        try:
            report = run_campaign(
                options,
                jobs=at_once,
                again=again,
                store=store,
                judge=judge,
                on_progress=show,
                on_pace=_pace,
            )
        except InterruptedCampaignError as error:
            report, interrupted = error.report, True
    _write(report, form, output=output, brief=brief, repro=repro, spec=options.of.spec)
    if interrupted:
        goes_on = "" if journal is None else "; repeat the command to resume"
        print(f"interrupted: the report covers the calls made so far{goes_on}", file=sys.stderr)
        return INTERRUPTED
    for etype, words in report.environment.items():
        what = f"environment: {etype} could not be judged: {words}"
        todo = "provide what is missing (memory, a package, a file), then check again"
        print(f"error: {UserError(what, options.runtime, todo)}", file=sys.stderr)
    return 2 if report.environment else int(report.failed)


def check_against(
    options: CheckOptions, dialects: Sequence[str], *, build: Path | None, **printed: Any
) -> int:
    """Compare a runtime, or those of `OF_MODELS`, with dialects: versions of ONNX's Clip, or a SONNX edition.

    Each report is printed as by `check_runtime`, and stored in the build folder, if there is one. Returns the
    highest status of all; an interrupt ends the comparison. UserError as `check_runtime`, and for an unknown
    dialect.
    """
    from sonnx_clip.conform.judged_dialect import dialect_operator, versions_of_onnx

    if not options.of.spec.dialects:
        raise part_missing(options.of.spec, "dialects")
    ids = [id_ for name in dialects for id_ in (versions_of_onnx() if name == "onnx" else [name])]
    operators = [dialect_operator(options.of, id_) for id_ in dict.fromkeys(ids)]
    taking = [of for of in operators if not options.types or {*options.types} & {*of.element_types}]
    if not taking:
        machine_types(options.types, operators[0])
    if build is not None:
        make_folder(build / DIALECTS)
    status = 0
    for runtime, of in product([options.runtime] if options.runtime else OF_MODELS, taking):
        types = [id_ for id_ in options.types if id_ in of.element_types]
        chosen = replace(options, runtime=runtime, types=types, of=of)
        name = f"{runtime.replace(':', '-').replace('/', '-')}-{of.dialect}.json"
        output = None if build is None else build / DIALECTS / name
        status = max(status, check_runtime(chosen, output=output, build=build, **printed))
        if status == INTERRUPTED:
            break
    return status


def _store(
    options: CheckOptions, journal: Path | None, cache: Path | None, version: str
) -> UnitStore | None:
    """The journal, or the cache if the runtime and the options allow one."""
    if journal is not None:
        return UnitStore(journal, identity(options.runtime, version, options.of), _warn)
    if cache is None:
        return None
    key = cache_identity(options.runtime, options.of)
    return None if key is None else UnitStore(cache, key, _warn, is_cache=True)


def _plan(options: CheckOptions, store: UnitStore | None, version: str, where: str) -> int:
    """Print the plan of a campaign; return the number of results that its journal has already."""
    units, types = options.every_unit, len(options.units)
    known, stored = 0, ""
    if store is not None and not store.is_cache:
        known = store.count_of(units)
        stored = f", {known} of them in {store.file}"
    if len(units) > types or version:
        kinds = f"{counted(len(units), 'unit')} at most in {counted(types, 'element type')}"
        print(f"plan: {kinds}{stored} ({where})", file=sys.stderr)
    return known


def _write(
    report: Report, form: str, *, output: Path | None, brief: bool, repro: Path | None, spec: Spec
) -> None:
    """Print the report and write the files; the arguments are those of `check_runtime`."""
    text = to_junit(report) if form == "junit" else report.model_dump_json(indent=1) + "\n"
    if output is not None:
        write_whole(output, text)
    if repro is not None:
        write_whole(repro, reproducers(report))
    last = "\n".join([summary(report), *closing_lines(report)])
    if form != "text":
        if output is None or form == "json":
            sys.stdout.write(text)
        print(last, file=sys.stderr)
    elif brief:
        print(last)
    else:
        print_report(report, Console(), spec, None if repro is None else str(repro))


def _pace(words: str) -> None:
    print(f"{words} (Ctrl-C prints the report so far)", file=sys.stderr, flush=True)


def _warn(words: str) -> None:
    print(f"warning: {words}", file=sys.stderr)
