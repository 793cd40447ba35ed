"""Judges a runtime in a context: the whole graph against its nodes one at a time, and against their meaning.

A graph whose nodes, one at a time, give another result contradicts itself: no meaning of the neighbours is
needed to see that. The composed meanings say who is right. Where the whole is wrong, it is run again in other
ways, to find what is to blame: without optimisation, with bounds that no optimiser sees, without one of the
optimisers, each node alone with optimisation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sonnx_clip.contexts.answer import ContextMeaning, GraphAnswer, meaning_of_graphs
from sonnx_clip.contexts.blame import wrong_results
from sonnx_clip.contexts.candidates import alike
from sonnx_clip.contexts.context_plan import asked, entries_of_x
from sonnx_clip.contexts.context_report import (
    CONTEXT_VERDICTS,
    ContextDeviation,
    ContextRefusal,
    ContextReport,
)
from sonnx_clip.contexts.context_reproducer import graph_reproducer
from sonnx_clip.contexts.explain import ExplainedGraphs, explained
from sonnx_clip.contexts.graphs import SOURCE, asked_opsets, graphs
from sonnx_clip.rewrites.decide import Shown, shown_number
from sonnx_clip.rewrites.terms import type_of_clip
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.first_graphs import ask_first_graphs
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, WITHOUT, Chain, ChainOutcome, ModelRun
from sonnx_clip.runtimes.worker import RuntimeDiedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.contexts.blame import Wrong
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.contexts.context_plan import AskedGraph, Bounds
    from sonnx_clip.contexts.context_report import ContextVerdict, Way
    from sonnx_clip.contexts.explain import Explanation
    from sonnx_clip.contexts.graphs import Graphs, Model
    from sonnx_clip.runtimes.model_runs import ModelWorker


@dataclass(frozen=True)
class _Cause:
    """What wrong results have in common: kind, the step or the optimisers to blame, and the model's form."""

    kind: ContextVerdict
    step: str
    without: tuple[str, ...]
    bounds_as: str


class ContextJudge:
    """Judges contexts by a runtime that is open."""

    def __init__(self, worker: ModelWorker, etype: str, *, few: bool) -> None:
        self._worker = worker
        self._etype = etype
        self._few = few or worker.few

    def judge(self, context: Context) -> ContextReport:
        """The report on a context; if the runtime dies too often, the worker is no longer usable."""
        worker, etype = self._worker, self._etype
        try:
            # A runtime that fails for each of three plain graphs would fail for every context: it
            # is asked none, once for all contexts of the element type.
            if etype not in worker.first_graphs:
                worker.first_graphs[etype] = ask_first_graphs(worker, etype)
            first = worker.first_graphs[etype]
            if first.failure:
                return _without_result(context, first.failure, first.words, graphs=0)
            # Each context has the same patience, whatever the contexts before it have done.
            worker.forget_deaths()
            return self._judge(context, first.newest_opset)
        except RuntimeDiedError as error:
            worker.is_usable = False
            return _without_result(context, "crashed", str(error), graphs=1)

    def _judge(self, context: Context, newest_opset: int) -> ContextReport:
        before = self._worker.runs
        opsets = asked_opsets(context, self._etype, newest_opset)
        if not opsets:
            # Some nodes take integers only from a later operator set on than a runtime may serve.
            words = (
                f"no operator set up to {newest_opset}, the newest served, has it in {self._etype}"
            )
            return _without_result(context, "refused", words, graphs=0)
        answers = list(self._answers(context, opsets))
        served = [answer for answer in answers if answer.is_served]
        # Most graphs are right, and are run in one way only. This comes before results are blamed:
        # the blame looks at the nodes that are run alone with optimisation.
        suspicious = [answer for answer in answers if self._needs_more(answer)]
        self._ask_more(context, suspicious)

        wrong: list[Wrong] = []
        compared = 0
        better = 0
        for answer in served:
            compared += int(answer.meaning.right.defined.sum())
            better += _count_better(answer)
            wrong += wrong_results(
                context, answer, self._etype, of_optimiser=self._worker.is_optimiser
            )
        wrong_alone = 0
        for results in wrong:
            if results.kind == "alone":
                wrong_alone += results.count

        deviations = self._deviations(context, served, wrong)
        fields: dict[str, Any] = {
            "graphs": len(answers),
            "served": len(served),
            "compared": compared,
            "opsets": opsets,
            "deviations": tuple(deviations),
            "refusals": tuple(self._refusals(context, answers)),
            "alone": wrong_alone,
            "better": better,
            "runs": self._worker.runs - before,
        }
        verdict = _verdict(fields)
        return ContextReport(
            id=context.id, title=context.title, chain=context.chain, verdict=verdict, **fields
        )

    # --- Running

    def _answers(self, context: Context, opsets: Sequence[int]) -> Iterator[GraphAnswer]:
        asked_graphs = asked(context, self._etype, opsets, few=self._few)
        meanings = self._meanings(context, asked_graphs)
        # The nodes are the measure of the whole, so no optimiser may touch them.
        parts_how = PLAIN if self._worker.has_plain else OPTIMISED
        models: list[Graphs] = []
        chains: list[Chain] = []
        for graph in asked_graphs:
            bounds = graph.bounds
            model = graphs(
                context,
                self._etype,
                bounds.values,
                graph.opset,
                graph.bounds_as,
            )
            models.append(model)
            feeds = _feeds(meanings[bounds].x, context, bounds)
            chains.append(_chain([model.whole], feeds, OPTIMISED))
            chains.append(_chain(model.parts, feeds, parts_how))
        # All chains go to the runtime at once; it answers two for each graph.
        outcomes = self._worker.run(chains)
        for graph, model in zip(asked_graphs, models, strict=True):
            whole = next(outcomes)
            parts = next(outcomes)
            yield GraphAnswer(graph, model, meanings[graph.bounds], whole, parts)

    def _meanings(
        self, context: Context, asked_graphs: Sequence[AskedGraph]
    ) -> Mapping[Bounds, ContextMeaning]:
        """X for each of the bounds, and what is right: the same in every operator set."""
        # One evaluation for the graphs of all bounds: each of them alone would cost as much.
        distinct = list(dict.fromkeys(graph.bounds for graph in asked_graphs))
        rows_of_x: list[Array] = []
        first_readings: list[Mapping[str, Array]] = []
        last_readings: list[Mapping[str, Array]] = []
        for bounds in distinct:
            rows_of_x.append(entries_of_x(context.id, self._etype, bounds))
            # An absent bound has two readings. Where none is absent, both are the same.
            readings = bounds.readings()
            first_readings.append(readings[0])
            last_readings.append(readings[-1])
        x = np.stack(rows_of_x)
        allowed = meaning_of_graphs(context, self._etype, _stacked(first_readings), x)
        if any(bounds.absent for bounds in distinct):
            allowed |= meaning_of_graphs(context, self._etype, _stacked(last_readings), x)
        meanings: dict[Bounds, ContextMeaning] = {}
        for place, bounds in enumerate(distinct):
            meanings[bounds] = allowed.at(place)
        return meanings

    def _needs_more(self, answer: GraphAnswer) -> bool:
        """Whether a graph is run in other ways, to find out what is to blame."""
        if not answer.is_served or answer.parts.failure is not None:
            return True
        return bool(answer.wrong.any())

    def _ask_more(self, context: Context, answers: Sequence[GraphAnswer]) -> None:
        """Run graphs without optimisation, their nodes with it, and the whole with bounds as inputs."""
        served = [answer for answer in answers if answer.is_served]

        def whole(answer: GraphAnswer) -> Sequence[Model]:
            return [answer.models.whole]

        def parts(answer: GraphAnswer) -> Sequence[Model]:
            return answer.models.parts

        def whole_with_inputs(answer: GraphAnswer) -> Sequence[Model]:
            bounds = answer.asked.bounds.values
            models = graphs(context, self._etype, bounds, answer.asked.opset, "inputs")
            return [models.whole]

        if self._worker.has_plain:
            # Those that were refused, too: that they run without optimisation is what is reported.
            again = self._run_again(context, answers, PLAIN, whole)
            for answer, outcome in again:
                answer.plain = outcome
            # Without plain runs, the parts have been run with optimisation already.
            again = self._run_again(context, served, OPTIMISED, parts)
            for answer, outcome in again:
                answer.parts_optimised = outcome

        constant = [answer for answer in served if answer.asked.bounds_as == "initializers"]
        again = self._run_again(context, constant, OPTIMISED, whole_with_inputs)
        for answer, outcome in again:
            answer.with_inputs = outcome

    def _run_again(
        self,
        context: Context,
        answers: Sequence[GraphAnswer],
        how: str,
        models: Callable[[GraphAnswer], Sequence[Model]],
    ) -> Iterator[tuple[GraphAnswer, ChainOutcome]]:
        chains: list[Chain] = []
        for answer in answers:
            feeds = _feeds(answer.meaning.x, context, answer.asked.bounds)
            chains.append(_chain(models(answer), feeds, how))
        return zip(answers, self._worker.run(chains), strict=True)

    # --- Causes

    def _deviations(
        self,
        context: Context,
        served: Sequence[GraphAnswer],
        wrong: Sequence[Wrong],
    ) -> list[ContextDeviation]:
        """Wrong results, grouped by kind and cause."""
        groups: dict[_Cause, list[Wrong]] = defaultdict(list)
        for results in wrong:
            if results.kind == "alone":
                continue  # the verdict on one node reports it
            without: tuple[str, ...] = ()
            if results.kind == "context":
                # The causes of the groups so far are likely ones of this graph, too.
                without = self._blamed(context, results, groups)
            bounds_as = results.answer.asked.bounds_as
            cause = _Cause(results.kind, results.step, without, bounds_as)
            groups[cause].append(results)
        # A rewrite is named only if it would leave most of the graphs alone that are right.
        right: dict[str, list[GraphAnswer]] = defaultdict(list)
        for answer in served:
            if not answer.wrong.any():
                right[answer.asked.bounds_as].append(answer)
        deviations: list[ContextDeviation] = []
        for cause, group in groups.items():
            explanations = [ExplainedGraphs(None, group)]
            # What a node alone gives wrong, no rewrite of several nodes explains.
            if cause.kind == "context":
                explanations = explained(context, self._etype, group, right[cause.bounds_as])
            for by_rewrite in explanations:
                deviations.append(self._deviation(context, cause, by_rewrite))

        def severity(deviation: ContextDeviation) -> int:
            return CONTEXT_VERDICTS.index(deviation.kind)

        return sorted(deviations, key=severity)

    def _blamed(self, context: Context, wrong: Wrong, known: Iterable[_Cause]) -> tuple[str, ...]:
        """The optimisers of which each, left out alone, makes it right; known ones are tried first."""
        # Each optimiser that is left out costs a run: what healed another graph is tried first.
        for cause in known:
            names = cause.without
            if not names:
                continue
            healed = self._heals(context, wrong, names)
            if healed == names:
                return names
        return self._heals(context, wrong, self._worker.optimisers)

    def _heals(self, context: Context, wrong: Wrong, names: Sequence[str]) -> tuple[str, ...]:
        answer = wrong.answer
        feeds = _feeds(answer.meaning.x, context, answer.asked.bounds)
        chains = [_chain([answer.models.whole], feeds, WITHOUT + name) for name in names]
        outcomes = self._worker.run(chains)
        healed: list[str] = []
        for name, outcome in zip(names, outcomes, strict=True):
            last = outcome.last
            if isinstance(last, Failure):
                continue
            is_right = answer.meaning.right.allow(last)
            if is_right[wrong.entries].all():
                healed.append(name)
        return tuple(healed)

    def _deviation(
        self,
        context: Context,
        cause: _Cause,
        group: ExplainedGraphs,
    ) -> ContextDeviation:
        """One deviation for all graphs of a group; its values are those of the first."""
        rewrite, wrong = group
        first = wrong[0].answer
        entry = wrong[0].first
        asked_graph = first.asked
        meaning = first.meaning
        bits: dict[str, str] = {}
        for name, value in asked_graph.bounds.values.items():
            shown = _value(value.reshape(1), 0)
            bits[name] = shown.bits or ""
        results = 0
        for wrong_of_graph in wrong:
            results += wrong_of_graph.count
        graph_that_ran = ""
        if cause.kind == "context":
            graph_that_ran = self._graph_that_ran(first)
        rewrite_id = legal_when = ""
        if rewrite is not None:
            rewrite_id = rewrite.id
            legal_when = _legal(rewrite, wrong[0])
        return ContextDeviation(
            kind=cause.kind,
            asked=asked_graph.bounds.shown(context),
            bounds_bits=bits,
            opset=asked_graph.opset,
            bounds_as=asked_graph.bounds_as,
            x=_value(meaning.x, meaning.x_of(entry)),
            got=_value(first.got, entry),
            expected=_value(meaning.right.expected, entry),
            one_by_one=_result(first.parts, entry),
            plain=_value_of(first.plain, entry),
            with_inputs=_value_of(first.with_inputs, entry),
            step=cause.step,
            pairs=len(wrong),
            results=results,
            without=cause.without,
            graph=graph_that_ran,
            rewrite=rewrite_id,
            legal_when=legal_when,
            reproduce=self._reproducer(context, first, entry),
        )

    def _reproducer(self, context: Context, answer: GraphAnswer, entry: int) -> str:
        """Python that repeats a wrong result, if possible with one value in all entries of X."""
        meaning = answer.meaning
        bounds = answer.asked.bounds
        # One value everywhere makes lines that are read at a glance; the whole of X is 128 numbers.
        value = meaning.x[meaning.x_of(entry)]
        same_everywhere = np.full_like(meaning.x, value)
        feeds = _feeds(same_everywhere, context, bounds)
        chain = _chain([answer.models.whole], feeds, OPTIMISED)
        (outcome,) = self._worker.run([chain])
        last = outcome.last
        # A vectorised kernel may be wrong for one place, or beside other values, alone.
        is_repeated = not isinstance(last, Failure) and alike(last, answer.got)[entry]
        if not is_repeated:
            feeds = _feeds(meaning.x, context, bounds)
        return graph_reproducer(self._worker, answer.models.whole, feeds, entry)

    def _graph_that_ran(self, answer: GraphAnswer) -> str:
        """The nodes of the optimised graph; empty if the runtime does not tell."""
        model = answer.models.whole.proto()
        return self._worker.graph_of(model.SerializeToString())

    # --- Refusals

    def _refusals(
        self, context: Context, answers: Sequence[GraphAnswer]
    ) -> Iterator[ContextRefusal]:
        by_way: dict[Way, list[tuple[AskedGraph, str]]] = defaultdict(list)
        for answer in answers:
            way, words = _refused(answer)
            if way is not None:
                by_way[way].append((answer.asked, words))
        for way, refused in by_way.items():
            first, words = refused[0]
            yield ContextRefusal(
                when=way,
                graphs=len(refused),
                words=words,
                asked=first.bounds.shown(context),
                opset=first.opset,
            )


def _without_result(
    context: Context,
    verdict: Literal["crashed", "invalid", "refused"],
    words: str,
    *,
    graphs: int,
) -> ContextReport:
    """The report on a context that gave nothing; it was not asked if no graph was."""
    when: Way = "always" if verdict == "refused" else verdict
    refusal = ContextRefusal(when=when, graphs=graphs, words=words, asked="", opset=0)
    return ContextReport(
        id=context.id,
        title=context.title,
        chain=context.chain,
        verdict=verdict,
        graphs=graphs,
        served=0,
        compared=0,
        refusals=(refusal,),
    )


def _chain(models: Sequence[Model], feeds: Mapping[str, Array], how: str) -> Chain:
    """The runs of models that read each other's results."""
    runs: list[ModelRun] = []
    for model in models:
        serialised = model.proto().SerializeToString()
        run = ModelRun(serialised, model.inputs, model.output, model.etype, model.shape, how)
        runs.append(run)
    return Chain(tuple(runs), feeds)


def _stacked(of_graphs: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The bounds of many graphs, shape (graphs, 1), by name."""
    stacked: dict[str, Array] = {}
    # Readings have a value for every bound, so all graphs have the same names.
    for name in of_graphs[0]:
        values = np.stack([bounds[name] for bounds in of_graphs])
        stacked[name] = values[:, np.newaxis]
    return stacked


def _feeds(x: Array, context: Context, bounds: Bounds) -> dict[str, Array]:
    """Every input that a model of a context may have, by name."""
    feeds: dict[str, Array] = {}
    for bound, value in bounds.values.items():
        name = bound.lower()
        feeds[name] = value
        feeds[SOURCE + name] = value
    feeds["x"] = x.reshape(context.first_shape)
    # Of an If: which branch is taken. Of a Loop: that it goes on.
    feeds["condition"] = np.array(context.entry.inside != "Else")
    if context.entry.two_zeros:
        feeds["w"] = x[:1]
    return feeds


def _count_better(answer: GraphAnswer) -> int:
    """Right results of the whole where one node at a time gives wrong ones."""
    last = answer.parts.last
    if isinstance(last, Failure):
        return 0
    is_wrong_apart = ~answer.meaning.right.allow(last)
    return int((is_wrong_apart & ~answer.wrong).sum())


def _refused(answer: GraphAnswer) -> tuple[Way | None, str]:
    """How a graph is refused, and the words; None if it is not."""
    whole, parts, plain = answer.whole.failure, answer.parts.failure, answer.plain
    if whole is None and parts is None:
        return None, ""
    # Without a plain run nothing is known of it.
    plain_failure = None if plain is None else plain.failure
    if whole is None:
        assert parts is not None
        # The plain whole first: where it fails, its nodes fail for that reason.
        if plain_failure is not None:
            return "not optimised", plain_failure.words
        return "one node", parts.words
    if answer.whole.died:
        return "crashed", whole.words
    if not whole.refusal:
        return "invalid", whole.words
    if plain is not None and plain_failure is None:
        return "optimised", whole.words
    if parts is None:
        return "whole", whole.words
    return "always", whole.words


def _verdict(fields: Mapping[str, Any]) -> ContextVerdict:
    kinds = [deviation.kind for deviation in fields["deviations"]]
    for refusal in fields["refusals"]:
        if refusal.when in ("crashed", "invalid"):  # other refusals are no failure
            kinds.append(refusal.when)
    if kinds:
        return min(kinds, key=CONTEXT_VERDICTS.index)
    if not fields["served"]:
        return "refused"
    return "alone" if fields["alone"] else "conforms"


def _legal(rewrite: Explanation, wrong: Wrong) -> str:
    """When a rewrite is legal, as far as the first of wrong results shows it not to be."""
    answer, entry = wrong.answer, wrong.first
    meaning = answer.meaning
    expected = meaning.right.expected[entry]
    # A wrong result that equals the expected one is a zero of the other sign.
    only_zeros = bool(answer.got[entry] == expected)
    x = meaning.x[meaning.x_of(entry)]
    of_nan = bool(np.not_equal(x, x))
    return rewrite.told(only_zeros=only_zeros, of_nan=of_nan)


# --- Values -------------------------------------------------------------------------------------------------


def _value(array: Array, entry: int) -> Shown:
    name = array.dtype.name
    pattern = int(np.ascontiguousarray(array).view(bits_type(name))[entry])
    return shown_number(pattern, type_of_clip(name))


def _result(outcome: ChainOutcome, entry: int) -> Shown:
    last = outcome.last
    if isinstance(last, Failure):
        return Shown(decimal=f"refused: {last.words}", bits=None)
    return _value(last, entry)


def _value_of(outcome: ChainOutcome | None, entry: int) -> Shown | None:
    return None if outcome is None else _result(outcome, entry)
