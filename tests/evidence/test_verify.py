"""`verify`: forged answers are refused, text in records is not executed, mixed files are noticed."""

from dataclasses import replace
from pathlib import Path

import pytest

from sonnx_clip.evidence import verify as verifying
from sonnx_clip.evidence.records import read_records
from sonnx_clip.evidence.verify import (
    Recorded,
    repeat_answers,
    repeat_deviation,
    require_published,
    sample,
    verify,
)
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
        list(verify(build, 1.0))
    assert not ran.exists()


@pytest.mark.usefixtures("no_answers")
def test_runtime_named_by_a_record_is_not_imported(tmp_path):
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef clip(x, l, m): return x\n"
    )
    forged = deviating(made.deviation_in("low_tie", "int8"), f"{tmp_path}/evil.py:clip")
    lines = list(verify(made.write(tmp_path / "build", made.proofs(), [forged]), 1.0))
    assert any("0 of 1 recorded deviation" in line for line in lines)
    assert not (tmp_path / "ran").exists()


def test_deviation_that_comes_out_again_is_accepted(tmp_path):
    right = made.deviation_in("low_tie", "int8", got="0x02")
    repeat_deviation(tmp_path, Recorded("numpy", "int8", "low_tie", right))
    for fields in ({"operands": {"X": "0x0"}}, {"layout": "none"}):
        spoilt = made.deviation_in("low_tie", "int8", **fields)
        with pytest.raises(UserError, match="its operands or layout cannot be read"):
            repeat_deviation(tmp_path, Recorded("numpy", "int8", "low_tie", spoilt))


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """An obligation with the answer of Z3 to its task, and the records without any."""
    build = tmp_path_factory.mktemp("verified")
    o = next(o for o in made.generated().obligations if o.id == "restrictions.R1_is_written")
    (z3,) = find_provers(("z3",))
    task = print_tasks(configure(build), z3, (o.file,))[o.file].tasks[o.theory, o.goal]
    found = read_records(made.write(build, made.proofs()), load_spec())
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
    repeat_answers(build, found, [(o, right)])
    with pytest.raises(UserError, match=message):
        repeat_answers(build, found, [(o, right.model_copy(update=forged))])


def test_emptied_list_of_what_tasks_take_for_granted_is_refused(answer):
    build, found, _, right = answer
    proofs = found.proofs.model_copy(update={"trusted": ()})
    o = next(o for o in made.generated().obligations if o.id == "float32.total")
    with pytest.raises(UserError, match="which is not listed"):
        repeat_answers(build, replace(found, proofs=proofs), [(o, right)])


def test_mixed_or_changed_files_are_noticed(tmp_path):
    build = made.write(tmp_path / "build", made.proofs())
    folder = build / "evidence"
    files = {name: name.upper() for name in ("index.html", "evidence.json")}
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    assert "agrees with the records" in require_published(folder, files)
    for name, text in files.items():
        for spoil in (lambda file: file.write_text("other"), Path.unlink):
            spoil(folder / name)
            with pytest.raises(UserError, match=f"{name}: it differs from the records"):
                require_published(folder, files)
            (folder / name).write_text(text)


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
    assert sample(every, 0.02, 7) == sample(every, 0.02, 7) != sample(every, 0.02, 8)
    assert len(sample(every, 0.02, 7)) == 20
    assert sample(every, 1.0, 7) == every
    assert len(sample(every, 1e-9, 7)) == 1
    assert sample(every, 0.0, 7) == []


@pytest.mark.parametrize("text", ["2", "200%", "nan%"])
def test_part_that_is_none_is_refused(text):
    done = run("verify", "--replay", text, cwd=Path.cwd())
    assert done.returncode == 2
    assert "is not a percentage" in done.stderr
