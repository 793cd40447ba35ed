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
    wanted = {spec.element_type(t).id for t in types}
    if family is not None:
        wanted |= {e.id for e in spec.types_of(spec.family(family).id)}
    named: set[str] = set()
    for pattern in only:
        matching = {o.id for o in obligations if _matches(o, pattern)}
        if not matching:
            ids: dict[str, None] = {}
            for o in obligations:
                ids |= dict.fromkeys((*o.shows, o.id))
            todo = f"{rendered_list(spec).name} lists the statements by theory"
            near = nearest(pattern, ids)
            if near:
                todo = f"did you mean {' or '.join(near)}?"
            raise UserError(f"no obligation has or shows the id `{pattern}`", "--only", todo)
        named |= matching
    chosen = tuple(
        o
        for o in obligations
        if (not wanted or o.subject in wanted) and (not only or o.id in named)
    )
    if not chosen:
        raise UserError(
            "no obligation of this family or type matches --only",
            todo="remove --family, --dtype or --only",
        )
    return chosen


def _matches(obligation: Obligation, pattern: str) -> bool:
    """Whether the pattern matches its id, or that of an entry that it shows."""
    ids = (obligation.id, *obligation.shows)
    if set("*?[").isdisjoint(pattern):
        return pattern in ids
    return any(fnmatchcase(id_, pattern) for id_ in ids)
