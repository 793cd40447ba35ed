"""The format c-header: headers of constant arrays in C99, and vectors.c, which runs them on a function.

Values are bit patterns, unsigned integers as wide as the type: memcpy makes a float of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import templates
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.suite import OTHER_ZERO, TABLES, granted
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import infinity, sign_bit
from sonnx_clip.root.dtypes import hex_bits
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.language.types import ElementType

_RANKS = 4
_PROGRAM = "vectors.c"


def c_files(
    suites: Sequence[TypeSuite], layouts: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, bytes]]:
    """The headers and vectors.c, each with its name; the layouts are those of the manifest."""
    found = templates("sonnx_clip.export")
    found.filters["macro"] = lambda id_: f"SONNX_CLIP_{id_.upper().replace('-', '_')}"
    found.filters["values"] = lambda sizes: f"{{{', '.join(map(str, sizes or [0]))}}}"
    common = found.get_template("common.h.j2").render(
        spec=load_spec(), latitude=granted(), ranks=_RANKS, layouts=layouts,
        zeros=[one for one in granted() if one.accepts == OTHER_ZERO],
        nans=[one for one in granted() if one.accepts != OTHER_ZERO],
    )  # fmt: skip
    yield "sonnx_clip_vectors.h", common.encode()
    for one in suites:
        text = found.get_template("type.h.j2").render(spec=load_spec(), **_fields(one))
        yield f"sonnx_clip_vectors_{one.etype.id}.h", text.encode()
    yield _PROGRAM, repo_file(f"harness/{_PROGRAM}").read_bytes()


def compile_line(etype: ElementType) -> str:
    """The command that compiles vectors.c with a user's my_clip.c, in the folder of the export."""
    macros = f"-DTYPE={etype.id} -DT={etype.c} -DWIDTH={etype.width} -DCLIP=my_clip"
    return f"cc {macros} {_PROGRAM} my_clip.c"


def _fields(one: TypeSuite) -> dict[str, Any]:
    """The variables of the header of a type."""

    def bits(values: Any) -> list[str]:
        return [hex_bits(value, one.etype.id) for value in values]

    tables: dict[str, dict[str, list[Any]]] = {}
    for id_, table in zip(TABLES, one.tables, strict=True):
        parts = {key: part.ravel().tolist() for key, part in table.parts.items()}
        as_bits = {key: bits(parts[key]) for key in ("pool", "min", "max", "expected")}
        tables[id_] = {**as_bits, "also": parts["also"], "class": parts["class"]}
    form = one.etype.bits
    sign, inf = (sign_bit(form), infinity(form)) if isinstance(form, FloatBits) else (0, 0)
    numbers = zip(*(bits(part.tolist()) for part in one.operands), one.also.tolist(), strict=True)
    return {
        "name": one.etype.id, "width": one.etype.width, "tables": tables,
        "class_ids": clip_operator().class_ids(one.etype.family),
        "vectors": [(v["id"], v["class"], row) for v, row in zip(one.vectors, numbers, strict=True)],
        "calls": [
            f"{{{c.table}, {LAYOUTS.index(c.layout)}, {c.pair}, {c.length}, {c.start}}}" for c in one.calls
        ],
        "sign": hex_bits(sign, one.etype.id), "infinity": hex_bits(inf, one.etype.id),
    }  # fmt: skip
