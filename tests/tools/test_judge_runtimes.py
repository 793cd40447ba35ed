"""docs/runtimes.md is rendered from its records, each adapter has one, and their reproducers work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator, operator_named
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.qualification.context_records import read_context_records
from sonnx_clip.qualification.runtime_records import RuntimeRecord, runtime_record
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.runtime import EXTRAS, KNOWN, OF_MODELS, OURS
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.operators import known_operators, specification
from tools import judge_runtimes as judging

ROOT = Path(__file__).parents[2]
RECORDS = judging.read_records()
NAMES = [record.runtime for record in RECORDS]
OTHERS = judging.read_other_records()
CONTEXTS = read_context_records()


def test_page_is_what_its_records_say() -> None:
    assert judging.PAGE.read_text(encoding="utf-8") == judging.page(RECORDS, OTHERS, CONTEXTS), (
        "run: python tools/judge_runtimes.py --render"
    )


def explains_its_verdicts(record: RuntimeRecord) -> bool:
    """Whether each type that does not conform has a behaviour."""
    different = {etype for one in record.behaviours for etype in one.types}
    return all(
        etype in different for etype, verdict in record.verdicts.items() if verdict != "conforms"
    )


def test_every_adapter_has_a_record_of_every_type_and_a_behaviour_for_what_does_not_conform() -> (
    None
):
    assert [name for name in KNOWN if name not in OURS] == NAMES
    types = [etype.id for etype in load_spec().element_types if etype.numpy is not None]
    for record in RECORDS:
        assert list(record.verdicts) == types, record.runtime
        assert record.compared > 1_000_000, record.runtime
        assert explains_its_verdicts(record), record.runtime
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(extras["optional-dependencies"])
    assert set(EXTRAS) == set(KNOWN) - {*OURS, "numpy"}


def test_runtimes_of_models_have_a_record_of_every_operator() -> None:
    others = [name for name in known_operators() if name != "clip"]
    judged = {(record.operator, record.runtime) for record in OTHERS}
    of_numpy = {(name, "numpy") for name in ("max", "min", "abs", "neg")}  # it has no other of them
    assert judged == {*product(others, OF_MODELS), *of_numpy}
    for record in OTHERS:
        types = specification(record.operator).element_types
        place = f"{record.operator}, {record.runtime}"
        assert list(record.verdicts) == [e.id for e in types if e.numpy is not None], place
        assert record.compared > 100_000, place
        assert explains_its_verdicts(record), place


def test_record_of_another_operator_is_current_for_its_specification() -> None:
    operator = operator_named("identity")
    record = runtime_record(
        run_campaign(CheckOptions("numpy:positive", ["int8"], of=operator)), operator
    )
    assert (record.operator, record.verdicts) == ("identity", {"int8": "conforms"})
    oracle = "0" * 64  # of Clip: conditions of other operators are evaluated
    assert record.is_current(oracle)
    earlier = record.model_copy(update={"spec_sha256": "0" * 64})
    assert not earlier.is_current(oracle)
    assert "under an earlier spec/identity.yaml" in judging.page(RECORDS, [earlier], [])


@pytest.mark.nightly
def test_record_keeps_what_a_report_found() -> None:
    report = run_campaign(
        CheckOptions("numpy", ["int8", "float16", "bfloat16"], of=clip_operator())
    )
    record = runtime_record(report, clip_operator())
    assert RuntimeRecord.model_validate_json(record.model_dump_json()) == record
    problems = {one.text: one for one in record.problems}
    assert {one.verdict for one in record.problems} == {"violates"}
    nan_bound = problems["allowed by the readings numpy and onnx-equation"]
    assert nan_bound.types == ("float16",)
    with_nan_bounds = {
        "low_max_nan",
        "high_min_nan",
        "inside_min_nan",
        "inside_max_nan",
        "inside_both_nan",
    }
    assert set(nan_bound.classes) == with_nan_bounds
    assert "got nan" in nan_bound.example
    assert problems["it returned float32, expected bfloat16"].types == ("bfloat16",)
    accepted = {one.verdict: one.types for one in record.behaviours if one not in record.problems}
    assert accepted["zero-sign"] == ("float16",)
    assert record.fitting == {"allowed by numpy, onnx-equation": ["int8", "float16"]}
    assert record.reproduce is not None


@pytest.mark.nightly
@pytest.mark.parametrize("record", RECORDS, ids=NAMES)
def test_reproducer_of_the_record_shows_the_deviation(record: RuntimeRecord) -> None:
    if record.reproduce is None:
        pytest.skip("it has none")
    try:
        version = find_runtime(record.runtime, CLIP_SIGNATURE).version
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    if version != record.version:
        pytest.skip(f"{version} is installed")
    command = [sys.executable, "-c", record.reproduce]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode == 0:  # type, shape and bits of the result, and the bits that are expected
        found = re.search(r"(\[.*\]) expected: (0x[0-9a-f]+)", done.stdout)
        assert found is not None, done.stdout
        assert set(json.loads(found[1].replace("'", '"'))) != {hex(int(found[2], 16))}
    else:
        assert "Error" in done.stderr
