"""`sonnx-clip check`: runs the checker on a runtime, prints its report and writes what is to be kept."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.conform.behaviour import behaviour
from sonnx_clip.conform.campaign import machine_types, run_campaign
from sonnx_clip.conform.check_sarif import check_to_sarif
from sonnx_clip.conform.junit import to_junit
from sonnx_clip.conform.kept import FOLDER
from sonnx_clip.conform.limits import LIMITS, Limits
from sonnx_clip.conform.model_forms.form_words import form_lines
from sonnx_clip.conform.report_text import print_report, reproducers, summary
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, is_standard_output, make_folder, write_whole
from sonnx_clip.root.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Literal, TypeAlias

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.model_forms.axes import Choice

    CheckForm: TypeAlias = Literal["text", "json", "junit", "sarif"]


def check_runtime(
    runtime: str,
    types: Sequence[str],
    policy: Policy,
    *,
    form: CheckForm = "text",
    output: Path | None,
    brief: bool = False,
    repro: Path | None = None,
    jobs: int | None = None,
    build: Path | None = None,
    again: bool = False,
    limits: Limits = LIMITS,
    require: Sequence[str] = (),
    forms: Choice = "default",
) -> int:
    """Run the checker, print the report, perhaps write it.

    Returns:
        2 if the machine lacks what the runtime needs, else 1 if the run has failed, else 0.

    Args:
        runtime: the runtime to judge.
        types: ids of element types; all, if empty.
        policy: which latitude counts.
        form: how the report is printed. Where that is no text, the summary goes to standard error.
        output: where the report is written, as JSON if `form` is text; ``-`` is standard output. JUnit
            and SARIF are then written there alone.
        brief: print the summary alone.
        repro: where a shell script is written that repeats each kind of deviation.
        jobs: how many element types are judged at once; all cores by default.
        build: the build folder, in which verdicts are kept; if None, none is.
        again: judge also what was judged before under the same conditions.
        limits: how long the runtime may take.
        require: ids of element types that must be supported.
        forms: in which forms of a model a runtime that opens models is judged.

    Raises:
        UserError: the runtime or a type is not known, a package is missing, or a file cannot be written.
    """
    if is_standard_output(output):
        form, output = "json" if form == "text" else form, None
    for file in (output, repro):
        if file is not None:  # better known before the run than after it
            check_target(file)
            make_folder(file.parent)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    number = len({*types, *require}) if types else len(machine_types())
    with progress(runtime, number, "element types", Console(stderr=True)) as show:
        report = run_campaign(
            runtime, types, policy=policy, on_progress=show, jobs=jobs or os.cpu_count() or 1,
            kept=None if build is None else build / FOLDER, again=again,
            limits=limits, require=require, forms=forms,
        )  # fmt: skip
    text = _printed(report, form)
    if output is not None:
        write_whole(output, text)
    if repro is not None:
        write_whole(repro, reproducers(report))
    last = "\n".join([summary(report), *behaviour(report), *form_lines(report)])
    if form != "text":
        if output is None or form == "json":
            sys.stdout.write(text)
        print(last, file=sys.stderr)
    elif brief:
        print(last)
    else:
        print_report(report, Console(), None if repro is None else str(repro))
    for etype, words in report.environment.items():
        what = f"environment: {etype} could not be judged: {words}"
        todo = "give the runtime what it lacks (memory, a package, a file), and check again"
        print(f"error: {UserError(what, runtime, todo)}", file=sys.stderr)
    return 2 if report.environment else 1 if report.failed else 0


def _printed(report: Report, form: CheckForm) -> str:
    if form == "junit":
        return to_junit(report)
    if form == "sarif":
        return check_to_sarif(report) + "\n"
    return report.model_dump_json(indent=1) + "\n"
