"""Checks of the latitude: it accepts what the readings that it names give, and all of that, but nothing else.

generated/why3/readings_<type>.mlw states the same of every triple, and the provers show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.names import suggestion
from sonnx_clip.language.show import show
from sonnx_clip.language.values import encode, identical, is_nan
from sonnx_clip.spec.alike import CORE, found_alike
from sonnx_clip.spec.answers import evaluator, readings_of_latitude
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.readings import SAMPLES, same_value, triples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Latitude
    from sonnx_clip.spec.model import Spec


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
    yield from found_alike(spec, (*CORE, "latitude", "readings"), "latitude", _latitude(spec))


def _latitude(spec: Spec) -> Iterator[Diagnostic]:
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
