"""What the generated oracle knows of each dialect: plain data from the YAML."""

from __future__ import annotations

from pprint import pformat
from typing import TYPE_CHECKING, Any

from sonnx_clip.spec.dialect_defaults import given_defaults

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect

_WIDTH = 104


def dialect_rows(spec: Spec) -> str:
    """The dialects as a Python expression: a dict by id."""
    return pformat({d.id: _row(spec, d) for d in spec.whole_dialects}, width=_WIDTH, sort_dicts=False)


def _row(spec: Spec, d: Dialect) -> dict[str, Any]:
    missing = {}
    for id_ in d.element_types if d.missing else ():
        found = given_defaults(spec, d, spec.element_type(id_))
        assert found is not None
        missing[id_] = (int(found[0]), int(found[1]))
    return {
        "title": d.title,
        "system": d.system,
        "version": d.version,
        "element_types": d.element_types,
        "ranks": (d.ranks.least, d.ranks.greatest),
        "ranks_told": str(d.ranks),
        "bounds": d.bounds,
        "bound_type": d.bound_type,
        "missing": missing or None,
        "missing_of": d.missing.of if d.missing else None,
        "reading": d.reading,
        "answers": d.answers,
        "scale_bias": d.scale_bias,
        "in_place": d.in_place,
        "says": {aspect: source.quote for aspect, source in d.says.items()},
        "unsaid": dict(d.unsaid),
    }
