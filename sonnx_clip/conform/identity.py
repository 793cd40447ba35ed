"""The identity of a verdict: a digest of everything it depends on.

For a known runtime it includes the installed packages, so `check` caches its verdicts. For any other it has
the reported version and the bytes of the files in its name. What those files load is unknown, so results are
reused from a journal only.
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
from sonnx_clip.root.installed import distribution, our_code, processor
from sonnx_clip.runtimes.find_runtime import command_words, file_function, module_of, split_name
from sonnx_clip.runtimes.runtime import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.operator import Operator

VARIABLES = ("CC", "CFLAGS", "GLIBC_TUNABLES", "MALLOC_", "MKL_", "NPY_", "OMP_", "ONNX", "OPENBLAS_",
              "ORT_", "LD_", "PYTHON", "SONNX_CLIP_KERNELS", "XDG_CACHE_HOME")  # fmt: skip
"""Prefixes of environment variables that affect results."""

# Whoever runs `check` after `make prove`, from a shell that sets these, asks for the same verdicts.
_WITHOUT_EFFECT = {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONUNBUFFERED"}

_CHECKER_PACKAGES = ("numpy", "ml_dtypes")
_PACKAGES = {
    "onnxruntime": ("onnxruntime", "onnx", "protobuf"),
    "onnx-reference": ("onnx", "protobuf"),
}


def cache_identity(runtime: str, operator: Operator) -> str | None:
    """The identity of cached verdicts; None if it cannot be determined.

    Raises:
        UserError: there is no C compiler, for a runtime that needs one.
    """
    packages = {name: distribution(name) for name in _packages(runtime)}
    # What another runtime loads is not known, and a package without metadata may be any version.
    if runtime not in RUNTIMES or None in packages.values():
        return None
    return _digest({**_parts(runtime, operator), "packages": str(packages)})


def identity(runtime: str, version: str, operator: Operator) -> str:
    """A digest of the runtime with its reported version, the specification, the checker and the machine.

    Raises:
        UserError: there is no such runtime, or no C compiler for one that needs it.
    """
    known = cache_identity(runtime, operator)
    return known or _digest({**_parts(runtime, operator), "version": version})


def comparable_parts(runtime: str, operator: Operator) -> dict[str, str]:
    """The parts of the identity that can be compared between machines; UserError as for `identity`.

    Packages are compared by lists of files with their sizes, since times differ between machines.
    """
    packages = "; ".join(f"{name} {distribution(name, timed=False)}" for name in _packages(runtime))
    return {**_parts(runtime, operator), "packages": packages}


def _packages(runtime: str) -> tuple[str, ...]:
    return *_CHECKER_PACKAGES, *_PACKAGES.get(runtime, ())


def _digest(parts: dict[str, str]) -> str:
    # With their names, so that nothing can pass from one part to another unseen.
    texts: list[str] = []
    for name, text in parts.items():
        texts += [name, text]
    return digest_of_parts(texts)


def _parts(runtime: str, operator: Operator) -> dict[str, str]:
    """Everything but packages and versions, by name; our own runtimes belong to the checker."""
    parts = {"runtime": runtime}
    if runtime in RUNTIMES:
        parts["its library"] = _library(runtime)
    else:
        files: list[str | bytes] = []
        for file in files_named(runtime):
            files += [file.name, _bytes(file)]
        parts["its files"] = digest_of_parts(files)
    settings = [f"{name}={value}" for name, value in variables().items()]
    libc = " ".join(platform.libc_ver())
    return {
        **parts,
        "checker": our_code(),
        "spec": operator.spec.digest,
        "oracle": digest_of_parts([_bytes(repo_file(ORACLE_FILE))]),
        # Runtimes choose their kernels by the processor.
        "processor": processor(),
        "system": f"{platform.platform()} {libc}",
        "Python": f"{sys.version} {sys.implementation.name}",
        "environment": digest_of_parts(settings),
    }


def variables() -> dict[str, str]:
    """The environment variables that may affect results, sorted by name."""
    affecting = {}
    for name in sorted(os.environ):
        if name.startswith(VARIABLES) and name not in _WITHOUT_EFFECT:
            affecting[name] = os.environ[name]
    return affecting


def _library(runtime: str) -> str:
    """The library of C kernels that a runtime calls; its name contains a digest of its bytes."""
    if runtime == "sonnx-c":  # builds the library
        return built.built_file(built.find_compiler(), built.source_files()).name
    if runtime != "sonnx":  # the only other one that uses a library, if it is built
        return "none"
    try:
        library = built.installed_library()
    except (UserError, OSError) as error:
        return str(error)
    return "none" if library is None else library.name


def files_named(runtime: str) -> Iterator[Path]:
    """The existing files in the name of a runtime; for a module, the file that Python would import."""
    kind, options, target = split_name(runtime)
    is_command = kind in ("exec", "onnx-cmd") or (kind == "optimised" and "{" in target)
    python_file = file_function(target)
    if is_command:
        words = command_words(target)
    elif kind == "so":
        # The file on the signatures of the C functions, and the library.
        words = [options, target]
    elif python_file is not None:
        words = [python_file[0]]
    else:
        words = _origin_of(module_of(target))
    for word in words:
        path = Path(word)
        if path.is_file():
            yield path


def _origin_of(module: str) -> list[str]:
    """The file that Python would import a module from; empty if there is none. Nothing is imported."""
    origin = ""
    places = None
    for part in module.split("."):
        # Part by part: `importlib.util.find_spec` would import the packages around a module.
        spec = PathFinder.find_spec(part, places)
        if spec is None:
            return []
        origin = spec.origin or ""
        places = spec.submodule_search_locations
    return [origin]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # reported where the file is needed
        return b""
