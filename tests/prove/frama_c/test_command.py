"""`prove --road frama-c` with a fake Frama-C: what it reads, what it believes, and what it prints."""

import json
import shutil

import pytest

from sonnx_clip.backends.acsl import contract_path, render_acsl
from sonnx_clip.cli.other_roads import prove_by_frama_c
from sonnx_clip.prove.frama_c import (
    HEADER,
    FramaC,
    FramaCRecord,
    c_path,
    frama_c_digests,
    prove_type,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.prove.frama_c.fake import INT8, FakeFramaC, proved

ELEMENT = "clip_element_ensures_meaning"
DONE = "clip_elements_loop_invariant_done"
GUARD = "clip_elements_assert_rte_mem_access"


@pytest.fixture
def fake(tmp_path, monkeypatch):
    return FakeFramaC(tmp_path / "fake", monkeypatch)


@pytest.fixture
def prove(fake, tmp_path, capsys):
    """Prove int8 with the fake; returns the exit status and what was printed."""

    def proving(**options):
        fake.install()
        asked = {"types": ["int8"], "as_json": False, "build": tmp_path / "build"} | options
        return prove_by_frama_c(**asked), capsys.readouterr().out

    return proving


def checkout(root, spec):
    """Write the C of int8 and the contracts of a specification into a folder; returns it."""
    for path in (HEADER, c_path(INT8)):
        write_whole(root / path, repo_file(path).read_text())
    for path, text in render_acsl(spec).items():
        write_whole(root / path, text)
    return root


def test_all_that_is_due_is_proved(prove, tmp_path):
    status, out = prove()
    assert status == 0
    assert "int8: proved: 34 of 34 goals: 0 by WP itself, of the other 34: 34 by Z3" in out
    assert "3 of 3 smoke tests held" in out
    assert not (tmp_path / "build" / "frama-c.json").exists()


def test_goals_of_the_simplifier_and_of_one_prover_are_counted_apart(fake, prove):
    fake.goals[ELEMENT] = proved(simplified=2)
    fake.goals[DONE]["Z3:4.8.12"] = HALF
    status, out = prove()
    assert status == 0
    assert "34 of 34 goals: 2 by WP itself, of the other 32: 31 by Z3, 32 by cvc5" in out
    assert f"int8: {DONE}: proved by cvc5 only" in out


def test_failure_is_printed_with_status_1(fake, prove):
    fake.goals.clear()
    status, out = prove()
    assert status == 1
    assert f"int8: {ELEMENT} is missing" in out
    assert "int8: … and 5 more" in out


HALF = {"total": 2, "valid": 1, "failed": 1}
SMOKE, SHOWN = "clip_element_ensures_smoke", "clip_element_smoke: false was proved"
FALSE = {"total": 1, "valid": 1}
UNREADABLE = "Frama-C: WP wrote no readable report"

# What Frama-C reports otherwise: how the fake is changed, and what is then open.
SPOILT = {
    "two halves by two provers": (
        lambda f: f.goals[DONE].update({"Z3:4.8.12": HALF, "cvc5:1.0.3": HALF}), DONE),
    "a missing postcondition": (lambda f: f.goals.pop(ELEMENT), f"{ELEMENT} is missing"),
    "a missing guard": (lambda f: f.goals.pop(GUARD), f"{GUARD} is missing"),
    "a property without goals": (lambda f: f.goals.update({ELEMENT: {"wp:main": {"total": 0}}}), ELEMENT),
    "more valid answers than goals": (
        lambda f: f.goals[ELEMENT].update(qed={"total": 3, "valid": 3}), ELEMENT),
    "a function that is not shown to end": (
        lambda f: f.rows.pop(), "sonnx_clip_int8_terminates is missing"),
    "a property that is believed": (
        lambda f: f.rows.append(("f", "loop invariant", "Considered valid")),
        "f, loop invariant: Considered valid"),
    "false by a prover": (lambda f: f.smoke[SMOKE].update({"cvc5:1.0.3": FALSE}), SHOWN),
    "false by the simplifier": (
        lambda f: f.smoke.update({SMOKE: {"qed": FALSE, "wp:main": FALSE}}), SHOWN),
    "a smoke claim put to one prover": (lambda f: f.smoke[SMOKE].pop("cvc5:1.0.3"), SHOWN),
    "a missing smoke claim": (
        lambda f: f.smoke.pop("clip_elements_ensures_smoke"), "clip_elements_smoke is missing"),
    "an exit status": (lambda f: setattr(f, "status", 3), "Frama-C: it ended with exit status 3"),
    "no reports": (lambda f: f.texts.update({"proof.json": None, "properties.csv": None}), UNREADABLE),
    "an empty report": (lambda f: f.texts.update({"smoke.json": ""}), UNREADABLE),
    "a report of another form": (
        lambda f: f.texts.update({"proof.json": '{"wp:functions": {"f": {"g": {}}}}'}), UNREADABLE),
    "an unreadable list of properties": (
        lambda f: f.texts.update({"properties.csv": "directory\tfile\n.\tunit.c\n"}),
        "Frama-C: Frama-C wrote no readable list of properties"),
}  # fmt: skip


def opened(fake):
    """What is open after a run of the fake on int8."""
    fake.install()
    found = prove_type(FramaC("25.0", *[fake.folder / "why3.conf"] * 2, (), 1), INT8)
    assert found.status(INT8) == ("not proved" if found.open(INT8) else "proved")
    return found.open(INT8)


@pytest.mark.parametrize("name", SPOILT)
def test_incomplete_report_proves_nothing(fake, name):
    assert opened(fake) == ()
    spoil, words = SPOILT[name]
    spoil(fake)
    assert any(line.startswith(words) for line in opened(fake))


@pytest.mark.parametrize(
    "words",
    [
        "[kernel:annot-error] unit.c:20: Warning: \n  unbound logic predicate. Ignoring loop annotation\n",
        "[wp] unit.c:3: Warning: Missing assigns clause\n",
        "[wp] User Error: Prover 'Z3,4.8.12' not found in why3.conf\n",
        "[wp] Failure: Logic type 'sign' undefined\n",
        "[kernel] Frama-C aborted: internal error.\n",
        "Fatal error while loading driver file\n",
    ],
)
def test_complaint_undoes_what_is_proved(fake, words):
    fake.words += words
    assert f"Frama-C: {' '.join(words.split())}" in opened(fake)


def test_a_run_that_does_not_end_is_ended(fake, monkeypatch):
    monkeypatch.setattr("sonnx_clip.prove.frama_c.WHOLE", 0.2)
    fake.status = "$(sleep 60)"
    assert "Frama-C: it did not end within 0.2 s" in opened(fake)


def test_json_is_the_record_and_a_whole_run_is_kept(prove, tmp_path):
    only = load_spec().model_copy(update={"element_types": (INT8,)})
    status, out = prove(
        types=[], as_json=True, spec=only, root=checkout(tmp_path / "checkout", only)
    )
    assert status == 0
    kept = (tmp_path / "build" / "frama-c.json").read_text()
    assert json.loads(out) == json.loads(kept)
    record = FramaCRecord.model_validate_json(kept)
    assert record.complete
    assert record.types[0].files == frama_c_digests(INT8)
    assert set(record.tools) == {"Frama-C", "Z3", "cvc5"}


def test_stale_contracts_are_not_proved(prove, tmp_path):
    root = checkout(tmp_path / "checkout", load_spec())
    (root / contract_path(INT8)).write_text("other")
    with pytest.raises(UserError, match=f"generated/ is stale: {contract_path(INT8)}"):
        prove(root=root)


def test_a_type_without_c_is_refused(prove):
    with pytest.raises(UserError, match="no C kernel for real"):
        prove(types=["real"])


def test_a_header_with_an_annotation_is_refused(tmp_path):
    """Frama-C would believe it, and nothing would list it."""
    shutil.copytree(repo_file("generated/c"), tmp_path / "generated/c")
    with (tmp_path / HEADER).open("a") as header:
        header.write("/*@ axiomatic a { axiom easy{L}: \\false; } */\n")
    with pytest.raises(UserError, match="the header has an annotation, which Frama-C would assume"):
        prove_type(FramaC("25.0", *[tmp_path / "why3.conf"] * 2, (), 1), INT8, tmp_path)
