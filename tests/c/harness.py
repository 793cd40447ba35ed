"""examples/frames.c, built for a target and judged there by `check --exec`: for tests and `make cross`."""

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.frames import TYPES
from sonnx_clip.runtimes.runtime_options import RuntimeOptions
from tests.c.targets import FREESTANDING, WARNINGS, Target, c_files, call

CONFORM = f"{len(TYPES)} conform"
SMALL = ("-DENTRIES=256",)
"""For a small memory: longer calls are made in pieces."""
BARE = ("-fno-tree-loop-distribute-patterns", *SMALL, "-Wl,--defsym=RAM_SIZE=16K")
"""Without a system: no call of memset is made up, and all fits into 16 kB."""


def built(target: Target, folder: Path, *flags: str, sources: Sequence[Path] = ()) -> Path:
    """Build the harness with the kernels; AssertionError if that fails or a compiler complains."""
    program = folder / "frames"
    command = [target.compiler, "-std=c99", "-O2", *target.flags, *WARNINGS, *flags]
    command += [
        f"-I{repo_file('generated/c')}",
        str(repo_file("examples/frames.c")),
        *c_files(sources),
    ]
    if target.bare:
        start = [
            str(repo_file("examples/cortex_m.c")),
            "-T",
            str(repo_file("examples/cortex_m.ld")),
            "-lgcc",
        ]
        command += [*FREESTANDING, *BARE, *start]
    done = call([*command, "-o", str(program)])
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    assert not done.stderr, done.stderr
    return program


def named(target: Target, program: Path) -> str:
    """The name of the runtime that `check --exec` judges."""
    order = "big" if "big-endian" in target.name else "little"
    return RuntimeOptions(exec=shlex.join([*target.emulator, str(program)]), endian=order).name()


def judged(target: Target, *flags: str, jobs: int = 2) -> str:
    """`CONFORM` if every element type conforms, else the first that does not, and why."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = built(target, Path(folder), *flags)
        except AssertionError as error:
            return f"not built: {str(error).strip()[-300:]}"
        report = run_campaign(CheckOptions(named(target, program), of=clip_operator()), jobs=jobs)
    for found in report.types:
        if found.verdict != "conforms":
            return f"{found.type} {found.verdict}: {found.words or ''}"
    return f"{len(report.types)} conform"
