"""Planted runtimes, judged by all calls of the checker's plan or by few of them."""

import io
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from unittest.mock import patch

import psutil
import pytest
from rich.console import Console

from sonnx_clip.conform import campaign, judge
from sonnx_clip.conform.call_plan import chosen, evenly_spread
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.report_text import print_report
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec


def few_calls(etype, *of):
    """The plan with a part of the long calls and of the triples of 8 bits: for mistakes in some calls."""
    yield from _few_calls(etype, *of)


@cache
def _few_calls(etype, *of):
    found = []
    for request, table in chosen(etype, *of):
        is_long = request.length >= 256 if etype.width != 16 else request.count == 1024
        is_long = is_long and request.lengths is None
        some = (
            evenly_spread(request, table, max(12, request.count // 32))
            if is_long
            else (request, table)
        )
        found.append(some)
    return tuple(found)


def first_of_each(calls, layouts):
    """The first request in each of some layouts."""
    left = set(layouts)
    for request, table in calls:
        if request.layout in left:
            left.remove(request.layout)
            yield request, table


def three_layouts(etype, *of):
    """One request in each of three layouts: for what is slow, hangs, or is the same in every layout.

    They reach every class, which the bounds in use do not.
    """
    calls = (
        (request, table)
        for request, table in chosen(etype, *of)
        if request.purpose != "bounds in use"
    )
    yield from first_of_each(calls, ("contiguous", "length-7", "rank-2"))


def judged(runtime, dtype, plan=None, **options):
    """The report on a runtime (``planted:right``) in one element type, and what it says of each class."""
    with nullcontext() if plan is None else patch.object(judge, "chosen", plan):
        report = campaign.run_campaign(
            CheckOptions(f"tests.meta.{runtime}", [dtype], of=clip_operator(), **options)
        )
    return report, {c.id: c for c in report.types[0].classes}


def nightly_but(fast, names):
    """Parameters of a test: one of each kind for `make test`, the others for `make nightly`."""
    return [
        name if name in fast else pytest.param(name, marks=pytest.mark.nightly) for name in names
    ]


@dataclass(frozen=True)
class Due:
    """What a report on one element type has to say of a planted runtime.

    The verdict on the type; words of it, a row, a form or a remark; verdicts on rows; that on all others.
    """

    verdict: str
    words: str = ""
    rows: dict[str, str] = field(default_factory=dict)
    others: str = ""


def require_due(found, due):
    """Compare a report with what it has to say."""
    said = [found.words, *found.remarks, *found.refused_layouts.values()]
    said += [one.words for one in (*found.classes, *(found.forms or ()))]
    assert found.verdict == due.verdict, said
    assert any(due.words in (text or "") for text in said), said
    verdicts = {one.id: one.verdict for one in found.classes}
    assert {id_: verdicts[id_] for id_ in due.rows} == due.rows
    rest = {verdict for id_, verdict in verdicts.items() if id_ not in due.rows}
    assert not due.others or rest == {due.others}


def repeated(line, *, fails=False):
    """What the line of a deviation prints in a new process, or its complaint where it must fail."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", line], cwd=repo_root(), capture_output=True, text=True,
        check=not fails, timeout=60, env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    return done.stderr if fails else done.stdout


def require_repeated(first):
    """The line of a deviation gives the wrong bits again, beside those that are due."""
    printed = repeated(first.reproduce)
    assert first.got is not None
    assert hex(first.got) in {hex(int(bits, 16)) for bits in re.findall("'(0x[0-9a-f]+)'", printed)}
    assert f"expected: {first.expected}" in printed.replace('"', "")


def printed(report):
    """A report as text, without wrapped lines."""
    console = Console(width=10_000, record=True, file=io.StringIO())
    print_report(report, console, load_spec())
    return console.export_text()


def carriers(word):
    """The command lines of other processes of which a word is part."""
    every = (
        one.info["cmdline"] or []
        for one in psutil.process_iter(["cmdline"])
        if one.pid != os.getpid()
    )
    return [line for line in every if any(word in part for part in line)]


def wait_until(condition, seconds=60):
    """Wait for something that other processes do; it must come about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
