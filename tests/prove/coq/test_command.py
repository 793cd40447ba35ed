"""The command around Coq, with a Coq that answers at once."""

import json
import os
import shutil

import pytest

from sonnx_clip.cli import other_roads
from sonnx_clip.prove.coq import GOLDEN, check_coq, coq_sources
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec
from tests.prove.coq import fake


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A copy of the Coq files, and a fake Coq first on PATH."""
    for folder in ("coq", "generated/coq"):
        shutil.copytree(
            repo_root() / folder,
            tmp_path / folder,
            ignore=shutil.ignore_patterns("*.vo*", "*.glob"),
        )
    fake.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


def run(root):
    return check_coq(load_spec(), root, root / "build/foundation")


def replace(file, old, new):
    text = file.read_text()
    assert text.count(old) >= 1
    file.write_text(text.replace(old, new, 1))


def test_all_is_well_and_the_record_says_so(root, capsys):
    assert other_roads.prove_by_coq(as_json=True, build=root / "build", root=root) == 0
    record = json.loads((root / "build/foundation.json").read_text())
    assert json.loads(capsys.readouterr().out) == record
    assert record["problems"] == []
    assert record["sources"].keys() >= {"coq/Order.v", "generated/coq/Float.v"}
    shown = {id_ for theorem in record["theorems"] for id_ in theorem["shows"]}
    assert shown >= {p.id for p in load_spec().properties} | {c.id for c in load_spec().cases} | {
        "C2"
    }
    assert shown >= {r.id for r in load_spec().readings}


def test_stale_rendering_is_refused(root):
    replace(root / "generated/coq/Int.v", "m < l", "l < m")
    with pytest.raises(UserError, match=r"stale: generated/coq/Int\.v"):
        other_roads.prove_by_coq(as_json=False, build=root / "build", root=root)


def test_proof_that_fails_is_named_with_its_theorem(root):
    replace(root / "coq/Theorems.v", "Theorem monotone", "Theorem monotone (* PLANTED_FAILURE *)")
    result = run(root)
    assert not result.theorems
    assert any(
        "Theorem monotone is not accepted by Coq: Error: (in proof)" in p for p in result.problems
    )
    assert any(
        "coq/Bitwise.v: not checked: it needs SonnxClip.Theorems" in p for p in result.problems
    )
    for as_json in (True, False):
        assert other_roads.prove_by_coq(as_json=as_json, build=root / "build", root=root) == 1


# What is replaced in a file, and a problem that is then named.
PLANTED = {
    "a module that the list of axioms lacks": (
        GOLDEN, "Agreement: closed", "Gone: closed", "Agreement rest on: closed under the global context"),
    "a module of the list that is gone": (
        GOLDEN, "Agreement: closed", "Gone: closed", "the theorems of Gone rest on: nothing (no theorems)"),
    "an axiom that the theorems do not use": (
        GOLDEN, "Floats: closed", "Floats: Classical_Prop.classic", "the list says: Classical_Prop.classic"),
    "an axiom that is not listed": (
        GOLDEN, "\nReals: ClassicalDedekindReals.sig_forall_dec, ", "\nReals: ",
        "the theorems of Reals rest on: Classical"),
    "a theorem that shows what does not exist": (
        "coq/Theorems.v", "shows: monotone", "shows: monoton",
        "shows monoton, which is not in spec/clip.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_theorems_and_axioms_are_those_that_are_asked_for(root, name):
    file, old, new, says = PLANTED[name]
    replace(root / file, old, new)
    assert any(says in problem for problem in run(root).problems)


@pytest.mark.parametrize(
    ("coqchk", "says"),
    [
        ("#!/bin/sh\nexit 1\n", "coqchk rejects"),
        ("#!/bin/sh\nexit 0\n", "no summary"),
        (
            fake.COQCHK.replace("Coq.Reals.", "SonnxClip.Order.sly\n    Coq.Reals."),
            "SonnxClip.Order.sly",
        ),
        (fake.COQCHK.replace("type-in-type: <none>", "type-in-type: all"), "type-in-type"),
    ],
)
def test_coqchk_must_agree(root, coqchk, says):
    fake.install(root / "bin", coqchk=coqchk)
    assert other_roads.prove_by_coq(as_json=False, build=root / "build", root=root) == 1
    assert any(
        says in p for p in json.loads((root / "build/foundation.json").read_text())["problems"]
    )


def test_silent_coq_proves_nothing(root):
    """An exit status of 0 is no proof where no file was made."""
    silent = '#!/bin/sh\n[ "$1" = --version ] && echo "The Coq Proof Assistant, version 8.16.1"\nexit 0\n'
    fake.install(root / "bin", coqc=silent)
    result = run(root)
    assert not result.theorems
    assert any("coqc ended with status 0" in p for p in result.problems)


def test_unknown_answer_is_refused(root):
    fake.install(
        root / "bin", coqc=fake.COQC.replace("Closed under the global context", "All fine")
    )
    with pytest.raises(UserError, match="an unknown answer"):
        run(root)


def test_missing_coq_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt-get install --no-install-recommends coq libcoq-flocq"):
        check_coq(load_spec(), repo_root(), tmp_path)


def test_folder_without_coq_files_is_refused(tmp_path):
    with pytest.raises(UserError, match="no Coq file"):
        coq_sources(tmp_path)
