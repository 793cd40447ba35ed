"""The implementations that a sweep compares: the C kernels, and `sonnx_clip.clip`."""

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
from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.oracle import c, c_build
from sonnx_clip.root.digest import digest_of_parts
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

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
