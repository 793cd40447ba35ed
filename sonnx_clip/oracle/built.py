"""The C kernels that `sonnx_clip.clip` uses: built when a person says so, found when they are needed.

`install` builds them, tries them on the special values of every type and keeps the library in the user's
cache. `kernels` finds it again, and never runs a compiler: it compares digests. The library's name holds
two: one of the C, of the processor's features and of the system, one of its own bytes. So what was built
from other C or for another processor is not found, and what was damaged is not loaded.

The environment variable SONNX_CLIP_KERNELS chooses: ``numpy`` for the kernels of NumPy alone, ``c`` for an
error where the C kernels are not built, ``auto`` (the default) for C where they are.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle.c import function_of
from sonnx_clip.oracle.c_build import (
    KEY_DIGITS,
    built_file,
    find_compiler,
    library_name,
    source_files,
)
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import cache_folder, is_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.oracle.formats import Array

VARIABLE = "SONNX_CLIP_KERNELS"
CHOICES = ("auto", "numpy", "c")
BUILD = "python -m sonnx_clip.oracle.built"
CPUINFO = Path("/proc/cpuinfo")

_FOLDER = "for-clip"
_HEAD = 1 << 16  # of cpuinfo: it repeats itself for every core
_FEATURES = ("flags", "Features", "isa")
# Long enough for the widest vectors and a rest, whatever they are.
_LENGTH = 1031


@cache
def kernels(cpuinfo: Path = CPUINFO) -> Mapping[np.dtype[Any], Any] | None:
    """The C function of each element type, as `sonnx_clip.oracle.c.function_of`; None for NumPy's kernels.

    Args:
        cpuinfo: the file that says which features the processor has.

    Raises:
        UserError: SONNX_CLIP_KERNELS is ``c`` and there is no library, or it is no choice.
    """
    chosen = os.environ.get(VARIABLE, "") or "auto"
    if chosen not in CHOICES:
        what = f"it is `{chosen}`, and the choices are {', '.join(CHOICES)}"
        raise UserError(what, f"environment variable {VARIABLE}", "name one of them, or none")
    if chosen == "numpy":
        return None
    try:
        found = installed(cpuinfo=cpuinfo)
        if found is not None:
            return _functions(found)
        why = "they are not built for this processor"
    except (UserError, OSError) as error:
        why = str(error)
    if chosen == "c":
        raise UserError(f"the C kernels cannot be used: {why}", todo=f"run: {BUILD}")
    return None


def installed(files: Sequence[Path] | None = None, cpuinfo: Path = CPUINFO) -> Path | None:
    """The library that was built for this processor from the C that is here; None if there is none.

    What others could have written to is not taken.

    Args:
        files: the C and its header; None for `source_files`.
        cpuinfo: the file that says which features the processor has.

    Raises:
        UserError: the C, the cache or the processor's features cannot be found.
        OSError: a file cannot be read.
    """
    folder, key = cache_folder() / _FOLDER, _key(files, cpuinfo)
    if not _is_private(folder):
        return None
    for file in sorted(folder.glob(f"{key}-*.so")):
        if _is_private(file) and file.name == library_name(key, file):
            return file
    return None


def install(files: Sequence[Path] | None = None, cpuinfo: Path = CPUINFO) -> Path:
    """Build the library, try it and keep it for `sonnx_clip.clip`; what was kept before is replaced.

    What is kept already, byte for byte, was tried when it was installed.

    Args:
        files: as for `installed`.
        cpuinfo: likewise.

    Raises:
        UserError: there is no compiler, or it refuses the C; what it made gives a wrong answer; the cache
            cannot be written; or the processor's features cannot be read.
    """
    sources = tuple(files or source_files())
    key = _key(sources, cpuinfo)
    built = built_file(find_compiler(), sources)
    name = library_name(key, built)
    if _is_kept(name, sources, cpuinfo):
        return cache_folder() / _FOLDER / name
    _try(_functions(built))
    folder = cache_folder() / _FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(folder):
            what, todo = "others can write to this folder of libraries", "remove it, or its permissions"
            raise UserError(what, str(folder), todo)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as beside:
            new = Path(beside, "kernels.so")
            shutil.copyfile(built, new)
            new.chmod(0o500)
            kept = new.rename(folder / library_name(key, new))
        for other in folder.glob(f"{key}-*.so"):
            if other != kept:
                other.unlink(missing_ok=True)
    except OSError as error:
        todo = "check the folder's permissions, or name another in the environment variable XDG_CACHE_HOME"
        raise UserError(f"the C kernels cannot be kept: {error.strerror}", str(folder), todo) from error
    kernels.cache_clear()
    return kept


def _is_kept(name: str, files: Sequence[Path], cpuinfo: Path) -> bool:
    """Whether the library that is found has this name, which holds a digest of its bytes."""
    try:
        found = installed(files, cpuinfo)
    except OSError:
        return False
    return found is not None and found.name == name


def _key(files: Sequence[Path] | None = None, cpuinfo: Path = CPUINFO) -> str:
    """The digest of what a library must have been built from and for."""
    system = (platform.system(), platform.machine(), *platform.libc_ver(), processor_features(cpuinfo))
    return digest_of_parts([*system, *(file.read_bytes() for file in files or source_files())])[:KEY_DIGITS]


def processor_features(cpuinfo: Path = CPUINFO) -> str:
    """The features of the processor, in the system's words; UserError if it does not say them."""
    try:
        with cpuinfo.open("rb") as opened:
            lines = opened.read(_HEAD).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, colon, features = line.partition(":")
        if colon and name.strip() in _FEATURES:
            return " ".join(sorted(features.split()))
    todo = "nothing is needed: `sonnx_clip.clip` uses the kernels of NumPy"
    raise UserError("the features of the processor cannot be read", str(cpuinfo), todo)


def _is_private(path: Path) -> bool:
    """Whether it is a file or folder of this user, to which nobody else can write; no link."""
    try:
        found = path.lstat()
    except OSError:
        return False
    plain = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
    return plain and is_private(found)


def _functions(library: Path) -> Mapping[np.dtype[Any], Any]:
    loaded = ctypes.CDLL(str(library))
    return {dtype: function_of(loaded, dtype.name) for dtype in PLANNERS}


def in_c(function: Any, lower: bytes, upper: bytes) -> Callable[[Array, Array], None]:
    """A call ``(x, out)`` of a C function under two bounds, given by their bits.

    `x` and `out` are C-contiguous, aligned, of the type and of one size, and the same memory or disjoint.
    """
    number = function.argtypes[2]
    # From the bits, since a way through Python's floats would change a signalling NaN.
    low, high = number.from_buffer_copy(lower), number.from_buffer_copy(upper)
    bits = f"u{len(lower)}"

    def call(x: Array, out: Array) -> None:
        function(address(out.view(bits)), address(x.view(bits)), low, high, out.size)

    return call


_from_buffer: Any = (ctypes.c_char * 0).from_buffer


def address(array: Array) -> int:
    """Where the first entry of a C-contiguous array is, in a quarter of the time of ``array.ctypes.data``."""
    try:
        return ctypes.addressof(_from_buffer(array))
    except (TypeError, ValueError):  # read-only
        address: int = array.ctypes.data
        return address


def _try(functions: Mapping[np.dtype[Any], Any]) -> None:
    """UserError if an answer to special values, in place or elsewhere, is not what the oracle says."""
    # The specification is loaded here alone: `clip` needs none.
    from sonnx_clip.language.special import special_patterns
    from sonnx_clip.oracle import load_oracle
    from sonnx_clip.spec import load_spec

    clip = load_oracle().clip
    for etype in load_spec().element_types:
        if etype.numpy is None:
            continue
        dtype = next(known for known in functions if known.name == etype.id)
        bits = np.dtype(f"u{dtype.itemsize}")
        pool = np.array(special_patterns(etype), bits)
        x = np.resize(pool, _LENGTH)
        for lower in pool:
            for upper in pool:
                due = np.resize(clip(pool.view(dtype), *_bounds(dtype, lower, upper)).view(bits), _LENGTH)
                call = in_c(functions[dtype], lower.tobytes(), upper.tobytes())
                elsewhere, here = np.zeros_like(x), x.copy()
                call(x, elsewhere)
                call(here, here)
                if not (np.array_equal(elsewhere, due) and np.array_equal(here, due)):
                    where = f"{etype.id}, min {lower:#x}, max {upper:#x}"
                    todo = "take another compiler, or other flags in CC"
                    raise UserError("the compiled kernel gives a wrong answer", where, todo)


def _bounds(dtype: np.dtype[Any], *bits: Any) -> Sequence[Array]:
    return [np.array(bound).view(dtype) for bound in bits]


def main(files: Sequence[Path] | None = None, cpuinfo: Path = CPUINFO) -> int:
    """Build the kernels from and for what `install` takes; the exit status."""
    try:
        kept = install(files, cpuinfo)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"sonnx_clip.clip uses the C kernels of {kept}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
