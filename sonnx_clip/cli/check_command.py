"""`sonnx-clip check`: runs the checker and prints its report, or the status of a journal."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sonnx_clip.cli.scheduler import workers_of
from sonnx_clip.conform.campaign import InterruptedCampaignError, machine_types, run_campaign, version_of
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.form_words import form_lines
from sonnx_clip.conform.identity import cache_identity, identity
from sonnx_clip.conform.levels import WHICH_CALLS, CheckOptions, units_of
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.remote_judge import RemoteJudge
from sonnx_clip.conform.report_formats import to_junit
from sonnx_clip.conform.report_text import print_report, reproducers, summary
from sonnx_clip.conform.store import CACHE, Store
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, is_standard_output, make_folder, write_whole
from sonnx_clip.root.terminal import counted, duration, progress
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Literal, TypeAlias

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.levels import WhichCalls
    from sonnx_clip.conform.store import CampaignStatus
    from sonnx_clip.conform.units import Level
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.terminal import Show
    from sonnx_clip.runtimes.model_forms import Choice
    from sonnx_clip.spec import Spec

    CheckForm: TypeAlias = Literal["text", "json", "junit"]


INTERRUPTED = 130
"""The exit status after an interrupt, as shells have it: 128 and the number of the signal."""


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
    level: Level = "quick",
    few_calls: bool = False,
    journal: Path | None = None,
    scheduler: str | None = None,
    calls: WhichCalls = WHICH_CALLS,
    of: CheckedOperator | None = None,
) -> int:
    """Run the checker, print the report, perhaps write it.

    Returns:
        130 if it was interrupted: the report is then that of what was judged until then. Else 2 if the
        machine lacks what the runtime needs, 1 if the run has failed, 0 if not.

    Args:
        runtime: the runtime to judge.
        types: ids of element types; all, if empty.
        policy: which latitude counts.
        form: how the report is printed. Where that is no text, the summary goes to standard error.
        output: where the report is written, as JSON if `form` is text; ``-`` is standard output. JUnit
            is then written there alone.
        brief: print the summary alone.
        repro: where a shell script is written that repeats each kind of deviation.
        jobs: how many element types are judged at once; all cores by default.
        build: the build folder, in which verdicts are kept; if None, none is.
        again: judge also what was judged before under the same conditions.
        limits: how long the runtime may take.
        require: ids of element types that must be supported.
        forms: in which forms of a model a runtime that opens models is judged.
        level: how much is asked.
        few_calls: make few calls at every level, as of a runtime that starts a program for each.
        journal: the file that takes the result of each unit and gives those that it has.
        scheduler: the address of a Dask scheduler, whose workers judge the units.
        calls: which calls are made.
        of: the operator, if it is not Clip; see `run_campaign`.

    Raises:
        UserError: the runtime or a type is not known, a package is missing, a file cannot be written, or the
            scheduler and its workers are not there or not as this machine is.
    """
    if is_standard_output(output):
        form, output = "json" if form == "text" else form, None
    for file in (output, repro):
        if file is not None:  # better known before the run than after it
            check_target(file)
            make_folder(file.parent)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    interrupted = False
    options = CheckOptions(runtime, "", policy, limits, forms, level, few_calls)
    at_once = jobs or os.cpu_count() or 1
    wanted = machine_types([*types, *require] if types else (), of)
    cache = None if build is None or of is not None or calls != WHICH_CALLS else build / CACHE
    with _campaign(options, wanted, journal, scheduler, cache, calls, at_once) as (store, show, judge):
        try:
            report = run_campaign(
                runtime, types, policy=policy, on_progress=show, jobs=at_once, again=again,
                limits=limits, require=require, forms=forms, level=level, store=store,
                judge=judge, calls=calls, few_calls=few_calls, on_pace=_pace, of=of,
            )  # fmt: skip
        except InterruptedCampaignError as error:
            report, interrupted = error.report, True
    _write(report, form, output=output, brief=brief, repro=repro, spec=(of or clip_operator()).spec)
    if interrupted:
        goes_on = "" if journal is None else "; repeat the command to resume"
        print(f"interrupted: the report covers the calls made so far{goes_on}", file=sys.stderr)
        return INTERRUPTED
    for etype, words in report.environment.items():
        what = f"environment: {etype} could not be judged: {words}"
        todo = "provide what is missing (memory, a package, a file), and check again"
        print(f"error: {UserError(what, runtime, todo)}", file=sys.stderr)
    return 2 if report.environment else 1 if report.failed else 0


def _write(
    report: Report, form: CheckForm, *, output: Path | None, brief: bool, repro: Path | None, spec: Spec
) -> None:
    """Print the report, and write what is to be written; the arguments are those of `check_runtime`."""
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
        print_report(report, Console(), None if repro is None else str(repro), spec)


@contextmanager
def _campaign(
    options: CheckOptions, wanted: Sequence[ElementType], journal: Path | None, scheduler: str | None,
    cache: Path | None, calls: WhichCalls, jobs: int,
) -> Iterator[tuple[Store | None, Show, RemoteJudge | None]]:  # fmt: skip
    """The store of results, what shows the progress, and who judges, if not this machine."""
    with ExitStack() as left_open:
        judge, store = None, None
        if journal is not None:
            Store(journal).close()  # a file that is no journal is reported before the runtime is opened
        if journal is None and scheduler is None:
            if cache is not None and (key := cache_identity(options.runtime)) is not None:
                store = Store(cache, key, _warn, is_cache=True)
        else:
            module_of(options.runtime)
            workers = None if scheduler is None else left_open.enter_context(workers_of(scheduler))
            version = version_of(options.runtime, wanted, options.limits)
            if workers is not None:
                judge = RemoteJudge(workers, options.runtime, version)
            if journal is not None:
                store = Store(journal, identity(options.runtime, version), _warn)
        if store is not None:
            left_open.callback(store.close)
            options = replace(options, identity=store.identity)
        units = [unit for etype in wanted for unit in units_of(etype, options, calls)]
        known = 0
        if store is not None and not store.is_cache:
            named = {key: getattr(options, key) for key in ("runtime", "level", "policy", "forms")}
            store.plan({**named, "version": version, "types": [etype.id for etype in wanted]}, units)
            known = len({unit.digest for unit in units} & store.seconds().keys())
        if len(units) > len(wanted) or journal is not None or judge is not None:
            stored = f", {known} of them in {journal}" if journal is not None else ""
            where = counted(jobs, "job") if judge is None else judge.name
            kinds = f"{counted(len(units), 'unit')} at most in {counted(len(wanted), 'element type')}"
            print(f"plan: {kinds}{stored} ({where})", file=sys.stderr)
        unit = "element types" if len(units) == len(wanted) else "units"
        rate = known if len(units) > len(wanted) else None
        with progress(options.runtime, len(units), unit, Console(stderr=True), rate) as show:
            yield store, show, judge


def _pace(words: str) -> None:
    print(f"{words} (Ctrl-C prints the report so far)", file=sys.stderr, flush=True)


def _warn(words: str) -> None:
    print(f"warning: {words}", file=sys.stderr)


def _printed(report: Report, form: CheckForm) -> str:
    if form == "junit":
        return to_junit(report)
    return report.model_dump_json(indent=1) + "\n"


# --- `sonnx-clip check --journal FILE --status`: the progress of the campaigns in a journal -----------------


_PLAIN_WIDTH = 110


def show_status(file: Path, *, as_json: bool) -> None:
    """Print what a journal says; nothing is written to it.

    Args:
        file: the journal.
        as_json: print JSON instead of tables.

    Raises:
        UserError: it is no journal, or cannot be read.
    """
    with closing(Store(file, create=False)) as store:
        status = store.status()
    if as_json:
        sys.stdout.write(status.model_dump_json(indent=1) + "\n")
        return
    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    for campaign in status.campaigns:
        _print(console, campaign)
    damaged = f", {status.damaged} of them damaged, to be judged again" if status.damaged else ""
    words = f"{counted(len(status.campaigns), 'campaign')}, {counted(status.results, 'result')}{damaged}"
    console.print(words, highlight=False)


def _print(console: Console, found: CampaignStatus) -> None:
    head = f"{found.version} ({found.policy} policy, {found.level}), begun {found.made}"
    console.print(f"[bold]{escape(head)}[/]", highlight=False, soft_wrap=True)
    table = Table(box=None)
    table.add_column("type")
    for name in ("units done", "of", "results compared", "a minute"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for one in found.types:
        rate = f"{one.done * 60 / one.seconds:.0f}" if one.seconds else ""
        table.add_row(one.type, str(one.done), str(one.units), f"{one.compared:,}", rate, one.verdict)
    console.print(table)
    console.print(_far(found), highlight=False, soft_wrap=True)


def _far(found: CampaignStatus) -> str:
    done = f"{found.done} of {counted(found.units, 'unit')} done in {duration(found.seconds)} of judging"
    if found.done == found.units:
        return f"finished: {done}"
    if found.left is None:
        return f"not finished: {done}"
    return f"not finished: {done}; about {duration(found.left)} of judging left, divided by the jobs"
