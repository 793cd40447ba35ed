"""What a runtime makes of contexts, as text: counts, then one block for each cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from sonnx_clip.contexts.report import CONTEXT_VERDICTS, FAILING_IN_CONTEXT
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.contexts.report import ContextDeviation, ContextRefusal, ContextReport

    ByType: TypeAlias = Mapping[str, Sequence[ContextReport]]
    Found: TypeAlias = tuple[str, ContextReport, ContextDeviation]

NOT_SAID = (
    "Contexts say nothing of larger patterns, of other shapes, of other processors and of other"
    " execution providers."
)

_WAYS = {
    "crashed": "the runtime crashed",
    "invalid": "the result is not usable",
    "optimised": "refused with optimisation, served without it",
    "not optimised": "served with optimisation only",
    "whole": "refused, though its nodes are served one at a time",
    "one node": "served, though one of its nodes alone is refused",
    "always": "refused, with and without optimisation",
}


def context_lines(by_type: ByType) -> Iterator[str]:
    """The lines on contexts by element type; none if no context was asked."""
    if not any(by_type.values()):
        return
    for etype, contexts in by_type.items():
        if contexts:
            yield _counts(etype, contexts)
    for blocks in by_cause(by_type):
        yield ""
        yield from _block(blocks)
    yield from _right_as_a_whole(by_type)
    yield from _refusals(by_type)
    yield ""
    yield NOT_SAID


def _counts(etype: str, contexts: Iterable[ContextReport]) -> str:
    every = list(contexts)
    numbers = Counter(one.verdict for one in every)
    verdicts = ", ".join(f"{numbers[one]} {one}" for one in CONTEXT_VERDICTS if one in numbers)
    graphs = sum(one.graphs for one in every)
    compared = sum(one.compared for one in every)
    shown = counted(len(every), "context")
    return f"{shown} of {etype}: {verdicts}; {graphs:,} graphs, {compared:,} results compared"


def by_cause(by_type: ByType) -> list[list[Found]]:
    """Deviations, together where the same optimiser, rewrite or step is to blame; the worst kind first."""
    found: dict[tuple[object, ...], list[Found]] = defaultdict(list)
    for etype, contexts in by_type.items():
        for context in contexts:
            for deviation in context.deviations:
                named = (deviation.without, deviation.rewrite, deviation.step)
                key = (deviation.kind, *named) if any(named) else (deviation.kind, context.id)
                found[key].append((etype, context, deviation))
    return sorted(found.values(), key=lambda group: CONTEXT_VERDICTS.index(group[0][2].kind))


def _block(entries: Sequence[Found]) -> Iterator[str]:
    etype, _, first = entries[0]
    names = list(dict.fromkeys(one.id for _, one, _ in entries))
    types = list(dict.fromkeys(type_ for type_, _, _ in entries))
    results = sum(deviation.results for _, _, deviation in entries)
    graphs = sum(deviation.pairs for _, _, deviation in entries)
    kind = {"context": "wrong in context", "neighbour": "a neighbour is wrong"}.get(
        first.kind, first.kind
    )
    number = f"{results:,} results in {counted(graphs, 'graph')}"
    yield f"{kind}: {', '.join(names)} ({', '.join(types)}); {number}"
    yield f"  {first.asked}, X = {first.x}: got {first.got}, expected {first.expected}"
    others = [f"one node at a time {first.one_by_one.decimal}"]
    if first.plain is not None:
        others.append(f"without optimisation {first.plain.decimal}")
    if first.with_inputs is not None:
        others.append(f"with bounds as inputs {first.with_inputs.decimal}")
    others += [f"without {name} {first.expected.decimal}" for name in first.without]
    yield f"  {'; '.join(others)} ({etype}, operator set {first.opset})"
    if first.step:
        yield f"  the step {first.step} gives it by itself"
    if first.graph:
        yield f"  the graph that ran: {first.graph}"
    if first.rewrite:
        yield f"  as by the rewrite {first.rewrite} (spec/rewrites.yaml), which is legal {first.legal_when}"
    elif first.legal_when:
        yield f"  {first.legal_when}"


def _right_as_a_whole(by_type: ByType) -> Iterator[str]:
    """Where the whole graph is right, and a node alone is not: that verdict is about another kernel."""
    found = [
        f"{context.id} ({etype}, {context.better:,} results)"
        for etype, contexts in by_type.items()
        for context in contexts
        if context.better
    ]
    if found:
        yield ""
        yield f"right as a whole, wrong one node at a time: {', '.join(found)}"


def _refusals(by_type: ByType) -> Iterator[str]:
    """What is not served in the same way whole and in parts; what is always refused is left out."""
    found: dict[tuple[str, str], list[tuple[str, ContextReport, ContextRefusal]]] = defaultdict(
        list
    )
    for etype, contexts in by_type.items():
        for context in contexts:
            for refusal in context.refusals:
                if refusal.when != "always":
                    found[refusal.when, refusal.words].append((etype, context, refusal))
    for (when, words), entries in found.items():
        names = list(dict.fromkeys(one.id for _, one, _ in entries))
        types = list(dict.fromkeys(type_ for type_, _, _ in entries))
        graphs = sum(refusal.graphs for _, _, refusal in entries)
        _, _, first = entries[0]
        place = f"; the first: {first.asked}, operator set {first.opset}" if first.asked else ""
        yield ""
        yield f"{_WAYS[when]}: {', '.join(names)} ({', '.join(types)}); {counted(graphs, 'graph')}{place}"
        yield f"  {' '.join(words.split())}"


def failing_contexts(report: Report) -> int:
    """In how many contexts of how many types a runtime fails."""
    return sum(
        one.verdict in FAILING_IN_CONTEXT for found in report.types for one in found.contexts
    )
