"""User constraints of spec/clip.qualification.yaml, checked on this machine: met, not met or not checked.

A probe sees this process, this machine and the folder of records. It is not evidence about the product.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from importlib import metadata
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from sonnx_clip.evidence.checkout import read_checkout
from sonnx_clip.oracle import built
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.oracle.strict import clip_by_numpy
from sonnx_clip.qualification.kit import load_kit
from sonnx_clip.qualification.tried import TOOLS, locked_packages, tried_versions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.oracle.float_formats import Array

    Clip: TypeAlias = Callable[[Array, Array, Array], Array]

Status: TypeAlias = Literal["met", "not met", "not checked"]

_KEYS = ("x", "min", "max", "expected")  # of a vector of Clip
_LENGTH = 67  # of an array: more than vector registers hold, and a remainder
_NUMBERS = re.compile(r"\d+(\.\d+)+")  # of a version, as tools/setup.sh reads it: 25.0 of 25.0-beta
_UNBUILT = "the C kernels are not built; run: make kernels"


class ConstraintCheck(NamedTuple):
    """A user constraint: whether it is met here, and by what that was seen."""

    id: str
    status: Status
    reason: str


def check_constraints(
    build: Path, records: Records, evidence: Evidence
) -> Iterator[ConstraintCheck]:
    """Each user constraint, in the order of spec/clip.qualification.yaml; `build` has the records."""
    # Functions, of which those of constraints with a probe are called.
    probes: Mapping[str, Callable[[], tuple[Status, str]]] = {
        "UC-0010": lambda: c_kernels(records),
        "UC-0020": subnormals,
        "UC-0040": lambda: numpy_kernels(records),
        "UC-0060": lambda: tools(evidence.tools),
        "UC-0070": packages,
        "UC-0080": checkout_state,
        "UC-0090": lambda: private([build, repo_file("spec/measured")]),
        "UC-0140": lambda: lines_run(evidence),
    }
    for constraint in load_kit().constraints:
        if constraint.probe:
            status, reason = probes[constraint.id]()
        else:
            status, reason = "not checked", f"for the user: {constraint.text}"
        yield ConstraintCheck(constraint.id, status, reason)


def c_kernels(records: Records) -> tuple[Status, str]:
    """The C kernels of this user and processor, run on every vector."""
    in_c = clip_in_c()
    if in_c is None:
        return "not checked", _UNBUILT
    return _on_vectors(records, in_c, "the C kernels of this machine")


def numpy_kernels(records: Records) -> tuple[Status, str]:
    """The NumPy kernels, run on every vector."""
    return _on_vectors(records, clip_by_numpy, f"the kernels in NumPy {np.__version__}")


def subnormals() -> tuple[Status, str]:
    """Whether NumPy and the C kernels keep the least subnormal of float32 and float64."""
    in_c = clip_in_c()
    # A library that is loaded into the process may set the flags of the processor (FTZ and DAZ).
    for name, bits in (("float32", np.uint32), ("float64", np.uint64)):
        least = np.full(_LENGTH, 1, bits).view(name)  # the pattern 1 is the least subnormal number
        # A comparison reads a subnormal number, a sum writes one: they have flags of their own.
        reads = (least > 0).all()
        # Patterns of subnormal numbers count multiples of the least one.
        writes = ((least + least).view(bits) == 2).all()
        if not (reads and writes):
            return "not met", f"NumPy flushes subnormal numbers of {name} to zero in this process"
        if in_c:
            clipped = in_c(least, np.zeros((), name), np.ones((), name))
            if not (clipped.view(bits) == 1).all():
                message = (
                    f"the C kernel of {name} flushes subnormal numbers to zero in this process"
                )
                return "not met", message
    if in_c is None:
        return "not checked", f"NumPy keeps subnormal numbers; {_UNBUILT}"
    return "met", "NumPy and the C kernels keep subnormal numbers in this process"


def clip_in_c() -> Clip | None:
    """Clip by the C kernels of this user and processor; None if they are not built."""
    # Nothing is built here: `verify` changes nothing on the machine that it looks at.
    try:
        library = built.installed_library()
        functions = built.kernel_functions(library) if library else None
    except (UserError, OSError):
        return None
    if functions is None:
        return None

    def in_c(x: Array, low: Array, high: Array) -> Array:
        result = np.empty_like(x)
        built.in_c(functions[x.dtype], low.tobytes(), high.tobytes())(x, result)
        return result

    return in_c


def _on_vectors(records: Records, clip: Clip, kernels: str) -> tuple[Status, str]:
    """Whether kernels give the expected bits for every vector, in each place of an array."""
    count = 0
    for dtype in PLANNERS:
        bits = f"u{dtype.itemsize}"
        for vector in records.vectors[dtype.name]:
            x, low, high, expected = [np.array(int(vector[key], 16), bits) for key in _KEYS]
            # One value in a whole array: kernels compute the last entries apart from vectors.
            entries = np.full(_LENGTH, x, bits)
            result = clip(entries.view(dtype), low.view(dtype), high.view(dtype))
            if not (result.view(bits) == expected).all():
                return "not met", f"{kernels} are wrong at {dtype.name}.{vector['id']}"
            count += 1
    return "met", f"{kernels} are right on {count:,} vectors"


def tools(versions: Mapping[str, str]) -> tuple[Status, str]:
    """Whether the recorded versions of the tools are among those tried."""
    tried = {}
    for command, known_versions in tried_versions().items():
        if command in TOOLS:
            tried[TOOLS[command]] = known_versions
    if not tried:
        return "not checked", "tools/setup.sh, the list of tried versions, is missing"
    used = []  # with their versions, for the reason
    untried = []
    for name, known_versions in tried.items():
        version = _NUMBERS.search(versions.get(name, ""))
        if version is not None:  # a tool that was not used has no version in the records
            used.append(f"{name} {version[0]}")
            if version[0] not in known_versions:
                untried.append(used[-1])
    if untried:
        return "not met", f"not tried: {', '.join(untried)}"
    return "met", ", ".join(used)


def packages() -> tuple[Status, str]:
    """Whether the installed packages have the versions of requirements.lock."""
    locked = locked_packages()
    if not locked:
        return "not checked", "requirements.lock is missing"
    installed: dict[str, str] = {}
    for name in locked:
        with suppress(metadata.PackageNotFoundError):  # extras may be left out
            installed[name] = metadata.version(name)
    differing = []
    for name, version in installed.items():
        if version not in locked[name]:
            differing.append(f"{name} {version}")
    if differing:
        number = counted(len(differing), "package")
        return "not met", f"{number} differing from requirements.lock, first {differing[0]}"
    number = f"{len(installed)} of {counted(len(locked), 'package')}"
    return "met", f"{number} of requirements.lock are installed"


def checkout_state() -> tuple[Status, str]:
    """Whether git has changed files, and at which commit."""
    checkout = read_checkout()
    if checkout is None:
        return "not checked", "this is not a checkout that git can read"
    if checkout.changed:
        changed = counted(len(checkout.changed), "file")
        return (
            "not met",
            f"{changed} changed since commit {checkout.commit}: {checkout.changed[0]}",
        )
    return "met", f"unchanged at commit {checkout.commit}; compare it with the released one"


def private(folders: list[Path]) -> tuple[Status, str]:
    """Whether only this user and root can write to folders, what is in them, and the folders above."""
    for folder in folders:
        if not folder.is_dir():
            return "not checked", f"{folder} is missing"
        # Whoever can write to a folder above can put another one in the place of this.
        resolved = folder.resolve()
        # What is in the folder too: a record may be writable where the folder is not.
        for path in (resolved, *resolved.parents, *resolved.rglob("*")):
            writers = _other_writers(path)
            if writers:
                return "not met", f"{path} can be written by {writers}"
    return "met", "only this user and root can write there"


def _other_writers(path: Path) -> str:
    """Other users who can write to a file, or replace files in a folder; empty if there are none."""
    status = path.lstat()
    if status.st_uid not in (os.geteuid(), 0):
        return f"its owner, user {status.st_uid}"
    # The mode of a link says nothing: whether it can be replaced is up to its folder.
    if stat.S_ISLNK(status.st_mode):
        return ""
    # In a sticky folder, such as /tmp, only the owner of a file replaces it.
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return ""
    if status.st_mode & stat.S_IWOTH:
        return "everybody"
    return f"group {status.st_gid}" if status.st_mode & stat.S_IWGRP else ""


def lines_run(evidence: Evidence) -> tuple[Status, str]:
    """Whether every line of evidence was run on these files."""
    names = [line.name for line in evidence.argument if line.basis in ("stale", "not run")]
    if names:
        return (
            "not checked",
            f"decide whether you rely on what is stale or not run: {', '.join(names)}",
        )
    return "met", "every line of evidence was run"
