"""Finds every path of a kernel: runs it again and again, each time with one branch reversed."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.trace.arrays import Memory, SymbolicArray
from sonnx_clip.trace.symbolic_run import (
    Fork,
    SymbolicRun,
    UntraceableError,
    samples_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.trace.evaluate_table import Patterns
    from sonnx_clip.trace.numpy_meaning import ValueKind
    from sonnx_clip.trace.subject import Subject
    from sonnx_clip.trace.symbolic_run import Clone, Step

_MOST = 1000  # paths of one element type; more is a kernel that nobody can read
_SCRATCH = "write to `out`, or to an array that the kernel makes"
_SEEN = "write it with operations of the table, or add the operation to why3/numpy.mlw"


@dataclass(frozen=True)
class Path:
    """One way through planner and kernel.

    Args:
        kernel: the name of the kernel that the planner chose.
        steps: what was computed and decided, in order.
        result: what `out` holds in the end: a variable or a literal.
        free: the variables about which nothing is known, with their kind.
        witness: their values in a sample that takes this path.
    """

    kernel: str
    steps: tuple[Step, ...]
    result: str
    free: Mapping[str, ValueKind]
    witness: Mapping[str, int]


@dataclass(frozen=True)
class Traced:
    """All paths of one element type, in place or not.

    Args:
        etype: the element type.
        in_place: whether `out` is `x`.
        paths: in the order in which they were found.
        clones: the modules of why3/numpy.mlw that the steps use.
    """

    etype: ElementType
    in_place: bool
    paths: tuple[Path, ...]
    clones: frozenset[Clone]


def explore(what: Subject, etype: ElementType, *, in_place: bool) -> Traced:
    """Run planner and kernel until every branch that a sample takes has been followed.

    Args:
        what: the functions.
        etype: the element type.
        in_place: whether `out` is `x`.

    Raises:
        UserError: the kernel does what has no meaning in the table, or raises, or has too many paths.
    """
    unexplored = [Fork((), samples_of(etype))]
    paths: list[Path] = []
    clones: set[Clone] = set()
    while unexplored:
        # Each run follows one path to its end, and notes the branches that other samples take.
        fork = unexplored.pop()
        run = SymbolicRun(etype, fork)
        paths.append(_path(what, run, in_place=in_place))
        unexplored += run.forks
        clones |= run.clones
        if len(paths) > _MOST:
            message = f"the kernels of {etype.id} have more than {_MOST} paths"
            raise UserError(message, str(what.files[0]), "branch less")
    return Traced(etype, in_place, tuple(paths), frozenset(clones))


def _path(what: Subject, run: SymbolicRun, *, in_place: bool) -> Path:
    """Run planner and kernel once on symbols.

    Raises:
        UserError: the kernel does what has no meaning in the table, or raises, or writes to a foreign `x`.
    """
    dtype = numpy_type(run.etype.id)
    samples = run.samples

    def bound(name: str, bits: Patterns) -> SymbolicArray:
        # Both entries of a sample are limited by the same bounds.
        value = run.input(name, np.stack([bits, bits]))
        return SymbolicArray(run, Memory(value), dtype, has_axes=False)

    x = run.input("x", samples.x)
    lower = bound("l", samples.lower)
    upper = bound("m", samples.upper)
    memory = Memory(x)
    entries = SymbolicArray(run, memory, dtype, has_axes=True)
    # Junk: a kernel that reads `out` before it writes it is then proved for any content, or not at all.
    memory_of_out = memory if in_place else Memory(run.junk())
    out = SymbolicArray(run, memory_of_out, dtype, has_axes=True)
    try:
        with np.errstate(all="ignore"):
            # The planner is run on symbols too: which kernel it chooses may depend on the bounds.
            kernel, low, high = what.planner(run.etype)(lower, upper)
            what.require_traced(kernel)
            kernel(entries, low, high, out)
    except UserError:
        raise  # the planner is missing, or a kernel is not traced: it says so itself
    except (UntraceableError, Exception) as error:
        message = f"run on symbols, the kernel raises {type(error).__name__}: {error}"
        if isinstance(error, UntraceableError):
            message = str(error)
        raise UserError(f"{run.etype.id}: {message}", _where(what, error), _SEEN) from error

    if not in_place and entries.memory.value.text != x.text:
        code = kernel.__code__
        raise UserError(
            f"{run.etype.id}: {kernel.__name__} writes to `x`, which is the caller's if `out` is not `x`",
            f"{code.co_filename}:{code.co_firstlineno}",
            _SCRATCH,
        )
    # A path is followed only where a sample takes it, so that there is one.
    first_sample = int(np.flatnonzero(run.live)[0])
    kinds: dict[str, ValueKind] = {}
    witness: dict[str, int] = {}
    for name, value in run.free.items():
        kinds[name] = value.kind
        witness[name] = int(value.samples[0, first_sample])  # that of the entry
    return Path(
        kernel=kernel.__name__,
        steps=tuple(run.steps),
        result=out.memory.value.text,
        free=kinds,
        witness=witness,
    )


def _where(what: Subject, error: BaseException) -> str:
    """The innermost line of the traced modules."""
    # Of a chain of calls, the line that the author of a kernel can change.
    files = {str(file) for file in what.files}
    frames = traceback.extract_tb(error.__traceback__)
    # Innermost last; the last ones are of this package, or of NumPy.
    for frame in reversed(frames):
        if frame.filename in files:
            return f"{frame.filename}:{frame.lineno}"
    return str(what.files[0])
