"""What lint says of a model, as plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared import shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from pathlib import Path


class Verdict(StrEnum):
    """The outcome for one restriction; `unknown` is never counted as met."""

    MEETS = "meets"
    UNKNOWN = "unknown"
    VIOLATES = "violates"


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
    """

    argument: str
    tensor: str | None
    verdict: Verdict
    message: str
    remedy: str


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

    `open_sizes`: neither the model nor inference knows the shape of a tensor in numbers.
    """

    judgements: tuple[Judgement, ...]
    open_sizes: bool = False

    @cached_property
    def verdict(self) -> Verdict:
        """The worst of the judgements."""
        return worst(judgement.verdict for judgement in self.judgements)

    @cached_property
    def alike(self) -> Hashable:
        """Equal for findings that people are told together: they differ in remedies alone."""
        problems = [
            (judgement.id, problem.argument, problem.verdict, problem.message)
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


@dataclass(frozen=True)
class NodeReport:
    """One Clip node.

    Attributes:
        name: the node's own name, None where the model gives none.
        graph: the path of the graph or function that holds the node.
        index: the node's position there, from 0.
        output: the name of its output, which is unique within the graph.
        operator: the version of the operator that the imported opset means, for example ``Clip-11``.
        tensors: for each of X, L, M and Y its name in the model, None where it is not set.
        findings: the judgements, without the names of the tensors.
    """

    name: str | None
    graph: str
    index: int
    output: str
    operator: str
    tensors: tuple[tuple[str, str | None], ...]
    findings: Findings

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
    """

    path: Path
    ir_version: int
    opsets: tuple[tuple[str, int], ...]
    accept_inferred: bool
    nodes: tuple[NodeReport, ...]
    notes: tuple[str, ...]
    undecided: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """The worst of its nodes; None where no Clip node was there to be judged."""
        open_ends = [Verdict.UNKNOWN] if self.undecided else []
        verdicts = [*(node.verdict for node in self.nodes), *open_ends]
        return worst(verdicts) if verdicts else None
