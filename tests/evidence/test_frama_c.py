"""What the evidence says of the C kernels: shown, not proved, stale, or not run; never more than is there."""

from __future__ import annotations

import json

import pytest

from sonnx_clip.backends.acsl import due, functions
from sonnx_clip.evidence.page import render_page, write_evidence
from sonnx_clip.evidence.road_records import c_kernels_of, read_frama_c
from sonnx_clip.prove.frama_c_record import FramaCRecord, OfType, Smoke, WpGoal, WpProperty, digests
from sonnx_clip.prove.run_frama_c import OPTIONS
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.evidence import made

SPEC = load_spec()
TYPES = [etype for etype in SPEC.element_types if etype.c is not None]


def of_type(etype, **fields):
    """What is recorded where everything is proved."""
    by = {"Z3": 1, "cvc5": 1}
    whole = {
        "type": etype.id,
        "files": digests(etype),
        "goals": tuple(WpGoal(function="f", name=n, total=2, simplifier=1, by=by) for n in due(etype)),
        "properties": tuple(
            WpProperty(function=f, kind="termination clause", text="", status="Valid")
            for f in functions(etype)
        ),
        "smoke": tuple(Smoke(function=f, held=True) for f in functions(etype)),
        "taken": (),
        "words": (),
        "seconds": 1.0,
    }
    return OfType(**(whole | fields))


def record(**fields):
    whole = {
        "tool": "sonnx-clip 0.1.0",
        "spec_digest": SPEC.digest,
        "tools": {"Frama-C": "25.0", "Z3": "4.8.12", "cvc5": "1.0.3"},
        "options": OPTIONS,
        "complete": True,
        "types": tuple(map(of_type, TYPES)),
    }
    return FramaCRecord(**(whole | fields))


def statuses(found):
    return [kernel.status for kernel in c_kernels_of(SPEC, found)]


def test_a_run_in_which_all_is_proved():
    assert statuses(record()) == ["proved"] * 12
    kernel = c_kernels_of(SPEC, record())[0]
    assert (kernel.goals, kernel.shown, kernel.simplified) == (34, 34, 17)
    assert kernel.by == {"Z3": 17, "cvc5": 17}


def test_what_was_not_run_is_not_run():
    assert statuses(None) == ["not run"] * 12
    assert statuses(record(types=(of_type(TYPES[0]),))) == ["proved"] + ["not run"] * 11


def test_other_files_make_it_stale():
    changed = of_type(TYPES[0], files=dict.fromkeys(digests(TYPES[0]), "0" * 64))
    without = of_type(TYPES[1], files={})
    assert statuses(record(types=(changed, without)))[:2] == ["stale", "stale"]
    assert statuses(record(spec_digest="0" * 64)) == ["stale"] * 12
    without_guards = tuple(option for option in OPTIONS if option != "-wp-rte")
    assert statuses(record(options=without_guards)) == ["stale"] * 12


def test_what_is_not_borne_out_by_the_goals_is_not_proved():
    goals = of_type(TYPES[0]).goals
    spoilt = goals[0].model_copy(update={"by": {"Z3": 0, "cvc5": 0}})
    lost = of_type(TYPES[0], goals=goals[1:])
    failed = of_type(TYPES[1], goals=(spoilt, *goals[1:]))
    found = c_kernels_of(SPEC, record(types=(lost, failed)))
    assert [kernel.status for kernel in found[:2]] == ["not proved", "not proved"]
    assert found[0].open == (f"{goals[0].name} is missing",)


def test_what_one_prover_shows_is_named():
    goals = of_type(TYPES[0]).goals
    single = goals[0].model_copy(update={"by": {"Z3": 0, "cvc5": 1}})
    kernel = c_kernels_of(SPEC, record(types=(of_type(TYPES[0], goals=(single, *goals[1:])),)))[0]
    assert kernel.status == "proved by one"
    assert kernel.by_one == (goals[0].name,)


def test_a_damaged_record_is_one_message(tmp_path):
    (tmp_path / "frama-c.json").write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        read_frama_c(tmp_path)
    twice = record(types=(of_type(TYPES[0]), of_type(TYPES[0])))
    (tmp_path / "frama-c.json").write_text(twice.model_dump_json())
    with pytest.raises(UserError, match="an element type is there twice"):
        read_frama_c(tmp_path)


def test_a_page_without_a_run_says_so(written):
    assert "12 of 12 not run" in written.html
    assert [kernel.status for kernel in written.evidence.c_kernels] == ["not run"] * 12
    assert written.evidence.totals.c_not_proved == 0
    assert "Frama-C" not in written.evidence.tools


def write(tmp_path, obligations, found):
    reports = [made.ours(name) for name in ("sonnx", "sonnx-c")]
    build = made.write(tmp_path / "build", made.proofs(obligations), reports)
    (build / "frama-c.json").write_text(found.model_dump_json())
    return write_evidence(build, tmp_path / "out")


def test_a_run_stands_on_the_page_and_in_the_record(tmp_path, obligations):
    one = of_type(TYPES[0], properties=())
    shown = of_type(TYPES[1], taken=("mask",))
    summary = write(tmp_path, obligations, record(types=(one, shown, of_type(TYPES[2], files={}))))
    assert summary.exit_status == 1
    assert "1 C kernels not proved by Frama-C" in summary.line
    html = (tmp_path / "out" / "index.html").read_text()
    assert "1 of 12 not proved, 1 of 12 proved, 1 of 12 stale, 9 of 12 not run; 68 of 68 goals" in html
    assert "clip_element_terminates is missing" in html
    assert "The C or its contracts have changed since" in html
    stored = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert stored["tools"]["Frama-C"] == "25.0"
    assert stored["c_kernels"][1]["taken"] == ["mask"]
    schema = json.loads((tmp_path / "out" / "evidence.schema.json").read_text())
    assert "CKernelEvidence" in schema["$defs"]


def test_a_goal_by_one_prover_stands_on_the_page(written):
    goals = of_type(TYPES[0]).goals
    single = goals[0].model_copy(update={"by": {"Z3": 0, "cvc5": 1}})
    kernels = c_kernels_of(SPEC, record(types=(of_type(TYPES[0], goals=(single, *goals[1:])),)))
    html = render_page(written.evidence.model_copy(update={"c_kernels": kernels}), SPEC)
    assert f"by one prover only: <code>{goals[0].name}</code>" in html
