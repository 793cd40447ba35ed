"""Run what is too slow for `make test`, and write docs/nightly.md; `make nightly` runs it.

A part whose tools cannot be installed here is skipped and recorded with the reason. Each record replaces the
one before. Exit status: 0 every part passed or was skipped, 1 a part failed.

    python tools/nightly.py            run every part
    python tools/nightly.py coq        run the named parts only, without a record
    python tools/nightly.py --age      print how old the record is
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs/nightly.md"
PYTEST = [".venv/bin/pytest", "-v", "--no-header", "-n", "auto", "--dist", "worksteal", "-rs"]


@dataclass(frozen=True)
class Part:
    """One part: what it covers, its command, and the tool that tools/setup.sh sets up for it."""

    name: str
    covers: str
    command: list[str]
    needs: str = ""


@dataclass(frozen=True)
class Result:
    """How a part ended; `skips` are the tests that pytest skipped, with their reasons."""

    part: Part
    outcome: str
    closing: str
    seconds: float = 0
    skips: tuple[str, ...] = ()


PARTS = (
    Part(
        "tests",
        "tests marked `nightly`: planted mistakes for provers, exhaustive types, kills, Chromium",
        [*PYTEST, "-m", "nightly"],
    ),
    Part("coverage", "the lines that `make test` runs", ["make", "coverage"]),
    Part("coq", "the meaning proved by Coq", ["make", "coq"], "coq"),
    Part("frama-c", "the C kernels proved by Frama-C", ["make", "frama-c"], "frama-c"),
    Part("debian-13", "`make prove` and `make test` in a fresh Debian 13", ["tools/fresh_debian.sh"]),
)


def run(command: list[str]) -> tuple[int, list[str]]:
    """Run a command, print its output as it comes, and return its exit status and the lines."""
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return process.returncode, [line for line in lines if line]


def run_part(part: Part) -> Result:
    """Set up a part and run it."""
    print(f"== {part.name}: {' '.join(part.command)}", flush=True)
    if part.needs:
        status, lines = run(["tools/setup.sh", part.needs])
        if status:
            return Result(part, "skipped", closing_line(lines))
    begin = time.monotonic()
    status, lines = run(part.command)
    skips = tuple(sorted(line.removeprefix("SKIPPED ") for line in lines if line.startswith("SKIPPED ")))
    # tools/fresh_debian.sh ends with 2 where it cannot be run at all.
    outcome = "passed" if status == 0 else "skipped" if status == 2 and part.name == "debian-13" else "failed"
    return Result(part, outcome, closing_line(lines), time.monotonic() - begin, skips)


def closing_line(lines: list[str]) -> str:
    """The last line of pytest's summary or else of the output, without decoration."""
    summaries = [line for line in lines if re.search(r"\d+ (passed|failed|errors?)\b.* in [0-9.]+s", line)]
    return (summaries or lines or ["no output"])[-1].strip("= ").replace("|", "\\|")


def git(*arguments: str) -> str:
    """What git prints; empty where this is no checkout."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def render(results: list[Result]) -> str:
    """The page of one run."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    changed = " with uncommitted changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    rows = [
        f"| {r.part.name} | {r.part.covers} | {r.outcome} | {r.seconds / 60:.0f} min | {r.closing} |"
        for r in results
    ]
    skips = [f"- {r.part.name}: {skip}" for r in results for skip in r.skips]
    return "\n".join([
        "# The last nightly run",
        "",
        "<!-- Written by `make nightly`. Do not edit. -->",
        "",
        "`make nightly` runs what is too slow for `make test`. It replaces this page.",
        "",
        f"Run on {datetime.now(UTC):%Y-%m-%d} at commit {git('rev-parse', '--short', 'HEAD')}{changed}.",
        f"Machine: {system}, Python {platform.python_version()}, {os.cpu_count()} processors.",
        "",
        "| part | what it covers | outcome | time | closing line |",
        "| --- | --- | --- | ---: | --- |",
        *rows,
        "",
        "## Skipped tests",
        "",
        *(skips or ["None."]),
        "",
    ])  # fmt: skip


def age() -> str:
    """How old the record is."""
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    found = re.search(r"^Run on (\S+) at commit (\w+)", text, re.MULTILINE)
    if found is None:
        return "make nightly: no record; docs/nightly.md is missing"
    days = (datetime.now(UTC).date() - date.fromisoformat(found[1])).days
    behind = git("rev-list", "--count", f"{found[2]}..HEAD")
    commits = f", {behind} commits ago" if behind else ""
    failed = "".join(
        f"; failed: {name}" for name in re.findall(r"^\| (\S+) \|.*\| failed \|", text, re.MULTILINE)
    )
    return f"make nightly: last run on {found[1]}, {days} days ago, at commit {found[2]}{commits}{failed}"


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all and write the record."""
    if arguments == ["--age"]:
        print(age())
        return 0
    unknown = set(arguments) - {part.name for part in PARTS}
    if unknown:
        names = " ".join(part.name for part in PARTS)
        print(
            f"nightly: error: no part is named {' '.join(sorted(unknown))}; parts: {names}", file=sys.stderr
        )
        return 2
    for tool in ("browser", "coq", "frama-c"):  # tests that need them are skipped without
        run(["tools/setup.sh", tool])
    results = [run_part(part) for part in PARTS if not arguments or part.name in arguments]
    if not arguments:
        RECORD.write_text(render(results), encoding="utf-8")
    for result in results:
        print(f"== {result.part.name}: {result.outcome}: {result.closing}")
    return int(any(result.outcome == "failed" for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
