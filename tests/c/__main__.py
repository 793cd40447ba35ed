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
    Target,
    compiled,
    count,
    ran,
    survives,
)

SILENT = "silent"
LINKS = "links"


def main() -> int:
    """Print the table and a closing line; 0 if all is well, 1 if not, 2 if a tool is missing."""
    console = Console(width=120)
    rows: list[tuple[str, list[str]]] = []
    try:
        with console.status("building", spinner="line"):
            rows += [(target.name, row(target)) for target in (*NATIVE, *OTHERS)]
            checks = [(target.name, native_row(target)) for target in NATIVE]
            frames = [(target.name, [judged(target)]) for target in (*NATIVE, *OTHERS)]
    except MissingToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    show(console, f"vectors that agree, of {count():,}", LEVELS, rows)
    heads = (*STANDARDS, "ASan, UBSan", *UNSAFE)
    show(console, "on this machine: warnings, sanitizers, unsafe flags", heads, checks)
    show(console, "harness/frames.c with the kernels, judged by check --exec", ("element types",), frames)
    cells = [cell for _, cells in (*rows, *checks, *frames) for cell in cells]
    bad = [cell for cell in cells if not fine(cell)]
    built = sum(len(cells) for _, cells in rows)
    good = built - sum(not fine(cell) for _, cells in rows for cell in cells)
    bare = sum(cell == LINKS for _, cells in rows for cell in cells)
    passed = len(cells) - built - (len(bad) - (built - good))
    print(
        f"{good} of {built} builds for {len(rows)} targets are right, with {count():,} vectors each "
        f"but for {bare} that are only linked; "
        f"{passed} of {len(cells) - built} other checks passed"
    )
    return 1 if bad or not built else 0


def row(target: Target) -> list[str]:
    """The cells of a target."""
    return [cell(target, level) for level in LEVELS]


def cell(target: Target, *flags: str) -> str:
    """How many vectors agree, that a bare program links, or the first complaint."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled(target, Path(folder), *flags)
        except AssertionError as error:
            return f"not built: {str(error).strip()[-300:]}"
        if target.bare:
            return LINKS
        found = ran(target, program)
        return f"{found.agree:,}" if found.fine else f"{found.agree:,} of {found.asked:,}: {found.words}"


def native_row(target: Target) -> list[str]:
    """Silence under two standards, a run with sanitizers, what becomes of unsafe flags."""
    silent = [cell(target, "-O2", standard) for standard in STANDARDS]
    found = [SILENT if text == f"{count():,}" else text for text in silent]
    found.append(cell(target, "-O1", "-g", *SANITIZERS))
    for flag in UNSAFE:
        with tempfile.TemporaryDirectory() as folder:
            found.append(survives(target, Path(folder), flag))
    return found


def fine(text: str) -> bool:
    """Whether a cell tells of no failure."""
    return text in (SILENT, LINKS, "refused", "harmless", f"{count():,}", CONFORM)


def show(console: Console, title: str, heads: tuple[str, ...], rows: list[tuple[str, list[str]]]) -> None:
    """Print a table."""
    table = Table("target", *heads, title=title, title_justify="left")
    for name, cells in rows:
        table.add_row(name, *cells)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
