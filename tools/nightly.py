"""Run what is too slow for `make test`, and record it in docs/nightly.md; `make nightly` runs it.

A part whose tools cannot be installed here is skipped and recorded with the reason. The record of a part
replaces the one before; parts that are not run keep theirs. Exit status: 0 every part passed or was skipped,
1 a part failed, 2 no part has that name.

    python tools/nightly.py            run every part
    python tools/nightly.py coq        run the named parts
    python tools/nightly.py --age      print how old the records are
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs/nightly.md"
PYTEST = ".venv/bin/pytest -v --no-header -n auto --dist worksteal -rs -m nightly"
IN_OPTIMISERS = "tests/rewrites/test_in_optimisers.py"
OPTIMISERS = ".venv-runtimes/bin/python"
"""The environment of `make setup-runtimes`, which has the optimisers that .venv lacks."""
PARTS = {
    "tests": (
        "tests marked `nightly`: planted mistakes, exhaustive types, kills, Chromium",
        PYTEST,
    ),
    "coverage": ("the lines that `make test` runs", "make coverage"),
    "coq": ("the meaning proved by Coq", "make coq"),
    "frama-c": ("the C kernels proved by Frama-C", "make frama-c"),
    "c-evidence": ("MISRA, coverage and stack use of the generated C", "make c-evidence"),
    "container": (
        "the image of the Containerfile, in which `make prove` passes",
        "tools/build_container.sh",
    ),
    "debian-13": ("`make prove` and `make test` in a fresh Debian 13", "tools/fresh_debian.sh"),
}
"""What each part covers, and its command. Status 2 of one without pytest: it cannot be run here."""


def run(command: str) -> tuple[int, list[str]]:
    """Run a command, stream its output, and return its exit status and the lines."""
    lines = []
    with subprocess.Popen(
        command.split(), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return process.returncode, [line for line in lines if line]


def commands_of(name: str) -> list[str]:
    """The commands of a part: tests of optimisers run where these are installed, if that is set up."""
    command = PARTS[name][1]
    if name != "tests" or not (ROOT / OPTIMISERS).is_file():
        return [command]
    of_optimisers = f"{OPTIMISERS} -m pytest -v --no-header -rs -m nightly {IN_OPTIMISERS}"
    return [f"{command} --ignore={IN_OPTIMISERS}", of_optimisers]


def run_part(name: str) -> tuple[str, list[str]]:
    """Run a part; its outcome, and its lines of the page: a row, and the tests that were skipped."""
    covers, commands = PARTS[name][0], commands_of(name)
    commit, begin = git("rev-parse", "--short", "HEAD"), time.monotonic()
    if git("status", "--porcelain", "--untracked-files=no", "--", ":!docs/nightly.md"):
        commit += " with changes"
    status, lines, closing_lines = 0, [], []
    for command in commands:
        print(f"== {name}: {command}", flush=True)
        ended, printed = run(command)
        status = status or ended
        lines += printed
        closing_lines.append(closing_line(printed))
    unavailable = status == 2 and name not in ("tests", "coverage")
    outcome = "passed" if status == 0 else "skipped" if unavailable else "failed"
    closing = "; ".join(closing_lines)
    minutes = (time.monotonic() - begin) / 60
    skips = sorted(line.removeprefix("SKIPPED ") for line in lines if line.startswith("SKIPPED "))
    when = f"{datetime.now(UTC):%Y-%m-%d} | {commit}"
    row = f"| {name} | {covers} | {outcome} | {when} | {minutes:.0f} min | {closing} |"
    return outcome, [row, *(f"- {name}: {skip}" for skip in skips)]


def closing_line(lines: list[str]) -> str:
    """What a command printed last: of pytest, its summary."""
    summaries = [
        line for line in lines if re.search(r"\d+ (passed|failed|errors?)\b.* in [0-9.]+s", line)
    ]
    return (summaries or lines or ["no output"])[-1].strip("= ").replace("|", "\\|")


def git(*arguments: str) -> str:
    """What git prints; empty where this is no checkout."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def read_record() -> dict[str, list[str]]:
    """The lines of each part that the page has."""
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    found = {
        name: re.findall(rf"^(?:\| {name} \| .*|- {name}: .*)$", text, re.MULTILINE)
        for name in PARTS
    }
    return {
        name: lines for name, lines in found.items() if lines and "| no record |" not in lines[0]
    }


def render(record: dict[str, list[str]]) -> str:
    """The page."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    missing = {
        name: f"| {name} | {covers} | no record | | | | |" for name, (covers, _) in PARTS.items()
    }
    rows = [record[name][0] if name in record else missing[name] for name in PARTS]
    skips = [skip for name in PARTS if name in record for skip in record[name][1:]]
    return f"""\
# The last nightly runs

<!-- Written by `make nightly`. Do not edit. -->

`make nightly` runs what is too slow for `make test`. A row is the last run of its part.
Last machine: {system}, Python {platform.python_version()}, {os.cpu_count()} processors.

| part | what it covers | outcome | date | commit | time | closing line |
| --- | --- | --- | --- | --- | ---: | --- |
{chr(10).join(rows)}

## Skipped tests

{chr(10).join(skips or ["None."])}
"""


def ages() -> list[str]:
    """A line for each part: when it ran last, and how many commits ago."""
    lines, record = [], read_record()
    for name in PARTS:
        if name not in record:
            lines.append(f"nightly: {name}: no record")
            continue
        outcome, day, commit = (cell.strip() for cell in record[name][0].split("|")[3:6])
        days = (datetime.now(UTC).date() - date.fromisoformat(day)).days
        behind = git("rev-list", "--count", f"{commit.split()[0]}..HEAD")
        commits = f", {behind} commits ago" if behind else ""
        lines.append(
            f"nightly: {name}: {outcome} on {day}, {days} days ago, at commit {commit}{commits}"
        )
    return lines


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all, and record them."""
    if arguments == ["--age"]:
        print("\n".join(ages()))
        return 0
    if unknown := sorted(set(arguments) - set(PARTS)):
        print(
            f"nightly: error: no part is named {unknown[0]}; parts: {' '.join(PARTS)}",
            file=sys.stderr,
        )
        return 2
    for tool in ("browser", "coq", "frama-c", "import"):  # tests that need them are skipped without
        run(f"tools/setup.sh {tool}")
    outcomes = []
    for name in arguments or PARTS:
        outcome, lines = run_part(name)
        outcomes.append(outcome)
        RECORD.write_text(render(read_record() | {name: lines}), encoding="utf-8")
        print(lines[0])
    return int("failed" in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
