"""The line of Python that makes the call of a deviation, and the command of a shell that runs it."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.language.show import show
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.runtimes.calls import OVERWRITTEN, RETURNED
from sonnx_clip.runtimes.guarded import WROTE_INTO
from sonnx_clip.runtimes.layouts import BY_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.bit_pattern import BitPattern
    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.worker import Worker


def command_line(line: str) -> str:
    """A reproducer as a command of a shell: it runs in the Python that runs this."""
    return shlex.join([sys.executable, "-c", line])


def reproducer(
    deviation: Deviation,
    etype: ElementType,
    runtime: Worker,
    signature: Signature,
    times: int = 1,
) -> str:
    """Python that makes the call, and prints type, shape and bits of the result, and what is expected.

    The result is in ``y``, or in ``r`` where only type and shape are printed; ``unchanged`` is whether memory
    was left as it was. The line has no single quotes, so that a shell can quote it. Nothing but bits and
    numbers of a deviation becomes part of it: the deviation may have been read from a file.

    Args:
        deviation: the deviation.
        etype: the element type.
        runtime: renders a call.
        signature: names the operands.
        times: how often the call is made; the first result that deviates counts, or else the last.
    """
    layout = BY_ID[deviation.layout]
    tensors = signature.parameters[: len(deviation.entries)]
    scalars = signature.parameters[len(tensors) :]
    # The record has the dialect's default for a bound that the model lacks; the line has none.
    missing: Sequence[str] = ()
    if deviation.form is not None:
        missing = deviation.form.missing_bounds
    names = [name for name in scalars if name not in missing]
    of_operand = dict(zip(signature.parameters, deviation.operands.values(), strict=True))
    # A layout may arrange the entries in another shape, which a model has to have.
    entries = np.zeros(deviation.length)
    shape = layout.arrange(entries).shape
    before, call = runtime.call_text(shape, deviation.form)

    parts = _imports(etype, runtime)
    for name, patterns in zip(tensors, deviation.entries, strict=True):
        parts.append(f"v = {_tensor_text(patterns, deviation.length, etype)}")
        parts.append(f"{name} = {layout.text}")
    for name in names:
        parts.append(f"{name} = {_scalar_text(of_operand[name], etype)}")
    # As in `check`, where operands are read-only: that may be why it raised.
    if deviation.kind == "raises":
        arguments = ", ".join([*tensors, *names])
        parts.append(f"[a.setflags(write=False) for a in ({arguments},)]")

    words = deviation.words or ""
    called = dict(zip(signature.shown, signature.parameters, strict=True))
    # Words on an input that was changed end with the name of that input.
    watched = called.get(words.removeprefix(WROTE_INTO))
    if watched:
        parts.append(f"k = {watched}.tobytes()")
    parts += before
    # What has another type or shape may have no bits to print.
    if words.startswith(RETURNED):
        shown = 'type(r).__name__, getattr(r, "dtype", ""), getattr(r, "shape", "")'
        parts.append(f"r = {call}")
        first = tensors[0]
        parts.append(f'print({shown}, "expected: ndarray", {first}.dtype, {first}.shape)')
        return "; ".join(parts)

    parts += _calls_text(deviation, etype, call, times)
    # The result is looked at before and after the next call, which overwrites it.
    if deviation.following:
        following = dict(zip(scalars, deviation.following, strict=True))
        next_scalars = [_scalar_text(following[name], etype) for name in names]
        parts.append("k = y.tobytes()")
        parts.append(f"{', '.join(names)} = {', '.join(next_scalars)}")
        parts.append(f"z = {call}")
        parts.append("unchanged = y.tobytes() == k")

    if watched:
        parts.append(f"unchanged = {watched}.tobytes() == k")
        parts.append(f'print("{watched} is unchanged:", unchanged, "expected: True")')
    else:
        expected = json.dumps(_expected(deviation, etype))
        parts.append('b = [hex(b) for b in y.reshape(-1).view(f"u{y.itemsize}").tolist()]')
        parts.append(f'print(y.dtype, y.shape, b, "expected:", {expected})')
    return "; ".join(parts)


def _imports(etype: ElementType, runtime: Worker) -> list[str]:
    numpy = "import numpy as np"
    if etype.id == "bfloat16":
        numpy += ", ml_dtypes"
    imports = [numpy]
    if runtime.imports:
        imports.append(runtime.imports)
    return imports


def _calls_text(deviation: Deviation, etype: ElementType, call: str, times: int) -> list[str]:
    """Statements that make the call, and bind the result to ``y``."""
    result = f"np.asarray({call})"
    if times == 1:
        return [f"y = {result}"]
    got = deviation.got or 0
    bits = bits_type(etype.id)
    entry = f"z.reshape(-1).view(np.{bits})[{deviation.entry}]"
    first = f"next((z for z in y if {entry} == {got:#x}), y[-1])"
    return [f"y = [{result} for _ in range({times})]", f"y = {first}"]


def _scalar_text(pattern: BitPattern, etype: ElementType) -> str:
    bits = bits_type(etype.id)
    array = f"np.array({pattern}, np.{bits})"
    return f"{array}.view({_dtype(etype)})"


def _tensor_text(patterns: Sequence[BitPattern], length: int, etype: ElementType) -> str:
    """An array of rank 1 whose entries recur up to a length."""
    bits = bits_type(etype.id)
    entries = ", ".join(map(str, patterns))
    array = f"np.array([{entries}], np.{bits})"
    if length != len(patterns):
        array = f"np.resize({array}, {length})"
    return f"{array}.view({_dtype(etype)})"


def _dtype(etype: ElementType) -> str:
    return "ml_dtypes.bfloat16" if etype.id == "bfloat16" else f"np.{etype.id}"


def _expected(deviation: Deviation, etype: ElementType) -> str:
    """The expected bits, and the entries that they are expected at."""
    if deviation.length == 0:
        return "no entries, shape and type of x"
    text = f"{deviation.expected} ({show(deviation.expected, etype)})"
    if deviation.length > 1:
        has_equal_entries = all(len(entries) == 1 for entries in deviation.entries)
        if has_equal_entries:
            text += " at every entry"
        else:
            text += f" at entry {deviation.entry}"
    if deviation.words == OVERWRITTEN:
        text += "; the next call changes the result"
    return text
