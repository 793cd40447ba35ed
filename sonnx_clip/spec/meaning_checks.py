"""Checks by evaluation: what the file says of its own entries is so, and latitude accepts what its readings
give and nothing else.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.show import show
from sonnx_clip.language.values import Value, encode, identical, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.entries import TensorWitness
from sonnx_clip.spec.evaluate import (
    TensorValue,
    broken_example,
    declared_example,
    evaluator,
    readings_of_latitude,
)
from sonnx_clip.spec.readings import SAMPLES, check_readings, same_value, triples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Constraint, Example, Latitude, Property
    from sonnx_clip.spec.evaluate import Evaluator
    from sonnx_clip.spec.model import Spec


_SAMPLES = {
    "real": ("-1", "0", "1", "2"),
    "int": ("lowest", "0", "1", "highest"),
    "float": ("nan", "-inf", "lowest", "-0", "0", "1", "inf"),
}


def check_cases(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about restrictions, cases and classes that do not part what they should."""
    yield from _restrictions(spec)
    yield from _partition(spec)


def check_witnesses(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about witnesses and examples that do not fit the cases."""
    try:
        yield from _witnesses(spec)
    except ValueError as error:  # the samples of `check_cases` missed a gap that a witness met
        yield Diagnostic(("cases",), str(error), "exactly one case must hold")


def _witnesses(spec: Spec) -> Iterator[Diagnostic]:
    yield from _inhabitants(spec)
    for index, constraint in enumerate(spec.constraints):
        yield from _refuted_constraint(spec, index, constraint)
    for index, entry in enumerate(spec.properties):
        yield from _refuted_property(spec, index, entry)
    yield from _latitude(spec)
    for index, example in enumerate(spec.examples):
        yield from _example(spec, index, example)
    yield from check_readings(spec)


def _restrictions(spec: Spec) -> Iterator[Diagnostic]:
    """The declared example meets all restrictions, and each change of it breaks its own alone."""
    if spec.restrictions and spec.declared_example is None:
        todo = "give a node that meets every restriction"
        yield Diagnostic(("restrictions",), "there is no `declared_example`", todo)
        return
    evaluate = evaluator(spec, spec.element_types[0])
    example = declared_example(spec)
    for restriction in spec.restrictions:
        if not evaluate(restriction.holds, example):
            yield Diagnostic(
                ("declared_example",), f"it does not meet {restriction.id}", "it must meet every restriction"
            )
    for index, restriction in enumerate(spec.restrictions):
        broken = broken_example(spec, restriction)
        found = [other.id for other in spec.restrictions if not evaluate(other.holds, broken)]
        if found != [restriction.id]:
            what = f"this change breaks {', '.join(found) or 'nothing'}, it must break {restriction.id} alone"
            yield Diagnostic(("restrictions", index, "broken_alone_by"), what)


def _partition(spec: Spec) -> Iterator[Diagnostic]:
    """On sampled values of the operands, one case holds, and of its classes one."""
    for family in spec.families:
        etype = spec.types_of(family.id)[0]
        evaluate = evaluator(spec, etype)
        samples = [encode(text, etype) for text in _SAMPLES[family.id]]
        for given in product(samples, repeat=len(spec.operands)):
            environment = evaluate.named(given)
            cases = [case for case in spec.cases if evaluate(case.when, environment)]
            if len(cases) != 1:
                names = " and ".join(case.id for case in cases)
                what = f"{names} hold" if names else "no case holds"
                yield Diagnostic(
                    ("cases",), f"{what} for {_told(environment, etype)}", "exactly one case must hold"
                )
                return
            classes = [c for c in spec.classes_of(family.id, cases[0].id) if evaluate(c.when, environment)]
            if len(classes) != 1:
                names = " and ".join(klass.id for klass in classes)
                what = f"{names} hold" if names else f"no class of `{cases[0].id}` holds"
                todo = f"the classes of {family.id} must part each case"
                yield Diagnostic(("classes",), f"{what} for {_told(environment, etype)}", todo)
                return


def _told(environment: Mapping[str, Value], etype: ElementType) -> str:
    numbers = ", ".join(f"{name} = {show(value, etype)}" for name, value in environment.items())
    return f"{numbers} ({etype.id})"


def _encoded(
    way: Way, texts: Mapping[str, str], etype: ElementType
) -> tuple[dict[str, Value], list[Diagnostic]]:
    """The values of a witness in a type, and what is wrong with them."""
    found: dict[str, Value] = {}
    findings = []
    for name, text in texts.items():
        try:
            found[name] = encode(text, etype)
        except UserError as error:
            findings.append(Diagnostic((*way, name), error.what, error.todo))
    return found, findings


def _inhabitants(spec: Spec) -> Iterator[Diagnostic]:
    """Each case and class holds where its `inhabited_by` says, in every type it speaks of."""
    every = tuple(family.id for family in spec.families)
    entries = [("cases", i, c.id, every, c.inhabited_by) for i, c in enumerate(spec.cases)]
    entries += [("classes", i, c.id, c.families, c.inhabited_by) for i, c in enumerate(spec.classes)]
    for section, index, id_, families, witness in entries:
        way = (section, index, "inhabited_by")
        for etype in (etype for family in families for etype in spec.types_of(family)):
            environment, findings = _encoded(way, witness.texts(), etype)
            yield from findings
            if not findings and not evaluator(spec, etype).holds(id_, environment):
                yield Diagnostic(way, f"{_told(environment, etype)} does not lie in `{id_}`")
            if findings:
                break


def _refuted_property(spec: Spec, index: int, entry: Property) -> Iterator[Diagnostic]:
    for family, witness in entry.refuted_for.items():
        way = ("properties", index, "refuted_for", family)
        for etype in spec.types_of(family):
            environment, findings = _encoded(way, witness.texts(), etype)
            if findings:
                yield from findings
                break
            evaluate = evaluator(spec, etype)
            told = _told(environment, etype)
            environment[spec.head.result] = evaluate.result(*map(environment.__getitem__, spec.head.operands))
            try:
                refuted = not evaluate(entry.claim, environment)
                excluded = not evaluate(entry.repaired[family], environment)
            except KeyError as error:
                yield Diagnostic(way, f"the claim speaks of {error.args[0]}, the witness does not", "add it")
                break
            yield from _judged(way, ("properties", index, "repaired", family), told, refuted, excluded)


def _judged(way: Way, repaired: Way, told: str, refuted: bool, excluded: bool) -> Iterator[Diagnostic]:
    if not refuted:
        yield Diagnostic(way, f"{told} does not refute the claim", "give numbers for which it is false")
    if not excluded:
        yield Diagnostic(
            repaired, f"this condition does not exclude {told}", "it must be false for the witness"
        )


def _refuted_constraint(spec: Spec, index: int, constraint: Constraint) -> Iterator[Diagnostic]:
    for family, witness in constraint.refuted_for.items():
        way = ("constraints", index, "refuted_for", family)
        for etype in spec.types_of(family):
            evaluate = evaluator(spec, etype)
            try:
                tensors = _tensors(evaluate, witness)
            except UserError as error:
                yield Diagnostic(way, error.what, error.todo)
                break
            told = f"X = [{', '.join(witness.X)}], L = {witness.L}, M = {witness.M} ({etype.id})"
            refuted = not evaluate(constraint.holds, tensors)
            excluded = not evaluate(constraint.repaired[family], tensors)
            repaired = ("constraints", index, "repaired", family)
            yield from _judged(way, repaired, told, refuted, excluded)
            if not _met_somewhere(spec, evaluate, constraint.repaired[family]):
                yield Diagnostic(repaired, "no witness of a class meets the condition", "weaken it")


def _met_somewhere(spec: Spec, evaluate: Evaluator, condition: Expr) -> bool:
    """Whether a tensor with the numbers of some class's witness meets a condition."""
    witnesses = (c.inhabited_by for c in spec.classes_of(evaluate.etype.family))
    return any(
        evaluate(condition, _tensors(evaluate, TensorWitness(X=(w.X,), L=w.L, M=w.M))) for w in witnesses
    )


def _tensors(evaluate: Evaluator, witness: TensorWitness) -> dict[str, TensorValue]:
    """X, L, M of a witness and the Y that the cases give."""
    etype = evaluate.etype
    x = tuple(encode(text, etype) for text in witness.X)
    l, m = encode(witness.L, etype), encode(witness.M, etype)
    y = tuple(evaluate.result(entry, l, m) for entry in x)
    shape = (len(x),)
    return {
        "X": TensorValue(etype.id, shape, x),
        "L": TensorValue(etype.id, (), (l,)),
        "M": TensorValue(etype.id, (), (m,)),
        "Y": TensorValue(etype.id, shape, y),
    }


def _latitude(spec: Spec) -> Iterator[Diagnostic]:
    """In every float type the witness is an answer that this latitude accepts, and that needs it."""
    for index, entry in enumerate(spec.latitude):
        way = ("latitude", index, "inhabited_by")
        for etype in spec.types_of("float"):
            environment, findings = _encoded(way, entry.inhabited_by.texts(), etype)
            if findings:
                yield from findings
                break
            told = _told(environment, etype)
            x, l, m, answer = (environment[name] for name in "XLMA")
            evaluate = evaluator(spec, etype)
            if identical(evaluate.result(x, l, m), answer):
                yield Diagnostic(way, f"{told}: A is the result itself, it needs no latitude")
            elif entry not in evaluate.latitudes((x, l, m), answer):
                yield Diagnostic(way, f"{told} is not accepted by `{entry.id}`")


def _example(spec: Spec, index: int, example: Example) -> Iterator[Diagnostic]:
    """The cases give Y in every type that has the numbers, and the types that lack one are named."""
    way = ("examples", index)
    for etype in spec.types_of(example.family):
        texts = [*example.X, example.L, example.M, *example.Y]
        try:
            numbers = [encode(text, etype) for text in texts]
        except UserError as error:
            if etype.id not in example.not_representable_in:
                todo = f"correct it, or add {etype.id} to `not_representable_in`"
                yield Diagnostic(way, f"`{example.id}` does not fit {etype.id}: {error.what}", todo)
            continue
        if etype.id in example.not_representable_in:
            where = (*way, "not_representable_in", example.not_representable_in.index(etype.id))
            yield Diagnostic(where, f"`{example.id}` can be represented in {etype.id}", "leave the type out")
        size = len(example.X)
        l, m = numbers[size], numbers[size + 1]
        for position, (x, y) in enumerate(zip(numbers[:size], numbers[size + 2 :], strict=True)):
            case = evaluator(spec, etype).case(x, l, m)
            due = {"X": x, "L": l, "M": m}[case.result]
            if not identical(due, y):
                told = _told({"X": x, "L": l, "M": m}, etype)
                what = f"`{example.id}` contradicts the cases: for {told} they give {show(due, etype)}"
                yield Diagnostic(
                    (*way, "Y", position), what, f"the case is `{case.id}`, the result {case.result}"
                )


# ------------------------------------------------------------------------------------------------------------
# Checks of the latitude: it accepts what the readings that it names give, and all of that, but nothing
# else
#
# generated/why3/readings_<type>.mlw states the same of every triple, and the provers show it.


def check_latitude_names(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about readings that a latitude names and that are not there."""
    known = [reading.id for reading in spec.readings]
    for index, entry in enumerate(spec.latitude):
        for position, id_ in enumerate(entry.given_by):
            if id_ not in known:
                what = f"there is no reading `{id_}`"
                way = ("latitude", index, "given_by", position)
                yield Diagnostic(way, what, suggestion(id_, known, "there are"))


def check_latitude(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about latitude that no reading justifies, and about answers of readings that none accepts."""
    yield from _latitude_of_readings(spec)


def _latitude_of_readings(spec: Spec) -> Iterator[Diagnostic]:
    etype = spec.types_of("float")[0]
    ask = evaluator(spec, etype)
    values = [encode(text, etype) for text in SAMPLES["float"]]
    met: set[str] = set()
    for triple in triples(etype):
        due = ask.result(*triple)
        environment = dict(zip("XLM", triple, strict=True))
        given = {
            r.id: tuple(y for y in values if ask(r.returns, {**environment, "Y": y}))
            for r in readings_of_latitude(spec)
        }
        numbers = ", ".join(f"{n} = {show(v, etype)}" for n, v in zip("XLM", triple, strict=True))
        for answer in values:
            if identical(answer, due):
                continue
            accepting = ask.latitudes(triple, answer)
            told = f"{show(answer, etype)} for {numbers} ({etype.id})"
            for entry in (entry for entry in accepting if entry.id not in met):
                if not any(answer in given[id_] for id_ in entry.given_by):
                    met.add(entry.id)
                    what = f"it accepts {told}, which no reading of `given_by` answers"
                    way = ("latitude", spec.latitude.index(entry), "when")
                    yield Diagnostic(way, what, "narrow `when` or `accepts`")
            # What may be granted at all: the value of the result, or the NaN of X.
            meant = same_value(answer, due, etype) or (is_nan(answer, etype) and is_nan(triple[0], etype))
            if meant and not accepting:
                yield from _not_accepted(spec.latitude, answer, given, told, met)


def _not_accepted(
    latitude: tuple[Latitude, ...],
    answer: Value,
    given: Mapping[str, tuple[Value, ...]],
    told: str,
    met: set[str],
) -> Iterator[Diagnostic]:
    """The readings that give an answer which no latitude accepts."""
    for id_ in (id_ for id_, allowed in given.items() if answer in allowed and id_ not in met):
        met.add(id_)
        position = next(i for i, entry in enumerate(latitude) if id_ in entry.given_by)
        what = f"`{id_}` answers {told}, which no latitude accepts"
        yield Diagnostic(
            ("latitude", position, "given_by"), what, "widen `when` or `accepts`, or leave it out"
        )
