"""Coq, Frama-C, replays, dialects and mutants: shown as they are recorded, stale or not run, never more."""

import json

import pytest

from sonnx_clip.backends.acsl import due, functions
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.dialects import dialect_operator
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.evidence import collect
from sonnx_clip.evidence.records import replayed_digest
from sonnx_clip.prove.coq import GOLDEN, coq_sources
from sonnx_clip.prove.coq import digests as coq_digests
from sonnx_clip.prove.frama_c import OPTIONS, FramaCRecord, OfType, Smoke, WpGoal, WpProperty, digests
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.conftest import gathered_in, written_in

SPEC = load_spec()
TYPES = [etype for etype in SPEC.element_types if etype.c is not None]


def basis(evidence, name):
    return next(line.basis for line in evidence.argument if line.name == name)


def with_record(tmp_path, name, text):
    (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "build" / name).write_text(text)
    return gathered_in(tmp_path, made.proofs())


# --- Coq ---


@pytest.fixture(scope="module")
def coq_record():
    lines = repo_file(GOLDEN).read_text().splitlines()
    rests = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    sources = coq_sources(repo_root())
    theorems = [t.model_dump() for s in sources for t in s.theorems()]
    axioms = {module: [] if text.startswith("closed") else text.split(", ") for module, text in rests.items()}
    about = {"tool": "t", "spec_sha256": SPEC.digest, "coq": "8.16.1", "problems": [], "seconds": {}}
    return {**about, "sources": coq_digests(sources), "theorems": theorems, "axioms": axioms}


@pytest.fixture
def coq(coq_record):
    return json.loads(json.dumps(coq_record))


def test_coq_is_taken_from_its_record(everything, coq):
    assert everything.evidence.coq.status == "checked"
    assert basis(everything.evidence, "Coq’s kernel") == "taken from records, not repeated"
    assert next(e for e in everything.evidence.entries if e.id == "monotone").theorems
    assert f"{len(coq['theorems'])} theorems checked by Coq 8.16.1" in everything.html


def test_coq_of_changed_files_is_stale(tmp_path, coq):
    coq["sources"]["coq/Clip.v"] = "0" * 64
    found = with_record(tmp_path, "foundation.json", json.dumps(coq))
    assert basis(found, "Coq’s kernel") == "stale"
    assert not any(e.theorems for e in found.entries)


@pytest.mark.parametrize("spoil", ["assumption", "problem"])
def test_coq_that_rests_on_something_else_is_open(tmp_path, coq, spoil):
    if spoil == "assumption":
        coq["axioms"]["Clip"] = ["wish"]
    else:
        coq["problems"] = ["coq/Clip.v:1: wish"]
    found = with_record(tmp_path, "foundation.json", json.dumps(coq))
    assert any("wish" in line for line in found.totals.open)


# --- Frama-C ---


def of_type(etype, **fields):
    """What is recorded where everything is proved."""
    by = {"Z3": 1, "cvc5": 1}
    ended = [
        WpProperty(function=f, kind="termination clause", text="", status="Valid") for f in functions(etype)
    ]
    whole = {
        "type": etype.id, "files": digests(etype), "properties": tuple(ended), "taken": (), "words": (),
        "goals": tuple(WpGoal(function="f", name=n, total=2, simplifier=1, by=by) for n in due(etype)),
        "smoke": tuple(Smoke(function=f, held=True) for f in functions(etype)), "seconds": 1.0,
    }  # fmt: skip
    return OfType(**(whole | fields))


def frama_c(*types, **fields):
    whole = {
        "tool": "t", "spec_digest": SPEC.digest, "tools": {"Frama-C": "25.0"}, "options": OPTIONS,
        "complete": True, "types": types,
    }  # fmt: skip
    return FramaCRecord(**(whole | fields)).model_dump_json()


def test_frama_c_is_taken_from_its_record(tmp_path):
    found = with_record(tmp_path, "frama-c.json", frama_c(*map(of_type, TYPES)))
    assert {k.status for k in found.c_kernels} == {"proved"}
    assert basis(found, "Frama-C") == "taken from records, not repeated"
    assert found.tools["Frama-C"] == "25.0"


def test_frama_c_of_changed_files_or_other_options_is_stale(tmp_path):
    changed = of_type(TYPES[0], files=dict.fromkeys(digests(TYPES[0]), "0" * 64))
    found = with_record(tmp_path / "a", "frama-c.json", frama_c(changed))
    assert [k.status for k in found.c_kernels] == ["stale", *["not run"] * (len(TYPES) - 1)]
    text = frama_c(*map(of_type, TYPES), options=())
    assert basis(with_record(tmp_path / "b", "frama-c.json", text), "Frama-C") == "stale"


def test_kernel_that_frama_c_does_not_prove_is_open(everything):
    missing = f"{of_type(TYPES[0]).goals[0].name} is missing"
    assert everything.evidence.totals.open == (f"Frama-C did not prove the C of {TYPES[0].id}",)
    assert everything.summary.exit_status == 1
    assert missing in everything.evidence.c_kernels[0].open
    assert missing in everything.html


# --- Replays, dialects, mutants ---


def replay(digest):
    fields = {"why3": "1.8.0", "z3": "4.13.3", "cvc5": "1.1.2", "digest": digest, "valid": 9, "goals": 9,
              "smoke": 2, "false": 0, "smokes": 2}  # fmt: skip
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def test_replay_counts_for_the_same_obligations_only(tmp_path):
    found = with_record(tmp_path / "a", "replays/one.txt", replay(replayed_digest()))
    assert basis(found, "Replay") == "taken from records, not repeated"
    (line,) = [line for line in found.argument if line.name == "Replay"]
    assert line.result == "9 of 9 goals with Why3 1.8.0, Z3 4.13.3, cvc5 1.1.2"
    assert basis(with_record(tmp_path / "b", "replays/one.txt", replay("0" * 64)), "Replay") == "not run"
    with pytest.raises(UserError, match="the record of a replay is damaged at"):
        with_record(tmp_path / "c", "replays/one.txt", "why3: 1")


@pytest.fixture(scope="module")
def comparison():
    return run_campaign(CheckOptions("onnx-reference", ["float32"], of=dialect_operator("onnx-13")))


@pytest.fixture(scope="module")
def everything(tmp_path_factory, coq_record, comparison):
    """A page with a record of each line of argument; a goal of Frama-C is missing."""
    folder = tmp_path_factory.mktemp("everything")
    (folder / "build/dialects").mkdir(parents=True)
    (folder / "build/dialects/one.json").write_text(comparison.model_dump_json())
    (folder / "build/foundation.json").write_text(json.dumps(coq_record))
    goals = of_type(TYPES[0]).goals[1:]
    (folder / "build/frama-c.json").write_text(frama_c(of_type(TYPES[0], goals=goals)))
    return written_in(folder, made.proofs())


def test_dialect_in_a_runtime_is_shown(everything):
    name = "onnx-reference against onnx-13"
    assert basis(everything.evidence, f"Runtime {name}") == "taken from records, not repeated"
    assert basis(everything.evidence, "Runtime onnxruntime against onnx") == "not run"
    section = everything.html.partition(f'id="runtime-{name}"')[2].partition("</section>")[0]
    assert "opset 13, optimised, no min" in section
    deviations = everything.data["deviations"][name]
    assert any("missing bound" in (one["explanation"] or "") for one in deviations)


def test_stale_dialects_are_refused(tmp_path, comparison):
    stale = comparison.model_copy(update={"spec_sha256": "0" * 64})
    with pytest.raises(UserError, match="stale"):
        with_record(tmp_path, "dialects/1.json", stale.model_dump_json())


def test_mutants_of_other_conditions_are_stale(tmp_path, monkeypatch):
    record = json.loads(repo_file(collect.MUTANTS).read_text()) | {"mutated_sha256": "0" * 64}
    (tmp_path / "mutants.json").write_text(json.dumps(record))
    monkeypatch.setattr(collect, "MUTANTS", str(tmp_path / "mutants.json"))
    assert basis(gathered_in(tmp_path, made.proofs()), "Mutants") == "stale"
    monkeypatch.setattr(collect, "MUTANTS", str(tmp_path / "none.json"))
    assert basis(gathered_in(tmp_path, made.proofs()), "Mutants") == "not run"


def test_mutants_without_their_survivors_are_refused(tmp_path, monkeypatch):
    record = json.loads(repo_file(collect.MUTANTS).read_text()) | {"survivors": []}
    record["mutated_sha256"] = collect.digest_of(collect.all_mutants(SPEC))
    (tmp_path / "mutants.json").write_text(json.dumps(record))
    monkeypatch.setattr(collect, "MUTANTS", str(tmp_path / "mutants.json"))
    with pytest.raises(UserError, match="mutants are recorded, and there are"):
        gathered_in(tmp_path, made.proofs())
