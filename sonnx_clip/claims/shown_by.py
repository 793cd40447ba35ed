"""The obligations that a finding has to name, since they follow from its witnesses; and that they are there
and show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.terminal import nearest
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.document import read_document, spell
from sonnx_clip.spec.finding_answers import answers_of
from sonnx_clip.spec.finding_checks import names_of, readings_behind
from sonnx_clip.spec.findings import Contrast, Lack, NoNumber, NotTaken, Refutation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from sonnx_clip.claims.claim import Obligation, Role
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.findings import Side, SourceFinding, Witness


def needed(spec: Spec, entry: SourceFinding, known: Collection[str]) -> tuple[str, ...]:
    """The ids of the obligations that show what the witnesses of a finding say, in their order.

    Args:
        spec: the specification.
        entry: the finding.
        known: the ids of all obligations; what has none in a type needs none.
    """
    found = (id_ for witness in entry.witnesses for id_ in _of_witness(spec, witness))
    return tuple(dict.fromkeys(id_ for id_ in found if id_ in known))


def _of_witness(spec: Spec, witness: Witness) -> Iterator[str]:
    match witness:
        case Contrast():
            yield from _contrast(spec, witness)
        case Refutation():
            yield named.of(witness.type, named.refuted(witness.refutes))
            yield named.of(witness.type, named.repaired(witness.refutes))
        case Lack():
            example = spec.example(witness.example)
            yield from (
                named.of(etype.id, named.example(example.id)) for etype in spec.types_of(example.family)
            )
        case NoNumber():
            yield named.of(witness.type, named.CAST_OF_NO_NUMBER)
        case NotTaken():
            yield named.of(witness.type, named.is_sonnx(spec.dialect(witness.taken_by).word))
        case _:  # what it shows is computed, or shown by the claim of the finding alone
            return


def _contrast(spec: Spec, witness: Contrast) -> Iterator[str]:
    first, *others = witness.answers
    dialects = {d.id: d for d in spec.whole_dialects}
    for side in witness.answers:
        if side.by in dialects:
            yield from _dialect(witness, side, dialects[side.by])
    for side in others:
        yield from _pair(spec, witness, first, side, dialects)


def _dialect(witness: Contrast, side: Side, dialect: Dialect) -> Iterator[str]:
    """What is shown of a dialect with these bounds: given, printed or missing."""
    missing = [name for name in "LM" if getattr(witness, name) is None and getattr(side, name) is None]
    if side.L is not None or side.M is not None:
        yield named.of(witness.type, named.printed_default(dialect.word))
    elif not missing:
        yield named.of(witness.type, named.is_sonnx(dialect.word))
        yield named.of(witness.type, named.nowhere_else(named.is_sonnx(dialect.word)))
    else:
        bound = "bounds" if len(missing) == 2 else {"L": "min", "M": "max"}[missing[0]]
        yield named.of(witness.type, named.without(dialect.word, bound))
        if "inf" in witness.X:
            yield named.of(witness.type, named.infinities(dialect.word))


def _pair(
    spec: Spec, witness: Contrast, first: Side, side: Side, dialects: dict[str, Dialect]
) -> Iterator[str]:
    """What shows that two sides differ: two versions, two readings, or a reading and the cases."""
    one, other = dialects.get(first.by), dialects.get(side.by)
    mine = one.reading if one else first.by
    theirs = other.reading if other else side.by
    if one is not None and other is not None and mine == theirs:
        for later, earlier in ((one, other), (other, one)):
            yield named.of(witness.type, named.changed(later.word, earlier.word))
        return
    if one is not None and one.equivalence is not None and one.equivalence.to == side.by:
        every = named.of_equivalence(one.word, spec.reading(side.by).word)
        yield from (named.of(witness.type, name) for name in every)
    same_bounds = answers_of(spec, witness, first).bounds == answers_of(spec, witness, side).bounds
    if mine == "cases" or not same_bounds:
        if other is None or mine == "cases":
            yield from _reading(spec, witness, side, theirs)
        return
    a, b = (spec.reading(name).word for name in (mine, theirs))
    yield named.of(witness.type, named.apart(a, b, witness.compared))
    yield named.of(witness.type, named.apart(b, a, witness.compared))


def _reading(spec: Spec, witness: Contrast, side: Side, name: str) -> Iterator[str]:
    """Where a reading agrees with the cases: its own witness if it has these numbers, else its region."""
    etype, reading = spec.element_type(witness.type), spec.reading(name)
    bitwise = witness.compared == "bits"
    numbers = (reading.differs_bitwise_at if bitwise else reading.differs_at).get(etype.family)
    given = (encode(witness.X, etype), *answers_of(spec, witness, side).bounds)
    if numbers is not None and given == tuple(encode(numbers.texts()[n], etype) for n in "XLM"):
        yield named.of(etype.id, named.differs(reading.word, witness.compared))
    else:
        agrees = named.agrees(reading.word, witness.compared)
        yield named.of(etype.id, agrees)
        yield named.of(etype.id, named.nowhere_else(agrees))


# --- Checks that the obligations of a finding are there and show what its witnesses say ---------------------


_FILE = "spec/clip.yaml"
# What a claim must say to show what a witness of each kind says; other kinds need none beside their own.
_OF_CONTRAST: tuple[Role, ...] = (
    "agrees", "differs", "differs from", "infinities", "without bounds", "printed default", "changed",
)  # fmt: skip
_TELLING: tuple[tuple[type, frozenset[Role]], ...] = (
    (Contrast, frozenset(_OF_CONTRAST)),
    (Refutation, frozenset({"refuted"})),
    (Lack, frozenset({"example"})),
    (NoNumber, frozenset({"converts"})),
    (NotTaken, frozenset({"agrees", "without bounds"})),
)


def check_shown(spec: Spec, obligations: Iterable[Obligation]) -> None:
    """Raise the UserError for the first finding whose obligations do not show it, with its place."""
    known = {o.id: o for o in obligations}
    found = next(
        (wrong for i, entry in enumerate(spec.findings) for wrong in wrong_of(spec, i, entry, known)), None
    )
    if found is None:
        return
    path = repo_file(_FILE)
    if path.is_file():
        document, content = read_document(path)
        if digest_of(content) == spec.digest:
            raise document.error(found.way, found.what, found.todo)
    raise UserError(found.what, f"{_FILE} ({spell(found.way)})", found.todo)


def wrong_of(
    spec: Spec, index: int, entry: SourceFinding, known: Mapping[str, Obligation]
) -> Iterator[Diagnostic]:
    """What is wrong with the obligations that one finding names.

    Args:
        spec: the specification.
        index: where the finding stands in it.
        entry: the finding.
        known: every obligation by its id.
    """
    way = ("findings", index, "obligations")
    about = {name for witness in entry.witnesses for name in names_of(witness)}
    about |= set(readings_behind(spec, about))
    for position, id_ in enumerate(entry.obligations or ()):
        if id_ not in known:
            near = nearest(id_, [o.id for o in known.values() if about & set(o.shows)])
            todo = f"did you mean {' or '.join(near)}?" if near else "`sonnx-clip prove --json` lists all"
            yield Diagnostic((*way, position), f"there is no obligation `{id_}`", todo)
            return
    named = [known[id_] for id_ in entry.obligations or ()]
    for position, o in enumerate(named):
        if o.kind == "smoke" or not about & set(o.shows):
            what = (
                f"`{o.id}` shows {', '.join(o.shows)}, and this finding is about {', '.join(sorted(about))}"
            )
            yield Diagnostic((*way, position), what, "name obligations that show what is found")
    for position, witness in enumerate(entry.witnesses):
        for name in names_of(witness):
            telling = _telling(witness)
            if telling and not any(_shows(spec, o, witness, name) for o in named):
                what = f"no obligation that it names shows what this witness says of `{name}`"
                said = ", ".join(sorted(telling))
                todo = f"name one in its type that shows `{name}` and is one of: {said}"
                yield Diagnostic(("findings", index, "witnesses", position), what, todo)
    yield from _named(way, entry, needed(spec, entry, known.keys()))


def _named(way: tuple[str | int, ...], entry: SourceFinding, due: tuple[str, ...]) -> Iterator[Diagnostic]:
    """What a finding names is what its witnesses need: no more, no less."""
    for id_ in due:
        if id_ not in (entry.obligations or ()):
            yield Diagnostic(way, f"`{id_}`, which shows a witness of this finding, is not named", "add it")
    for position, id_ in enumerate(entry.obligations or ()):
        if id_ not in due:
            what = f"`{id_}` shows none of the witnesses of this finding"
            yield Diagnostic((*way, position), what, f"take it away; these do: {', '.join(due)}")


def _shows(spec: Spec, o: Obligation, witness: Witness, name: str) -> bool:
    """Whether an obligation is of the kind that tells what a witness says of an entry, in its type."""
    if name not in o.shows or o.subject not in _subjects(spec, witness):
        return False
    claim = next((c for c in claims_of(spec, o.subject) if c.id == o.id), None)
    return claim is not None and claim.role in _telling(witness)


def _telling(witness: Witness) -> frozenset[Role]:
    return next((roles for kind, roles in _TELLING if isinstance(witness, kind)), frozenset())


def _subjects(spec: Spec, witness: Witness) -> frozenset[str]:
    """The element types in which an obligation can show a witness."""
    if isinstance(witness, Lack):  # its type has no obligation on the example: that is what is found
        family = spec.element_type(witness.type).family
        return frozenset(etype.id for etype in spec.types_of(family)) - {witness.type}
    return frozenset({getattr(witness, "type", "")})
