"""Checks of the claims of findings: each is true where it is tried, and says what its witnesses show."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Call, Name, Use, subtrees
from sonnx_clip.language.values import encode, is_nan
from sonnx_clip.spec.alike import CORE, found_alike, moved
from sonnx_clip.spec.claims import NOTHING, ClaimEvaluator, Pretence, claim_names, types_of_claim
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.evaluate import TensorValue
from sonnx_clip.spec.finding_answers import answers_of
from sonnx_clip.spec.finding_checks import other_result
from sonnx_clip.spec.findings import (
    Checked,
    Contrast,
    NoNumber,
    Overlap,
    Refutation,
    Rounded,
    Theorem,
    key_of,
)
from sonnx_clip.spec.readings import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.evaluate import Environment
    from sonnx_clip.spec.finding_answers import Answers
    from sonnx_clip.spec.findings import Claim, Side, SourceFinding, Witness
    from sonnx_clip.spec.model import Spec

_FLOATS = ("nan", "-inf", "-1", "0", "0.5", "16777216", "inf")
SPOKEN_OF = (*CORE, "readings", "dialects", "properties", "constraints")  # by the claims of findings
_PROVED = (Contrast, Refutation, NoNumber, Rounded, Overlap)


def check_claim_types(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about the element types and the names of claims; no claim is parsed before."""
    types = [etype.id for etype in spec.element_types]
    for index, entry in enumerate(spec.findings):
        names: list[str] = []
        for position, part in enumerate(entry.claim):
            way = ("findings", index, "claim", position)
            if not isinstance(part, Theorem):
                continue
            if (part.families is None) == (part.types is None):
                yield Diagnostic(
                    way, "it does not say for which types it holds", "give one of `families` and `types`"
                )
            for place, id_ in enumerate(part.types or ()):
                if id_ not in types:
                    todo = suggestion(id_, types, "there are")
                    yield Diagnostic((*way, "types", place), f"there is no element type `{id_}`", todo)
            name = entry.goal(part)
            if name in names:
                yield Diagnostic(way, f"two theorems are called {name}", "give them different ids")
            names.append(name)


def check_claims(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about claims that are false, that say nothing, or that say less than the witnesses."""
    for index, entry in enumerate(spec.findings):
        found = _claims(spec, ("findings", index), entry)
        yield from moved(found_alike(spec, SPOKEN_OF, "claims", found, ("findings", index)), index)


def _claims(spec: Spec, way: Way, entry: SourceFinding) -> Iterator[Diagnostic]:
    """What is wrong with the claims of one finding."""
    misused = [
        wrong
        for place, part in enumerate(entry.claim)
        for wrong in _types(spec, (*way, "claim", place), part)
    ]
    yield from misused
    if misused:
        return
    for position, part in enumerate(entry.claim):
        if isinstance(part, Theorem):
            yield from _theorem(spec, (*way, "claim", position), entry, part)
        elif part.checked not in {key_of(witness) for witness in entry.witnesses}:
            what = f"no witness of this finding is of the kind `{part.checked}`"
            yield Diagnostic(
                (*way, "claim", position, "checked"), what, "it is computed by its witnesses alone"
            )
    for position, witness in enumerate(entry.witnesses):
        yield from _witness(spec, (*way, "witnesses", position), entry, witness)


def _types(spec: Spec, way: Way, part: Claim) -> Iterator[Diagnostic]:
    """A claim names no dialect in a type that it does not take, and no conversion where there is none."""
    if not isinstance(part, Theorem):
        return
    known = claim_names(spec)
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Use)}
    converts = any(isinstance(node, Call) and node.function == "becomes" for node in subtrees(part.holds))
    for etype in types_of_claim(spec, part):
        for name in sorted(used & known.keys()):
            dialect = known[name].dialect
            if dialect is not None and etype.id not in spec.dialect(dialect).element_types:
                yield Diagnostic(
                    (*way, "holds"), f"`{dialect}` does not take {etype.id}, and `{name}` speaks of it"
                )
        for entry in (p for p in spec.properties if p.id in used and etype.family not in p.families):
            yield Diagnostic((*way, "holds"), f"`{entry.id}` does not speak of {etype.id}")
        for constraint in (c for c in spec.constraints if c.id in used and etype.family not in c.families):
            yield Diagnostic((*way, "holds"), f"`{constraint.id}` does not speak of {etype.id}")
        taking = [d for d in spec.whole_dialects if etype.id in d.element_types]
        if converts and not any(d.converts_to(etype.id) for d in taking):
            yield Diagnostic((*way, "holds"), f"no dialect converts a FLOAT to {etype.id}")


# ------------------------------------------------------------------ a theorem where it is tried


def _theorem(spec: Spec, way: Way, entry: SourceFinding, part: Theorem) -> Iterator[Diagnostic]:
    """It is true of the numbers that are tried, and false of them if what it names were otherwise."""
    otherwise = tuple(_otherwise(spec, part))
    excluded = False
    of_witnesses = {getattr(witness, "type", None) for witness in entry.witnesses}
    types = types_of_claim(spec, part)
    first_of_family = {etype.family: etype.id for etype in reversed(types)}.values()
    # The provers are asked of all types; here the numbers of the witnesses are tried, and one type without.
    for etype in (t for t in types if t.id in of_witnesses or t.id in first_of_family):
        ask = _evaluator(spec, etype)
        for environment in _tried(spec, entry, part, etype):
            if not ask.at(part.holds, environment, NOTHING):
                what = f"the claim is false for {_told(part, environment, etype)}"
                yield Diagnostic(
                    (*way, "holds"), what, "a claim holds for all X, L, M, and for all answers Y and Z"
                )
                return
            excluded = excluded or any(not ask.at(part.holds, environment, one) for one in otherwise)
    if not excluded:
        what = "the claim would hold whatever what it names did: it says nothing"
        yield Diagnostic(
            (*way, "holds"), what, "say of a reading, a dialect, the cases or an entry what is so"
        )


def _otherwise(spec: Spec, part: Theorem) -> Iterator[Pretence]:
    """Everything that the claim names, taken for always and for never so, and every answer for an operand."""
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Use)}
    entries = used & {*(p.id for p in spec.properties), *(c.id for c in spec.constraints)}
    for so in (True, False):
        yield Pretence(
            allows=lambda _reading, _triple, _answer, so=so: so,  # type: ignore[misc]
            becomes=lambda _float, _number, so=so: so,  # type: ignore[misc]
            entries=dict.fromkeys(entries, so),
        )
    for place in range(len("XLM")):
        yield Pretence(
            result=lambda triple, place=place: triple[place],  # type: ignore[misc]
            allows=lambda _reading, triple, answer, place=place: answer == triple[place],  # type: ignore[misc]
        )


def _evaluator(spec: Spec, etype: ElementType) -> ClaimEvaluator:
    key = ("claims", etype.id)
    if key not in spec.memo:
        spec.memo[key] = ClaimEvaluator(spec, etype)
    found: ClaimEvaluator = spec.memo[key]
    return found


def _tried(spec: Spec, entry: SourceFinding, part: Theorem, etype: ElementType) -> Iterator[Environment]:
    """The numbers of the witnesses, and those of the classes, with all answers that may be given."""
    triples = dict.fromkeys(
        tuple(encode(text, etype) for text in klass.inhabited_by.texts().values())
        for klass in spec.classes_of(etype.family)
    )
    triples |= dict.fromkeys(triple for w in entry.witnesses for triple in _triples_of(spec, w, etype))
    for triple in triples:
        yield from _environments(spec, part, triple, etype)


def _environments(
    spec: Spec, part: Theorem, triple: tuple[Value, ...], etype: ElementType
) -> Iterator[Environment]:
    """Values for the variables that a theorem has: X, L and M are given."""
    x, l, m = triple
    if part.tensors:
        yield from (_tensors(spec, entries, l, m, etype) for entries in ((x,), (), (x, m), (l, x)))
        return
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Name)}
    answers = dict.fromkeys((*triple, *_answers(spec, etype)))
    # Y and Z are answers of two sides, and nothing is said of one beside the other.
    pairs = [(y, y) for y in answers] if used & {"Y", "Z"} else [(x, x)]
    if "F" not in used:
        yield from ({"X": x, "L": l, "M": m, "Y": y, "Z": z} for y, z in pairs)
        return
    floats = [encode(text, spec.element_type("float32")) for text in _FLOATS]
    for (y, z), given in product(pairs, floats):
        yield {"X": x, "L": l, "M": m, "Y": y, "Z": z, "F": given}


def _answers(spec: Spec, etype: ElementType) -> tuple[Value, ...]:
    """The answers that are tried beside the operands."""
    key = ("answers of claims", etype.id)
    if key not in spec.memo:
        ends = () if etype.family == "real" else ("lowest", "highest")
        spec.memo[key] = tuple(encode(text, etype) for text in (*SAMPLES[etype.family], *ends))
    found: tuple[Value, ...] = spec.memo[key]
    return found


def _tensors(
    spec: Spec, entries: tuple[Value, ...], l: Value, m: Value, etype: ElementType
) -> dict[str, TensorValue]:
    """A vector, the bounds, and the result of the cases."""
    y = tuple(_evaluator(spec, etype).result(x, l, m) for x in entries)
    shape = (len(entries),)
    return {
        "X": TensorValue(etype.id, shape, entries),
        "L": TensorValue(etype.id, (), (l,)),
        "M": TensorValue(etype.id, (), (m,)),
        "Y": TensorValue(etype.id, shape, y),
    }


def _triples_of(spec: Spec, witness: Witness, etype: ElementType) -> Iterator[tuple[Value, ...]]:
    """The numbers of a witness in a type: with its own bounds, and with those of each of its sides."""
    if getattr(witness, "type", None) != etype.id:
        return
    if isinstance(witness, Contrast):
        for side in witness.answers:
            yield (encode(witness.X, etype), *answers_of(spec, witness, side).bounds)
    elif isinstance(witness, Refutation | Overlap):
        yield tuple(encode(text, etype) for text in (witness.X, witness.L, witness.M))


# ------------------------------------------------------------------ a witness and what is claimed of it


def _witness(spec: Spec, way: Way, entry: SourceFinding, witness: Witness) -> Iterator[Diagnostic]:
    """A claim would be false if what the witness shows were not so."""
    if not isinstance(witness, _PROVED):
        key = key_of(witness)
        if not any(isinstance(part, Checked) and part.checked == key for part in entry.claim):
            yield Diagnostic(
                way, "no claim of this finding says what this witness shows", f"add one: checked: {key}"
            )
        return
    etype = spec.element_type(witness.type)
    parts = [part for part in entry.theorems if etype in types_of_claim(spec, part)]
    for name, pretence, triples in _denied(spec, witness, etype):
        if not any(_excludes(spec, part, pretence, triples, etype) for part in parts):
            what = f"the claim of this finding would hold if this were not so of `{name}`"
            yield Diagnostic(way, what, f"claim for {etype.id} what it shows")


def _excludes(
    spec: Spec, part: Theorem, pretence: Pretence, triples: Iterable[tuple[Value, ...]], etype: ElementType
) -> bool:
    ask = _evaluator(spec, etype)
    return any(
        not ask.at(part.holds, environment, pretence)
        for triple in triples
        for environment in _environments(spec, part, triple, etype)
    )


def _denied(
    spec: Spec, witness: Witness, etype: ElementType
) -> Iterator[tuple[str, Pretence, list[tuple[Value, ...]]]]:
    """For each thing that a witness shows: its name, that it were otherwise, and the numbers."""
    triples = list(_triples_of(spec, witness, etype))
    if isinstance(witness, Refutation):
        yield witness.refutes, Pretence(entries={witness.refutes: True}), triples
    elif isinstance(witness, NoNumber):
        bound = encode(witness.bound, spec.element_type("float32"))
        zero = encode("0", etype)
        denied = Pretence(becomes=lambda given, _number: True if given == bound else None)
        yield witness.dialect, denied, [(zero, zero, zero)]
    elif isinstance(witness, Rounded):
        bound, zero = encode(witness.written, spec.element_type("float32")), encode("0", etype)
        number = encode(witness.written, etype)
        exact = Pretence(becomes=lambda given, found: found == number if given == bound else None)
        yield witness.dialect, exact, [(zero, zero, zero)]
    elif isinstance(witness, Overlap):
        (numbers,) = triples
        other = numbers["XLM".index(other_result(witness, spec))]
        yield " and ".join(witness.rows), Pretence(result=lambda t: other if t == numbers else None), triples
    elif isinstance(witness, Contrast):
        first, *others = witness.answers
        model = answers_of(spec, witness, first)
        for side in others:
            yield side.by, _as_the_first(spec, witness, side, model, etype), triples


def _as_the_first(spec: Spec, witness: Contrast, side: Side, model: Answers, etype: ElementType) -> Pretence:
    """That a side answered for the numbers of the witness what the first one answers."""
    dialects: Mapping[str, str] = {d.id: d.reading for d in spec.whole_dialects}
    reading = dialects.get(side.by, side.by)
    numbers = (encode(witness.X, etype), *answers_of(spec, witness, side).bounds)

    def allows(asked: str, triple: tuple[Value, ...], answer: Value) -> bool | None:
        if asked != reading or triple != numbers:
            return None
        return answer in model.values or (model.any_nan and is_nan(answer, etype))

    def result(triple: tuple[Value, ...]) -> Value | None:
        if reading != "cases" or triple != numbers:
            return None
        return model.values[0] if model.values else encode("nan", etype)

    return Pretence(allows=allows, result=result)


def _told(part: Theorem, environment: Environment, etype: ElementType) -> str:
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Name)}
    if part.tensors:
        entries = ", ".join(show(x, etype) for x in environment["X"].entries)
        bounds = ", ".join(f"{n} = {show(environment[n].entries[0], etype)}" for n in "LM")
        return f"X = [{entries}], {bounds} ({etype.id})"
    names = [name for name in ("X", "L", "M", "Y", "Z") if name in used or name in "XLM"]
    return ", ".join(f"{name} = {show(environment[name], etype)}" for name in names) + f" ({etype.id})"
