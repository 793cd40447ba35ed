"""Totals of lint over several models."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.verdict import BatchRun, ModelReport, Verdict, run_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class RuleCount:
    """How many nodes, of how many models, break a rule."""

    rule: str
    violates: int
    unknown: int
    models: int


@dataclass(frozen=True)
class LintTotals:
    """Models and nodes by verdict."""

    models: Mapping[Verdict, int]
    without_clip: int  # these have no verdict, and are in no other number
    nodes: Counter[Verdict]
    undeclared: int  # nodes that lack nothing but declared shapes or element types
    rules: tuple[RuleCount, ...]  # those that a node breaks, in the order of the page

    def as_json(self) -> dict[str, Any]:
        """The totals for machines."""
        return {
            "models": {verdict.value: self.models.get(verdict, 0) for verdict in Verdict},
            "models_without_clip": self.without_clip,
            "nodes": {verdict.value: self.nodes[verdict] for verdict in Verdict},
            "nodes_that_lack_declarations_only": self.undeclared,
            "rules": {count.rule: vars(count) for count in self.rules},
        }


def lint_totals(run: BatchRun[ModelReport]) -> LintTotals:
    """Count the models that could be read, and their nodes."""
    models: Counter[Verdict] = Counter()
    nodes: Counter[Verdict] = Counter()
    without_clip = 0
    for report in run.reports:
        nodes.update(report.counts)
        if report.verdict is None:
            without_clip += 1
        else:
            models[report.verdict] += 1
    undeclared = sum(node.findings.lacks_declarations_only for node in run_nodes(run))
    return LintTotals(models, without_clip, nodes, undeclared, _rule_counts(run))


def _rule_counts(run: BatchRun[ModelReport]) -> tuple[RuleCount, ...]:
    nodes: Counter[tuple[str, Verdict]] = Counter()
    models: Counter[str] = Counter()
    for report in run.reports:
        broken = set()  # so that a model counts once, however many of its nodes break a rule
        for node in report.nodes:
            for rule, verdict in node.findings.broken_rules.items():
                nodes[rule, verdict] += 1
                broken.add(rule)
        models.update(broken)
    # Only rules that were broken: a table of zeros would hide them.
    counts = []
    for rule in profile().rules:
        if models[rule]:
            violates = nodes[rule, Verdict.VIOLATES]
            unknown = nodes[rule, Verdict.UNKNOWN]
            counts.append(RuleCount(rule, violates, unknown, models[rule]))
    return tuple(counts)
