"""Checks that the obligations of a finding are there and show what its witnesses say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.needed import needed
from sonnx_clip.language.names import nearest
from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.document import read_document, spell
from sonnx_clip.spec.finding_checks import names_of, readings_behind
from sonnx_clip.spec.findings import Contrast, Lack, NoNumber, NotTaken, Refutation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.claims.claim import Role
    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding, Witness

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
