"""docs/runtimes.md is what its records say, each adapter has one, and the lines that it quotes repeat."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys

import pytest
from load_tool import ROOT, load_tool

from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.runtime import EXTRAS, KNOWN, OURS
from sonnx_clip.spec import load_spec

judging = load_tool("judge_runtimes")
RECORDS = judging.read_records()
NAMES = [record["runtime"] for record in RECORDS]


def test_the_page_is_what_its_records_say() -> None:
    assert judging.PAGE.read_text(encoding="utf-8") == judging.page(RECORDS), (
        "run: python tools/judge_runtimes.py --render"
    )


def test_every_adapter_has_a_record_of_every_type() -> None:
    assert [name for name in KNOWN if name not in OURS] == NAMES
    types = [etype.id for etype in load_spec().element_types if etype.numpy is not None]
    for record in RECORDS:
        assert list(record["types"]) == types, record["runtime"]
        assert record["compared"] > 1_000_000, record["runtime"]


def test_an_extra_of_this_project_has_the_package() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(extras["optional-dependencies"])
    assert set(EXTRAS) == set(KNOWN) - {*OURS, "numpy"}


def test_a_record_under_an_earlier_specification_says_so() -> None:
    changed = copy.deepcopy(RECORDS)
    for record in changed:
        record["spec_sha256"] = load_spec().digest
    assert "under an earlier spec/clip.yaml" not in judging.page(changed)
    changed[0]["spec_sha256"] = "0" * 64
    assert judging.page(changed).count("under an earlier spec/clip.yaml") == 1


def test_every_type_that_does_not_conform_is_explained() -> None:
    """A verdict in the table has a line below that names the type."""
    text = judging.PAGE.read_text(encoding="utf-8")
    for record in RECORDS:
        section = text.partition(f"\n## {record['runtime']}\n")[2].partition("\n## ")[0]
        for etype, one in record["types"].items():
            assert one["verdict"] == "conforms" or re.search(rf"\b{etype}\b", section), (
                record["runtime"],
                etype,
            )


@pytest.mark.parametrize("record", RECORDS, ids=NAMES)
def test_the_line_of_the_page_repeats_the_deviation(record: dict) -> None:
    line = judging.line_of(record)
    if line is None:
        pytest.skip("it has none")
    try:
        version = find_runtime(record["runtime"]).version
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    if version != record["version"]:
        pytest.skip(f"{version} is installed")
    done = subprocess.run(
        ["sh", "-c", line.replace("python -c", f"exec {sys.executable} -c", 1)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.returncode == 0:  # type, shape and bits of the result, and the bits that are expected
        found = re.search(r"(\[.*\]) expected: (0x[0-9a-f]+)", done.stdout)
        assert found is not None, done.stdout
        assert set(json.loads(found[1].replace("'", '"'))) != {hex(int(found[2], 16))}
    else:
        assert "Error" in done.stderr
