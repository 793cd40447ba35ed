"""The pytest plugin: a test for each element type and class of a runtime, and for each form of a model.

A file of expected deviations marks some of these tests as expected failures.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.operator import clip_operator, machine_types
from sonnx_clip.conform.report_lines import cases
from sonnx_clip.conform.report_text import report_summary
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.report_lines import ReportLine

ROOT = "sonnx-clip"
_SHARED = "sonnx_clip_report"


class ClipDeviationError(Exception):
    """The runtime deviates; the text has the deviation and the command that repeats it."""


class NotJudgedError(Exception):
    """There is no verdict on the runtime, or nothing was compared where a deviation is expected."""


class ClipTests:
    """The hooks of a session in which a runtime is judged.

    Args:
        config: of the session.
        runtime: its name.
        types: ids of element types, separated by commas; all, if None or empty.
        xfail: the file of expected deviations, if there is one.
    """

    def __init__(
        self, config: pytest.Config, runtime: str, types: str | None, xfail: str | None
    ) -> None:
        self._config = config
        self._runtime = runtime
        names = (types or "").split(",")
        self._types = [name.strip() for name in names if name.strip()]
        # Relative to the folder in which pytest was called, and not to its rootdir.
        self._xfail = None if xfail is None else config.invocation_params.dir / xfail
        self._report: Report | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Run the campaign, or read the report of the process that did."""
        # A worker of pytest-xdist has `workerinput`: the runtime is judged once, by the main process.
        shared = getattr(self._config, "workerinput", {}).get(_SHARED)
        if shared is not None:
            self._report = Report.model_validate_json(shared)
            return
        with _as_usage_error():
            if self._xfail is not None:
                read_expected(self._xfail)  # mistakes in it are reported before the campaign
            self._print(f"judging {self._runtime}")
            # Where `python -m` would look for ``module:function``: pytest does not add this folder.
            folder = str(Path.cwd())
            sys.path.insert(0, folder)
            try:
                options = CheckOptions(self._runtime, self._types, of=clip_operator())
                self._report = run_campaign(options, jobs=os.cpu_count() or 1)
            finally:
                sys.path.remove(folder)
        # Tests that all are errors would hide that nothing can be judged on this machine.
        if len(self._report.environment) == len(self._report.types):
            words = next(iter(self._report.environment.values()))
            raise pytest.UsageError(f"environment: {self._runtime} could not be judged: {words}")
        self._print(report_summary(self._report))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the report to a worker of pytest-xdist."""
        assert self._report is not None
        node.workerinput[_SHARED] = self._report.model_dump_json()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the tests after those of files; options such as ``-k`` choose among all of them."""
        assert self._report is not None
        judged_cases = list(cases(self._report))
        own = list(_items(session, judged_cases))
        if self._xfail is not None:
            judged_types = {report.type for report in self._report.types}
            with _as_usage_error():
                _mark_expected(own, self._xfail, judged_types)
        items.extend(own)
        # pytest counts them among the collected tests.
        session.ihook.pytest_collectreport(
            report=pytest.CollectReport(ROOT, "passed", None, list(own))
        )

    def _print(self, text: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self._config.get_verbosity() >= 0:
            reporter.write_line(f"sonnx-clip: {text}")


@contextmanager
def _as_usage_error() -> Iterator[None]:
    """Bad input is one message of pytest, without a traceback."""
    try:
        yield
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


class ClipItem(pytest.Item):
    """The test of a case.

    Args:
        case: what the campaign found.
        shown_by: the first case of the same class that has a deviation; the case itself, if none has.
        arguments: of every item.
    """

    def __init__(self, *, case: ReportLine, shown_by: ReportLine, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._case = case
        self._shown_by = shown_by
        self.is_expected = False
        self.extra_keyword_matches |= {ROOT, case.etype}  # for -k

    def runtest(self) -> None:
        """Pass, skip or raise, as the checker judged.

        Raises:
            ClipDeviationError: the runtime deviates.
            NotJudgedError: it could not be judged, or it refuses what is expected to deviate.
        """
        case = self._case
        shown = case
        head = ""
        if not case.deviations and not case.text and self._shown_by.deviations:
            shown = self._shown_by  # a report has a deviation that all forms share once
            forms = f"models with {shown.form}" if shown.form else "every supported form"
            head = f"as in {forms}:\n"
        text = f"{case.head}: {shown.headline}\n{head}{shown.details}"
        if case.outcome == "failed":
            raise ClipDeviationError(text)
        if case.outcome == "error":
            raise NotJudgedError(text)
        # A skipped test would hide that an expected deviation was not even looked for.
        if case.outcome == "skipped":
            if self.is_expected:
                raise NotJudgedError(f"a deviation is expected, but nothing was compared: {text}")
            pytest.skip(f"{case.head}: {case.text}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any, **__: Any) -> Any:
        """The deviation, with the line that repeats it; no traceback of ours."""
        is_ours = isinstance(excinfo.value, (ClipDeviationError, NotJudgedError))
        return str(excinfo.value) if is_ours else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The name under which a failure is shown."""
        return Path(ROOT), None, self.nodeid.removeprefix(f"{ROOT}::")


def _items(session: pytest.Session, judged_cases: list[ReportLine]) -> Iterator[ClipItem]:
    # By element type and class.
    first_shown: dict[tuple[str, str], ReportLine] = {}
    for case in judged_cases:
        if case.deviations:
            first_shown.setdefault((case.etype, case.id), case)
    for case in judged_cases:
        name = _name_of_test(case)
        nodeid = f"{ROOT}::{case.etype or 'report'}::{name}"
        shown_by = first_shown.get((case.etype, case.id), case)
        yield ClipItem.from_parent(session, name=name, nodeid=nodeid, case=case, shown_by=shown_by)


def _name_of_test(case: ReportLine) -> str:
    """The class, and the form of a model in brackets."""
    if not case.form:
        return case.id
    # Without spaces and commas, which would have to be quoted in a shell.
    form = case.form.replace(", ", "-").replace(" ", "_")
    return f"{case.id}[{form}]"


# --- Expected deviations ------------------------------------------------------------------------------------


class ExpectedDeviation(NamedTuple):
    """A line of a file of expected deviations, apart from the id."""

    reason: str
    line: int  # its number, from 1


def read_expected(file: Path) -> dict[str, ExpectedDeviation]:
    """The expected deviations by the ids of their tests.

    Raises:
        UserError: it cannot be read, a line has no reason, or two lines have one id.
    """
    try:
        lines = read_regular(file).splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(
            f"the list of expected deviations cannot be read: {why}", str(file)
        ) from None
    expected: dict[str, ExpectedDeviation] = {}
    for number, line in enumerate(lines, 1):
        id_, _, reason = line.strip().partition(" ")
        if not id_ or id_.startswith("#"):
            continue
        where = f"{file}:{number}"
        if not reason.strip():
            raise UserError(f"`{id_}` has no reason", where, "add the reason after the id")
        if id_ in expected:
            message = f"`{id_}` is already in line {expected[id_].line}"
            raise UserError(message, where, "remove one of them")
        expected[id_] = ExpectedDeviation(reason.strip(), number)
    return expected


def _mark_expected(items: list[ClipItem], file: Path, judged: set[str]) -> None:
    """Let expected deviations fail strictly; UserError if an id is of no test of any element type."""
    by_id = {item.nodeid: item for item in items}
    # A list may be of all types, where a run judges some.
    types = [etype.id for etype in machine_types((), clip_operator())]
    elsewhere = tuple(f"{ROOT}::{type_id}::" for type_id in types if type_id not in judged)
    for id_, (reason, number) in read_expected(file).items():
        if id_ in by_id:
            item = by_id[id_]
            item.is_expected = True
            mark = pytest.mark.xfail(reason=reason, strict=True, raises=ClipDeviationError)
            item.add_marker(mark)
        elif not id_.startswith(elsewhere):
            todo = "`pytest --collect-only -q` with the same options prints every id"
            similar = nearest(id_, list(by_id))
            if similar:
                todo = f"did you mean `{similar[0]}`? {todo}"
            raise UserError(f"no test has the id `{id_}`", f"{file}:{number}", todo)
