"""The format c-header: headers of constant arrays in C99, and vectors.c, which runs them on a function.

Values are bit patterns, unsigned integers as wide as the type: memcpy makes a float of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import templates
from sonnx_clip.export.suite import NUMBERS, OTHER_ZERO, granted
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import infinity, sign_bit
from sonnx_clip.root.dtypes import hex_bits
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.export.suite import GrantedTable, TypeSuite
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_RANKS = 4  # the most axes of a layout, for which C has arrays of one length
_PROGRAM = "vectors.c"


def c_files(
    operator: Operator, suites: Sequence[TypeSuite], layouts: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, bytes]]:
    """The headers and vectors.c, each with its name; the layouts are those of the manifest.

    What they declare begins with ``sonnx_`` and the operator: a program may include those of several.
    """
    spec = operator.spec
    prefix = f"sonnx_{spec.signature.function}"
    environment = templates("sonnx_clip.export")
    environment.filters["values"] = _initializer
    environment.filters["flags"] = lambda latitudes: _flags(prefix, latitudes)
    latitudes = granted(operator)
    # The header tests for each of the two answers apart.
    zeros = []
    nans = []
    for latitude in latitudes:
        if latitude.accepts == OTHER_ZERO:
            zeros.append(latitude)
        else:
            nans.append(latitude)
    fields = {"spec": spec, "prefix": prefix}
    common = environment.get_template("common.h.j2").render(
        **fields,
        latitude=latitudes,
        ranks=_RANKS,
        layouts=layouts,
        zeros=zeros,
        nans=nans,
    )
    yield f"{prefix}_vectors.h", common.encode()
    for suite in suites:
        header = environment.get_template("type.h.j2").render(**fields, **_fields(suite))
        yield f"{prefix}_vectors_{suite.etype.id}.h", header.encode()
    yield _PROGRAM, _program(operator, prefix).encode()


def _program(operator: Operator, prefix: str) -> str:
    """The text of vectors.c."""
    spec = operator.spec
    # Tensors come first among the operands, as pointers; scalars are passed by value.
    keys = spec.signature.keys
    tensors = keys[: operator.tensors]
    scalars = keys[operator.tensors :]
    parameters = [f"const T *{key}" for key in tensors]
    parameters += [f"T {key}" for key in scalars]
    program = templates("sonnx_clip.export").get_template(f"{_PROGRAM}.j2")
    return program.render(
        prefix=prefix,
        function=spec.signature.function,
        macro=spec.operator.upper(),
        keys=keys,
        tensors=tensors,
        beside=tensors[1:],
        scalars=scalars,
        parameters=", ".join(parameters),
    )


def _initializer(sizes: Sequence[int] | None) -> str:
    """The initializer of an array; C99 has no empty one."""
    numbers = map(str, sizes or [0])
    return f"{{{', '.join(numbers)}}}"


def _flags(prefix: str, latitudes: Sequence[Any]) -> str:
    """The union of the flags of latitudes in C."""
    macros = []
    for latitude in latitudes:
        name = latitude.id.replace("-", "_")
        macros.append(f"{prefix}_{name}".upper())
    return " | ".join(macros) or "0u"


def compile_line(spec: Spec, etype: ElementType) -> str:
    """The command that compiles vectors.c with a user's my_clip.c, in the folder of the export."""
    function = f"my_{spec.signature.function}"
    macros = f"-DTYPE={etype.id} -DT={etype.c} -DWIDTH={etype.width}"
    return f"cc {macros} -D{spec.operator.upper()}={function} {_PROGRAM} {function}.c"


def _fields(suite: TypeSuite) -> dict[str, Any]:
    """The variables of the header of a type."""
    etype = suite.etype
    form = etype.bits
    # An integer type has the same macros, and 0 for what floats alone have.
    sign = 0
    inf = 0
    if isinstance(form, FloatBits):
        sign = sign_bit(form)
        inf = infinity(form)

    # Column by column in the suite; the header has a row for each vector.
    columns = []
    for column in suite.columns.values():
        columns.append(_hex(column.tolist(), etype))
    numbers = zip(*columns, suite.also.tolist(), strict=True)
    vectors = []
    for vector, row in zip(suite.vectors, numbers, strict=True):
        vectors.append((vector["id"], vector["class"], row))
    # C has no names of tables and layouts, only their places in its arrays.
    calls = []
    for call in suite.calls:
        layout = LAYOUTS.index(call.layout)
        calls.append(f"{{{call.table}, {layout}, {call.pair}, {call.length}, {call.start}}}")
    return {
        "name": etype.id,
        "width": etype.width,
        "tables": {table.id: _table_fields(table, etype) for table in suite.tables},
        "class_ids": suite.classes,
        "vectors": vectors,
        "calls": calls,
        "sign": hex_bits(sign, etype.id),
        "infinity": hex_bits(inf, etype.id),
    }


def _table_fields(table: GrantedTable, etype: ElementType) -> dict[str, list[Any]]:
    """The arrays of a table: first those of bits, then its flags and classes."""
    fields: dict[str, list[Any]] = {}
    for key, part in table.parts.items():
        if key not in NUMBERS:
            fields[key] = _hex(part.ravel().tolist(), etype)
    # The members of the struct are in this order, whatever that of the parts is.
    for key in NUMBERS:
        fields[key] = table.parts[key].ravel().tolist()
    return fields


def _hex(values: Sequence[int], etype: ElementType) -> list[str]:
    return [hex_bits(value, etype.id) for value in values]
