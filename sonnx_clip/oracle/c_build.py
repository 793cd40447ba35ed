"""The C kernels, compiled on demand by the system's compiler and kept in the user's cache.

A library is kept under a name that holds two digests: one of what it was made from (sources, flags, and all
that the compiler predefines: its version and the processor's instructions), one of its own bytes.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file, digest_of_parts, make_folder
from sonnx_clip.root.folders import cache_folder, repo_file
from sonnx_clip.root.run_program import Ended, run_limited

SOURCES = "generated/c"
COMPILERS = ("cc", "gcc", "clang")
# Without traps comparisons may be made for both branches at once: it concerns exception flags, no value.
FLAGS = ("-std=c99", "-O3", "-ffp-contract=off", "-fno-trapping-math")
THIS_PROCESSOR = "-march=native"

KEY_DIGITS = 24
_OTHER = "install gcc or clang, or name another compiler in the environment variable CC"


@dataclass(frozen=True)
class Compiler:
    """A compiler and how it is called.

    Args:
        command: the compiler, and the words that CC may hold behind it.
        flags: what it is given, without ``-shared -fPIC``.
        predefined: the macros that it defines under these flags.
    """

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
        asked = [*command, *flags, "-E", "-dM", "-x", "c", "-"]
        done = _run(asked, command)
        if done.status == 0:
            return Compiler(command, flags, done.output)
        words = words or _words(done)
    raise UserError(f"the C compiler does not work: {words}", shlex.join(command), _OTHER)


def _command() -> tuple[str, ...]:
    try:
        named = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError as error:
        raise UserError(f"CC cannot be read: {error}", "environment variable CC", _OTHER) from error
    if named and not shutil.which(named[0]):
        raise UserError("CC names a compiler that is not there", named[0], _OTHER)
    installed = [(name,) for name in COMPILERS if shutil.which(name)]
    if not named and not installed:
        raise UserError(f"there is no C compiler on PATH ({', '.join(COMPILERS)})", todo=_OTHER)
    return named or installed[0]


def _run(command: list[str], compiler: tuple[str, ...]) -> Ended:
    done = run_limited(command, None, tied=False)  # a compiler takes what it takes
    if done.unstarted:
        what = f"the C compiler cannot be run: {done.unstarted.strerror}"
        raise UserError(what, shlex.join(compiler), _OTHER)
    return done


def _words(done: Ended) -> str:
    """What a compiler said, or how it ended if it said nothing."""
    said = done.error.decode(errors="backslashreplace").strip()
    return said or f"it ended with status {done.status} and said nothing"


def source_files() -> tuple[Path, ...]:
    """The generated C files, sorted, the header among them.

    Raises:
        UserError: they have not been generated.
    """
    folder = repo_file(SOURCES)
    files = tuple(sorted([*folder.glob("*.c"), *folder.glob("*.h")]))
    if not files:
        raise UserError("the C kernels have not been generated", str(folder), "run `sonnx-clip generate`")
    return files


def built_library(compiler: Compiler) -> ctypes.CDLL:
    """The kernels as a shared library, from the cache or compiled now; UserError as `built_file`."""
    return ctypes.CDLL(str(built_file(compiler, source_files())))


def built_file(compiler: Compiler, files: tuple[Path, ...]) -> Path:
    """A shared library of C files and their headers, from the cache or compiled now.

    Raises:
        UserError: the compiler refuses them, or the cache cannot be written.
    """
    folder, key = cache_folder(), _key(compiler, files)
    for kept in sorted(folder.glob(f"{key}-*.so")):
        if kept.name == library_name(key, kept):
            return kept
        with suppress(FileNotFoundError):  # another process has removed what is damaged
            kept.unlink()
    return _compiled(compiler, files, folder, key)


def _key(compiler: Compiler, files: tuple[Path, ...]) -> str:
    words = (*compiler.command, "", *compiler.flags, "")
    parts: list[bytes | str] = [*words, compiler.predefined, *(file.read_bytes() for file in files)]
    return digest_of_parts(parts)[:KEY_DIGITS]


def library_name(key: str, library: Path) -> str:
    """The name that a library must have; a damaged one has another."""
    return f"{key}-{digest_of_file(library)[:KEY_DIGITS]}.so"


def _compiled(compiler: Compiler, files: tuple[Path, ...], folder: Path, key: str) -> Path:
    """Compile beside the cache's files and rename, so that another process sees all of it or nothing."""
    make_folder(folder)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as beside:
            new = Path(beside, "sonnx_clip.so")
            _compile(compiler, files, new)
            return new.rename(folder / library_name(key, new))
    except OSError as error:
        todo = "check the folder's permissions, or name another in the environment variable XDG_CACHE_HOME"
        raise UserError(f"the C kernels cannot be kept: {error.strerror}", str(folder), todo) from error


def _compile(compiler: Compiler, files: tuple[Path, ...], library: Path) -> None:
    sources = [str(file) for file in files if file.suffix == ".c"]
    command = [*compiler.command, *compiler.flags, "-fPIC", "-shared", "-o", str(library), *sources]
    done = _run(command, compiler.command)
    if done.status != 0 or not library.is_file():
        where = shlex.join([*compiler.command, *compiler.flags])
        raise UserError(f"the C compiler refuses this code:\n{_words(done)}", where, _OTHER)
