"""What a verdict depends on: where any of it changes, no stored result is that of the same unit.

For a runtime that the project knows this includes its installed packages, so `check` keeps its verdicts. For
any other it is the version that it reports and the bytes of the files in its name; what these load in turn
is not seen, so its results are used again only from a journal.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.installed import distribution, our_code, processor, release
from sonnx_clip.runtimes.find_runtime import command_words, file_function, module_of, split_name
from sonnx_clip.runtimes.runtime import RUNTIMES, code_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = ("CC", "CFLAGS", "GLIBC_TUNABLES", "MALLOC_", "MKL_", "NPY_", "OMP_", "ONNX", "OPENBLAS_",
              "ORT_", "LD_", "PYTHON", "SONNX_CLIP_KERNELS", "XDG_CACHE_HOME")  # fmt: skip
"""Prefixes of environment variables that affect results."""

_CHECKER_PACKAGES = ("numpy", "ml_dtypes")
_PACKAGES = {
    "sonnx": (),
    "sonnx-c": (),
    "numpy": (),
    "onnxruntime": ("onnxruntime", "onnx", "protobuf"),
    "onnx-reference": ("onnx", "protobuf"),
}


def cache_identity(runtime: str) -> str | None:
    """The identity under which verdicts are kept without a journal; None if it cannot be known.

    Raises:
        UserError: there is no C compiler, for a runtime that needs one.
    """
    packages = {name: distribution(name) for name in (*_CHECKER_PACKAGES, *_PACKAGES.get(runtime, ()))}
    if runtime not in RUNTIMES or None in packages.values():
        return None
    return _digest({**_parts(runtime), "packages": str(packages)})


def identity(runtime: str, version: str) -> str:
    """A digest of the runtime, the specification, the checker and the machine.

    `version` is the one that it reports.

    Raises:
        UserError: there is no such runtime, or no C compiler for one that needs it.
    """
    return cache_identity(runtime) or _digest({**_parts(runtime), "version": version})


def comparable_parts(runtime: str) -> dict[str, str]:
    """The parts of the identity that can be compared between machines; UserError as for `identity`.

    Packages are compared by their lists of files and the sizes of these: times differ between machines.
    """
    names = (*_CHECKER_PACKAGES, *_PACKAGES.get(runtime, ()))
    packages = "; ".join(f"{name} {release(name)}" for name in names)
    return {**_parts(runtime), "packages": packages}


def _digest(parts: dict[str, str]) -> str:
    return digest_of_parts(text for item in parts.items() for text in item)


def _parts(runtime: str) -> dict[str, str]:
    """Everything but packages and versions, by name."""
    found = {"runtime": runtime}
    if runtime in RUNTIMES:
        found |= {"its code": code_digest(runtime) or "", "its library": _library(runtime)}
    else:
        named = [text for file in files_named(runtime) for text in (file.name, _bytes(file))]
        found["its files"] = digest_of_parts(named)
    return {
        **found,
        "checker": our_code(),
        "spec": digest_of_parts(_bytes(repo_file(path)) for path in ("spec/clip.yaml", ORACLE_FILE)),
        "processor": processor(),
        "system": f"{platform.platform()} {' '.join(platform.libc_ver())}",
        "Python": f"{sys.version} {sys.implementation.name}",
        "environment": digest_of_parts(f"{name}={value}" for name, value in variables().items()),
    }


def variables() -> dict[str, str]:
    """The environment variables on which a verdict may depend, sorted by name."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)}


def _library(runtime: str) -> str:
    """The library of C kernels that a runtime calls; its name holds a digest of its bytes."""
    if runtime == "sonnx":  # uses it where it has been built
        from sonnx_clip.oracle.built import installed

        try:
            found = installed()
        except (UserError, OSError) as error:
            return str(error)
        return "none" if found is None else found.name
    if runtime == "sonnx-c":  # builds it
        from sonnx_clip.oracle.built import built_file, find_compiler, source_files

        return built_file(find_compiler(), source_files()).name
    return ""


def files_named(runtime: str) -> Iterator[Path]:
    """The existing files in the name of a runtime."""
    kind, options, target = split_name(runtime)
    if kind in ("exec", "onnx-cmd"):
        words = command_words(target)
    elif kind == "so":
        words = [options, target]
    elif (file := file_function(target)) is not None:
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
    except OSError:  # reported by whoever needs it
        return b""
