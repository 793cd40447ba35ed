"""What is installed here, on which kept verdicts depend: packages, our own code, the processor."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import package

CPUINFO = Path("/proc/cpuinfo")


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The models of the processors with their instructions, as digest behind the first model's name."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    said = sorted({line for line in lines if line.startswith(kept)})
    model = next((line.partition(":")[2].strip() for line in said if line.startswith("model name")), "")
    return f"{platform.machine()} {model} {digest_of_parts(said)}"


def distribution(name: str) -> str | None:
    """Version and digest of what a distribution says to consist of, with size and time of each file there.

    So a file that was edited where it is installed counts as well. None if it is not there, or does not say.
    """
    found = _files_of(name)
    if found is None:
        return None
    version, record, files = found
    return f"{version} {digest_of_parts([record, *(_size(file, timed=True) for file in files)])}"


def release(name: str) -> str | None:
    """As `distribution`, but the same in whatever folder and on whatever machine it is installed.

    So an edit that leaves a file its size is not seen, nor a file that is no module of the distribution.
    """
    found = _files_of(name)
    if found is None:
        return None
    version, record, files = found
    rows = sorted(row for row in record.splitlines() if not row.startswith("..") and "," in row)
    parts = [row for row in rows if ".dist-info/" not in row and ".pyc," not in row]
    own = sorted(file for file in files if "/../" not in file and ".dist-info/" not in file)
    return f"{version} {digest_of_parts([*parts, *(_size(file, timed=False) for file in own)])}"


def _size(file: str, *, timed: bool) -> str:
    try:
        there = os.stat(file)  # noqa: PTH116 - of thousands of files
    except OSError:
        return "missing"
    return f"{there.st_size} {there.st_mtime_ns}" if timed else str(there.st_size)


@cache
def _files_of(name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Version, record and files of a distribution, as they are when it is first asked for."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    record = found.read_text("RECORD")
    if record is None or found.files is None:
        return None
    files = [str(file.locate()) for file in found.files if file.suffix != ".pyc"]
    return found.version, record, tuple(files)


def our_code() -> str:
    """A digest of all source files of this package as they are now: what makes a verdict, and more."""
    files = sorted(package().rglob("*.py"))
    return digest_of_parts(
        part for file in files for part in (str(file.relative_to(package())), file.read_bytes())
    )
