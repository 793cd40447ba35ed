"""The line of Python that makes the call of a deviation, and the command of a shell that runs it."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.language.show import show
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.runtimes.calls import OVERWRITTEN, RETURNED
from sonnx_clip.runtimes.guarded import WROTE_INTO
from sonnx_clip.runtimes.layouts import BY_ID
from sonnx_clip.runtimes.runtime import CLIP_NODE

if TYPE_CHECKING:
    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.runtime import OperatorNode
    from sonnx_clip.runtimes.worker import Worker


def command_line(line: str) -> str:
    """A reproducer as a command of a shell: it runs in the Python that runs this."""
    return shlex.join([sys.executable, "-c", line])


def reproducer(
    found: Deviation,
    etype: ElementType,
    runtime: Worker,
    node: OperatorNode = CLIP_NODE,
    times: int = 1,
) -> str:
    """Python that makes the call, and prints type, shape and bits of the result, and what is expected.

    The result is in ``y``, or in ``r`` where only type and shape are printed; ``unchanged`` is whether memory
    was left as it was. The line has no single quotes, so that a shell can quote it. Nothing but bits and
    numbers of a deviation becomes part of it: the deviation may have been read from a file.

    Args:
        found: the deviation.
        etype: the element type.
        runtime: renders a call.
        node: names the operands.
        times: how often the call is made; the first result that deviates counts, or else the last.
    """
    layout, tensors = BY_ID[found.layout], node.operands[: len(found.entries)]
    # The record has the dialect's default for a bound that the model lacks; the line has none.
    missing = found.form.missing_bounds if found.form is not None else []
    names = [name for name in node.operands[len(tensors) :] if name not in missing]
    of_operand = dict(zip(node.operands, found.operands.values(), strict=True))
    scalars, arguments = [of_operand[name] for name in names], ", ".join([*tensors, *names])
    bits, is_bfloat16 = bits_type(etype.id), etype.id == "bfloat16"
    dtype = "ml_dtypes.bfloat16" if is_bfloat16 else f"np.{etype.id}"

    def made(texts: tuple[str, ...] | list[str], length: int | None = None) -> str:
        entries = ", ".join(hex_bits(int(text, 16), etype.id) for text in texts)
        array = f"np.array({entries if length is None else f'[{entries}]'}, np.{bits})"
        recurs = length is not None and length != len(texts)
        return f"{f'np.resize({array}, {length})' if recurs else array}.view({dtype})"

    before, call = runtime.call_text(layout.arrange(np.zeros(found.length)).shape, found.form)
    imports = [runtime.imports] if runtime.imports else []
    parts = [f"import numpy as np{', ml_dtypes' if is_bfloat16 else ''}", *imports]
    for name, texts in zip(tensors, found.entries, strict=True):
        parts += [f"v = {made(texts, found.length)}", f"{name} = {layout.text}"]
    parts += [f"{name} = {made([text])}" for name, text in zip(names, scalars, strict=True)]
    if found.kind == "raises":
        parts.append(f"[a.setflags(write=False) for a in ({arguments},)]")
    called = dict(zip(node.called, node.operands, strict=True))
    watched = called.get((found.words or "").removeprefix(WROTE_INTO))
    parts += [*([f"k = {watched}.tobytes()"] if watched else []), *before]
    if (found.words or "").startswith(RETURNED):
        shown = 'type(r).__name__, getattr(r, "dtype", ""), getattr(r, "shape", "")'
        return "; ".join(
            [*parts, f"r = {call}", f'print({shown}, "expected: ndarray", x.dtype, x.shape)']
        )
    one = f"np.asarray({call})"
    if times == 1:
        parts.append(f"y = {one}")
    else:
        place = f"z.reshape(-1).view(np.{bits})[{found.entry}]"
        first = f"next((z for z in y if {place} == {int(found.got or '0', 16):#x}), y[-1])"
        parts += [f"y = [{one} for _ in range({times})]", f"y = {first}"]
    if found.following:
        next_scalars = dict(zip(node.operands[len(tensors) :], found.following, strict=True))
        given = ", ".join(made([next_scalars[name]]) for name in names)
        parts += ["k = y.tobytes()", f"{', '.join(names)} = {given}"]
        parts += [f"z = {call}", "unchanged = y.tobytes() == k"]
    if watched:
        parts += [f"unchanged = {watched}.tobytes() == k"]
        return "; ".join([*parts, f'print("{watched} is unchanged:", unchanged, "expected: True")'])
    parts.append('b = [hex(b) for b in y.reshape(-1).view(f"u{y.itemsize}").tolist()]')
    return "; ".join(
        [*parts, f'print(y.dtype, y.shape, b, "expected:", {json.dumps(_expected(found, etype))})']
    )


def _expected(found: Deviation, etype: ElementType) -> str:
    """The expected bits, and the entries that they are expected at."""
    if found.length == 0:
        return "no entries, shape and type of x"
    alike = all(len(entries) == 1 for entries in found.entries)
    place = "" if found.length == 1 else " at every entry" if alike else f" at entry {found.entry}"
    next_ = "; the next call changes the result" if found.words == OVERWRITTEN else ""
    expected = int(found.expected, 16)
    return f"{hex_bits(expected, etype.id)} ({show(expected, etype)}){place}{next_}"
