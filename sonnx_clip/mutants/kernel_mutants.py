"""Mutants of the NumPy kernels and of the C kernels, run on every vector, in place and out of place."""

from __future__ import annotations

import ctypes
import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.mutants.source_mutants import of_c, of_python
from sonnx_clip.oracle.built import function_of
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.isolated import run_isolated
from sonnx_clip.root.run_program import run_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.spec import Spec

NUMPY, C = "NumPy kernels", "C kernels"
KERNELS, PLAN = "sonnx_clip/oracle/kernels.py", "sonnx_clip/oracle/plan.py"
_PAD = 4  # entries around an array in C that must stay as they are
_SECONDS = 10.0  # that a C kernel may take on all vectors
_COMPILE = ("cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC")


@dataclass(frozen=True)
class KernelMutant:
    """A file of kernels with one change, and the element types that use it."""

    kind: str
    name: str
    change: str
    source: str
    types: tuple[str, ...]

    @property
    def key(self) -> str:
        """File and text, without the generated header: unique among all mutants."""
        return f"{self.name}: {self.source.partition('*/')[2] or self.source}"


@cache
def vectors(etype: str) -> dict[tuple[int, int], list[tuple[str, int, int]]]:
    """The vectors of an element type by their bounds: each its id, X and what is expected, in bits."""
    found: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)
    for v in json.loads(_text(f"generated/vectors/{etype}.json"))["vectors"]:
        x, low, high, expected = (int(v[name], 16) for name in ("x", "min", "max", "expected"))
        found[low, high].append((v["id"], x, expected))
    return found


def kernel_mutants(spec: Spec) -> Iterator[KernelMutant]:
    """The mutants of the NumPy kernels and their planners, then of the extracted C."""
    every = tuple(e.id for e in spec.element_types if e.family != "real")
    floats = ("float16", "bfloat16", "float32", "float64", "int8", "uint8")
    for path in (KERNELS, PLAN):
        for function, change, source in of_python(_text(path)):
            types = every if function in ("fill", "limit", "plan_integers") else floats
            yield KernelMutant(NUMPY, f"{Path(path).name} {function}", change, source, types)
    for etype in spec.element_types:
        if etype.c is not None:
            name = f"sonnx_clip_{etype.id}.c"
            for change, source in of_c(_text(f"generated/c/{name}")):
                yield KernelMutant(C, name, change, source, (etype.id,))


def _text(path: str) -> str:
    return repo_file(path).read_text(encoding="utf-8")


def killer(mutant: KernelMutant, seconds: float = _SECONDS) -> str:
    """The vector that kills a mutant, or how it fails before; empty if it survives."""
    if mutant.kind == C:
        return _killer_in_c(mutant, seconds)
    kernels, plan = ModuleType("mutant_kernels"), ModuleType("mutant_plan")
    try:
        for path, module in ((KERNELS, kernels), (PLAN, plan)):
            source = mutant.source if mutant.name.startswith(Path(path).name) else _text(path)
            exec(compile(source, path, "exec"), vars(module))  # noqa: S102  # our source, changed
    except Exception as error:  # noqa: BLE001  # a mutant may do anything
        return f"import {type(error).__name__}"
    plan.kernels = kernels  # type: ignore[attr-defined]

    def clip(x: Any, low: Any, high: Any, in_place: bool) -> Any:
        planned = plan.PLANNERS[x.dtype](low, high)
        out = x.copy() if in_place else np.full(x.shape, 1, x.dtype)
        planned.kernel(out if in_place else x, planned.lower, planned.upper, out)
        return out

    return _first_wrong_vector(mutant.types, clip)


def _first_wrong_vector(types: tuple[str, ...], clip: Callable[..., Any]) -> str:
    """Vectors with the same bounds are run together, then each alone."""
    with np.errstate(all="ignore"):
        for etype in types:
            for pair, group in vectors(etype).items():
                bounds = [np.asarray(_array(bound, etype)[()]) for bound in pair]
                for few in (group, *([vector] for vector in group)):
                    for in_place in (False, True):
                        try:
                            got = clip(_array([x for _, x, _ in few], etype), *bounds, in_place)
                        except Exception:  # noqa: BLE001  # a mutant may raise anything
                            return f"vector {few[0][0]}"
                        for (id_, _, expected), y in zip(few, _bits(got), strict=True):
                            if int(y) != expected:
                                return f"vector {id_}"
    return ""


def _array(patterns: Any, etype: str) -> Any:
    return np.array(patterns, bits_type(etype)).view(numpy_type(etype))


def _bits(array: Any) -> Any:
    return np.asarray(array).view(f"u{array.dtype.itemsize}")


def _killer_in_c(mutant: KernelMutant, seconds: float) -> str:
    """Compile and run, in a process of its own: a mutant may write anywhere, and need not end."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "mutant.c", Path(folder) / "mutant.so"
        source.write_text(mutant.source, encoding="utf-8")
        command = [*_COMPILE, f"-I{repo_file('generated/c')}", str(source), "-o", str(library)]
        if run_limited(command, None).status != 0:
            return "compiler"
        done = run_isolated(_run_in_c, library, *mutant.types, seconds=seconds)
    if done.failure is not None:
        return "vector: it does not end" if done.hung else "vector: it crashes"
    return done.result.decode()


def _run_in_c(library: Path, etype: str) -> bytes:
    function = function_of(ctypes.CDLL(str(library)), etype)
    number = function.argtypes[2]

    def clip(x: Any, low: Any, high: Any, in_place: bool) -> Any:
        # What lies around the arrays is compared afterwards: a kernel writes nothing beside them.
        around = np.full(x.size + 2 * _PAD, 1, x.dtype)
        inside, edges = around[_PAD:-_PAD], np.r_[:_PAD, x.size + _PAD : around.size]
        inside[:] = x if in_place else inside
        source = inside if in_place else x.copy()
        bounds = (number.from_buffer_copy(bound.tobytes()) for bound in (low, high))
        function(inside.ctypes.data, source.ctypes.data, *bounds, x.size)
        if np.any(around[edges] != np.ones(1, x.dtype)) or not (
            in_place or np.array_equal(_bits(source), _bits(x))
        ):
            raise ValueError("the kernel writes beside its output")
        return inside

    return _first_wrong_vector((etype,), clip).encode()
