"""Identity of the installation, for cached verdicts: packages, our own code, the processor."""

from __future__ import annotations

import csv
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import package

CPUINFO = Path("/proc/cpuinfo")


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The name of the first processor, and a digest of the models and instruction sets of all."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    said = sorted({line for line in lines if line.startswith(kept)})
    model = next((line.partition(":")[2].strip() for line in said if line.startswith("model name")), "")
    return f"{platform.machine()} {model} {digest_of_parts(said)}"


def distribution(name: str) -> str | None:
    """Version, and digest of the record of a distribution with size and time of each file.

    So an edit of an installed file counts. None if the distribution or its record is not there.
    """
    found = _files_of(name)
    if found is None:
        return None
    version, record, files = found
    return f"{version} {digest_of_parts([record, *(_size(file, timed=True) for file in files)])}"


def release(name: str) -> str | None:
    """As `distribution`, but independent of folder and machine: an edit counts if it changes a size."""
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
        found = os.stat(file)  # noqa: PTH116 - of thousands of files
    except OSError:
        return "missing"
    return f"{found.st_size} {found.st_mtime_ns}" if timed else str(found.st_size)


@cache
def _files_of(name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Version, record and files of a distribution, as they are at the first call."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    record, folder = found.read_text("RECORD"), found.locate_file("")
    if record is None:
        return None
    paths = (row[0] for row in csv.reader(record.splitlines()) if row)
    return found.version, record, tuple(f"{folder}/{path}" for path in paths if not path.endswith(".pyc"))


def our_code() -> str:
    """A digest of all source files of this package as they are now."""
    files = sorted(package().rglob("*.py"))
    return digest_of_parts(
        part for file in files for part in (str(file.relative_to(package())), file.read_bytes())
    )
