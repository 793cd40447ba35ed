"""The C form of an export: sonnx_clip_vectors.h and a header of constant arrays for each type, in C99.

Values are bit patterns, unsigned integers as wide as the type: memcpy makes a float of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.expected import class_ids
from sonnx_clip.export.export_manifest import layout_told
from sonnx_clip.export.plain_formats import vector_operands
from sonnx_clip.export.suite import OTHER_ZERO, TABLES, flags, granted
from sonnx_clip.language.types import FloatBits
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite

_COMMON = "sonnx_clip_vectors.h"
_WIDTHS = (8, 16, 32, 64)
_IN_LINE = 8
_RANKS = 4
_LAYOUT_IDS = [layout.id for layout in LAYOUTS]

_STRUCTURES = """
struct sonnx_clip_layout {{
  const char *id;
  int plain;              /* one dimension, entries side by side: its shape is the length of the call */
  int rank;
  size_t shape[{ranks}];
  ptrdiff_t strides[{ranks}];   /* in entries */
  size_t first_entry;     /* where the first entry lies in memory that is aligned */
  size_t misaligned_bytes; /* and so many bytes further */
  int repeats;            /* all entries are the first one */
}};

struct sonnx_clip_call {{
  unsigned char table, layout;
  unsigned short pair;
  uint32_t length, start;  /* X[i] is pool[(start + i) % values], i < length */
}};
"""

_OF_WIDTH = """
struct sonnx_clip_vector_{w} {{
  const char *id, *class_id;
  uint{w}_t x, min, max, expected;
  unsigned char also;
}};

struct sonnx_clip_table_{w} {{
  const char *id;
  size_t values, pairs;
  const uint{w}_t *pool, *min, *max;
  const uint{w}_t *expected;      /* expected[pair * values + i] is that of pool[i] */
  const unsigned char *also;      /* in the same order, as are the classes */
  const unsigned char *classes;
}};

struct sonnx_clip_type_{w} {{
  const char *name;
  uint{w}_t sign, infinity;       /* the bit of the sign, and +inf; both 0 for integers */
  const char *const *class_ids;
  size_t vector_count, table_count, call_count;
  const struct sonnx_clip_vector_{w} *vectors;
  const struct sonnx_clip_table_{w} *tables;
  const struct sonnx_clip_call *calls;
}};
"""

_ACCEPTS = """
/* Whether a result is right or acceptable. policy: SONNX_CLIP_DEFAULT, or SONNX_CLIP_STRICT. */
static inline int sonnx_clip_accepts(uint64_t got, uint64_t expected, unsigned also, unsigned policy,
                                     uint64_t sign, uint64_t infinity) {{
  unsigned granted = also & policy;
  if (got == expected)
    return 1;
  if ((granted & ({zeros})) && ((got | expected) & ~sign) == 0)
    return 1;
  return (granted & ({nans})) && (got & ~sign) > infinity;
}}
"""


def c_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """The headers, each with its name."""
    yield _COMMON, _common().encode()
    for one in suites:
        yield f"sonnx_clip_vectors_{one.etype.id}.h", "".join(_of_type(one)).encode()


def _head(guard: str, text: str, include: str) -> str:
    told = f"Test vectors of {load_spec().operator} in the SONNX profile: {text}.\n"
    digest = f"SHA-256 of the specification: {load_spec().digest}"
    written = "Written by `sonnx-clip export c-header`; manifest.json explains classes and latitude."
    return f"/* {told}   {written}\n   {digest} */\n\n#ifndef {guard}\n#define {guard}\n\n{include}\n"


def _flag(id_: str) -> str:
    return "SONNX_CLIP_" + id_.upper().replace("-", "_")


def _common() -> str:
    latitude = granted()
    zeros = " | ".join(_flag(one.id) for one in latitude if one.accepts == OTHER_ZERO)
    nans = " | ".join(_flag(one.id) for one in latitude if one.accepts != OTHER_ZERO)
    always = " | ".join(_flag(one.id) for one in latitude if one.always)
    every = " | ".join(_flag(one.id) for one in latitude)
    parts = [
        _head("SONNX_CLIP_VECTORS_H", "what all types share", "#include <stddef.h>\n#include <stdint.h>\n")
    ]
    parts += ["/* What `also` grants beside the expected result. */\n"]
    parts += [f"#define {_flag(one.id)} {one.flag}u /* {one.accepts} */\n" for one in latitude]
    parts += [f"#define SONNX_CLIP_DEFAULT ({every})\n#define SONNX_CLIP_STRICT ({always})\n"]
    parts += [_STRUCTURES.format(ranks=_RANKS), *(_OF_WIDTH.format(w=width) for width in _WIDTHS)]
    parts += [_ACCEPTS.format(zeros=zeros, nans=nans)]
    parts += [f"\nstatic const struct sonnx_clip_layout sonnx_clip_layouts[{len(LAYOUTS)}] = {{\n"]
    for layout in LAYOUTS:
        told = layout_told(layout)
        shape = [0] if told["shape"] is None else told["shape"]
        sizes, strides = (", ".join(map(str, part or [0])) for part in (shape, told["strides"]))
        place = f"{told['first_entry']}, {told['misaligned_bytes']}, {int(layout.repeats)}"
        parts += [
            f'  {{"{layout.id}", {int(layout.plain)}, {len(shape)}, {{{sizes}}}, {{{strides}}}, {place}}},\n'
        ]
    return "".join([*parts, "};\n\n#endif\n"])


def _of_type(one: TypeSuite) -> Iterator[str]:
    name, width = one.etype.id, one.etype.width
    assert width is not None
    guard, prefix = f"SONNX_CLIP_VECTORS_{name.upper()}_H", f"sonnx_clip_{name}"
    value, digits = f"static const uint{width}_t", width // 4
    yield _head(guard, name, f'#include "{_COMMON}"\n')
    ids = ", ".join(f'"{id_}"' for id_ in class_ids(one.etype.family))
    yield f"static const char *const {prefix}_class_ids[] = {{{ids}}};\n\n"

    operands = vector_operands(one)
    also = flags(one.etype, *operands).tolist()
    yield f"static const struct sonnx_clip_vector_{width} {prefix}_vectors[{len(also)}] = {{\n"
    for vector, bits, flag in zip(
        one.vectors, zip(*(o.tolist() for o in operands), strict=True), also, strict=True
    ):
        patterns = ", ".join(f"0x{b:0{digits}x}" for b in bits)
        yield f'  {{"{vector["id"]}", "{vector["class"]}", {patterns}, {flag}}},\n'
    yield "};\n\n"

    rows = []
    for id_, table in zip(TABLES, one.tables, strict=True):
        own = f"{prefix}_{id_}"
        for key, part in (
            ("pool", table.pool),
            ("min", table.scalars[0]),
            ("max", table.scalars[1]),
            ("expected", table.due),
        ):
            yield from _array(value, f"{own}_{key}", (f"0x{b:0{digits}x}" for b in part.ravel().tolist()))
        for key, part in (("also", table.also), ("classes", table.classes)):
            yield from _array("static const unsigned char", f"{own}_{key}", map(str, part.ravel().tolist()))
        parts = ", ".join(f"{own}_{key}" for key in ("pool", "min", "max", "expected", "also", "classes"))
        rows.append(f'  {{"{id_}", {len(table.pool)}, {table.count}, {parts}}},\n')
    yield f"static const struct sonnx_clip_table_{width} {prefix}_tables[{len(rows)}] = {{\n"
    yield f"{''.join(rows)}}};\n\n"

    calls = (
        f"{{{c.table}, {_LAYOUT_IDS.index(c.layout)}, {c.pair}, {c.length}, {c.start}}}" for c in one.calls
    )
    yield from _array("static const struct sonnx_clip_call", f"{prefix}_calls", calls)
    sign, infinity = 0, 0
    if isinstance(one.etype.bits, FloatBits):
        sign = 1 << (width - 1)
        infinity = ((1 << one.etype.bits.exponent) - 1) << (one.etype.bits.significand - 1)
    yield f"static const struct sonnx_clip_type_{width} {prefix}_suite = {{\n"
    yield f'  "{name}", 0x{sign:0{digits}x}, 0x{infinity:0{digits}x}, {prefix}_class_ids,\n'
    yield f"  {len(also)}, {len(rows)}, {len(one.calls)},\n"
    yield f"  {prefix}_vectors, {prefix}_tables, {prefix}_calls\n}};\n"
    yield "\n#endif\n"


def _array(kind: str, name: str, values: Iterable[str]) -> Iterator[str]:
    texts = list(values)
    yield f"{kind} {name}[{len(texts)}] = {{\n"
    for start in range(0, len(texts), _IN_LINE):
        yield f"  {', '.join(texts[start : start + _IN_LINE])},\n"
    yield "};\n\n"
