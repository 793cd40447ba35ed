"""Mutants of the NumPy kernels and of the C kernels, run on every vector, in place and out of place."""

from __future__ import annotations

import ctypes
import json
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.mutants.source_mutants import of_c, of_python
from sonnx_clip.oracle.built import kernel_function
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import run_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.mutants.source_mutants import KernelMutant
    from sonnx_clip.spec import Spec

KERNELS, PLAN = "sonnx_clip/oracle/kernels.py", "sonnx_clip/oracle/plan.py"
# Without warnings: most mutants would deserve one.
_COMPILE = ("cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC")

Vector: TypeAlias = tuple[str, int, int]
"""Its id, and the bits of X and of what is expected."""
VectorsByBounds: TypeAlias = dict[tuple[int, int], list[Vector]]


@cache
def vectors(etype: str) -> VectorsByBounds:
    """The vectors of an element type by the bits of their bounds."""
    by_bounds: VectorsByBounds = defaultdict(list)
    file = json.loads(_text(f"generated/vectors/{etype}.json"))
    for vector in file["vectors"]:
        low = int(vector["min"], 16)
        high = int(vector["max"], 16)
        x = int(vector["x"], 16)
        expected = int(vector["expected"], 16)
        by_bounds[low, high].append((vector["id"], x, expected))
    return by_bounds


def kernel_mutants(spec: Spec) -> Iterator[KernelMutant]:
    """The mutants of the NumPy kernels and their planners, then of the extracted C."""
    for path in (KERNELS, PLAN):
        yield from of_python(Path(path).name, _text(path))
    for etype in spec.element_types:
        if etype.c is not None:
            name = f"sonnx_clip_{etype.id}.c"
            yield from of_c(name, _text(f"generated/c/{name}"))


def _text(path: str) -> str:
    return repo_file(path).read_text(encoding="utf-8")


def killer(mutant: KernelMutant) -> str:
    """The vector that kills a mutant, or how it fails before; empty if it survives."""
    if mutant.name.endswith(".c"):
        return _killer_in_c(mutant)
    return _killer_in_python(mutant)


def _killer_in_python(mutant: KernelMutant) -> str:
    # Both modules anew, since planners name kernels: a changed kernel needs planners that return it.
    kernels = ModuleType("mutant_kernels")
    plan = ModuleType("mutant_plan")
    for path, module in ((KERNELS, kernels), (PLAN, plan)):
        is_changed = mutant.name.startswith(Path(path).name)
        source = mutant.source if is_changed else _text(path)
        exec(compile(source, path, "exec"), vars(module))  # noqa: S102  # our source, changed
    plan.kernels = kernels  # type: ignore[attr-defined]

    def clip(x: Any, low: Any, high: Any, out: Any) -> None:
        planned = plan.PLANNERS[x.dtype](low, high)
        planned.kernel(x, planned.lower, planned.upper, out)

    for dtype in plan.PLANNERS:
        wrong = _first_wrong_vector(dtype.name, clip)
        if wrong:
            return wrong
    return ""


def _killer_in_c(mutant: KernelMutant) -> str:
    """Compile and run here: no edit lets a kernel touch more than one entry too much, or run for ever."""
    etype = mutant.name.removeprefix("sonnx_clip_").removesuffix(".c")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "mutant.c")
        library = Path(folder, "mutant.so")
        source.write_text(mutant.source, encoding="utf-8")
        include = f"-I{repo_file('generated/c')}"
        done = run_limited([*_COMPILE, include, str(source), "-o", str(library)], None)
        if done.status != 0:
            where = f"{mutant.name}: {mutant.change}"
            raise UserError(f"the compiler rejects a mutant: {done.words}", where)
        # Loaded before the folder is removed: the mapping stays.
        function = kernel_function(ctypes.CDLL(str(library)), etype)
    # The type of the bounds, which follow the result and X.
    number = function.argtypes[2]

    def clip(x: Any, low: Any, high: Any, out: Any) -> None:
        lower = number.from_buffer_copy(low.tobytes())
        upper = number.from_buffer_copy(high.tobytes())
        function(out.ctypes.data, x.ctypes.data, lower, upper, x.size)

    return _first_wrong_vector(etype, clip)


def _first_wrong_vector(etype: str, clip: Callable[..., None]) -> str:
    """Vectors with the same bounds are run together, then each alone; in place and out of place."""

    def array(patterns: Any) -> Any:
        return np.array(patterns, bits_type(etype)).view(numpy_type(etype))

    for (lower, upper), group in vectors(etype).items():
        low = array(lower)
        high = array(upper)
        # Alone, too: a kernel may choose its path by all entries.
        runs = [group, *([vector] for vector in group)]
        for run in runs:
            ids, entries, expected = zip(*run, strict=True)
            for in_place in (False, True):
                # Memory holds one entry more than the kernel is given, which must stay as it is.
                x = array((*entries, 1))
                out = x if in_place else array([1] * x.size)
                try:
                    with np.errstate(all="ignore"):
                        clip(x[:-1], low, high, out[:-1])
                except Exception:  # noqa: BLE001  # a mutant may raise anything
                    return str(ids[0])
                bits = out.view(bits_type(etype))
                wrong = np.flatnonzero(bits != (*expected, 1))
                if wrong.size:
                    # The entry behind counts for the last vector.
                    first = min(int(wrong[0]), len(ids) - 1)
                    return str(ids[first])
    return ""
