"""What a verdict depends on: where any of it changes, no stored result is that of the same unit.

For a runtime that the project knows this includes its installed packages, so `check` keeps its verdicts. For
any other it is the version that it reports and the bytes of the files in its name; what these load in turn
is not seen, so its results are used again only from a journal.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.oracle import ORACLE_FILE, built
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.installed import distribution, our_code, processor, release
from sonnx_clip.runtimes.find_runtime import command_words, file_function, module_of, split_name
from sonnx_clip.runtimes.runtime import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = ("CC", "CFLAGS", "GLIBC_TUNABLES", "MALLOC_", "MKL_", "NPY_", "OMP_", "ONNX", "OPENBLAS_",
              "ORT_", "LD_", "PYTHON", "SONNX_CLIP_KERNELS", "XDG_CACHE_HOME")  # fmt: skip
"""Prefixes of environment variables that affect results."""

_CHECKER_PACKAGES = ("numpy", "ml_dtypes")
_PACKAGES = {"onnxruntime": ("onnxruntime", "onnx", "protobuf"), "onnx-reference": ("onnx", "protobuf")}


def cache_identity(runtime: str) -> str | None:
    """The identity under which verdicts are kept without a journal; None if it cannot be known.

    Raises:
        UserError: there is no C compiler, for a runtime that needs one.
    """
    packages = {name: distribution(name) for name in _packages(runtime)}
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
    packages = "; ".join(f"{name} {release(name)}" for name in _packages(runtime))
    return {**_parts(runtime), "packages": packages}


def _packages(runtime: str) -> tuple[str, ...]:
    return *_CHECKER_PACKAGES, *_PACKAGES.get(runtime, ())


def _digest(parts: dict[str, str]) -> str:
    return digest_of_parts(text for item in parts.items() for text in item)


def _parts(runtime: str) -> dict[str, str]:
    """Everything but packages and versions, by name; our own runtimes are part of the checker."""
    found = {"runtime": runtime}
    if runtime in RUNTIMES:
        found["its library"] = _library(runtime)
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
    if runtime == "sonnx-c":  # builds it
        return built.built_file(built.find_compiler(), built.source_files()).name
    try:
        found = built.installed() if runtime == "sonnx" else None  # uses it where it has been built
    except (UserError, OSError) as error:
        return str(error)
    return "none" if found is None else found.name


def files_named(runtime: str) -> Iterator[Path]:
    """The existing files in the name of a runtime; of a module, that where Python would look for it."""
    kind, options, target = split_name(runtime)
    if kind in ("exec", "onnx-cmd"):
        words = command_words(target)
    elif kind == "so":
        words = [options, target]
    elif (file := file_function(target)) is not None:
        words = [file[0]]
    else:
        words, places = [], None
        for part in module_of(target).split("."):  # nothing of it is imported
            if (spec := PathFinder.find_spec(part, places)) is None:
                return
            words, places = [spec.origin or ""], spec.submodule_search_locations
    yield from (path for path in map(Path, words) if path.is_file())


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # reported by whoever needs it
        return b""
