"""`python -m tests.c`: a row for each target, a column for each level of optimization; what `check` says."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.c.harness import CONFORM, judged
from tests.c.targets import (
    LEVELS,
    NATIVE,
    OTHERS,
    SANITIZERS,
    STANDARDS,
    UNSAFE,
    MissingToolError,
    compiled,
    count,
    ran,
    survives,
)

LINKS = "links"


def main():
    """Print the tables and a closing line; 0 if all is well, 1 if not, 2 if a tool is missing."""
    every = (*NATIVE, *OTHERS)
    console = Console(width=120)
    try:
        with console.status("building", spinner="line"):
            builds = {target.name: [cell(target, level) for level in LEVELS] for target in every}
            natives = {target.name: native_row(target) for target in NATIVE}
            frames = {target.name: [judged(target)] for target in every}
    except MissingToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for title, heads, rows in (
        (f"vectors that agree, of {count():,}", LEVELS, builds),
        (
            "this machine: warnings, sanitizers, unsafe flags",
            (*STANDARDS, "ASan, UBSan", *UNSAFE),
            natives,
        ),
        ("examples/frames.c with the kernels, judged by check --exec", ("element types",), frames),
    ):
        table = Table("target", *heads, title=title, title_justify="left")
        for name, cells in rows.items():
            table.add_row(name, *cells)
        console.print(table)
    built = [one for cells in builds.values() for one in cells]
    checks = [one for cells in (*natives.values(), *frames.values()) for one in cells]
    print(
        f"{sum(map(fine, built))} of {len(built)} builds for {len(every)} targets are right, with "
        f"{count():,} vectors each but for {built.count(LINKS)} that are only linked; "
        f"{sum(map(fine, checks))} of {len(checks)} other checks passed"
    )
    return 0 if built and all(map(fine, (*built, *checks))) else 1


def cell(target, *flags):
    """How many vectors agree, that a bare program links, or the first complaint."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled(target, Path(folder), *flags)
        except AssertionError as error:
            return f"not built: {str(error).strip()[-300:]}"
        if target.bare:
            return LINKS
        found = ran(target, program)
        return (
            f"{found.agree:,}"
            if found.fine
            else f"{found.agree:,} of {found.asked:,}: {found.words}"
        )


def native_row(target):
    """A silent build under two standards, a run with sanitizers, what becomes of unsafe flags."""
    found = [cell(target, "-O2", standard) for standard in STANDARDS]
    found.append(cell(target, "-O1", "-g", *SANITIZERS))
    for flag in UNSAFE:
        with tempfile.TemporaryDirectory() as folder:
            found.append(survives(target, Path(folder), flag))
    return found


def fine(text):
    """Whether a cell tells of no failure."""
    return text in (LINKS, "refused", "harmless", f"{count():,}", CONFORM)


if __name__ == "__main__":
    sys.exit(main())
