"""Runs mutants of the NumPy and C kernels: on every vector, then on all combinations of special values.

Vectors come first because they are what other projects have. Each call is made in place and out of place.
"""

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

import ml_dtypes
import numpy as np

from sonnx_clip.language.special import special_patterns
from sonnx_clip.mutants.source_mutants import of_c, of_python
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.isolated import run_isolated
from sonnx_clip.root.run_program import run_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.spec import Spec

NUMPY, C = "NumPy kernels", "C kernels"
KERNELS, PLAN = "sonnx_clip/oracle/kernels.py", "sonnx_clip/oracle/plan.py"
_PAD = 4
_ALL = 16  # bits of an element type of which every X is tried
_PATIENCE = 10.0  # seconds that a kernel may take on all vectors


@dataclass(frozen=True)
class KernelMutant:
    """A kernel with one change.

    Args:
        area: `NUMPY` or `C`.
        name: the file and the function.
        change: the old and the new text.
        source: the text of the mutant.
        types: the element types that use it.
    """

    area: str
    name: str
    change: str
    source: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class VectorPatterns:
    """One vector, as patterns."""

    id: str
    x: int
    low: int
    high: int
    expected: int


@cache
def vectors(etype: str) -> dict[tuple[int, int], tuple[VectorPatterns, ...]]:
    """The vectors of an element type, those with the same bounds together."""
    data = json.loads(repo_file(f"generated/vectors/{etype}.json").read_text(encoding="utf-8"))
    found: dict[tuple[int, int], list[VectorPatterns]] = defaultdict(list)
    for v in data["vectors"]:
        vector = VectorPatterns(v["id"], *(int(v[k], 16) for k in ("x", "min", "max", "expected")))
        found[vector.low, vector.high].append(vector)
    return {bounds: tuple(vs) for bounds, vs in found.items()}


def dtype_of(etype: str) -> np.dtype[Any]:
    """The NumPy type of an element type."""
    return np.dtype(ml_dtypes.bfloat16 if etype == "bfloat16" else etype)


def _array(patterns: Any, etype: str) -> Any:
    dtype = dtype_of(etype)
    return np.array(patterns, dtype=f"u{dtype.itemsize}").view(dtype)


def _bits(array: Any) -> Any:
    return np.asarray(array).view(f"u{array.dtype.itemsize}")


def numpy_kernels(spec: Spec) -> Iterator[KernelMutant]:
    """The mutants of the kernels and of the planners."""
    every = tuple(e.id for e in spec.element_types if e.family != "real")
    floats = ("float16", "bfloat16", "float32", "float64", "int8", "uint8")
    for path in (KERNELS, PLAN):
        for function, change, source in of_python(repo_file(path).read_text(encoding="utf-8")):
            name = f"{path.rpartition('/')[2]} {function}"
            types = every if function in ("fill", "limit", "plan_integers") else floats
            yield KernelMutant(NUMPY, name, change, source, types)


def c_kernels(spec: Spec) -> Iterator[KernelMutant]:
    """The mutants of the extracted C."""
    for etype in spec.element_types:
        if etype.c is not None:
            path = f"generated/c/sonnx_clip_{etype.id}.c"
            for change, source in of_c(repo_file(path).read_text(encoding="utf-8")):
                yield KernelMutant(C, path.rpartition("/")[2], change, source, (etype.id,))


def found_by(spec: Spec, mutant: KernelMutant, patience: float = _PATIENCE) -> tuple[str, str] | None:
    """What kills a mutant, and where; None if it survives. A C kernel may take `patience` seconds."""
    return _in_numpy(spec, mutant) if mutant.area == NUMPY else _in_c(spec, mutant, patience)


def _in_numpy(spec: Spec, mutant: KernelMutant) -> tuple[str, str] | None:
    try:
        plan = _planner(mutant)
    except Exception as error:  # noqa: BLE001  # a mutant may do anything
        return "import", type(error).__name__

    def clip(x: Any, low: Any, high: Any, in_place: bool) -> Any:
        planned = plan[x.dtype](low, high)
        out = x.copy() if in_place else np.full(x.shape, 1, x.dtype)
        planned.kernel(out if in_place else x, planned.lower, planned.upper, out)
        return out

    return _judged(spec, mutant, clip)


def _planner(mutant: KernelMutant) -> Any:
    sources = {path: repo_file(path).read_text(encoding="utf-8") for path in (KERNELS, PLAN)}
    sources[KERNELS if mutant.name.startswith("kernels") else PLAN] = mutant.source
    kernels, plan = ModuleType("mutant_kernels"), ModuleType("mutant_plan")
    exec(compile(sources[KERNELS], KERNELS, "exec"), kernels.__dict__)  # noqa: S102  # our source, changed
    exec(compile(sources[PLAN], PLAN, "exec"), plan.__dict__)  # noqa: S102
    plan.kernels = kernels  # type: ignore[attr-defined]
    return plan.PLANNERS


def _judged(spec: Spec, mutant: KernelMutant, clip: Callable[..., Any]) -> tuple[str, str] | None:
    """Run an implementation on the vectors of its types, then on all special values."""
    with np.errstate(all="ignore"):
        for etype in mutant.types:
            if found := _on_vectors(etype, clip):
                return f"vector {found}", ""
        for etype in mutant.types:
            if found := _on_special_values(spec, etype, clip):
                return "special values", found
    return None


def _on_vectors(etype: str, clip: Callable[..., Any]) -> str | None:
    """The first vector that is wrong: those with the same bounds are run together, and each alone."""
    for (low, high), group in vectors(etype).items():
        bounds = (_array(low, etype)[()], _array(high, etype)[()])
        together = [v.x for v in group]
        for xs, wanted in ((together, group), *(([v.x], (v,)) for v in group)):
            for in_place in (False, True):
                got = _outcome(clip, _array(xs, etype), *bounds, in_place)
                if got is None:
                    return wanted[0].id
                wrong = [v.id for v, bits in zip(wanted, _bits(got), strict=True) if int(bits) != v.expected]
                if wrong:
                    return wrong[0]
    return None


def _outcome(clip: Callable[..., Any], x: Any, low: Any, high: Any, in_place: bool) -> Any:
    try:
        return clip(x, np.asarray(low), np.asarray(high), in_place)
    except Exception:  # noqa: BLE001  # a mutant may raise anything: it has been found
        return None


def _on_special_values(spec: Spec, etype: str, clip: Callable[..., Any]) -> str | None:
    from sonnx_clip.oracle.strict import clip as right

    of = spec.element_type(etype)
    width = of.width or 0
    xs = _array([int(p) % 2**width for p in special_patterns(of)], etype)
    numbers = xs[~np.isnan(xs.astype(np.float64))] if of.family == "float" else xs
    every = [_array(np.arange(2**width), etype)] if width <= _ALL else []
    for low in xs:
        for high in xs:
            for x in (xs, numbers, *every):
                wanted = _bits(right(x, np.asarray(low), np.asarray(high)))
                for in_place in (False, True):
                    got = _outcome(clip, x, low, high, in_place)
                    if got is None or not np.array_equal(_bits(got), wanted):
                        return f"{etype}: min = {low}, max = {high}"
    return None


# ------------------------------------------------------------------------------------------------------ C


def _in_c(spec: Spec, mutant: KernelMutant, patience: float) -> tuple[str, str] | None:
    """Compile and run, in a process of its own: a mutant may write anywhere, and need not end."""
    (etype,) = mutant.types
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "mutant.c", Path(folder) / "mutant.so"
        source.write_text(mutant.source, encoding="utf-8")
        command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{repo_file('generated/c')}"]
        if run_limited([*command, str(source), "-o", str(library)], None).status != 0:
            return "compiler", "it is refused"
        done = run_isolated(_judged_in_c, spec, mutant, library, etype, seconds=patience)
    if done.failure is not None:
        return "vector", "it does not end" if done.hung else "it crashes"
    found = json.loads(done.result)
    return None if found is None else (found[0], found[1])


def _judged_in_c(spec: Spec, mutant: KernelMutant, library: Path, etype: str) -> bytes:
    return json.dumps(_judged(spec, mutant, _loaded(library, etype))).encode()


def _loaded(library: Path, etype: str) -> Callable[..., Any]:
    from sonnx_clip.oracle.c import _C_TYPES  # what C calls the element types

    function = getattr(ctypes.CDLL(str(library)), f"sonnx_clip_{etype}")
    number = _C_TYPES[etype]
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, number, number, ctypes.c_size_t]
    function.restype = None

    def argument(bound: Any) -> Any:
        return number.from_buffer_copy(np.asarray(bound).tobytes())

    def clip(x: Any, low: Any, high: Any, in_place: bool) -> Any:
        # What lies around the arrays is compared afterwards: a kernel writes nothing beside them.
        around = np.full(x.size + 2 * _PAD, 1, x.dtype)
        around[_PAD:-_PAD] = x if in_place else around[_PAD:-_PAD]
        source = around[_PAD:-_PAD] if in_place else x.copy()
        before = source.copy()
        function(around[_PAD:].ctypes.data, source.ctypes.data, argument(low), argument(high), x.size)
        edges = np.concatenate([around[:_PAD], around[-_PAD:]])
        if not np.all(edges == np.ones(1, x.dtype)) or not (
            in_place or np.array_equal(_bits(source), _bits(before))
        ):
            return None
        return around[_PAD:-_PAD].copy()

    return clip
