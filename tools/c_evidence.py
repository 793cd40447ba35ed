"""Evidence on the generated C for a project that links it: MISRA C:2012, coverage, stack use.

`make c-evidence` runs it and writes build/c-evidence/: summary.md, misra.txt, coverage.txt and stack.txt.
Each MISRA deviation needs a reason under `misra` in spec/clip.qualification.yaml. Coverage is measured at
-O0, where each branch of the source is one of the program; stack use at -O2 for this processor.

Exit status: 0 all is measured and covered, 1 a deviation has no reason or something is not covered, 2 a tool
is missing; what the others can measure is measured.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for tests.c, when it is run as a script

from sonnx_clip.qualification.kit import load_kit  # noqa: E402
from sonnx_clip.root.files import write_together  # noqa: E402
from tests.c.table import table, vectors  # noqa: E402

OUT = ROOT / "build/c-evidence"
KERNELS, HARNESS = ROOT / "generated/c", ROOT / "tests/c/check.c"
CONDITIONS_SINCE = 14  # the version of GCC that reports the coverage of conditions
HEAD = """\
# Evidence on the generated C

<!-- Written by `make c-evidence`. Do not edit. -->

| what | result |
| --- | --- |
"""

# cppcheck reads no system headers: what float.h and limits.h say where the kernels may be used.
_LIMITS = {
    "FLT_RADIX": 2, "FLT_MANT_DIG": 24, "FLT_MAX_EXP": 128, "DBL_MANT_DIG": 53, "DBL_MAX_EXP": 1024,
    "FLT_EVAL_METHOD": 0, "CHAR_BIT": 8,
}  # fmt: skip
_FOUND = re.compile(r"^(.*?):(\d+): misra-c2012-(\d+\.\d+)$", re.MULTILINE)
_NAMES = {
    "Lines": "statements",
    "Taken at least once": "branches",
    "Condition outcomes": "conditions",
}
_COVERED = re.compile(rf"^({'|'.join(_NAMES)})(?: executed| covered)?:([\d.]+)% of (\d+)")


class Part(NamedTuple):
    """One kind of evidence: its rows for the summary, the details, and whether something is wrong."""

    rows: list[tuple[str, str]]
    details: str
    failed: bool = False


class MissingToolError(Exception):
    """A tool is not installed."""


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output; MissingToolError if it is not installed."""
    if shutil.which(command[0]) is None:
        raise MissingToolError(f"{command[0]} is not installed; run: tools/setup.sh c-evidence")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def sources() -> list[str]:
    """The generated C files."""
    found = sorted(map(str, KERNELS.glob("*.c")))
    if not found:
        raise RuntimeError("generated/c holds no C file; run: sonnx-clip generate")
    return found


def misra(folder: Path) -> Part:
    """What cppcheck's misra addon reports, by rule, with the reasons."""
    limits = [f"-D{name}={value}" for name, value in _LIMITS.items()]
    options = ["--addon=misra", "--std=c99", "--language=c", "--enable=style", "-q"]
    shown = ["--suppress=missingIncludeSystem", "--template={file}:{line}: {id}"]
    printed = run(["cppcheck", *options, *shown, *limits, f"-I{KERNELS}", *sources()], folder)
    if "noValidConfiguration" in printed or "Bailing out" in printed:
        raise RuntimeError(f"cppcheck did not read the C:\n{printed}")
    found = [(Path(file).name, line, rule) for file, line, rule in _FOUND.findall(printed)]
    reasons, counts = load_kit().misra, Counter(rule for *_, rule in found)
    open_ = sorted(set(counts) - set(reasons))
    idle = sorted(set(reasons) - set(counts))
    rows = [
        (
            f"MISRA C:2012 rule {rule}",
            f"{counts[rule]} deviations. {reasons.get(rule, 'NO REASON GIVEN')}",
        )
        for rule in sorted(counts, key=lambda rule: [int(n) for n in rule.split(".")])
    ]
    rows += [(f"MISRA C:2012 rule {rule}", "no deviation: its reason can go") for rule in idle]
    version = run(["cppcheck", "--version"], folder).strip()
    what = f"{len(found)} deviations from {len(counts)} rules, {len(open_)} without a reason"
    rows.insert(
        0, ("MISRA C:2012", f"{version}, whose misra addon checks a part of the rules: {what}")
    )
    details = "".join(f"{file}:{line}: rule {rule}\n" for file, line, rule in sorted(found))
    return Part(rows, details, failed=bool(open_))


def coverage(folder: Path) -> Part:
    """Statements, branches and, by GCC 14, conditions of the kernels that the vectors run."""
    version = run(["gcc", "-dumpfullversion"], folder).strip()
    conditions = int(version.partition(".")[0]) >= CONDITIONS_SINCE
    flags = ["--coverage", "-O0", "-std=c99", *(["-fcondition-coverage"] if conditions else [])]
    (folder / "vectors.h").write_text(table(vectors()), encoding="utf-8")
    objects = []
    for source in [*sources(), str(HARNESS)]:
        objects.append(f"{Path(source).stem}.o")
        measured = flags if source != str(HARNESS) else flags[2:]
        run(
            ["gcc", *measured, f"-I{KERNELS}", f"-I{folder}", "-c", source, "-o", objects[-1]],
            folder,
        )
    run(["gcc", "--coverage", *objects, "-o", "program"], folder)
    said = run([str(folder / "program")], folder).splitlines()[-1]
    gcov = ["gcov", "-b", *(["-g"] if conditions else []), *(o for o in objects if o != "check.o")]
    report = run(gcov, folder)
    totals: dict[str, list[int]] = {}
    for kind, percent, count in _counts(report):
        hit, of = totals.setdefault(kind, [0, 0])
        totals[kind] = [hit + round(float(percent) * int(count) / 100), of + int(count)]
    rows = [("vectors", f"{said}; gcc {version}, gcov, -O0")]
    rows += [
        (f"coverage of {_NAMES[kind]}", f"{hit} of {of}") for kind, (hit, of) in totals.items()
    ]
    if not conditions:
        what = f"not measured: it needs GCC {CONDITIONS_SINCE}, this is {version}; {joined_conditions()}"
        rows.append(("coverage of conditions", what))
    listings = "".join(path.read_text() for path in sorted(folder.glob("sonnx_clip_*.c.gcov")))
    missed = any(hit < of for hit, of in totals.values())
    return Part(rows, report + listings, failed=missed or not totals)


def joined_conditions() -> str:
    """Whether a decision has several conditions; where none has, covered branches are covered conditions."""
    code = "".join(
        re.sub(r"/\*.*?\*/|^#.*?$", "", Path(s).read_text(), flags=re.DOTALL | re.MULTILINE)
        for s in sources()
    )
    count = len(re.findall(r"&&|\|\||\?", code))
    return f"the code has {count} of the operators && || ?:"


def _counts(report: str) -> list[tuple[str, str, str]]:
    """Kind, percentage and number of each count that gcov reports of a file; its total is left out."""
    found, file = [], ""
    for line in report.splitlines():
        if line.startswith("File "):
            file = line
        elif not line:
            file = ""
        elif file and (match := _COVERED.match(line)):
            found.append((match[1], match[2], match[3]))
    return found


def stack(folder: Path) -> Part:
    """Bytes of stack that each function of the kernels takes, by -fstack-usage."""
    for source in sources():
        run(["gcc", "-std=c99", "-O2", "-fstack-usage", f"-I{KERNELS}", "-c", source], folder)
    lines = "".join(path.read_text() for path in sorted(folder.glob("*.su"))).replace(
        f"{KERNELS}/", ""
    )
    used = [line.split("\t") for line in lines.splitlines()]
    if not used:
        raise RuntimeError("gcc -fstack-usage wrote no .su file")
    most = max(int(size) for _, size, _ in used)
    dynamic = [place for place, _, kind in used if kind != "static"]
    machine = run(["gcc", "-dumpmachine"], folder).strip()
    what = f"at most {most} bytes in {len(used)} functions, -O2, {machine}; {len(dynamic)} of dynamic size"
    return Part([("stack use", what)], lines, failed=bool(dynamic))


def main() -> int:
    """Measure everything that the tools at hand can, and write it down; the exit status."""
    rows: list[tuple[str, str]] = []
    files, failed, missing = {}, False, False
    for measure in (misra, coverage, stack):
        with tempfile.TemporaryDirectory() as folder:
            try:
                part = measure(Path(folder))
            except MissingToolError as error:
                part, missing = (
                    Part([(measure.__name__, f"NOT MEASURED: {error}")], f"{error}\n"),
                    True,
                )
            except RuntimeError as error:
                first = str(error).splitlines()[0]
                part = Part([(measure.__name__, f"FAILED: {first}")], f"{error}\n", failed=True)
        rows += part.rows
        files[OUT / f"{measure.__name__}.txt"] = part.details
        failed |= part.failed
    table_rows = "".join(f"| {name} | {what} |\n" for name, what in rows)
    files[OUT / "summary.md"] = HEAD + table_rows
    OUT.mkdir(parents=True, exist_ok=True)
    write_together(files)
    for name, what in rows:
        print(f"{name}: {what}")
    print(f"written: {OUT.relative_to(ROOT)}")
    return 2 if missing else int(failed)


if __name__ == "__main__":
    sys.exit(main())
