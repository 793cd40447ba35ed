"""`verify`: forged answers are refused, text in records is not executed, mixed files are noticed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.evidence import verify as verifying
from sonnx_clip.evidence import write_evidence
from sonnx_clip.evidence.missing_library import MissingLibraryError
from sonnx_clip.evidence.published import compare_published, published_checkout
from sonnx_clip.evidence.records import read_records
from sonnx_clip.evidence.verify import (
    Answered,
    Recorded,
    random_part,
    repeat_answers,
    repeat_deviation,
    verify,
)
from sonnx_clip.evidence.write_evidence import FORMATS, render
from sonnx_clip.prove.provers import find_provers, reply
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.command import printed, run
from tests.evidence import made


def deviating(deviation, runtime="numpy"):
    """A report with one recorded deviation, in int8 and low_tie."""
    whole = made.report(runtime, violates=("low_tie",), types=("int8",))
    (one,) = whole.types
    of = [
        c.model_copy(update={"deviations": (deviation,)}) if c.deviations else c
        for c in one.classes
    ]
    return whole.model_copy(update={"types": (one.model_copy(update={"classes": tuple(of)}),)})


@pytest.fixture
def no_answers(monkeypatch):
    """The answers of provers are not repeated."""
    monkeypatch.setattr(verifying, "repeat_answers", lambda *_: None)


@pytest.mark.usefixtures("no_answers")
def test_reproducer_in_forged_record_is_not_executed(tmp_path):
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w'); print(['0x7'])"
    forged = deviating(made.deviation_in("low_tie", "int8", reproduce=code))
    build = made.write(tmp_path / "build", made.proofs(), [forged])
    with pytest.raises(UserError, match="0x07 is recorded, a repetition gives its result is 0x02"):
        list(verify(load_spec(), build, 1.0))
    assert not ran.exists()


@pytest.mark.usefixtures("no_answers")
def test_runtime_named_by_a_record_is_not_imported(tmp_path):
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef clip(x, l, m): return x\n"
    )
    forged = deviating(made.deviation_in("low_tie", "int8"), f"{tmp_path}/evil.py:clip")
    lines = list(verify(load_spec(), made.write(tmp_path / "build", made.proofs(), [forged]), 1.0))
    assert any("0 of 1 recorded deviation" in line for line in lines)
    assert not (tmp_path / "ran").exists()


def test_deviation_that_comes_out_again_is_accepted(tmp_path):
    right = made.deviation_in("low_tie", "int8", got="0x02")
    repeat_deviation(tmp_path, Recorded("numpy", "int8", "low_tie", right), clip_operator())
    for fields in ({"operands": {"X": "0x0"}}, {"layout": "none"}):
        spoilt = made.deviation_in("low_tie", "int8", **fields)
        with pytest.raises(UserError, match="its operands or layout cannot be read"):
            repeat_deviation(
                tmp_path, Recorded("numpy", "int8", "low_tie", spoilt), clip_operator()
            )


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """An obligation with the answer of Z3 to its task, and the records without any."""
    build = tmp_path_factory.mktemp("verified")
    o = next(o for o in made.generated().obligations if o.id == "restrictions.R1_is_written")
    (z3,) = find_provers(("z3",))
    task = print_tasks(configure(build), z3, (o.file,))[o.file].tasks[o.theory, o.goal]
    found = read_records(made.write(build, made.proofs()), load_spec(), ())
    return build, found, o, reply(z3, task.digest, "valid", "unsat", 0.1)


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"verdict": "countermodel"}, "is recorded as countermodel, but a repetition gives valid"),
        ({"task": "0" * 64}, "answered the task 000000000000…, the theories have another"),
        ({"version": "9.9"}, r"Z3 9\.9 answered, but .* is installed"),
    ],
    ids=["verdict", "task", "version"],
)
def test_forged_answer_is_refused(answer, forged, message):
    build, found, o, right = answer
    repeat_answers(build, found, [Answered(found, o, right)])
    with pytest.raises(UserError, match=message):
        repeat_answers(build, found, [Answered(found, o, right.model_copy(update=forged))])


def test_emptied_list_of_what_tasks_take_for_granted_is_refused(answer):
    build, found, _, right = answer
    proofs = found.proofs.model_copy(update={"trusted": ()})
    o = next(o for o in made.generated().obligations if o.id == "float32.total")
    with pytest.raises(UserError, match="which is not listed"):
        repeat_answers(build, replace(found, proofs=proofs), [Answered(found, o, right)])


@pytest.fixture(scope="module")
def published_once(tmp_path_factory):
    build = made.write(tmp_path_factory.mktemp("published") / "build", made.proofs())
    write_evidence(load_spec(), build, build / "evidence", formats=("page", *FORMATS, "in-toto"))
    found = read_records(build, load_spec(), ())
    return build, found, *render(found, published_checkout(build))


@pytest.fixture
def published(published_once, tmp_path):
    """A copy of build/ with the evidence in every format, and a function that compares it."""
    build, *rendered = published_once
    shutil.copytree(build, tmp_path / "build")
    return tmp_path / "build/evidence", lambda: compare_published(tmp_path / "build", *rendered)


def test_every_published_file_is_compared(published):
    folder, compare = published
    assert sorted(compare().agreeing) == sorted(path.name for path in folder.iterdir())
    assert compare().not_compared == {}


FORGED = {
    "index.html": ("Z3", "Z4"),
    "evidence.json": ("Z3", "Z4"),
    "matrix.csv": ("proved", "refuted"),
    "junit.xml": ('failures="0"', 'failures="1"'),
    "needs.json": ("proved", "refuted"),
    "evidence.reqif": ("proved", "refuted"),
    "sbom.cdx.json": ("Z3", "Z4"),
    "statement.intoto.json": ("Z3", "Z4"),
}


@pytest.mark.parametrize("name", FORGED)
def test_edited_file_is_noticed(published, name):
    folder, compare = published
    text = (folder / name).read_text()
    edited = text.replace(*FORGED[name], 1)
    assert edited != text
    (folder / name).write_text(edited)
    with pytest.raises(UserError, match=f"{name}: it differs from the records") as refused:
        compare()
    assert "do not rely on it" in refused.value.todo


def test_removed_page_is_noticed(published):
    folder, compare = published
    (folder / "index.html").unlink()
    with pytest.raises(UserError, match=r"index\.html: it differs from the records"):
        compare()


def test_file_that_cannot_be_compared_is_listed(published, monkeypatch):
    folder, compare = published
    (folder / "statement.intoto.json").unlink()  # it has the digests of the others
    (folder / "notes.txt").write_text("not ours")
    sbom = json.loads((folder / "sbom.cdx.json").read_text())
    (package,) = [c for c in sbom["components"] if c["name"] == "numpy"]
    package["version"] = "9.9"
    (folder / "sbom.cdx.json").write_text(json.dumps(sbom))

    def missing(*_):
        raise MissingLibraryError("reqif")

    monkeypatch.setitem(FORMATS, "reqif", ("evidence.reqif", missing))
    assert compare().not_compared == {
        "evidence.reqif": "the package reqif is not installed",
        "notes.txt": "it is not a file of the evidence",
        "sbom.cdx.json": "its packages are not those installed here; it lists numpy 9.9",
    }


@pytest.mark.nightly
@pytest.mark.usefixtures("no_answers")
def test_program_that_differs_from_the_recorded_one_is_reported(tmp_path):
    document = made.proofs()
    provers = {prover.name: prover.digest for prover in find_provers()}
    document["programs"] = provers | {"why3": "0" * 64}
    build = made.write(tmp_path / "build", document)
    output = "\n".join(verify(load_spec(), build, 0.0))
    confirmed, _, differing = output.partition("programs other than those of the record")
    assert "Z3 and cvc5 of this machine are those of the record" in confirmed
    assert "why3: SHA-256 recorded 000000000000, on this machine" in differing


def test_command_lists_what_is_confirmed_and_what_is_not(tmp_path):
    build = made.write(tmp_path / "build", made.proofs(), [made.report("numpy")])
    said = printed("verify", "--replay", "0%", "--build", str(build))
    confirmed, _, taken = said.partition("taken from records, not repeated")
    assert "Generated files" in confirmed
    assert "Z3 and cvc5" not in confirmed
    assert all(
        name in taken for name in ("Z3 and cvc5", "Runtime numpy", "not run: Coq’s kernel, Frama-C")
    )


def test_sample_is_drawn_by_its_seed():
    every = list(range(1000))
    assert random_part(every, 0.02, 7) == random_part(every, 0.02, 7) != random_part(every, 0.02, 8)
    assert len(random_part(every, 0.02, 7)) == 20
    assert random_part(every, 1.0, 7) == every
    assert len(random_part(every, 1e-9, 7)) == 1
    assert random_part(every, 0.0, 7) == []


@pytest.mark.parametrize("text", ["2", "200%", "nan%"])
def test_part_that_is_none_is_refused(text):
    done = run("verify", "--replay", text, cwd=Path.cwd())
    assert done.returncode == 2
    assert "is not a percentage" in done.stderr
