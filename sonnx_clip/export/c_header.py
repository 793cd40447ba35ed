"""The format c-header: sonnx_clip_vectors.h and a header of constant arrays for each type, in C99.

Values are bit patterns, unsigned integers as wide as the type: memcpy makes a float of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from sonnx_clip.conform.expected import class_ids
from sonnx_clip.export.export_manifest import layout_fields
from sonnx_clip.export.suite import OTHER_ZERO, TABLES, granted
from sonnx_clip.language.types import FloatBits
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite

_RANKS = 4
_LAYOUT_IDS = [layout.id for layout in LAYOUTS]


def c_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """The headers, each with its name."""
    templates = jinja2.Environment(  # noqa: S701 - it renders C
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["macro"] = lambda id_: f"SONNX_CLIP_{id_.upper().replace('-', '_')}"
    templates.filters["values"] = lambda sizes: f"{{{', '.join(map(str, sizes or [0]))}}}"
    common = templates.get_template("common.h.j2").render(
        spec=load_spec(), latitude=granted(), ranks=_RANKS, layouts=list(map(layout_fields, LAYOUTS)),
        zeros=[one for one in granted() if one.accepts == OTHER_ZERO],
        nans=[one for one in granted() if one.accepts != OTHER_ZERO],
    )  # fmt: skip
    yield "sonnx_clip_vectors.h", common.encode()
    for one in suites:
        text = templates.get_template("type.h.j2").render(spec=load_spec(), **_fields(one))
        yield f"sonnx_clip_vectors_{one.etype.id}.h", text.encode()


def _fields(one: TypeSuite) -> dict[str, Any]:
    """What the header of a type is rendered of."""
    width = one.etype.width
    assert width is not None

    def pattern(bits: int) -> str:
        return f"0x{bits:0{width // 4}x}"

    numbers = zip(*(part.tolist() for part in one.operands), one.also.tolist(), strict=True)
    tables: dict[str, dict[str, list[Any]]] = {}
    for id_, table in zip(TABLES, one.tables, strict=True):
        parts = {key: part.ravel().tolist() for key, part in table.parts.items()}
        bits = {key: list(map(pattern, parts[key])) for key in ("pool", "min", "max", "expected")}
        tables[id_] = {**bits, "also": parts["also"], "class": parts["class"]}
    sign, infinity = 0, 0
    if isinstance(one.etype.bits, FloatBits):
        sign = 1 << (width - 1)
        infinity = ((1 << one.etype.bits.exponent) - 1) << (one.etype.bits.significand - 1)
    return {
        "name": one.etype.id, "width": width, "class_ids": class_ids(one.etype.family), "tables": tables,
        "vectors": [
            (vector["id"], vector["class"], [*map(pattern, bits), also])
            for vector, (*bits, also) in zip(one.vectors, numbers, strict=True)
        ],
        "calls": [
            f"{{{c.table}, {_LAYOUT_IDS.index(c.layout)}, {c.pair}, {c.length}, {c.start}}}"
            for c in one.calls
        ],
        "sign": pattern(sign), "infinity": pattern(infinity),
    }  # fmt: skip
