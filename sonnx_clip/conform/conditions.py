"""The conditions under which a verdict was made: a kept verdict stands only while none of them has changed.

`sonnx-clip check` asks it, for the runtimes that the project knows. Code of one's own
(``module:function``) may depend on anything: its verdicts are never kept.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.installed import CPUINFO, distribution, files_behind, processor, release
from sonnx_clip.runtimes.runtime import RUNTIMES, code_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_CHECKER = ("numpy", "ml_dtypes")
_DISTRIBUTIONS = {
    "sonnx": (),
    "sonnx-c": (),
    "numpy": (),
    "onnxruntime": ("onnxruntime", "onnx", "protobuf"),
    "onnx-reference": ("onnx", "protobuf"),
}
VARIABLES = ("CC", "CFLAGS", "GLIBC_TUNABLES", "MALLOC_", "MKL_", "NPY_", "OMP_", "ONNX", "OPENBLAS_",
              "ORT_", "LD_", "PYTHON", "SONNX_CLIP_KERNELS", "XDG_CACHE_HOME")  # fmt: skip
"""So the variables begin that NumPy, runtimes, thread pools, the loader, Python or the compiler look at."""


def conditions(
    runtime: str,
    modules: Iterable[str],
    options: Mapping[str, object],
    files: Iterable[str] = (),
    *,
    cpuinfo: Path = CPUINFO,
) -> dict[str, str] | None:
    """What a verdict on a runtime depends on, part by part; None if it cannot be known, so nothing is kept.

    Args:
        runtime: a name of `RUNTIMES`, else None is returned.
        modules: the modules that make the verdict; all that they import takes part.
        options: what the caller was given: types, policy, time limit.
        files: what else they read, by its paths in the repository, beside the specification and the oracle.
        cpuinfo: the file that says which processors there are.

    Raises:
        UserError: there is no C compiler, for a runtime that needs one.
    """
    if runtime not in RUNTIMES:
        return None
    installed = {name: distribution(name) for name in (*_CHECKER, *_DISTRIBUTIONS[runtime])}
    if any(found is None for found in installed.values()):
        return None
    return {
        "runtime": runtime,
        "its code": code_digest(runtime) or "",
        "its library": _library(runtime),
        "packages": "; ".join(f"{name} {found}" for name, found in installed.items()),
        **conditions_of_all((*modules, RUNTIMES[runtime]), options, files, cpuinfo=cpuinfo),
    }


def conditions_of_all(
    modules: Iterable[str],
    options: Mapping[str, object],
    files: Iterable[str] = (),
    *,
    cpuinfo: Path = CPUINFO,
) -> dict[str, str]:
    """What a verdict depends on beside the runtime, part by part; the arguments are those of `conditions`."""
    code = _files_behind(tuple(modules))
    return {
        "checker": digest_of_parts(part for file in code for part in (file.name, file.read_bytes())),
        "spec": digest_of_parts(_bytes(path) for path in ("spec/clip.yaml", ORACLE_FILE, *files)),
        "processor": processor(cpuinfo),
        "system": f"{platform.platform()} {' '.join(platform.libc_ver())}",
        "Python": f"{sys.version} {sys.implementation.name}",
        "environment": digest_of_parts(f"{name}={value}" for name, value in variables().items()),
        "options": "; ".join(f"{name}={value}" for name, value in options.items()),
    }


def key_of(found: Mapping[str, str]) -> str:
    """The digest of conditions."""
    return digest_of_parts(part for item in found.items() for part in item)


def releases(runtime: str) -> str:
    """The packages of `conditions`, as far as two machines can have the same."""
    names = (*_CHECKER, *_DISTRIBUTIONS.get(runtime, ()))
    return "; ".join(f"{name} {release(name)}" for name in names)


@cache
def _files_behind(modules: tuple[str, ...]) -> tuple[Path, ...]:
    """As `files_behind`; where one gets another import meanwhile, its text is another too."""
    return files_behind(modules)


def variables() -> dict[str, str]:
    """The variables of the environment on which a verdict may depend, by name, sorted."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)}


def _bytes(path: str) -> bytes:
    try:
        return repo_file(path).read_bytes()
    except OSError:  # whoever needs it says so
        return b""


def _library(runtime: str) -> str:
    """The library of C kernels that a runtime calls; its name holds a digest of its bytes."""
    if runtime == "sonnx":  # takes it where it has been built
        from sonnx_clip.oracle.built import installed

        try:
            found = installed()
        except (UserError, OSError) as error:
            return str(error)
        return "none" if found is None else found.name
    if runtime == "sonnx-c":  # builds it
        from sonnx_clip.oracle.c_build import built_file, find_compiler, source_files

        return built_file(find_compiler(), source_files()).name
    return ""
