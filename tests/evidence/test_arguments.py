"""Coq, Frama-C, replays, dialects and mutants: shown as they are recorded, stale or not run, never more."""

import json

import pytest

from sonnx_clip.backends.acsl import c_functions, required_goals
from sonnx_clip.evidence import collect
from sonnx_clip.evidence.records import replayed_digest
from sonnx_clip.prove.coq import GOLDEN, coq_digests, coq_sources
from sonnx_clip.prove.frama_c import (
    OPTIONS,
    FramaCRecord,
    OfType,
    Smoke,
    WpGoal,
    WpProperty,
    frama_c_digests,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.conftest import gathered_in, written_in

SPEC = load_spec()
TYPES = [etype for etype in SPEC.element_types if etype.c is not None]


def basis(evidence, name):
    return next(line.basis for line in evidence.argument if line.name == name)


def put(folder, **texts):
    """Write records into a build folder."""
    for name, text in texts.items():
        path = folder / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def with_records(folder, **texts):
    """What is gathered of proofs and further records, which are given by their paths."""
    put(folder, **texts)
    return gathered_in(folder, made.proofs())


@pytest.fixture(scope="module")
def coq():
    lines = repo_file(GOLDEN).read_text().splitlines()
    rests = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    sources = coq_sources(repo_root())
    theorems = [t.model_dump() for s in sources for t in s.theorems()]
    axioms = {
        module: [] if text.startswith("closed") else text.split(", ")
        for module, text in rests.items()
    }
    about = {
        "tool": "t",
        "spec_sha256": SPEC.digest,
        "coq": "8.16.1",
        "problems": [],
        "seconds": {},
    }
    return {**about, "sources": coq_digests(sources), "theorems": theorems, "axioms": axioms}


def test_coq_is_taken_from_its_record(everything, coq):
    assert everything.evidence.coq.status == "checked"
    assert basis(everything.evidence, "Coq’s kernel") == "taken from records, not repeated"
    assert next(e for e in everything.evidence.entries if e.id == "monotone").theorems
    assert f"{len(coq['theorems'])} theorems checked by Coq 8.16.1" in everything.html


def of_type(etype, **fields):
    """What is recorded where everything is proved."""
    goal = {"function": "f", "total": 2, "simplifier": 1, "by": {"Z3": 1, "cvc5": 1}}
    ended = {"kind": "termination clause", "text": "", "status": "Valid"}
    whole = {
        "type": etype.id, "files": frama_c_digests(etype), "taken": (), "words": (),
        "properties": tuple(WpProperty(function=f, **ended) for f in c_functions(etype)),
        "goals": tuple(WpGoal(name=name, **goal) for name in required_goals(etype)),
        "smoke": tuple(Smoke(function=f, held=True) for f in c_functions(etype)), "seconds": 1.0,
    }  # fmt: skip
    return OfType(**(whole | fields))


def frama_c(*types, **fields):
    whole = {
        "tool": "t", "spec_digest": SPEC.digest, "tools": {"Frama-C": "25.0"}, "options": OPTIONS,
        "complete": True, "types": types,
    }  # fmt: skip
    return FramaCRecord(**(whole | fields)).model_dump_json()


def replay(digest):
    fields = {"why3": "1.8.0", "z3": "4.13.3", "cvc5": "1.1.2", "digest": digest, "valid": 9, "goals": 9,
              "smoke": 2, "false": 0, "smokes": 2}  # fmt: skip
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


# A report as `check --against onnx-13` writes it.
COMPARISON = made.report(
    "onnx-reference", types=("float32",), violates=("low_tie",), dialect="onnx-13"
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory, coq):
    """A page with a record of each line of argument; a goal of Frama-C is missing."""
    folder = tmp_path_factory.mktemp("everything")
    fewer = frama_c(of_type(TYPES[0], goals=of_type(TYPES[0]).goals[1:]))
    dialects = {"dialects/one.json": COMPARISON.model_dump_json()}
    put(folder, **dialects, **{"foundation.json": json.dumps(coq), "frama-c.json": fewer})
    return written_in(folder, made.proofs())


def test_kernel_that_frama_c_does_not_prove_is_open(everything):
    assert everything.evidence.totals.open == (f"Frama-C did not prove the C of {TYPES[0].id}",)
    assert everything.summary.exit_status == 1
    assert f"{of_type(TYPES[0]).goals[0].name} is missing" in everything.html


def test_dialect_in_a_runtime_is_shown(everything):
    name = "onnx-reference against onnx-13"
    assert basis(everything.evidence, f"Runtime {name}") == "taken from records, not repeated"
    assert basis(everything.evidence, "Runtime onnxruntime against onnx") == "not run"
    assert len(everything.data["deviations"][name]) == 1


def mutants(path, **changes):
    record = json.loads(repo_file(collect.MUTANTS).read_text())
    fresh = {"mutated_sha256": collect.mutants_digest(collect.all_mutants(SPEC))}
    path.write_text(json.dumps(record | fresh | changes))
    return str(path)


def test_records_of_other_files_are_stale(tmp_path, monkeypatch, coq):
    stale = coq | {"sources": {**coq["sources"], "coq/Clip.v": "0" * 64}}
    changed = of_type(TYPES[0], files=dict.fromkeys(frama_c_digests(TYPES[0]), "0" * 64))
    monkeypatch.setattr(
        collect, "MUTANTS", mutants(tmp_path / "mutants.json", mutated_sha256="0" * 64)
    )
    records = {"foundation.json": json.dumps(stale), "frama-c.json": frama_c(changed)}
    found = with_records(tmp_path, **records, **{"replays/one.txt": replay("0" * 64)})
    assert (
        basis(found, "Coq’s kernel")
        == basis(found, "Mutants")
        == basis(found, "Frama-C")
        == "stale"
    )
    assert basis(found, "Replay") == "not run"
    assert not any(e.theorems for e in found.entries)
    assert [k.status for k in found.c_kernels] == ["stale", *["not run"] * (len(TYPES) - 1)]


@pytest.mark.parametrize(
    "spoil", [{"axioms": {"Clip": ["wish"]}}, {"problems": ["coq/Clip.v:1: wish"]}]
)
def test_fresh_records_are_taken_and_an_axiom_or_problem_of_coq_is_open(
    tmp_path, monkeypatch, coq, spoil
):
    monkeypatch.setattr(collect, "MUTANTS", str(tmp_path / "none.json"))
    records = {
        "foundation.json": json.dumps(coq | spoil),
        "frama-c.json": frama_c(*map(of_type, TYPES)),
    }
    found = with_records(tmp_path, **records, **{"replays/one.txt": replay(replayed_digest())})
    assert any("wish" in line for line in found.totals.open)
    assert {k.status for k in found.c_kernels} == {"proved"}
    assert basis(found, "Frama-C") == basis(found, "Replay") == "taken from records, not repeated"
    assert basis(found, "Mutants") == "not run"
    (line,) = [line for line in found.argument if line.name == "Replay"]
    assert line.result == "9 of 9 goals with Why3 1.8.0, Z3 4.13.3, cvc5 1.1.2"
    assert found.tools["Frama-C"] == "25.0"


def test_frama_c_with_other_options_is_stale(tmp_path):
    found = with_records(tmp_path, **{"frama-c.json": frama_c(*map(of_type, TYPES), options=())})
    assert basis(found, "Frama-C") == "stale"


def test_damaged_replay_stale_dialects_and_mutants_without_survivors_are_refused(
    tmp_path, monkeypatch
):
    with pytest.raises(UserError, match="the record of a replay is damaged at"):
        with_records(tmp_path / "a", **{"replays/one.txt": "why3: 1"})
    stale = COMPARISON.model_copy(update={"spec_sha256": "0" * 64}).model_dump_json()
    with pytest.raises(UserError, match="stale"):
        with_records(tmp_path / "b", **{"dialects/1.json": stale})
    monkeypatch.setattr(collect, "MUTANTS", mutants(tmp_path / "mutants.json", survivors=[]))
    with pytest.raises(UserError, match="mutants are recorded, and there are"):
        with_records(tmp_path / "c")
