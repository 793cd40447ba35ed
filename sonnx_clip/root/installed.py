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
    # Of x86 and of Arm ("Features", "CPU part"). The clock rate, which changes all the time, is left out.
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    distinct = sorted({line for line in lines if line.startswith(kept)})
    name = ""
    for line in distinct:
        if line.startswith("model name"):
            _, _, value = line.partition(":")
            name = value.strip()
            break
    return f"{platform.machine()} {name} {digest_of_parts(distinct)}"


@cache  # thousands of rows, which are asked for with times and without
def _own_files(name: str) -> tuple[str, str, list[list[str]]] | None:
    """Version and folder of a distribution, and the rows of its record on its own files, sorted by path."""
    try:
        distributed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    record = distributed.read_text("RECORD")
    if record is None:
        return None
    # Scripts outside of the folder, the record itself and compiled files differ between equal installations.
    others = re.compile(r"\.\./|.*(\.dist-info/|\.pyc$)")
    # A line is a path, its digest and its size, of which a path may contain commas.
    rows = csv.reader(record.splitlines())
    own_rows = sorted(row for row in rows if row and not others.match(row[0]))
    return distributed.version, str(distributed.locate_file("")), own_rows


def distribution(name: str, *, timed: bool = True) -> str | None:
    """Version of a distribution, and digest of its record with the size of each file, and `timed` its time.

    So an edit of an installed file counts; without times it counts if it changes a size, and the digest is
    independent of folder and machine. None if the distribution or its record is not there.
    """
    own_files = _own_files(name)
    if own_files is None:
        return None
    version, folder, rows = own_files
    # The record has a digest of each file as it was installed; sizes and times show a later edit.
    parts = []
    for row in rows:
        size = _size(f"{folder}/{row[0]}", timed=timed)
        parts.append(f"{row} {size}")
    return f"{version} {digest_of_parts(parts)}"


def _size(file: str, *, timed: bool) -> str:
    try:
        status = os.stat(file)  # noqa: PTH116 - of thousands of files
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}" if timed else str(status.st_size)


def our_code() -> str:
    """A digest of all source files of this package as they are now."""
    folder = package()
    parts: list[str | bytes] = []
    for file in sorted(folder.rglob("*.py")):
        parts += [str(file.relative_to(folder)), file.read_bytes()]
    return digest_of_parts(parts)
