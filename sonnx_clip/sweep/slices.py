"""What is swept: slices that take about a second each, of the C kernels and of `sonnx_clip.clip`."""

from __future__ import annotations

import ctypes
import importlib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np

import sonnx_clip
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import constant_pattern, encode, infinity, sign_bit
from sonnx_clip.oracle import c, c_build
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType


TRIPLES = "all triples"
MIN_SWEEP = "all X and min, max = {}"
MAX_SWEEP = "all X and max, min = {}"
SPECIAL = "all X, special bounds"
BOUNDS = "all min and max, 3 X"
SPECIAL_BOUND = "min or max special, the other all, 3 X"
TABLE = "the table against the oracle"

_MORE = {"int": ("0", "1", "2"), "float": ("-0", "0", "1", "-1", "smallest_subnormal")}

_PLANE = 4096  # bounds in a slice; each is a call with every X
_MINS = 1024  # lower bounds in a slice; each with every upper bound


@dataclass(frozen=True)
class Slice:
    """A part of a sweep.

    Args:
        etype: the id of an element type.
        sweep: what is swept, in words.
        side: which bound is held fixed: ``min``, ``max``, or none.
        fixed: the bits of the bound that is held fixed.
        start: the first value of the bound that varies.
        stop: one past its last value.
    """

    etype: str
    sweep: str
    side: str = ""
    fixed: int = 0
    start: int = 0
    stop: int = 0

    @property
    def id(self) -> str:
        """Its name in the record of finished slices."""
        return f"{self.etype}: {self.sweep}: {self.fixed:#x}: {self.start:#x}-{self.stop:#x}"


def swept_types() -> tuple[ElementType, ...]:
    """The element types of 8 and 16 bits."""
    return tuple(etype for etype in load_spec().element_types if etype.width in (8, 16))


def slices(etype: ElementType, *, in_c: bool) -> Iterator[Slice]:
    """The sweeps of an element type, in a fixed order; every pair of bounds is for C alone."""
    if etype.width == 8:
        yield from (Slice(etype.id, TRIPLES, start=n, stop=n + 32) for n in range(0, 256, 32))
        yield Slice(etype.id, TABLE)
        return
    for name, pattern in ends(etype).items():
        for side, sweep in (("max", MIN_SWEEP), ("min", MAX_SWEEP)):
            for start in range(0, 1 << 16, _PLANE):
                yield Slice(etype.id, sweep.format(name), side, pattern, start, start + _PLANE)
    yield Slice(etype.id, SPECIAL)
    yield Slice(etype.id, TABLE)
    if in_c:
        yield from (
            Slice(etype.id, BOUNDS, start=start, stop=start + _MINS) for start in range(0, 1 << 16, _MINS)
        )
    else:
        more = (int(encode(text, etype)) for text in _MORE[etype.family])
        for pattern in dict.fromkeys((*ends(etype).values(), *more)):
            yield from (Slice(etype.id, SPECIAL_BOUND, side, pattern, 0, 1 << 16) for side in ("min", "max"))


def ends(etype: ElementType) -> dict[str, int]:
    """The bounds that bound nothing, by name: the extremes, or both infinities and NaN."""
    if isinstance(etype.bits, FloatBits):
        top = infinity(etype.bits)
        return {"-inf": top | sign_bit(etype.bits), "inf": top, "nan": constant_pattern("nan", etype.bits)}
    return {name: int(encode(name, etype)) for name in ("lowest", "highest")}


def three(etype: ElementType) -> tuple[int, int]:
    """Two X for every pair of bounds: the least number, and a NaN if there is one; the third is min."""
    first, *_, last = ends(etype).values()
    return first, last if isinstance(etype.bits, FloatBits) else int(encode("0", etype))


# --- The implementations that a sweep compares: the C kernels, and `sonnx_clip.clip` ------------------------


Call: TypeAlias = Callable[[Array, int, int, Array], None]
"""Clips ``(x, min, max, y)``, all in bits, into y."""

NAMES = ("c", "numpy")


@dataclass(frozen=True)
class SweepSubject:
    """An implementation under test.

    Args:
        name: ``c``, ``numpy`` or ``module:function``.
        version: what it is, in words.
        digest: of its code and of what its code runs on; results of another digest are not believed.
        open: element type id -> the function that clips.
        pointer: element type id -> the address of a C function, if it is one.
    """

    name: str
    version: str
    digest: str
    open: Callable[[str], Call]
    pointer: Callable[[str], int] | None = None


@cache
def find_subject(name: str) -> SweepSubject:
    """An implementation by its name.

    Raises:
        UserError: there is none of this name, or the C kernels cannot be built.
    """
    if name == "c":
        return _c()
    if name == "numpy":
        folder = Path(c.__file__).parent
        others = (Path(c.__file__), Path(c_build.__file__))
        return _python(name, sonnx_clip.clip, [file for file in folder.glob("*.py") if file not in others])
    module_name, _, function = name.partition(":")
    try:
        module = importlib.import_module(module_name)
        clip = getattr(module, function)
    except (ImportError, AttributeError, ValueError) as error:
        todo = f"known: {', '.join(NAMES)}; your own: module:function, called with (x, min, max, out=)"
        raise UserError(f"there is no implementation `{name}`", todo=todo) from error
    return _python(name, clip, [Path(str(module.__file__))])


def digest_of_files(files: Iterable[Path], *words: str) -> str:
    """One digest of files, in the order of their names, and words."""
    return digest_of_parts([*(file.read_bytes() for file in sorted(files)), *words])


def _c() -> SweepSubject:
    library = c_build.built_file(c.compiler(), c_build.source_files())
    return kernels_of(library, " ".join(c.flags()))


def kernels_of(library: Path, version: str) -> SweepSubject:
    """The kernels in a shared library that was made from generated/c or a copy of it."""
    loaded = ctypes.CDLL(str(library))

    def open_(etype: str) -> Call:
        function = c.function_of(loaded, etype)

        def call(x: Array, lower: int, upper: int, y: Array) -> None:
            function(y.ctypes.data, x.ctypes.data, lower, upper, x.size)

        return call

    def pointer(etype: str) -> int:
        return ctypes.cast(c.function_of(loaded, etype), ctypes.c_void_p).value or 0

    return SweepSubject("c", version, digest_of_files([library], platform.machine()), open_, pointer)


def _python(name: str, clip: Callable[..., Any], files: Iterable[Path]) -> SweepSubject:
    versions = (f"numpy {np.__version__}", f"ml_dtypes {ml_dtypes.__version__}", platform.machine())

    def open_(etype: str) -> Call:
        dtype = numpy_type(etype)
        every = np.arange(1 << 8 * dtype.itemsize).astype(bits_type(etype)).view(dtype)

        def call(x: Array, lower: int, upper: int, y: Array) -> None:
            clip(x.view(dtype), every[lower, ...], every[upper, ...], out=y.view(dtype))

        return call

    return SweepSubject(name, ", ".join(versions[:2]), digest_of_files(files, *versions), open_)
