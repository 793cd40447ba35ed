"""`sonnx-clip check`: runs the checker and prints its report."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.cli.options import CLIP
from sonnx_clip.cli.prove_command import load_checked
from sonnx_clip.conform.campaign import InterruptedCampaignError, run_campaign, runtime_version
from sonnx_clip.conform.identity import VARIABLES, cache_identity, identity, variables
from sonnx_clip.conform.judge import RemoteJudge
from sonnx_clip.conform.junit import to_junit
from sonnx_clip.conform.operator import (
    Operator,
    clip_operator,
    machine_types,
)
from sonnx_clip.conform.report_text import (
    print_report,
    report_closing_lines,
    report_summary,
    reproducers,
)
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
    from typing import Literal

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.units import CheckOptions
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.spec import Spec


INTERRUPTED = 130
"""The exit status after an interrupt, as in shells: 128 plus the number of the signal."""
DIALECTS = "dialects"
"""The folder in the build folder for reports on dialects."""


def checked_operator(name_or_file: str) -> Operator:
    """The operator that `--operator` names; UserError as by `load_checked`, which checks all but Clip.

    Commands take it; `operator_named` reads an operator of spec/ without a check, for workers and tests.
    """
    if name_or_file == CLIP:
        return clip_operator()
    spec = load_checked(name_or_file)
    return Operator(spec, evaluated_oracle(spec))


def contexts_of(names: str, operator: str) -> tuple[Context, ...]:
    """The contexts that `--contexts` names: ``all``, ids, or a file; UserError for an operator but Clip."""
    if operator != CLIP:
        raise UserError("--contexts are of clip", f"--operator {operator}", "remove one of them")
    # Here, because a check without contexts need not load what they are built with.
    from sonnx_clip.contexts.context import chosen_contexts

    return chosen_contexts([] if names == "all" else names.split(","))


@dataclass(frozen=True)
class Destination:
    """Where the report goes, and how: the options of the group Output."""

    form: Literal["text", "json", "junit"] = "text"
    output: Path | None = None
    repro: Path | None = None
    brief: bool = False

    def prepared(self) -> Destination:
        """With standard output as the absence of a file; UserError if a file cannot be written."""
        target = self
        # `-o -` asks for what goes into a file, which is never the text of a terminal.
        if is_standard_output(self.output):
            target = replace(self, output=None, form="json" if self.form == "text" else self.form)
        for file in (target.output, target.repro):
            if file is not None:
                check_target(file)
                require_folder_of(file)
        return target


@dataclass(frozen=True)
class Means:
    """With what a campaign is run: processes, and what keeps its results.

    `build` is the folder of kept verdicts, `journal` a file from which an ended run resumes, `scheduler`
    the address of Dask workers, which judge in the place of this machine.
    """

    jobs: int | None = None
    build: Path | None = None
    journal: Path | None = None
    scheduler: str | None = None
    again: bool = False

    @property
    def processes(self) -> int:
        """How many units are judged at once here."""
        return self.jobs or os.cpu_count() or 1


def check_runtime(options: CheckOptions, destination: Destination, means: Means) -> int:
    """Judge a runtime, print the report, and write it to the files that the options name.

    Returns 130 after an interrupt, when the report covers the calls made so far; else 2 if the machine lacks
    what the runtime needs, 1 if the run failed, 0 if it passed. UserError for an unknown runtime or type, a
    missing package, a file that cannot be written, and unreachable or different workers.
    """
    # All files are tried before the run, which may take hours.
    destination = destination.prepared()
    if means.journal is not None:
        check_target(means.journal)
        require_folder_of(means.journal)
        UnitStore(means.journal).close()  # another kind of file is refused now
    sys.path.insert(0, "")  # module:function is looked up where the command runs, as by `python -m`
    module_of(options.runtime)  # for its errors: a name that is misspelt starts no process
    report, interrupted = _judged(options, means)
    _write(report, destination, options.of.spec)
    if interrupted:
        goes_on = "" if means.journal is None else "; repeat the command to resume"
        print(f"interrupted: the report covers the calls made so far{goes_on}", file=sys.stderr)
        return INTERRUPTED
    # After the report, which has the verdicts of all other types.
    for etype, words in report.environment.items():
        message = f"environment: {etype} could not be judged: {words}"
        todo = "provide what is missing (memory, a package, a file), then check again"
        print(f"error: {UserError(message, options.runtime, todo)}", file=sys.stderr)
    # A machine that lacks something comes first: the failures of such a run may be due to it.
    return 2 if report.environment else int(report.failed)


def _judged(options: CheckOptions, means: Means) -> tuple[Report, bool]:
    """The report of a campaign, and whether an interrupt ended it."""
    with ExitStack() as left_open:
        # A journal and workers are only for this version of the runtime, which it has to report first.
        version = runtime_version(options) if means.journal or means.scheduler else ""
        judge = None
        where = counted(means.processes, "job")
        if means.scheduler is not None:
            # A worker loads the operator by its name: a file of the user is not there.
            options.of.require_name()
            from sonnx_clip.machines.dask_workers import DaskWorkers  # imports asyncio

            workers = DaskWorkers(means.scheduler, VARIABLES, variables())
            left_open.callback(workers.stop)
            judge = RemoteJudge(workers, options.runtime, version, options.of)
            where = judge.name
        store = _store(options, means, version)
        if store is not None:
            left_open.callback(store.close)
            # Results are kept under the identity of the store, which a change of the runtime changes.
            options = replace(options, identity=store.identity)
        number_known = _plan(options, store, version, where)
        # Where each type is one unit, types are counted; units in the journal do not count for the rate.
        number_of_units = len(options.every_unit)
        are_types = number_of_units == len(options.units)
        unit = "element types" if are_types else "units"
        rate = None if are_types else number_known
        label = options.runtime
        if options.of.dialect:
            label += f" against {options.of.dialect}"
        shown = progress(label, number_of_units, unit, Console(stderr=True), rate)
        on_progress = left_open.enter_context(shown)
        try:
            report = run_campaign(
                options,
                jobs=means.processes,
                again=means.again,
                store=store,
                judge=judge,
                on_progress=on_progress,
                on_pace=_pace,
            )
        except InterruptedCampaignError as error:
            return error.report, True
    return report, False


def check_against(
    options: CheckOptions, dialects: Sequence[str], destination: Destination, means: Means
) -> int:
    """Compare a runtime, or those of `OF_MODELS`, with dialects: versions of ONNX's Clip, or a SONNX edition.

    Each report is printed as by `check_runtime`, and stored in the build folder, if there is one. Returns the
    highest status of all; an interrupt ends the comparison. UserError as `check_runtime`, and for an unknown
    dialect.
    """
    operators = _operators_of(dialects, options)
    if means.build is not None:
        make_folder(means.build / DIALECTS)
    runtimes = [options.runtime] if options.runtime else OF_MODELS
    highest = 0
    for runtime, operator in product(runtimes, operators):
        # Each dialect is judged in those of the chosen types that it has.
        types = [id_ for id_ in options.types if id_ in operator.element_types]
        chosen = replace(options, runtime=runtime, types=types, of=operator)
        stored = destination
        if means.build is not None:
            # A runtime may be ./file.py:function, which is no name of a file.
            name = runtime.replace(":", "-").replace("/", "-")
            report = f"{name}-{operator.dialect}.json"
            stored = replace(destination, output=means.build / DIALECTS / report)
        status = check_runtime(chosen, stored, means)
        highest = max(highest, status)
        # It was meant for the command, and not for one of its campaigns.
        if status == INTERRUPTED:
            break
    return highest


def _operators_of(dialects: Sequence[str], options: CheckOptions) -> list[Operator]:
    """The dialects that have one of the element types that the options name, each as an operator."""
    from sonnx_clip.conform.judged_dialect import dialect_operator, versions_of_onnx

    if not options.of.spec.dialects:
        raise part_missing(options.of.spec, "dialects")
    ids: dict[str, None] = {}  # each once, in the order of the command line
    for name in dialects:
        ids.update(dict.fromkeys(versions_of_onnx() if name == "onnx" else [name]))
    operators = [dialect_operator(options.of, id_) for id_ in ids]
    if not options.types:
        return operators
    wanted = set(options.types)
    taking = [operator for operator in operators if wanted.intersection(operator.element_types)]
    if not taking:  # this raises the error that names the types of a dialect
        machine_types(options.types, operators[0])
    return taking


def _store(options: CheckOptions, means: Means, version: str) -> UnitStore | None:
    """The journal, or the verdicts in the build folder if the runtime and the options allow keeping them."""
    if means.journal is not None:
        # Part of the digest of each unit: what another version of the runtime answered is judged
        # again.
        journal_identity = identity(options.runtime, version, options.of)
        return UnitStore(means.journal, journal_identity, _warn)
    # What workers judge belongs to their machines.
    if means.build is None or means.scheduler is not None:
        return None
    key = cache_identity(options.runtime, options.of)
    if key is None:  # what the runtime loads is not known, and may change without notice
        return None
    return UnitStore(means.build / CACHE, key, _warn, is_cache=True)


def _plan(options: CheckOptions, store: UnitStore | None, version: str, where: str) -> int:
    """Print the plan of a campaign; return the number of results that its journal has already."""
    units = options.every_unit
    types = len(options.units)  # of which each has one unit or more
    known = 0
    stored = ""
    if store is not None and not store.is_cache:
        known = store.count_of(units)
        stored = f", {known} of them in {store.file}"
    # A short run on this machine needs no plan.
    if len(units) > types or version:
        kinds = f"{counted(len(units), 'unit')} at most in {counted(types, 'element type')}"
        print(f"plan: {kinds}{stored} ({where})", file=sys.stderr)
    return known


def _write(report: Report, destination: Destination, spec: Spec) -> None:
    """Print the report and write the files."""
    form = destination.form
    output = destination.output
    repro = destination.repro
    # A file has the report for machines, whatever is printed.
    text = to_junit(report) if form == "junit" else report.model_dump_json(indent=1) + "\n"
    if output is not None:
        write_whole(output, text)
    if repro is not None:
        write_whole(repro, reproducers(report))
    last = "\n".join([report_summary(report), *report_closing_lines(report)])
    if form != "text":
        # What another program reads is alone on standard output.
        if output is None or form == "json":
            sys.stdout.write(text)
        print(last, file=sys.stderr)
    elif destination.brief:
        print(last)
    else:
        pasted_from = None if repro is None else str(repro)
        print_report(report, Console(), spec, pasted_from)


def _pace(words: str) -> None:
    # At once, since the reader decides by it whether to wait.
    print(f"{words} (Ctrl-C prints the report so far)", file=sys.stderr, flush=True)


def _warn(words: str) -> None:
    print(f"warning: {words}", file=sys.stderr)
