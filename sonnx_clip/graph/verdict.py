"""What lint says of a model, as plain frozen data, and like findings of many nodes grouped, so that a report
has them once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sonnx_clip.graph.declared_tensors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from pathlib import Path


_Item = TypeVar("_Item")

# So many of a group of equal things are named; JSON and SARIF name all.
NAMED = 3
MORE = "… and "


def grouped(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Items with equal keys together, in the order of the first of each."""
    groups: dict[Hashable, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def some(texts: Sequence[str], count: int | None = None) -> list[str]:
    """The first few texts, each once, and how many more there are (of `count`, if not all are given)."""
    each = list(dict.fromkeys(texts))
    more = (len(each) if count is None else count) - NAMED
    return [*each[:NAMED], *([f"{MORE}{more} more"] if more > 0 else [])]


# --- What lint says of a model, as plain frozen data --------------------------------------------------------


class Verdict(StrEnum):
    """The outcome for one restriction; `unknown` is never counted as met."""

    MEETS = "meets"
    UNKNOWN = "unknown"
    VIOLATES = "violates"


_FINDINGS = attrgetter("findings")
_SEVERITY = [Verdict.MEETS, Verdict.UNKNOWN, Verdict.VIOLATES]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe of some verdicts; `meets` when there is none."""
    return max(verdicts, key=_SEVERITY.index, default=Verdict.MEETS)


@dataclass(frozen=True)
class Problem:
    """One reason why a restriction is violated or cannot be decided.

    Attributes:
        argument: the tensor in the words of the SONNX page: X, L, M or Y.
        tensor: its name in the model, None where the input is not set.
        verdict: `violates` or `unknown`.
        message: what was found.
        remedy: what to change in the model.
        open: neither the model nor inference knows the shape in numbers, which follows from a root cause.
    """

    argument: str
    tensor: str | None
    verdict: Verdict
    message: str
    remedy: str
    open: bool = False


@dataclass(frozen=True)
class Cause:
    """A tensor whose shape is open while nothing that it is computed from is, and what follows from it.

    Attributes:
        kind: `input` or `node`, which gives the tensor.
        graph: the path of the graph or function that has it.
        tensor: its name.
        title: the input or the node, for people.
        message: what is open, and how many Clip nodes follow from it.
        remedy: what settles it.
        nodes: which those are: positions among the nodes of the report.
    """

    kind: str
    graph: str
    tensor: str
    title: str
    message: str
    remedy: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Judgement:
    """One restriction (R1 to R5, scalar_bounds, element_type) and how one Clip node stands to it."""

    id: str
    problems: tuple[Problem, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of its problems, `meets` when there is none."""
        return worst(problem.verdict for problem in self.problems)


@dataclass(frozen=True)
class Findings:
    """The judgements of nodes that differ in names alone; for a tensor's name stands its argument.

    Attributes:
        judgements: one per rule, in the order of the page.
        arguments: the operands in their order and the result: X, L, M, Y.
    """

    judgements: tuple[Judgement, ...]
    arguments: tuple[str, ...]

    @cached_property
    def open(self) -> frozenset[str]:
        """The arguments whose shapes follow from root causes."""
        problems = (problem for judgement in self.judgements for problem in judgement.problems)
        return frozenset(problem.argument for problem in problems if problem.open)

    @cached_property
    def verdict(self) -> Verdict:
        """The worst of the judgements."""
        return worst(judgement.verdict for judgement in self.judgements)

    def alike(self, *, open_too: bool) -> Hashable:
        """Equal for findings that stand together in reports: they differ in remedies alone.

        Args:
            open_too: shapes that follow from root causes may differ too.
        """
        problems = [
            (judgement.id, problem.argument, problem.verdict, (open_too and problem.open) or problem.message)
            for judgement in self.judgements
            for problem in judgement.problems
        ]
        return (*(judgement.id for judgement in self.judgements if not judgement.problems), *problems)

    def named(self, tensors: Sequence[tuple[str, str | None]]) -> tuple[Judgement, ...]:
        """The judgements of one node, by the names of its tensors."""
        names = dict(tensors)
        return tuple(
            Judgement(
                judgement.id,
                tuple(
                    problem if problem.tensor is None else replace(problem, tensor=names[problem.argument])
                    for problem in judgement.problems
                ),
            )
            if judgement.problems
            else judgement
            for judgement in self.judgements
        )


class NodeReport(NamedTuple):  # a frozen dataclass takes five times as long, and there may be 100,000
    """One Clip node.

    Attributes:
        name: the node's own name, None where the model gives none.
        graph: the path of the graph or function that holds the node.
        index: the node's position there, from 0.
        output: the name of its output, which is unique within the graph.
        operator: the version of the operator that the imported opset means, for example ``Clip-11``.
        names: of its operands and its result in the model, None where one is not set.
        findings: the judgements, without the names of the tensors.
    """

    name: str | None
    graph: str
    index: int  # type: ignore[assignment]  # it hides tuple.index, which no report needs
    output: str
    operator: str
    names: tuple[str | None, ...]
    findings: Findings

    @property
    def tensors(self) -> tuple[tuple[str, str | None], ...]:
        """For each of its operands and its result the name in the model, None where it is not set."""
        return tuple(zip(self.findings.arguments, self.names, strict=True))

    @property
    def place(self) -> str:
        """Where the node is, for people, whether or not it has a name."""
        return f"node {self.index} of {self.graph}"

    @property
    def path(self) -> str:
        """Where viewers of ONNX models show the node: its graph, and its name or else that of its output."""
        return f"{self.graph} > {shown(self.name or self.output)}"

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """One per restriction, in the order of the page."""
        return self.findings.named(self.tensors)

    @property
    def verdict(self) -> Verdict:
        """The worst of its judgements."""
        return self.findings.verdict


@dataclass(frozen=True)
class ModelReport:
    """One model: its Clip nodes, and notes on what was not judged and why.

    `undecided` holds what could not be looked at though it matters: with it nothing is counted as met.
    `causes` has the root cause of each problem that is open; none where nothing was inferred.
    """

    path: Path
    ir_version: int
    opsets: tuple[tuple[str, int], ...]
    accept_inferred: bool
    nodes: tuple[NodeReport, ...]
    notes: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    @cached_property
    def causes_at(self) -> dict[int, list[Cause]]:
        """The root causes by the ids of the nodes that follow from them."""
        found: dict[int, list[Cause]] = {}
        for cause in self.causes:
            for number in cause.nodes:
                found.setdefault(id(self.nodes[number]), []).append(cause)
        return found

    @cached_property
    def alike(self) -> tuple[tuple[NodeReport, ...], ...]:
        """The nodes in groups: each has one operator, the same root causes, and findings that read alike."""
        exactly: defaultdict[object, list[NodeReport]] = defaultdict(list)
        keys: Iterable[object] = map(id, map(_FINDINGS, self.nodes))  # nodes of two versions share none
        if self.causes:
            keys = zip(keys, map(self._roots, self.nodes), strict=True)
        for node, key in zip(self.nodes, keys, strict=True):
            exactly[key].append(node)  # few groups, which then are compared
        open_too = bool(self.causes)
        together = grouped(
            exactly.values(),
            lambda nodes: (
                nodes[0].operator,
                self._roots(nodes[0]),
                nodes[0].findings.alike(open_too=open_too),
            ),
        )
        if len(together) == len(exactly):
            return tuple(map(tuple, exactly.values()))
        order = {id(node): number for number, node in enumerate(self.nodes)}
        return tuple(
            tuple(sorted(chain.from_iterable(groups), key=lambda node: order[id(node)]))
            for groups in together
        )

    def _roots(self, node: NodeReport) -> tuple[str, ...]:
        if not self.causes:
            return ()
        return tuple(cause.title for cause in self.causes_at.get(id(node), ()))

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many nodes have which verdict."""
        counts: Counter[Verdict] = Counter()
        for nodes in self.alike:
            counts[nodes[0].verdict] += len(nodes)
        return dict(counts)

    @property
    def verdict(self) -> Verdict | None:
        """The worst of its nodes; None where no Clip node was there to be judged."""
        open_ends = [Verdict.UNKNOWN] if self.undecided else []
        verdicts = [*self.counts, *open_ends]
        return worst(verdicts) if verdicts else None
