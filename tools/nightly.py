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
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs/nightly.md"
PYTEST = ".venv/bin/pytest -v --no-header -n auto --dist worksteal -rs -m nightly"
PARTS = {
    "tests": ("tests marked `nightly`: planted mistakes, exhaustive types, kills, Chromium", PYTEST),
    "coverage": ("the lines that `make test` runs", "make coverage"),
    "coq": ("the meaning proved by Coq", "make coq"),
    "frama-c": ("the C kernels proved by Frama-C", "make frama-c"),
    "debian-13": ("`make prove` and `make test` in a fresh Debian 13", "tools/fresh_debian.sh"),
}
"""What each part covers, and its command. Status 2 of one without pytest: it cannot be run here."""


def run(command: str) -> tuple[int, list[str]]:
    """Run a command, print its output as it comes, and return its exit status and the lines."""
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


def run_part(name: str) -> tuple[str, list[str]]:
    """Run a part; its outcome, and the row and the skipped tests for the page."""
    covers, command = PARTS[name]
    print(f"== {name}: {command}", flush=True)
    begin = time.monotonic()
    status, lines = run(command)
    unavailable = status == 2 and name not in ("tests", "coverage")
    outcome = "passed" if status == 0 else "skipped" if unavailable else "failed"
    summaries = [line for line in lines if re.search(r"\d+ (passed|failed|errors?)\b.* in [0-9.]+s", line)]
    closing = (summaries or lines or ["no output"])[-1].strip("= ").replace("|", "\\|")
    minutes = (time.monotonic() - begin) / 60
    skips = sorted(line.removeprefix("SKIPPED ") for line in lines if line.startswith("SKIPPED "))
    row = f"| {name} | {covers} | {outcome} | {minutes:.0f} min | {closing} |"
    return outcome, [row, *(f"- {name}: {skip}" for skip in skips)]


def git(*arguments: str) -> str:
    """What git prints; empty where this is no checkout."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def render(rows: list[str], skips: list[str]) -> str:
    """The page of one run."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    changed = " with uncommitted changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return f"""\
# The last nightly run

<!-- Written by `make nightly`. Do not edit. -->

`make nightly` runs what is too slow for `make test`. It replaces this page.

Run on {datetime.now(UTC):%Y-%m-%d} at commit {git("rev-parse", "--short", "HEAD")}{changed}.
Machine: {system}, Python {platform.python_version()}, {os.cpu_count()} processors.

| part | what it covers | outcome | time | closing line |
| --- | --- | --- | ---: | --- |
{chr(10).join(rows)}

## Skipped tests

{chr(10).join(skips or ["None."])}
"""


def age() -> str:
    """How old the record is."""
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    found = re.search(r"^Run on (\S+) at commit (\w+)", text, re.MULTILINE)
    if found is None:
        return "make nightly: no record; docs/nightly.md is missing"
    days = (datetime.now(UTC).date() - date.fromisoformat(found[1])).days
    behind = git("rev-list", "--count", f"{found[2]}..HEAD")
    commits = f", {behind} commits ago" if behind else ""
    failed = re.findall(r"^\| (\S+) \|.*\| failed \|", text, re.MULTILINE)
    failures = f"; failed: {', '.join(failed)}" if failed else ""
    return f"make nightly: last run on {found[1]}, {days} days ago, at commit {found[2]}{commits}{failures}"


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all and write the record."""
    if arguments == ["--age"]:
        print(age())
        return 0
    if unknown := sorted(set(arguments) - set(PARTS)):
        print(f"nightly: error: no part is named {unknown[0]}; parts: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    for tool in ("browser", "coq", "frama-c"):  # tests that need them are skipped without
        run(f"tools/setup.sh {tool}")
    outcomes, rows, skips = [], [], []
    for name in arguments or PARTS:
        outcome, (row, *skipped) = run_part(name)
        outcomes.append(outcome)
        rows.append(row)
        skips += skipped
    if not arguments:
        RECORD.write_text(render(rows, skips), encoding="utf-8")
    print("\n".join(rows))
    return int("failed" in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
