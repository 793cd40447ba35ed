"""What a runtime makes of contexts, as text: counts, then one block for each cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.contexts.context_report import CONTEXT_VERDICTS, FAILING_IN_CONTEXT
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.first_graphs import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.contexts.context_report import ContextDeviation, ContextRefusal, ContextReport

    ByType: TypeAlias = Mapping[str, Sequence[ContextReport]]

NOT_SAID = (
    "Contexts say nothing of larger patterns, of other shapes, of other processors and of other"
    " execution providers."
)

KINDS = {"context": "wrong in context", "neighbour": "a neighbour is wrong"}
_FAILED: Mapping[str, str] = {
    "crashed": "the runtime crashed",
    "invalid": "the result was not usable",
}
WAYS = {
    "crashed": "the runtime crashed",
    "invalid": "the result is not usable",
    "optimised": "refused with optimisation, served without it",
    "not optimised": "served with optimisation only",
    "whole": "refused, though its nodes are served one at a time",
    "one node": "served, though one of its nodes alone is refused",
    "always": "refused, with and without optimisation",
}


def context_lines(by_type: ByType, *, pasted: bool = False) -> Iterator[str]:
    """The lines on contexts by element type; none if no context was asked.

    If `pasted`, with lines to paste that repeat the first of wrong results in context.
    """
    if not any(by_type.values()):
        return
    for etype, contexts in by_type.items():
        if contexts:
            yield _counts(etype, contexts)
    # What is wrong comes before what is only worth knowing.
    for blocks in by_cause(by_type):
        yield ""
        yield from _block(blocks)
        first = blocks[0].wrong
        if pasted and first.kind == "context" and first.reproduce:
            yield f"  {command_line(first.reproduce)}"
    yield from _right_as_a_whole(by_type)
    yield from _refusals(by_type)
    yield from _not_asked(by_type)
    yield ""
    yield NOT_SAID


def _counts(etype: str, contexts: Sequence[ContextReport]) -> str:
    graphs = 0
    compared = 0
    for context in contexts:
        graphs += context.graphs
        compared += context.compared
    asked = f"{counted(len(contexts), 'context')} of {etype}"
    work = f"{graphs:,} graphs, {compared:,} results compared"
    return f"{asked}: {verdict_counts(contexts)}; {work}"


def verdict_counts(contexts: Sequence[ContextReport]) -> str:
    """How many contexts have which verdict: ``2 context, 5 conforms``."""
    numbers = Counter(context.verdict for context in contexts)
    counts = [f"{numbers[verdict]} {verdict}" for verdict in CONTEXT_VERDICTS if verdict in numbers]
    return ", ".join(counts)


_NO_CONDITION = "for this element type no condition is stated under which it is legal"


class LocatedDeviation(NamedTuple):
    """Wrong results, and where they were found."""

    etype: str
    context: ContextReport
    wrong: ContextDeviation


def by_cause(by_type: ByType) -> list[list[LocatedDeviation]]:
    """Deviations, together where the same optimiser, rewrite or step is to blame; the worst kind first."""
    groups: dict[tuple[object, ...], list[LocatedDeviation]] = defaultdict(list)
    for etype, contexts in by_type.items():
        for context in contexts:
            for wrong in context.deviations:
                groups[_cause(context, wrong)].append(LocatedDeviation(etype, context, wrong))

    def severity(group: Sequence[LocatedDeviation]) -> int:
        return CONTEXT_VERDICTS.index(group[0].wrong.kind)

    return sorted(groups.values(), key=severity)


def _cause(context: ContextReport, wrong: ContextDeviation) -> tuple[object, ...]:
    """What deviations of one block share: what is to blame, or else the context."""
    # What is not a rewrite is described in words: "as if no Clip were there".
    change = wrong.rewrite or wrong.legal_when
    named = (wrong.without, change, wrong.step)
    if any(named):
        return (wrong.kind, *named)
    return (wrong.kind, context.id)


def _block(group: Sequence[LocatedDeviation]) -> Iterator[str]:
    """The lines on wrong results of one cause: where, the first of them, and what is to blame."""
    located = group[0]
    first = located.wrong
    results = sum(entry.wrong.results for entry in group)
    graphs = sum(entry.wrong.pairs for entry in group)
    kind = KINDS[first.kind]
    yield f"{kind}: {places(group)}; {results:,} results in {counted(graphs, 'graph')}"
    yield f"  {first.asked}, X = {first.x}: got {first.got}, expected {first.expected}"
    yield f"  {_other_ways(first)} ({located.etype}, operator set {first.opset})"
    if first.step:
        # One node at a time is run without optimisation, where a runtime offers that.
        optimised = " with optimisation" if first.one_by_one == first.expected else ""
        yield f"  the step {first.step} gives it by itself{optimised}"
    if first.graph:
        yield f"  the graph that ran: {first.graph}"
    if first.rewrite:
        terms = _terms(first.rewrite)
        yield f"  as by the rewrite {first.rewrite}{terms}"
        stated = f"legal {first.legal_when}" if first.legal_when else _NO_CONDITION
        yield f"  {stated}"
    elif first.legal_when:
        yield f"  {first.legal_when}"


def places(entries: Iterable[LocatedDeviation | LocatedRefusal]) -> str:
    """Contexts and element types, each once: ``relu-clip, fork (float32, int8)``."""
    names: dict[str, None] = {}
    types: dict[str, None] = {}
    for entry in entries:
        names[entry.context.id] = None
        types[entry.etype] = None
    return f"{', '.join(names)} ({', '.join(types)})"


def _other_ways(wrong: ContextDeviation) -> str:
    """What the same graph gives in other ways."""
    ways = [f"one node at a time {wrong.one_by_one.decimal}"]
    if wrong.plain is not None:
        ways.append(f"without optimisation {wrong.plain.decimal}")
    if wrong.with_inputs is not None:
        ways.append(f"with bounds as inputs {wrong.with_inputs.decimal}")
    # An optimiser is named only if the graph is right without it.
    for name in wrong.without:
        ways.append(f"without {name} {wrong.expected.decimal}")
    return "; ".join(ways)


def _terms(id_: str) -> str:
    """Both terms of a rewrite of spec/rewrites.yaml; nothing for a theorem on functions."""
    for rewrite in known_rewrites():
        if rewrite.id == id_:
            return f": {rewrite.entry.before} as {rewrite.entry.after}"
    return ""


def _right_as_a_whole(by_type: ByType) -> Iterator[str]:
    """Where the whole graph is right, and a node alone is not: that verdict is about another kernel."""
    better = []
    for etype, contexts in by_type.items():
        for context in contexts:
            if context.better:
                where = f"{context.id} ({etype}, {context.better:,} results)"
                better.append(where)
    if better:
        yield ""
        yield f"right as a whole, wrong one node at a time: {', '.join(better)}"


class LocatedRefusal(NamedTuple):
    """Graphs without a result, and where."""

    etype: str
    context: ContextReport
    refusal: ContextRefusal


def by_refusal(by_type: ByType) -> list[list[LocatedRefusal]]:
    """Refusals in the same way and words; graphs that are always refused are left out."""
    groups: dict[tuple[str, str], list[LocatedRefusal]] = defaultdict(list)
    for etype, contexts in by_type.items():
        for context in contexts:
            # Where the first graphs failed, `_not_asked` has the words.
            if not context.was_asked:
                continue
            for refusal in context.refusals:
                # Refused in every way, it says nothing about contexts.
                if refusal.when == "always":
                    continue
                refused = LocatedRefusal(etype, context, refusal)
                groups[refusal.when, refusal.words].append(refused)
    return list(groups.values())


def _refusals(by_type: ByType) -> Iterator[str]:
    """What is not served in the same way whole and in parts."""
    for group in by_refusal(by_type):
        first = group[0].refusal
        graphs = sum(entry.refusal.graphs for entry in group)
        line = f"{WAYS[first.when]}: {places(group)}; {counted(graphs, 'graph')}"
        if first.asked:
            line += f"; the first: {first.asked}, operator set {first.opset}"
        yield ""
        yield line
        yield f"  {_in_one_line(first.words)}"


def _not_asked(by_type: ByType) -> Iterator[str]:
    """Where a runtime was asked nothing: it fails on every graph, or serves no operator set that has them."""
    for etype, contexts in by_type.items():
        left_out: dict[ContextRefusal, int] = {}
        for context in contexts:
            if not context.was_asked:
                # The first graphs are the same for all contexts of a type, and so are the words.
                (refusal,) = context.refusals
                left_out[refusal] = left_out.get(refusal, 0) + 1
        for refusal, number in left_out.items():
            line = f"not asked: {counted(number, 'context')} of {etype}"
            if refusal.when in _FAILED:
                line += f", since {_FAILED[refusal.when]} for each of the first graphs ({SHOWN})"
            yield ""
            yield line
            yield f"  {_in_one_line(refusal.words)}"


def _in_one_line(words: str) -> str:
    """Words of a runtime, which may be of several lines, as one."""
    return " ".join(words.split())


def failing_contexts(report: Report) -> int:
    """In how many contexts of how many types a runtime fails."""
    failing = 0
    for of_type in report.types:
        for context in of_type.contexts:
            failing += context.verdict in FAILING_IN_CONTEXT
    return failing
