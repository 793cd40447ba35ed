"""Identity of the installation, for cached verdicts: packages, our own code, the processor."""

from __future__ import annotations

import csv
import os
import platform
import re
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
    model = next(
        (line.partition(":")[2].strip() for line in said if line.startswith("model name")), ""
    )
    return f"{platform.machine()} {model} {digest_of_parts(said)}"


@cache
def _own_files(name: str) -> tuple[str, str, list[list[str]]] | None:
    """Version and folder of a distribution, and the rows of its record on its own files, sorted by path."""
    try:
        distributed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    if (record := distributed.read_text("RECORD")) is None:
        return None
    others = re.compile(r"\.\./|.*(\.dist-info/|\.pyc$)")
    rows = sorted(
        row for row in csv.reader(record.splitlines()) if row and not others.match(row[0])
    )
    return distributed.version, str(distributed.locate_file("")), rows


def distribution(name: str, *, timed: bool = True) -> str | None:
    """Version of a distribution, and digest of its record with the size of each file, and `timed` its time.

    So an edit of an installed file counts; without times it counts if it changes a size, and the digest is
    independent of folder and machine. None if the distribution or its record is not there.
    """
    if (found := _own_files(name)) is None:
        return None
    version, folder, rows = found
    parts = (f"{row} {_size(f'{folder}/{row[0]}', timed=timed)}" for row in rows)
    return f"{version} {digest_of_parts(parts)}"


def _size(file: str, *, timed: bool) -> str:
    try:
        status = os.stat(file)  # noqa: PTH116 - of thousands of files
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}" if timed else str(status.st_size)


def our_code() -> str:
    """A digest of all source files of this package as they are now."""
    files = sorted(package().rglob("*.py"))
    return digest_of_parts(
        part for file in files for part in (str(file.relative_to(package())), file.read_bytes())
    )
