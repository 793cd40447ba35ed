"""Selects the obligations of `sonnx-clip prove`: by family, element type, id or entry."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from sonnx_clip.prove.statements import rendered_list
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec


def select(
    spec: Spec,
    obligations: tuple[Obligation, ...],
    *,
    family: str | None,
    types: Sequence[str],
    only: Sequence[str],
) -> tuple[Obligation, ...]:
    """Those of the family or the types, and among `only`: ids, or ids of entries; ``*`` matches any text.

    Raises:
        UserError: there are none, or an element of `only` matches nothing.
    """
    subjects = {spec.element_type(type_id).id for type_id in types}
    if family is not None:
        subjects |= {etype.id for etype in spec.types_of(spec.family(family).id)}
    ids: set[str] = set()
    for pattern in only:
        matching = {o.id for o in obligations if _matches(o, pattern)}
        # Each pattern by itself: a misspelt one must not pass beside one that matches.
        if not matching:
            raise _unknown_id(spec, obligations, pattern)
        ids |= matching

    chosen = list(obligations)
    if subjects:
        chosen = [o for o in chosen if o.subject in subjects]
    if only:
        chosen = [o for o in chosen if o.id in ids]
    if not chosen:
        message = "no obligation of this family or type matches --only"
        raise UserError(message, todo="remove --family, --dtype or --only")
    return tuple(chosen)


def _unknown_id(
    spec: Spec,
    obligations: Sequence[Obligation],
    pattern: str,
) -> UserError:
    """The error for a pattern that matches nothing, with the ids that it may mean."""
    ids: dict[str, None] = {}
    for obligation in obligations:
        ids |= dict.fromkeys((*obligation.shows, obligation.id))
    near = nearest(pattern, ids)
    todo = f"{rendered_list(spec).name} lists the statements by theory"
    if near:
        todo = f"did you mean {' or '.join(near)}?"
    return UserError(f"no obligation has or shows the id `{pattern}`", "--only", todo)


def _matches(obligation: Obligation, pattern: str) -> bool:
    """Whether the pattern matches its id, or that of an entry that it shows."""
    ids = (obligation.id, *obligation.shows)
    if set("*?[").isdisjoint(pattern):  # most patterns are ids, and obligations are thousands
        return pattern in ids
    return any(fnmatchcase(id_, pattern) for id_ in ids)
