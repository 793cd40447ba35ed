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
from itertools import product
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
    for file in sorted(folder().glob(f"{key}-*.so")):
        if _is_private(file) and file.name == library_name(key, file):
            return file
    return None


def _keep(key: str, make: Callable[[Path], object]) -> Path:
    """Make a library beside the others and rename it, so that another process sees all of it or nothing.

    Raises:
        UserError: the cache cannot be written, or others can write to it; or as `make`.
    """
    where = folder()
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(where):
            raise UserError(
                "other users can write to this folder of libraries",
                str(where),
                "remove the folder, or restrict its permissions",
            )
        # In the same file system, in which a file is renamed at once.
        with tempfile.TemporaryDirectory(dir=where, prefix=".building-") as beside:
            new = Path(beside, "kernels.so")
            make(new)
            new.chmod(0o500)
            kept = new.rename(where / library_name(key, new))

        for other in where.glob(f"{key}-*.so"):
            if other != kept:
                other.unlink(missing_ok=True)
    except OSError as error:
        message = f"the C kernels cannot be stored: {error.strerror}"
        todo = "check the folder's permissions, or set the environment variable XDG_CACHE_HOME"
        raise UserError(message, str(where), todo) from error
    return kept


def _is_private(path: Path) -> bool:
    """Whether it is a file or folder of this user that only this user can write, and not a link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    # Who can write a library can have this user run any code.
    if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS:
        return False
    return stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)


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
    complaint = ""
    # Not every compiler knows -march=native: clang refuses it for some processors.
    for flags in ((*FLAGS, THIS_PROCESSOR), FLAGS):
        done = _run([*command, *flags, "-E", "-dM", "-x", "c", "-"], command)
        if done.status == 0:
            return Compiler(command, flags, done.output)
        complaint = complaint or _complaint(done)
    raise UserError(f"the C compiler does not work: {complaint}", shlex.join(command), _OTHER)


def _command() -> tuple[str, ...]:
    """The compiler with the words that CC may hold behind it; UserError if there is none."""
    try:
        words_of_cc = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError as error:
        raise UserError(f"CC cannot be read: {error}", "environment variable CC", _OTHER) from error
    if words_of_cc:
        program = words_of_cc[0]
        if shutil.which(program):
            return words_of_cc
        # Another compiler than the one that the user names would be a surprise.
        raise UserError("CC names a missing compiler", program, _OTHER)
    for name in COMPILERS:
        if shutil.which(name):
            return (name,)
    listed = ", ".join(COMPILERS)
    raise UserError(f"there is no C compiler on PATH ({listed})", todo=_OTHER)


def _run(command: Sequence[str], compiler: tuple[str, ...]) -> Ended:
    """Run a command of a compiler; UserError if it cannot be started."""
    done = run_limited(command, None, tied=False)  # a compiler takes what it takes
    if done.unstarted:
        message = f"the C compiler cannot be run: {done.unstarted.strerror}"
        raise UserError(message, shlex.join(compiler), _OTHER)
    return done


def _complaint(done: Ended) -> str:
    message = done.error.decode(errors="backslashreplace").strip()
    return message or f"it ended with status {done.status} without output"


def source_files() -> tuple[Path, ...]:
    """The generated C files, sorted, the header among them; UserError if they have not been generated."""
    where = repo_file(SOURCES)
    files = [*where.glob("*.c"), *where.glob("*.h")]
    if not files:
        message = "the C kernels have not been generated"
        raise UserError(message, str(where), "run: sonnx-clip generate")
    return tuple(sorted(files))


def built_file(compiler: Compiler, files: Sequence[Path]) -> Path:
    """A shared library of C files, cached or compiled now; UserError if the compiler or the cache refuses."""
    # The empty parts keep a word of the command from counting as a flag.
    parts: list[str | bytes] = [*compiler.command, "", *compiler.flags, "", compiler.predefined]
    key = _digest(parts, files)
    # The digest is of the headers, too; the compiler finds these by itself.
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
            complaint = _complaint(done)
            raise UserError(f"the C compiler rejects this code: \n{complaint}", where, _OTHER)

    return _find(key) or _keep(key, compile_to)


def _digest(parts: Sequence[str | bytes], files: Sequence[Path]) -> str:
    contents = [file.read_bytes() for file in files]
    return digest_of_parts([*parts, *contents])[:_KEY_DIGITS]


# --- The functions of a library -------------------------------------------------------------------------

# What C calls the element types: float16 and bfloat16 are uint16_t, as the bits of one.
_C_TYPES: dict[str, Any] = {
    **{dtype.name: getattr(ctypes, f"c_{dtype.name}", ctypes.c_uint16) for dtype in PLANNERS},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def kernel_function(library: ctypes.CDLL, etype: str) -> Any:
    """The C function ``void sonnx_clip_TYPE(T *y, const T *x, T min, T max, size_t n)`` of a library.

    Pointers are passed as integers or ``c_void_p``; bounds of float16 and bfloat16 as bits. Nothing is
    checked: `x` and `y` must hold `n` elements, and be the same memory or disjoint.

    Raises:
        KeyError: there is no such element type.
    """
    number = _C_TYPES[etype]
    function = library[f"sonnx_clip_{etype}"]
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, number, number, ctypes.c_size_t)
    function.restype = None
    return function


def kernel_functions(library: Path) -> Mapping[np.dtype[Any], Any]:
    """The C function of each element type."""
    loaded = ctypes.CDLL(str(library))
    return {dtype: kernel_function(loaded, dtype.name) for dtype in PLANNERS}


def in_c(function: Any, lower: bytes, upper: bytes) -> Callable[[Array, Array], None]:
    """A call ``(x, out)`` of a C function under two bounds, given by their bits.

    `x` and `out` are C-contiguous, aligned, of the type and of one size, and the same memory or disjoint.
    """
    number = function.argtypes[2]
    # From the bits, since a way through Python's floats would change a signalling NaN.
    low = number.from_buffer_copy(lower)
    high = number.from_buffer_copy(upper)
    bits = f"u{len(lower)}"

    def call(x: Array, out: Array) -> None:
        function(
            _address(out.view(bits)),
            _address(x.view(bits)),
            low,
            high,
            out.size,
        )

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
    """The C function of each element type, as `kernel_function`; None for NumPy's kernels.

    Raises:
        UserError: SONNX_CLIP_KERNELS is ``c`` and there is no library, or it is no choice.
    """
    chosen = os.environ.get(VARIABLE, "") or "auto"
    if chosen not in CHOICES:
        raise UserError(
            f"it is `{chosen}`; the choices are {', '.join(CHOICES)}",
            f"environment variable {VARIABLE}",
            "set it to one of them, or unset it",
        )
    if chosen == "numpy":
        return None
    reason = "they are not built for this processor"
    try:
        library = installed_library()
        if library is not None:
            return kernel_functions(library)
    except (UserError, OSError) as error:
        reason = str(error)
    # With ``auto`` the result is the same by NumPy, so that nobody has to know why.
    if chosen == "c":
        raise UserError(f"the C kernels cannot be used: {reason}", todo=f"run: {BUILD}")
    return None


def installed_library() -> Path | None:
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
    key = key_of_installed()
    built = built_file(find_compiler(), source_files())
    installed_before = _find(key)
    if installed_before is not None and installed_before.name == library_name(key, built):
        return installed_before  # which was tried then
    _try(kernel_functions(built))
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
    from sonnx_clip.spec.element_types import known_element_types

    etypes, _ = known_element_types()
    for etype in etypes:
        if etype.numpy is None:
            continue
        dtype = next(known for known in functions if known.name == etype.id)
        patterns = np.array(special_patterns(etype), f"u{dtype.itemsize}")
        for lower, upper in product(patterns, repeat=2):
            if not _is_correct(functions[dtype], patterns, dtype, lower, upper):
                raise UserError(
                    "the compiled kernel gives a wrong answer",
                    f"{etype.id}, min {lower:#x}, max {upper:#x}",
                    "use another compiler, or other flags in CC",
                )


def _is_correct(
    function: Any,
    patterns: Array,
    dtype: np.dtype[Any],
    lower: Any,
    upper: Any,
) -> bool:
    """Whether a C function gives the oracle's answers under two bounds, in place and elsewhere."""
    from sonnx_clip.oracle import load_oracle

    low = np.array(lower).view(dtype)
    high = np.array(upper).view(dtype)
    answers = load_oracle().clip(patterns.view(dtype), low, high)
    expected = np.resize(answers.view(patterns.dtype), _LENGTH)

    x = np.resize(patterns, _LENGTH)
    elsewhere = np.zeros_like(x)
    in_place = x.copy()
    call = in_c(function, lower.tobytes(), upper.tobytes())
    call(x, elsewhere)
    call(in_place, in_place)
    return np.array_equal(elsewhere, expected) and np.array_equal(in_place, expected)


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
