"""What is judged, and by what: where any of it changes, no result in a journal is that of the same unit.

Of a runtime that the project knows it is all that `conditions` says. Of any other it is less: what it says of
its version, and the bytes of the files that its name names. What these load in turn is not seen.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.conform.conditions import conditions, conditions_of_all, key_of, releases
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.installed import CPUINFO
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.runtime_names import command_name, file_name, library_name, opener_name, program_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHECKER = "sonnx_clip.conform.campaign"
"""The module that makes the verdicts: all that it imports takes part."""


def identity(runtime: str, version: str, checker: Sequence[str] = (CHECKER,), cpuinfo: Path = CPUINFO) -> str:
    """A digest of the runtime, the specification, the checker and the machine.

    Args:
        runtime: the name of a runtime.
        version: what it says that it is.
        checker: the modules that make the verdicts.
        cpuinfo: the file that says which processors there are.

    Raises:
        UserError: there is no such runtime, or no C compiler for one that needs it.
    """
    return key_of({**_parts(runtime, checker, cpuinfo), "version": version})


def comparable_parts(runtime: str) -> dict[str, str]:
    """The same of this machine, part by part, for a comparison with others.

    Packages are compared by what they say to consist of, and the sizes of their files: when a file was
    written differs from machine to machine. UserError as for `identity`.
    """
    return {**_parts(runtime, (CHECKER,), CPUINFO), "packages": releases(runtime)}


def _parts(runtime: str, checker: Sequence[str], cpuinfo: Path) -> dict[str, str]:
    found = conditions(runtime, checker, {}, cpuinfo=cpuinfo)
    if found is not None:
        return found
    files = digest_of_parts(part for file in files_named(runtime) for part in (file.name, _bytes(file)))
    return {**conditions_of_all(checker, {}, cpuinfo=cpuinfo), "runtime": runtime, "its files": files}


def files_named(runtime: str) -> Iterator[Path]:
    """The files that a name of a runtime names, as far as they exist."""
    target = opener_name(runtime) or runtime
    words: list[str] = []
    if (program := program_name(runtime)) is not None:
        words = program.words
    elif (command := command_name(runtime)) is not None:
        words = shlex.split(command)
    elif (library := library_name(runtime)) is not None:
        words = list(library)
    elif (file := file_name(target)) is not None:
        words = [file[0]]
    else:
        words = [str(found) for found in _files_of_module(module_of(target))]
    for word in words:
        if (path := Path(word)).is_file():
            yield path


def _files_of_module(name: str) -> Iterator[Path]:
    """The file of a module where Python would look for it; nothing of it is imported."""
    tail = Path(*name.split("."))
    for folder in sys.path:
        base = Path(folder or ".")
        for path in (base / tail / "__init__.py", base / tail.with_suffix(".py")):
            if path.is_file():
                yield path
                return


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
