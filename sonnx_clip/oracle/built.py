"""The C kernels of generated/c as shared libraries in the user's cache.

`built_file` compiles them by the system's compiler where they are not kept yet. `install` builds them for
`sonnx_clip.clip`, tries them on the special values of every type and keeps them under a name that `kernels`
finds without running a compiler.

The name of a library holds a digest of its bytes, so a damaged one is not loaded, and a digest of what it was
made from and for: the C and, for `built_file`, the compiler with its flags and macros; for `install` the
system and the processor's features.

The environment variable SONNX_CLIP_KERNELS chooses: ``numpy`` for the kernels of NumPy alone, ``c`` for an
error where the C kernels are not built, ``auto`` (the default) for C where they are.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file, digest_of_parts
from sonnx_clip.root.folders import cache_folder, repo_file
from sonnx_clip.root.run_program import Ended, run_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.oracle.float_formats import Array

VARIABLE = "SONNX_CLIP_KERNELS"
CHOICES = ("auto", "numpy", "c")
BUILD = "python -m sonnx_clip.oracle.built"
CPUINFO = Path("/proc/cpuinfo")
SOURCES = "generated/c"
COMPILERS = ("cc", "gcc", "clang")
# Without traps comparisons may be made for both branches at once: it concerns exception flags, no value.
FLAGS = ("-std=c99", "-O3", "-ffp-contract=off", "-fno-trapping-math")
THIS_PROCESSOR = "-march=native"

_KEY_DIGITS = 24
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HEAD = 1 << 16  # of cpuinfo: it repeats itself for every core
_FEATURES = ("flags", "Features", "isa")
_LENGTH = 1031  # long enough for the widest vectors and a rest
_OTHER = "install gcc or clang, or set the environment variable CC"


# --- The cache ------------------------------------------------------------------------------------------


def folder() -> Path:
    """The folder in which libraries are kept; UserError if there is no home."""
    return cache_folder() / "kernels"


def library_name(key: str, library: Path) -> str:
    """The name that a library must have; a damaged one has another."""
    return f"{key}-{digest_of_file(library)[:_KEY_DIGITS]}.so"


def _find(key: str) -> Path | None:
    """The complete library with this key that only this user can have written, or None."""
    if not _is_private(folder()):
        return None
    found = sorted(folder().glob(f"{key}-*.so"))
    return next(
        (file for file in found if _is_private(file) and file.name == library_name(key, file)), None
    )


def _keep(key: str, make: Callable[[Path], object]) -> Path:
    """Make a library beside the others and rename it, so that another process sees all of it or nothing.

    Raises:
        UserError: the cache cannot be written, or others can write to it; or as `make`.
    """
    where = folder()
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(where):
            what, todo = (
                "other users can write to this folder of libraries",
                "remove the folder, or restrict its permissions",
            )
            raise UserError(what, str(where), todo)
        with tempfile.TemporaryDirectory(dir=where, prefix=".building-") as beside:
            new = Path(beside, "kernels.so")
            make(new)
            new.chmod(0o500)
            kept = new.rename(where / library_name(key, new))
        for other in where.glob(f"{key}-*.so"):
            if other != kept:
                other.unlink(missing_ok=True)
    except OSError as error:
        todo = "check the folder's permissions, or set the environment variable XDG_CACHE_HOME"
        raise UserError(
            f"the C kernels cannot be stored: {error.strerror}", str(where), todo
        ) from error
    return kept


def _is_private(path: Path) -> bool:
    """Whether it is a file or folder of this user that only this user can write, and not a link."""
    try:
        found = path.lstat()
    except OSError:
        return False
    ours = found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
    return ours and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))


# --- Compiling ------------------------------------------------------------------------------------------


class Compiler(NamedTuple):
    """A compiler with the words that CC may hold behind it, its flags, and the macros that it predefines."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    predefined: bytes


def find_compiler() -> Compiler:
    """The compiler that CC names, or the first that is installed, with the flags that it accepts.

    Raises:
        UserError: there is none, or it is no compiler like GCC.
    """
    command = _command()
    words = ""
    for flags in ((*FLAGS, THIS_PROCESSOR), FLAGS):
        done = _run([*command, *flags, "-E", "-dM", "-x", "c", "-"], command)
        if done.status == 0:
            return Compiler(command, flags, done.output)
        words = words or _words(done)
    raise UserError(f"the C compiler does not work: {words}", shlex.join(command), _OTHER)


def _command() -> tuple[str, ...]:
    try:
        named = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError as error:
        raise UserError(f"CC cannot be read: {error}", "environment variable CC", _OTHER) from error
    for command in [named] if named else [(name,) for name in COMPILERS]:
        if shutil.which(command[0]):
            return command
    if named:
        raise UserError("CC names a missing compiler", named[0], _OTHER)
    raise UserError(f"there is no C compiler on PATH ({', '.join(COMPILERS)})", todo=_OTHER)


def _run(command: Sequence[str], compiler: tuple[str, ...]) -> Ended:
    done = run_limited(command, None, tied=False)  # a compiler takes what it takes
    if done.unstarted:
        what = f"the C compiler cannot be run: {done.unstarted.strerror}"
        raise UserError(what, shlex.join(compiler), _OTHER)
    return done


def _words(done: Ended) -> str:
    said = done.error.decode(errors="backslashreplace").strip()
    return said or f"it ended with status {done.status} without output"


def source_files() -> tuple[Path, ...]:
    """The generated C files, sorted, the header among them; UserError if they have not been generated."""
    where = repo_file(SOURCES)
    files = tuple(sorted([*where.glob("*.c"), *where.glob("*.h")]))
    if not files:
        raise UserError(
            "the C kernels have not been generated", str(where), "run: sonnx-clip generate"
        )
    return files


def built_file(compiler: Compiler, files: Sequence[Path]) -> Path:
    """A shared library of C files, cached or compiled now; UserError if the compiler or the cache refuses."""
    words: list[str | bytes] = [*compiler.command, "", *compiler.flags, "", compiler.predefined]
    key = _digest(words, files)
    sources = [str(file) for file in files if file.suffix == ".c"]

    def compile_to(library: Path) -> None:
        command = [
            *compiler.command,
            *compiler.flags,
            "-fPIC",
            "-shared",
            "-o",
            str(library),
            *sources,
        ]
        done = _run(command, compiler.command)
        if done.status != 0 or not library.is_file():
            where = shlex.join([*compiler.command, *compiler.flags])
            raise UserError(f"the C compiler rejects this code: \n{_words(done)}", where, _OTHER)

    return _find(key) or _keep(key, compile_to)


def _digest(words: Sequence[str | bytes], files: Sequence[Path]) -> str:
    return digest_of_parts([*words, *(file.read_bytes() for file in files)])[:_KEY_DIGITS]


# --- The functions of a library -------------------------------------------------------------------------

# What C calls the element types: float16 and bfloat16 are uint16_t, as the bits of one.
_C_TYPES: dict[str, Any] = {
    **{dtype.name: getattr(ctypes, f"c_{dtype.name}", ctypes.c_uint16) for dtype in PLANNERS},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def function_of(library: ctypes.CDLL, etype: str) -> Any:
    """The C function ``void sonnx_clip_TYPE(T *y, const T *x, T min, T max, size_t n)`` of a library.

    Pointers are passed as integers or ``c_void_p``; bounds of float16 and bfloat16 as bits. Nothing is
    checked: `x` and `y` must hold `n` elements, and be the same memory or disjoint.

    Raises:
        KeyError: there is no such element type.
    """
    number = _C_TYPES[etype]
    found = library[f"sonnx_clip_{etype}"]
    found.argtypes = (ctypes.c_void_p, ctypes.c_void_p, number, number, ctypes.c_size_t)
    found.restype = None
    return found


def functions_of(library: Path) -> Mapping[np.dtype[Any], Any]:
    """The C function of each element type."""
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
        function(_address(out.view(bits)), _address(x.view(bits)), low, high, out.size)

    return call


_from_buffer: Any = (ctypes.c_char * 0).from_buffer


def _address(array: Array) -> int:
    """Where the first entry of a C-contiguous array is, in a quarter of the time of ``array.ctypes.data``."""
    try:
        return ctypes.addressof(_from_buffer(array))
    except (TypeError, ValueError):  # read-only
        address: int = array.ctypes.data
        return address


# --- What `sonnx_clip.clip` uses ------------------------------------------------------------------------


@cache
def kernels() -> Mapping[np.dtype[Any], Any] | None:
    """The C function of each element type, as `function_of`; None for NumPy's kernels.

    Raises:
        UserError: SONNX_CLIP_KERNELS is ``c`` and there is no library, or it is no choice.
    """
    chosen = os.environ.get(VARIABLE, "") or "auto"
    if chosen not in CHOICES:
        what = f"it is `{chosen}`; the choices are {', '.join(CHOICES)}"
        raise UserError(
            what, f"environment variable {VARIABLE}", "set it to one of them, or unset it"
        )
    why = "they are not built for this processor"
    try:
        if chosen != "numpy" and (found := installed()) is not None:
            return functions_of(found)
    except (UserError, OSError) as error:
        why = str(error)
    if chosen == "c":
        raise UserError(f"the C kernels cannot be used: {why}", todo=f"run: {BUILD}")
    return None


def installed() -> Path | None:
    """The library that was installed for this processor from this C, or None; UserError or OSError if it
    cannot be looked for.
    """
    return _find(key_of_installed())


def install() -> Path:
    """Build the library, try it unless it is kept already, and keep it for `sonnx_clip.clip`.

    Raises:
        UserError: there is no compiler, or it refuses the C; what it made gives a wrong answer; the cache
            cannot be written; or the processor's features cannot be read.
    """
    key, built = key_of_installed(), built_file(find_compiler(), source_files())
    found = _find(key)
    if found is not None and found.name == library_name(key, built):
        return found
    _try(functions_of(built))
    kept = _keep(key, lambda new: shutil.copyfile(built, new))
    kernels.cache_clear()
    return kept


def key_of_installed() -> str:
    """The digest of what a library must have been built from and for."""
    system = (platform.system(), platform.machine(), *platform.libc_ver(), processor_features())
    return _digest(system, source_files())


def processor_features() -> str:
    """The features of the processor, in the system's words; UserError if it does not list them."""
    try:
        with CPUINFO.open("rb") as opened:
            lines = opened.read(_HEAD).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, colon, features = line.partition(":")
        if colon and name.strip() in _FEATURES:
            return " ".join(sorted(features.split()))
    todo = "no action needed: `sonnx_clip.clip` uses the NumPy kernels"
    raise UserError("the features of the processor cannot be read", str(CPUINFO), todo)


def _try(functions: Mapping[np.dtype[Any], Any]) -> None:
    """UserError if an answer to special values, in place or elsewhere, is not that of the oracle."""
    # The element types are loaded here alone: `clip` needs none.
    from sonnx_clip.language.special import special_patterns
    from sonnx_clip.oracle import load_oracle
    from sonnx_clip.spec.element_types import known_element_types

    etypes, _ = known_element_types()
    for etype in etypes:
        if etype.numpy is None:
            continue
        dtype = next(known for known in functions if known.name == etype.id)
        pool = np.array(special_patterns(etype), f"u{dtype.itemsize}")
        x = np.resize(pool, _LENGTH)
        for lower in pool:
            for upper in pool:
                bounds = [np.array(bound).view(dtype) for bound in (lower, upper)]
                due = np.resize(
                    load_oracle().clip(pool.view(dtype), *bounds).view(pool.dtype), _LENGTH
                )
                call = in_c(functions[dtype], lower.tobytes(), upper.tobytes())
                elsewhere, here = np.zeros_like(x), x.copy()
                call(x, elsewhere)
                call(here, here)
                if not (np.array_equal(elsewhere, due) and np.array_equal(here, due)):
                    where = f"{etype.id}, min {lower:#x}, max {upper:#x}"
                    todo = "use another compiler, or other flags in CC"
                    raise UserError("the compiled kernel gives a wrong answer", where, todo)


def main() -> int:
    """Build the kernels for `sonnx_clip.clip`; the exit status."""
    try:
        kept = install()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"sonnx_clip.clip uses the C kernels of {kept}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
