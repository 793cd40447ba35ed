"""Judges a runtime in a context: the whole graph against its nodes one at a time, and against their meaning.

A graph whose nodes, one at a time, give another result contradicts itself: no meaning of the neighbours is
needed to see that. The composed meanings say who is right. Where the whole is wrong, it is run again in other
ways, to find what is to blame: without optimisation, with bounds that no optimiser sees, without one of the
optimisers, each node alone with optimisation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.contexts.explain import Explanation, explained
from sonnx_clip.contexts.graphs import Graphs, graphs, opsets_of, shapes_of
from sonnx_clip.contexts.meaning import Candidates, alike, exactly, of_step
from sonnx_clip.contexts.plan import asked, inputs_of
from sonnx_clip.contexts.report import (
    CONTEXT_VERDICTS,
    ContextDeviation,
    ContextRefusal,
    ContextReport,
    Value,
)
from sonnx_clip.contexts.reproduce import reproducer
from sonnx_clip.language import show
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.dtypes import Array, bits_type, hex_bits
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, WITHOUT, Chain, Outcome, Run
from sonnx_clip.runtimes.worker import RuntimeDiedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.contexts.graphs import Model
    from sonnx_clip.contexts.model import Context
    from sonnx_clip.contexts.plan import Asked
    from sonnx_clip.contexts.report import ContextVerdict, Way
    from sonnx_clip.runtimes.model_runs import ModelWorker

_FIRST_OPSET = 13


@dataclass
class Answer:
    """A graph that was asked, and what came of it.

    Args:
        asked: its bounds and operator set.
        models: the whole and its parts.
        x: the entries of X, flat.
        origin: for each entry of the result, the entry of X that it comes from.
        right: what the composed meanings allow.
        whole: the whole graph, as the runtime opens it by default.
        parts: its nodes, one at a time.
    """

    asked: Asked
    models: Graphs
    x: Array
    origin: Array
    right: Candidates
    whole: Outcome
    parts: Outcome
    plain: Outcome | None = None
    parts_optimised: Outcome | None = None
    with_inputs: Outcome | None = None
    graph: str = ""

    @property
    def is_served(self) -> bool:
        """Whether the whole graph gave a result."""
        return self.whole.failure is None

    @property
    def got(self) -> Array:
        """The result of the whole graph."""
        assert not isinstance(self.whole.last, Failure)
        return self.whole.last

    @property
    def wrong(self) -> Array:
        """Which entries of the whole graph's result are wrong."""
        return ~self.right.allow(self.got)


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
        if worker.newest_opset is None:
            worker.newest_opset = _newest_served(worker)
        self._newest = worker.newest_opset

    def judge(self, context: Context) -> ContextReport:
        """The report on a context; if the runtime dies too often, the worker is no longer usable."""
        self._worker.forget_deaths()
        try:
            return self._judge(context)
        except RuntimeDiedError as error:
            self._worker.is_usable = False
            refusal = ContextRefusal(when="crashed", graphs=1, words=str(error), asked="", opset=0)
            return ContextReport(
                id=context.id,
                title=context.title,
                chain=context.chain,
                verdict="crashed",
                graphs=1,
                served=0,
                compared=0,
                refusals=(refusal,),
            )

    def _judge(self, context: Context) -> ContextReport:
        before = self._worker.runs
        opsets = opsets_of(context, self._etype, self._newest)
        answers = list(self._answers(context, opsets))
        served = [answer for answer in answers if answer.is_served]
        suspicious = [answer for answer in answers if self._needs_more(answer)]
        self._ask_more(context, suspicious)
        deviations = self._deviations(context, served)
        fields: dict[str, Any] = {
            "graphs": len(answers),
            "served": len(served),
            "compared": sum(int(answer.right.defined.sum()) for answer in served),
            "opsets": opsets,
            "deviations": tuple(deviations),
            "refusals": tuple(self._refusals(context, answers)),
            "alone": sum(_count_alone(context, answer, self._etype) for answer in served),
            "better": sum(_count_better(answer) for answer in served),
            "runs": self._worker.runs - before,
        }
        verdict = _verdict(fields)
        return ContextReport(
            id=context.id, title=context.title, chain=context.chain, verdict=verdict, **fields
        )

    # --- Running

    def _answers(self, context: Context, opsets: Sequence[int]) -> Iterator[Answer]:
        every = asked(context, self._etype, opsets, few=self._few)
        prepared = []
        chains = []
        parts_how = PLAIN if self._worker.has_plain else OPTIMISED
        for one in every:
            models = graphs(context, self._etype, one.bounds.values, one.opset, one.bounds_as)
            x = inputs_of(context, self._etype, one.bounds)
            prepared.append((one, models, x))
            chains.append(self._chain([models.whole], x, context, OPTIMISED))
            chains.append(self._chain(models.parts, x, context, parts_how))
        outcomes = self._worker.run(chains)
        for one, models, x in prepared:
            whole, parts = next(outcomes), next(outcomes)
            right, origin = _meaning(context, self._etype, one.bounds.values, x)
            yield Answer(one, models, x, origin, right, whole, parts)

    def _chain(self, models: Sequence[Model], x: Array, context: Context, how: str) -> Chain:
        runs = [
            Run(
                model.proto().SerializeToString(),
                model.inputs,
                model.output,
                model.etype,
                model.shape,
                how,
            )
            for model in models
        ]
        return Chain(tuple(runs), _feeds(x, context))

    def _needs_more(self, answer: Answer) -> bool:
        """Whether a graph is run in other ways, to find out what is to blame."""
        if not answer.is_served or answer.parts.failure is not None:
            return True
        return bool(answer.wrong.any())

    def _ask_more(self, context: Context, answers: Sequence[Answer]) -> None:
        """Run graphs without optimisation, their nodes with it, and the whole with bounds as inputs."""
        if self._worker.has_plain:
            chains = [self._chain([a.models.whole], a.x, context, PLAIN) for a in answers]
            for answer, outcome in zip(answers, self._worker.run(chains), strict=True):
                answer.plain = outcome
            wrong = [answer for answer in answers if answer.is_served]
            chains = [self._chain(a.models.parts, a.x, context, OPTIMISED) for a in wrong]
            for answer, outcome in zip(wrong, self._worker.run(chains), strict=True):
                answer.parts_optimised = outcome
        with_bounds = [
            a
            for a in answers
            if a.is_served and a.asked.bounds_as == "initializers" and not context.entry.inside
        ]
        chains = []
        for answer in with_bounds:
            one = answer.asked
            values = one.bounds.values
            model = graphs(context, self._etype, values, one.opset, "inputs").whole
            chain = self._chain([model], answer.x, context, OPTIMISED)
            inputs = {**chain.inputs, **{name.lower(): value for name, value in values.items()}}
            chains.append(replace(chain, inputs=inputs))
        for answer, outcome in zip(with_bounds, self._worker.run(chains), strict=True):
            answer.with_inputs = outcome

    # --- Causes

    def _deviations(self, context: Context, served: Sequence[Answer]) -> list[ContextDeviation]:
        """Wrong results, grouped by kind and cause."""
        groups: dict[_Cause, list[Answer]] = defaultdict(list)
        for answer in served:
            if not answer.wrong.any():
                continue
            kind, step = _kind(context, answer, self._etype)
            if kind == "alone":
                continue
            without = self._blamed(context, answer, groups) if kind == "context" else ()
            groups[_Cause(kind, step, without, answer.asked.bounds_as)].append(answer)
        found = []
        for cause, answers in groups.items():
            explanations: list[tuple[Explanation | None, Sequence[Answer]]] = [(None, answers)]
            if cause.kind == "context":
                alike_ = [answer for answer in served if answer.asked.bounds_as == cause.bounds_as]
                right = [answer for answer in alike_ if not answer.wrong.any()]
                explanations = explained(context, self._etype, answers, right)
            for rewrite, by_it in explanations:
                found.append(self._deviation(context, cause, rewrite, by_it))
        return sorted(found, key=lambda deviation: CONTEXT_VERDICTS.index(deviation.kind))

    def _blamed(self, context: Context, answer: Answer, known: Iterable[_Cause]) -> tuple[str, ...]:
        """The optimisers of which each, left out alone, makes it right; known ones are tried first."""
        for cause in known:
            names = cause.without
            if names and self._heals(context, answer, names) == names:
                return names
        return self._heals(context, answer, self._worker.optimisers)

    def _heals(self, context: Context, answer: Answer, names: Sequence[str]) -> tuple[str, ...]:
        chains = [
            self._chain([answer.models.whole], answer.x, context, WITHOUT + name) for name in names
        ]
        healed = []
        for name, outcome in zip(names, self._worker.run(chains), strict=True):
            last = outcome.last
            if not isinstance(last, Failure) and answer.right.allow(last).all():
                healed.append(name)
        return tuple(healed)

    def _deviation(
        self,
        context: Context,
        cause: _Cause,
        rewrite: Explanation | None,
        answers: Sequence[Answer],
    ) -> ContextDeviation:
        first = answers[0]
        entry = int(np.flatnonzero(first.wrong)[0])
        asked_ = first.asked
        bits = {
            name: _value(value.reshape(1), 0).bits or ""
            for name, value in asked_.bounds.values.items()
        }
        graph = self._graph_that_ran(first) if cause.kind == "context" else ""
        return ContextDeviation(
            kind=cause.kind,
            asked=asked_.bounds.shown(context),
            bounds_bits=bits,
            opset=asked_.opset,
            bounds_as=asked_.bounds_as,
            x=_value(first.x, int(first.origin[entry])),
            got=_value(first.got, entry),
            expected=_value(first.right.expected, entry),
            one_by_one=_outcome_value(first.parts, entry),
            plain=None if first.plain is None else _outcome_value(first.plain, entry),
            with_inputs=None
            if first.with_inputs is None
            else _outcome_value(first.with_inputs, entry),
            step=cause.step,
            pairs=len(answers),
            results=sum(int(answer.wrong.sum()) for answer in answers),
            without=cause.without,
            graph=graph,
            rewrite="" if rewrite is None else rewrite.id,
            legal_when="" if rewrite is None else rewrite.legal_when,
            reproduce=self._reproducer(context, first, entry),
        )

    def _reproducer(self, context: Context, answer: Answer, entry: int) -> str:
        """Python that repeats a wrong result, if possible with one value in all entries of X."""
        value = answer.x[int(answer.origin[entry])]
        filled = np.full_like(answer.x, value)
        (outcome,) = self._worker.run(
            [self._chain([answer.models.whole], filled, context, OPTIMISED)]
        )
        x = answer.x
        last = outcome.last
        if not isinstance(last, Failure) and alike(last, answer.got)[entry]:
            x = filled
        return reproducer(self._worker, answer.models.whole, _feeds(x, context), entry)

    def _graph_that_ran(self, answer: Answer) -> str:
        """The nodes of the optimised graph; empty if the runtime does not tell."""
        return self._worker.graph_of(answer.models.whole.proto().SerializeToString())

    # --- Refusals

    def _refusals(self, context: Context, answers: Sequence[Answer]) -> Iterator[ContextRefusal]:
        by_way: dict[Way, list[tuple[Answer, str]]] = defaultdict(list)
        for answer in answers:
            way, words = _refused(answer)
            if way is not None:
                by_way[way].append((answer, words))
        for way, refused in by_way.items():
            first, words = refused[0]
            yield ContextRefusal(
                when=way,
                graphs=len(refused),
                words=words,
                asked=first.asked.bounds.shown(context),
                opset=first.asked.opset,
            )


def _newest_served(worker: ModelWorker) -> int:
    """The newest operator set of the installed onnx that a runtime serves, tried with an identity."""
    import onnx.parser

    from sonnx_clip.runtimes.opsets import newest_opset

    x = np.zeros(1, np.float32)
    for opset in range(newest_opset(), _FIRST_OPSET, -1):
        head = f'<ir_version: 8, opset_import: ["": {opset}]>'
        text = f"{head} g (float[1] x) => (float[1] y) {{ y = Identity (x) }}"
        model = onnx.parser.parse_model(text).SerializeToString()
        run = Run(model, ("x",), "y", "float32", (1,), OPTIMISED)
        (outcome,) = worker.run([Chain((run,), {"x": x})])
        if outcome.failure is None:
            return opset
    return _FIRST_OPSET


def _feeds(x: Array, context: Context) -> dict[str, Array]:
    shaped = x.reshape(context.first_shape)
    feeds = {"x": shaped, "condition": np.ones((), bool)}
    if context.entry.two_zeros:
        feeds["w"] = x[:1]
    return feeds


def _meaning(
    context: Context, etype: str, bounds: Mapping[str, Array], x: Array
) -> tuple[Candidates, Array]:
    """What the steps may give for X, and the entry of X from which each entry of the result comes."""
    found = exactly(x)
    origin = exactly(np.arange(len(x)))
    first: Candidates | None = None
    types = context.types_of_steps(etype)
    for step, type_, shape in zip(context.steps, types, shapes_of(context), strict=False):
        found = of_step(step, found, bounds, type_, shape)
        if step.moves is not None:
            origin = of_step(step, origin, bounds, type_, shape)
        first = first or found
    places = origin.expected
    if context.entry.fork:
        assert first is not None
        count = max(len(found.rows), len(first.rows))
        rows = [
            np.concatenate(
                [found.rows[min(i, len(found.rows) - 1)], first.rows[min(i, len(first.rows) - 1)]]
            )
            for i in range(count)
        ]
        found = Candidates(tuple(rows), np.concatenate([found.defined, first.defined]))
        places = np.concatenate([places, np.arange(len(x))])
    return found, places


# --- Who is to blame ----------------------------------------------------------------------------------------


def _kind(context: Context, answer: Answer, etype: str) -> tuple[ContextVerdict, str]:
    """Whether the context, a neighbour or Clip alone is wrong; and the step that is wrong by itself."""
    wrong = answer.wrong
    for outcome in (answer.parts, answer.parts_optimised):
        if outcome is None or outcome.failure is not None:
            continue
        last = outcome.last
        assert not isinstance(last, Failure)
        if not alike(last, answer.got)[wrong].all():
            continue
        step = _wrong_step(context, answer, outcome, etype)
        if step is not None:
            is_clip = step.op_type == "Clip"
            return ("alone" if is_clip else "neighbour"), step.id
    return "context", ""


def _wrong_step(context: Context, answer: Answer, outcome: Outcome, etype: str) -> Any:
    """The first node that gives a wrong result for its actual input; None if none does."""
    given = answer.x
    types = context.types_of_steps(etype)
    steps = zip(context.steps, types, shapes_of(context), outcome.results, strict=False)
    for step, type_, shape, result in steps:
        if isinstance(result, Failure):
            return None
        right = of_step(step, exactly(given), answer.asked.bounds.values, type_, shape)
        if not right.allow(result).all():
            return step
        given = result
    return None


def _count_alone(context: Context, answer: Answer, etype: str) -> int:
    """Wrong results that Clip gives by itself, too."""
    if not answer.wrong.any() or _kind(context, answer, etype)[0] != "alone":
        return 0
    return int(answer.wrong.sum())


def _count_better(answer: Answer) -> int:
    """Right results of the whole where one node at a time gives wrong ones."""
    last = answer.parts.last
    if isinstance(last, Failure):
        return 0
    return int((~answer.right.allow(last) & ~answer.wrong).sum())


def _refused(answer: Answer) -> tuple[Way | None, str]:
    """How a graph is refused, and the words; None if it is not."""
    whole, parts, plain = answer.whole.failure, answer.parts.failure, answer.plain
    if whole is None and parts is None:
        return None, ""
    if whole is not None and answer.whole.died:
        return "crashed", whole.words
    if whole is not None and not whole.refusal:
        return "invalid", whole.words
    if whole is None:
        assert parts is not None
        if plain is not None and plain.failure is not None:
            return "not optimised", plain.failure.words
        return "one node", parts.words
    if plain is not None and plain.failure is None:
        return "optimised", whole.words
    return ("whole" if parts is None else "always"), whole.words


def _verdict(fields: Mapping[str, Any]) -> ContextVerdict:
    kinds = [deviation.kind for deviation in fields["deviations"]]
    kinds += [found.when for found in fields["refusals"] if found.when in ("crashed", "invalid")]
    if kinds:
        return min(kinds, key=CONTEXT_VERDICTS.index)
    if not fields["served"]:
        return "refused"
    return "alone" if fields["alone"] else "conforms"


# --- Values -------------------------------------------------------------------------------------------------


def _value(array: Array, entry: int) -> Value:
    name = array.dtype.name
    pattern = int(np.ascontiguousarray(array).view(bits_type(name))[entry])
    etype = operators()["clip"].element_type(name)
    return Value(decimal=show(pattern, etype), bits=hex_bits(pattern, name))


def _outcome_value(outcome: Outcome, entry: int) -> Value:
    last = outcome.last
    if isinstance(last, Failure):
        return Value(decimal=f"refused: {last.words}")
    return _value(last, entry)
