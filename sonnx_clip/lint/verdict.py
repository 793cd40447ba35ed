"""The result of lint for a model, as plain frozen data."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from sonnx_clip.lint.normalise import NormaliseReport

_Item = TypeVar("_Item")

NORMALISE, ASSUME_FINITE = "normalise", "--assume finite"
"""How remedies begin that the report's command carries out, and its option for bounds of floats."""
SEE = "see "
"""How a remedy begins that is stated with another restriction."""
NAMED = 3
"""So many of a group of equal things are named in text; JSON and SARIF name all."""


class Verdict(StrEnum):
    """The outcome for one restriction, the most severe last; `unknown` is never counted as met."""

    MEETS = "meets"
    UNKNOWN = "unknown"
    VIOLATES = "violates"


def declares(facts: str) -> str:
    """The remedy where normalise declares what inference finds."""
    return f"{NORMALISE} declares the inferred {facts}; or pass --accept-inferred"


def most_severe(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe of some verdicts; `meets` without any."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.MEETS)


@dataclass(frozen=True)
class Problem:
    """One reason why a restriction is violated or cannot be decided."""

    argument: str  # the tensor as the SONNX page names it: X, L, M or Y
    verdict: Verdict  # violates or unknown
    message: str
    remedy: str  # what to change in the model; it begins with `NORMALISE` where that command does
    # The shape is not known in numbers by inference either: it follows from a root cause.
    open: bool = False
    # The declaration that the tensor lacks, `shape` or `element type`, if that is all.
    lacks: str = ""
    inferred: str = ""  # the fact in its place that inference finds and normalise declares
    rule: str = ""  # the rule that it is a problem with


@dataclass(frozen=True)
class Finding:
    """One reason why a node breaks rules: equal problems of tensors, or all missing declarations."""

    problems: tuple[Problem, ...]

    @property
    def rules(self) -> list[str]:
        """The rules that it breaks, each once."""
        return list(dict.fromkeys(problem.rule for problem in self.problems))

    @property
    def verdict(self) -> Verdict:
        """The worst of its problems."""
        return most_severe(problem.verdict for problem in self.problems)

    @property
    def rules_by_verdict(self) -> dict[Verdict, list[str]]:
        """The rules that it breaks, each once, the violated ones first."""
        violated: list[str] = []
        unknown: list[str] = []
        for problem in self.problems:
            rules = violated if problem.verdict == Verdict.VIOLATES else unknown
            # Named once: that a rule is violated says more than that a later tensor leaves it unknown.
            if problem.rule not in rules and problem.rule not in violated:
                rules.append(problem.rule)
        by_verdict = {}
        if violated:
            by_verdict[Verdict.VIOLATES] = violated
        if unknown:
            by_verdict[Verdict.UNKNOWN] = unknown
        return by_verdict

    def without_open(self) -> Finding | None:
        """The finding without shapes that follow from a root cause; None where these are all."""
        problems = tuple(problem for problem in self.problems if not problem.open)
        return Finding(problems) if problems else None

    @property
    def is_undeclared(self) -> bool:
        """The model lacks declarations, and nothing else is wrong."""
        return bool(self.problems[0].lacks)

    def sentence(self, tensors: Mapping[str, str]) -> str:
        """What is wrong, for people; `tensors` has the text of each argument."""
        if not self.is_undeclared:
            arguments = [tensors[problem.argument] for problem in self.problems]
            return f"{listed(arguments)}: {self.problems[0].message}"
        # Tensors that lack the same facts share a clause: "shape and element type of L and M are …".
        names_by_facts: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for argument, facts in self._lacking().items():
            names_by_facts[tuple(facts)].append(tensors[argument])
        clauses = []
        for lacking, names in names_by_facts.items():
            is_ = "is" if len(lacking) == 1 else "are"
            title = f"{listed(lacking)} of {listed(names)}"
            clauses.append(f"{title} {is_} not declared")
        return "; ".join(clauses)

    def _lacking(self) -> dict[str, list[str]]:
        """The facts that are not declared, by argument, each once."""
        facts_by_argument: dict[str, list[str]] = {}
        for problem in self.problems:
            facts = facts_by_argument.setdefault(problem.argument, [])
            if problem.lacks not in facts:
                facts.append(problem.lacks)
        return facts_by_argument

    @property
    def remedy(self) -> str:
        """What to change in the model."""
        if not self.is_undeclared:
            return self.problems[0].remedy
        inferred: dict[str, None] = {}
        others: dict[str, None] = {}
        elsewhere: dict[str, None] = {}
        for problem in self.problems:
            if problem.inferred:
                inferred[problem.inferred] = None
            elif problem.remedy.startswith(SEE):
                elsewhere[problem.remedy] = None
            else:
                others[problem.remedy] = None
        # What is stated with another rule is in here too, unless that rule is not judged.
        remedies = list(others if others or inferred else elsewhere)
        if inferred:
            remedies.insert(0, declares(listed(list(inferred))))
        return "; ".join(remedies)


@dataclass(frozen=True)
class Findings:
    """What was judged of nodes that differ in names alone, and the problems that they have."""

    operator: str  # with the version that the imported opset means: Clip-11
    rules: tuple[str, ...]  # those that were judged, in the order of the page
    problems: tuple[Problem, ...]  # in the order of their rules
    arguments: tuple[str, ...]  # the operands in their order and the result: X, L, M, Y
    bounds: tuple[tuple[str, str], ...] = ()  # the values of bounds that are stored in the model
    note: str | None = None  # what these values mean where they are not ordered numbers

    def problems_of(self, rule: str) -> list[Problem]:
        """The problems with a rule; none where the node meets it."""
        return [problem for problem in self.problems if problem.rule == rule]

    @cached_property
    def broken_rules(self) -> dict[str, Verdict]:
        """The rules with problems, each with the worst of them, however many tensors break it."""
        verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
        for problem in self.problems:
            verdicts[problem.rule].append(problem.verdict)
        return {rule: most_severe(of_rule) for rule, of_rule in verdicts.items()}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The problems by their reason: a missing declaration can break several rules at several tensors."""
        by_reason = group_by(self.problems, _reason)
        return tuple(Finding(tuple(problems)) for problems in by_reason)

    @property
    def lacks_declarations_only(self) -> bool:
        """Declared shapes and element types are all that the node lacks."""
        return bool(self.findings) and all(finding.is_undeclared for finding in self.findings)

    @cached_property
    def open(self) -> bool:
        """A shape follows from a root cause."""
        return any(problem.open for problem in self.problems)

    @cached_property
    def verdict(self) -> Verdict:
        """The worst of the problems."""
        return most_severe(problem.verdict for problem in self.problems)

    @cached_property
    def alike(self) -> Hashable:
        """Equal for findings of one operator that differ in remedies, open shapes and bounds alone."""
        problems = []
        for problem in self.problems:
            # Messages on open shapes differ in the shape; the root cause explains all of them.
            reason = problem.open or problem.message
            problems.append((problem.rule, problem.argument, problem.verdict, reason))
        return (self.operator, *problems, self.note)


def _reason(problem: Problem) -> Hashable:
    """Equal for problems of one finding."""
    if problem.lacks:
        return "missing declarations"
    return problem.rule, problem.verdict, problem.open or problem.message


# A frozen dataclass takes five times as long, and there may be 100,000.
class NodeReport(NamedTuple):
    """One Clip node, with its tensors and its judgements."""

    name: str | None
    graph: str  # the path of the graph or function that holds the node
    position: int  # there, from 0
    output: str
    # Of each operand and the result, its name in the model if it is set.
    tensors: dict[str, str | None]
    findings: Findings

    @property
    def titles(self) -> dict[str, str]:
        """Each operand and the result for people, with its name if it is set: ``X 'input'``."""
        titles = {}
        for argument, name in self.tensors.items():
            titles[argument] = argument if name is None else f"{argument} {quoted(name)}"
        return titles

    @property
    def place(self) -> str:
        """Where the node is, for people, whether or not it has a name."""
        return f"node {self.position} of {self.graph}"

    @property
    def path(self) -> str:
        """Where viewers of ONNX models show the node: its graph, and its name or else that of its output."""
        return f"{self.graph} > {shown(self.name or self.output)}"


@dataclass(frozen=True)
class RootCause:
    """Why shapes are not known in numbers: the input whose sizes are open, or None where it is another."""

    tensor: str | None
    message: str  # what is open, and how many Clip nodes follow from it
    remedy: str
    option: str = ""  # of the report's command, empty where it cannot settle it


@dataclass(frozen=True)
class ModelReport:
    """One model: its Clip nodes, and notes on what was not judged and why."""

    path: Path
    ir_version: int
    opsets: tuple[tuple[str, int], ...]
    accept_inferred: bool
    nodes: tuple[NodeReport, ...]
    notes: tuple[str, ...]
    # What could not be analysed though it matters: nothing is met then.
    undecided: tuple[str, ...] = ()
    # Of shapes that are not known in numbers; each concerns all `open` nodes.
    causes: tuple[RootCause, ...] = ()

    @cached_property
    def open(self) -> list[NodeReport]:
        """The nodes with a shape that is not known as numbers."""
        return [node for node in self.nodes if node.findings.open]

    @property
    def distinct_findings(self) -> Collection[Findings]:
        """The findings of all nodes, each once: nodes with equal facts share theirs."""
        return {id(node.findings): node.findings for node in self.nodes}.values()

    @cached_property
    def alike(self) -> list[list[NodeReport]]:
        """The nodes in groups: each has one operator and findings that read alike."""
        # Nodes with equal facts share their findings, so that few of these are compared.
        with_same_findings = group_by(self.nodes, lambda node: id(node.findings))
        reading_alike = group_by(with_same_findings, lambda nodes: nodes[0].findings.alike)
        return [list(chain.from_iterable(groups)) for groups in reading_alike]

    @cached_property
    def command(self) -> str | None:
        """A command that carries out all remedies that `normalise` can, ready to be pasted."""
        if self.undecided:  # `normalise` refuses a model that cannot be analysed
            return None
        by_command = []
        for findings in self.distinct_findings:
            for problem in findings.problems:
                if problem.remedy.startswith(NORMALISE):
                    by_command.append(problem.remedy)
        options = [cause.option for cause in self.causes if cause.option]
        if not options and not by_command:
            return None
        needs_finite = f"{NORMALISE} {ASSUME_FINITE}"
        if any(remedy.startswith(needs_finite) for remedy in by_command):
            # Last, because a shell ignores what follows.
            options.append(f"{ASSUME_FINITE}  # if no infinity reaches these nodes")
        target = self.path.with_name(f"{self.path.stem}.normalised.onnx")
        source = shlex.quote(str(self.path))
        output = shlex.quote(str(target))
        return " ".join(["sonnx-clip", "normalise", source, "-o", output, *options])

    @cached_property
    def counts(self) -> Counter[Verdict]:
        """How many nodes have which verdict."""
        counts: Counter[Verdict] = Counter()
        for node in self.nodes:
            counts[node.findings.verdict] += 1
        return counts

    @property
    def verdict(self) -> Verdict | None:
        """The worst of its nodes; None where no Clip node was there to be judged."""
        verdicts = list(self.counts)
        # Its nodes may all be met, or none be found, where not everything could be analysed.
        if self.undecided:
            verdicts.append(Verdict.UNKNOWN)
        return most_severe(verdicts) if verdicts else None

    @property
    def exit_status(self) -> int:
        """1 where something is violated or unknown, else 0."""
        return 0 if self.verdict in (None, Verdict.MEETS) else 1


def with_rules(report: ModelReport, rules: Sequence[str]) -> ModelReport:
    """The report by these rules alone: what another rule finds is left out, root causes of R4 too."""
    # By identity, so that nodes that share findings still do.
    selected = {id(findings): _selected(findings, rules) for findings in report.distinct_findings}
    nodes = []
    for node in report.nodes:
        nodes.append(node._replace(findings=selected[id(node.findings)]))
    causes = report.causes if any(node.findings.open for node in nodes) else ()
    return replace(report, nodes=tuple(nodes), causes=causes)


def _selected(findings: Findings, rules: Sequence[str]) -> Findings:
    judged = tuple(rule for rule in findings.rules if rule in rules)
    problems = tuple(problem for problem in findings.problems if problem.rule in rules)
    return replace(findings, rules=judged, problems=problems)


# --- Several models -----------------------------------------------------------------------------------------


ReportT = TypeVar("ReportT", bound="ModelReport | NormaliseReport")


@dataclass(frozen=True)
class BatchRun(Generic[ReportT]):
    """Several models: the reports of those that could be read, the errors of the others."""

    reports: tuple[ReportT, ...]
    errors: tuple[tuple[Path, UserError], ...]

    @property
    def exit_status(self) -> int:
        """2 where a model could not be read, else the worst of the reports."""
        if self.errors:
            return 2
        statuses = [report.exit_status for report in self.reports]
        return max(statuses, default=0)


def run_each(paths: Sequence[Path], work: Callable[[Path], ReportT]) -> BatchRun[ReportT]:
    """Do some work on each model; one that cannot be read does not hide the others."""
    reports: list[ReportT] = []
    errors: list[tuple[Path, UserError]] = []
    for path in paths:
        try:
            reports.append(work(path))
        except UserError as error:
            errors.append((path, error))
    return BatchRun(tuple(reports), tuple(errors))


def run_nodes(run: BatchRun[ModelReport]) -> Iterator[NodeReport]:
    """The nodes of all models."""
    return chain.from_iterable(report.nodes for report in run.reports)


# --- Groups -------------------------------------------------------------------------------------------------


def group_by(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Items with equal keys together, in the order of the first of each."""
    groups: dict[Hashable, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def some(texts: Iterable[str], show: Callable[[str], str] = str) -> list[str]:
    """The first few texts as they are shown, each once, and how many more there are."""
    distinct = list(dict.fromkeys(texts))
    lines = list(map(show, distinct[:NAMED]))
    return lines + more_than_some(len(distinct))


def more_than_some(count: int) -> list[str]:
    """The line for items that are not named."""
    return [f"… and {count - NAMED} more"] if count > NAMED else []
