"""Records that are forged: each statement that is not borne out is refused by one message, and by name."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.backends.generate import all_obligations, render_all
from sonnx_clip.evidence import recheck_proofs, verify, write_evidence
from sonnx_clip.evidence.collect import read_inputs
from sonnx_clip.evidence.read import require_fresh
from sonnx_clip.evidence.recheck_proofs import tasks_of
from sonnx_clip.evidence.vector_records import read_vectors
from sonnx_clip.prove.provers import find_provers, follows
from sonnx_clip.prove.standing import standings
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.once import share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from tests.prove.workbench import Workbench

    Spoil = Callable[[dict[str, Any]], None]

# ruff: noqa: E501
REAL_TASKS = recheck_proofs._tasks


@pytest.fixture(autouse=True)
def _believed(monkeypatch: pytest.MonkeyPatch) -> None:
    made.believe(monkeypatch)
    share(monkeypatch)


@pytest.fixture(scope="module")
def obligations() -> tuple[Obligation, ...]:
    return all_obligations(load_spec())


def _refused(tmp_path: Path, document: dict[str, Any], *reports: object) -> str:
    names = {json.loads(r)["runtime"] if isinstance(r, str) else r.runtime for r in reports}  # type: ignore[attr-defined]
    ours = [made.ours(name) for name in OURS if name not in names]
    build = made.write(tmp_path / "build", document, [*ours, *reports])
    with pytest.raises(UserError) as caught:
        write_evidence(build, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    message = str(caught.value)
    assert len(message.splitlines()) == 2, "what and where in one line, what to do in the other"
    return message


def _reply(document: dict[str, Any], id_: str, number: int) -> dict[str, Any]:
    (found,) = [o for o in document["outcomes"] if o["id"] == id_]
    reply: dict[str, Any] = found["replies"][number]
    return reply


def _in_reply(number: int, **fields: object) -> Spoil:
    return lambda document: _reply(document, "int8.total", number).update(fields)


def _at(*path: str | int, value: object) -> Spoil:
    def spoil(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = value

    return spoil


def _in_outcome(id_: str, field: str, change: Callable[[Any], Any]) -> Spoil:
    def spoil(document: dict[str, Any]) -> None:
        (found,) = [o for o in document["outcomes"] if o["id"] == id_]
        found[field] = change(found.get(field))

    return spoil


def _of_tasks(document: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [t for t in document["trusted"] if t["kind"] == kind]


# fmt: off
PROOFS: dict[str, tuple[Spoil, str]] = {
    "another version of a prover in a reply": (
        _in_reply(0, version="99.9"), "int8.total: Z3 99.9 replied"),
    "another version of a prover": (
        _at("tools", "Z3", value="99.9"), "it was made by Z3 99.9, and Z3"),
    "another version of Why3": (
        _at("tools", "why3", value="9.9.9"), "it was made by why3 9.9.9"),
    "the words of a timeout beside a proof": (
        _in_reply(1, words="timeout"), "int8.total: cvc5 is stated as valid, and its words are `timeout`"),
    "the words of a countermodel beside a proof": (
        _in_reply(0, words="sat"), "its words are `sat`"),
    "no words beside a proof": (
        _in_reply(0, words=""), "its words are ``"),
    "another time limit": (
        _at("limits", "proof", "seconds", value=600), "the limits of a proof are stated as"),
    "another limit of memory": (
        _at("limits", "smoke", "megabytes", value=1), "the limits of a smoke"),
    "more questions than replies": (
        _at("run", "asked", value=4000), "stated to have asked 4000 questions, its replies are 0"),
    "more time than the replies took": (
        _at("run", "prover_cpu", value=99.0), "99.0 s of provers are stated"),
    "a time below zero": (
        _at("run", "why3_cpu", value=-0.5), "below zero"),
    "a reason replaced": (
        _at("trusted", 0, "justification", value="because"), "the justification of"),
    "a statement that is trusted replaced": (
        _at("trusted", 0, "statement", value="true"), "the statement of"),
    "another driver of Why3": (
        _at("why3_drivers", "drivers/cvc4_16.gen", value="0" * 64), "it was made with drivers/cvc4_16.gen of Why3"),
    "a driver of Why3 left out": (
        lambda document: document["why3_drivers"].popitem(),
        "of Why3, sha256 none…, and"),
    "another command of a prover": (
        _at("commands", "cvc5", value="cvc5 --fast"), "cvc5 is stated to be run as `cvc5 --fast`, it is run"),
    "another command beside an obligation": (
        _in_outcome("int8.total", "commands", lambda commands: {**commands, "Z3": commands["Z3"] + " -t 9"}),
        "int8.total: Z3 is stated to be asked by `why3 prove"),
    "no command beside an obligation": (
        _in_outcome("int8.total", "commands", lambda commands: {"Z3": commands["Z3"]}),
        "int8.total: cvc5 is stated to be asked by ``"),
    "an assertion of the tasks left out": (
        lambda document: document["trusted"].remove(_of_tasks(document, "assertion")[3]),
        "the name of assertion"),
    "the last setting of the tasks left out": (
        lambda document: document["trusted"].remove(_of_tasks(document, "setting")[-1]),
        "things are stated as taken for granted, theories and tasks take"),
    "an assertion that no task has": (
        lambda document: document["trusted"].append({**_of_tasks(document, "assertion")[0], "name": "zzz"}),
        "things are stated as taken for granted, theories and tasks take"),
    "what holds by definition counts": (
        _in_outcome("int8.total", "standing", lambda _: "by definition"),
        "int8.total is stated to stand as `by definition`, it is `counts`"),
    "it repeats what it does not": (
        _in_outcome("int8.total", "repeats", lambda _: "int8.monotone"),
        "int8.total is stated to stand as `counts int8.monotone`, it is `counts`"),
    "a witness of premises that it does not have": (
        _in_outcome("int8.total", "witness", lambda _: {"x": "0x01"}),
        "int8.total: its premises are stated to hold of {'x': '0x01'}, what meets them is None"),
    "a trusted symbol left out": (
        lambda document: document["trusted"].remove(
            [t for t in document["trusted"] if t["kind"] == "symbol"][-1]),
        "is not that of the theories"),
}
# fmt: on


@pytest.mark.parametrize("name", PROOFS)
def test_proofs(name: str, tmp_path: Path, obligations: tuple[Obligation, ...]) -> None:
    spoil, says = PROOFS[name]
    document = made.proofs(obligations)
    spoil(document)
    assert says in _refused(tmp_path, document)


def test_a_task_that_is_not_that_of_the_theories(
    tmp_path: Path, obligations: tuple[Obligation, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "why3/profile.mlw"
    theirs = [o for o in obligations if o.file == file][:3]
    document = made.proofs(theirs)
    tasks = {p.name: tasks_of(None, made.WHY3, p, file, theirs, {}) for p in find_provers()}
    for outcome in document["outcomes"]:
        for reply in outcome["replies"]:
            reply["task"] = tasks[reply["prover"]].digests[outcome["theory"], outcome["goal"]]
    monkeypatch.setattr(recheck_proofs, "_tasks", REAL_TASKS)
    monkeypatch.setattr(recheck_proofs, "_trusted", lambda *_: None)
    _read(tmp_path, document, theirs)
    document["outcomes"][1]["replies"][0]["task"] = "0" * 64
    with pytest.raises(
        UserError, match=rf"{theirs[1].id}: Z3 replied on the task 000000000000…, the theories"
    ):
        _read(tmp_path, document, theirs)


def test_a_standing_is_that_of_the_statement(
    tmp_path: Path, obligations: tuple[Obligation, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = [o for o in obligations if o.subject == "int8"]
    due = standings(load_spec(), theirs, None)
    empty = next(id_ for id_, found in due.items() if found.kind == "by definition")
    document = made.proofs(theirs)
    for outcome in document["outcomes"]:
        if outcome["id"] in due:
            found = due[outcome["id"]]
            repeats = found.of if found.kind == "repeats" else ""
            outcome |= {"standing": found.kind, "repeats": repeats, "witness": found.witness}
    monkeypatch.setattr(recheck_proofs, "standings", standings)
    monkeypatch.setattr(recheck_proofs, "_trusted", lambda *_: None)
    _read(tmp_path, document, theirs)
    made.change(document, empty, standing="counts")
    with pytest.raises(UserError, match=f"{empty} is stated to stand as `counts`, it is `by definition`"):
        _read(tmp_path, document, theirs)


def _read(tmp_path: Path, document: dict[str, Any], theirs: list[Obligation]) -> None:
    from sonnx_clip.evidence.proof_records import ProofsRecord

    proofs = ProofsRecord.model_validate(document)
    recheck_proofs.require_borne_out(tmp_path, proofs, load_spec(), theirs)


def test_words_of_a_verdict() -> None:
    assert follows("valid", "unsat")
    assert follows("timeout", "cvc5 interrupted by timeout. [exit status -6]")
    assert follows("failed", "(it printed nothing)")
    pairs = [
        ("valid", "sat"),
        ("valid", "unsat\nsat"),
        ("countermodel", "unsat"),
        ("unknown", "unsat"),
        ("timeout", "unsat"),
    ]
    assert not [pair for pair in pairs if follows(*pair)]  # type: ignore[arg-type]


def _report(spoil: Spoil, *, runtime: str = "numpy", violates: tuple[str, ...] = ("low_tie",)) -> str:
    document = json.loads(
        made.report(runtime, violates=violates, types=("int8", "float32")).model_dump_json()
    )
    spoil(document)
    return json.dumps(document)


def _class(document: dict[str, Any], id_: str) -> dict[str, Any]:
    (found,) = [c for c in document["types"][0]["classes"] if c["id"] == id_]
    klass: dict[str, Any] = found
    return klass


def _in_class(id_: str, **fields: object) -> Spoil:
    return lambda document: _class(document, id_).update(fields)


def _in_deviation(**fields: object) -> Spoil:
    return lambda document: _class(document, "low_tie")["deviations"][0].update(fields)


def _no_violation(document: dict[str, Any]) -> None:
    """What a forger would do: take every violation of a type away, consistently but for its readings."""
    for klass in document["types"][0]["classes"]:
        klass.update(verdict="conforms", violating=0, deviations=[])
    document["types"][0]["verdict"] = "conforms"


def _inflate(document: dict[str, Any]) -> None:
    _class(document, "low_tie")["compared"] += 1000
    document["types"][0]["compared"] += 1000


# fmt: off
REPORTS: dict[str, tuple[Spoil, str]] = {
    "another version of a runtime": (
        _at("runtime_version", value="numpy 9.9.9"), "it speaks of numpy 9.9.9, and numpy"),
    "every violation taken away but not the readings": (
        _no_violation, "int8: its readings count 3 answers that `cases` does not allow, and no class deviates"),
    "compared inflated": (
        _in_class("low_tie", compared=5000), "are stated as compared, its classes sum up to"),
    "compared inflated consistently": (
        _inflate, "int8, low_tie: 1010 compared for numpy, 10 for sonnx"),
    "compared negative": (
        _in_class("low_ordinary", compared=-10), "a count is below zero"),
    "a type twice": (
        lambda d: d["types"].append(d["types"][0]), "int8 is there twice"),
    "a class twice": (
        lambda d: d["types"][0]["classes"].append(d["types"][0]["classes"][0]), "its classes are not those of int"),
    "acceptable answers without a latitude": (
        _in_class("high_tie", acceptable=4), "4 are stated as acceptable, its latitudes sum up to 0"),
    "a latitude that there is not": (
        _in_class("high_tie", acceptable=4, latitude={"kindness": 4}, verdict="acceptable"), "no latitude `kindness`"),
    "a latitude without an answer": (
        _in_class("high_tie", acceptable=4, latitude={"zero-sign": 4}, verdict="acceptable"), "do not fit: zero-sign"),
    "more that deviates than was compared": (
        _in_class("low_tie", violating=30), "30 deviate of 10"),
    "a violation without an answer": (
        _in_class("low_tie", deviations=[]), "do not fit: violates"),
    "another expected result": (
        _in_deviation(expected="0x55"), "0x55 is stated as expected, and is not"),
    "an answer that is right": (
        lambda d: _class(d, "low_tie")["deviations"][0].update(got=_class(d, "low_tie")["deviations"][0]["expected"]),
        "is no deviation"),
    "an answer of another class": (
        _in_deviation(x="0x7f"), "lies in high_"),
    "an answer that is called acceptable": (
        _in_deviation(kind="acceptable"), "the answer is called acceptable, with latitude None"),
    "readings that allow everything": (
        _at("types", 0, "readings", value={"answers": 20, "allowed_by": ["cases"], "exactly": ["cases"]}),
        "say that every answer is that of the cases, and low_tie deviates"),
    "another reading that allows everything": (
        _at("types", 0, "readings", value={"answers": 20, "allowed_by": ["onnx-body"], "exactly": []}),
        "say that `onnx-body` allows every answer, and not 0x07 in low_tie"),
    "an explanation beside a reading that allows everything": (
        _at("types", 0, "readings",
            value={"answers": 20, "allowed_by": ["onnx-body"], "exactly": [], "explained_by": "`v = X; Y = v`"}),
        "a reading allows every answer, and something else explains them"),
    "readings without an answer": (
        _at("types", 0, "readings", "answers", value=0), "count 3 of 0 answers"),
    "readings that leave more than deviates": (
        _at("types", 0, "readings", "left", value=19), "count 19 answers that are not allowed, its classes 3"),
    "readings that leave answers elsewhere": (
        _at("types", 0, "readings", "left_in", value=["high_tie"]), "leave answers in high_tie, which does not deviate"),
    "no readings": (
        _at("types", 0, "readings", value=None), "are missing"),
}
# fmt: on


@pytest.mark.parametrize("name", REPORTS)
def test_reports(name: str, tmp_path: Path, obligations: tuple[Obligation, ...]) -> None:
    spoil, says = REPORTS[name]
    assert says in _refused(tmp_path, made.proofs(obligations), _report(spoil))


def test_a_report_that_is_not_spoilt_is_believed(tmp_path: Path, obligations: tuple[Obligation, ...]) -> None:
    reports = [*map(made.ours, OURS), _report(lambda _: None)]
    write_evidence(made.write(tmp_path / "build", made.proofs(obligations), reports), tmp_path / "out")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"x": "0x05", "min": "0x14", "max": "0x0a", "expected": "0x0a"',
         '"x": "0x05", "min": "0x14", "max": "0x0a", "expected": "0x55"',
         "int8.inverted_ordinary.1: `expected` is 0x55, the specification gives 0x0a"),
        ('"id": "int8.low_tie.1", "class": "low_tie"', '"id": "int8.low_tie.1", "class": "low_equal_bounds"',
         "`class` is low_equal_bounds"),
        ('"id": "int8.low_tie.1", "class": "low_tie", "case": "low"',
         '"id": "int8.low_tie.1", "class": "low_tie", "case": "high"', "`case` is high"),
        ('"max": "0x0a", "expected": "0x02", "acceptable": []',
         '"max": "0x0a", "expected": "0x02", "acceptable": [{"latitude": "zero-sign", "bits": "0x01"}]',
         "`acceptable` is"),
    ],
    ids=["expected", "class", "case", "acceptable"],
)  # fmt: skip
def test_vectors(old: str, new: str, says: str, tmp_path: Path) -> None:
    shutil.copytree(repo_file("generated/vectors"), tmp_path / "vectors")
    path = tmp_path / "vectors/int8.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_vectors(tmp_path, load_spec())
    assert says in str(caught.value)


def test_a_text_that_is_changed_where_no_quotation_stands(bench: Workbench) -> None:
    bench.plant("spec/sources/numpy-clip.txt", "No check is performed to ensure", "It is checked")
    with pytest.raises(UserError, match=r"spec/sources/numpy-clip.txt: the text is not the one whose digest"):
        render_all(load_spec())


def test_a_text_whose_digest_is_not_kept(bench: Workbench) -> None:
    sums = (bench.root / "spec/sources/SHA256SUMS").read_text(encoding="utf-8")
    line = next(line for line in sums.splitlines() if line.endswith("onnx-where.txt"))
    bench.plant("spec/sources/SHA256SUMS", f"{line}\n", "")
    with pytest.raises(UserError, match=r"onnx-where.txt: it has no digest"):
        render_all(load_spec())


@pytest.mark.parametrize("file", ["coq/Float.v", "numpy/clip_oracle.py"])
def test_a_generated_file_that_is_edited(file: str, tmp_path: Path) -> None:
    for folder in ("coq", "numpy"):
        shutil.copytree(repo_file(f"generated/{folder}"), tmp_path / "generated" / folder)
    require_fresh(load_spec(), tmp_path / "generated", everything=False)
    path = tmp_path / "generated" / file
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=rf"generated/{file} differs from what spec/clip.yaml gives"):
        require_fresh(load_spec(), tmp_path / "generated", everything=False)


def test_reproducer_in_forged_record_is_not_executed(tmp_path: Path) -> None:
    written = tmp_path / "written"
    code = f"open({str(written)!r}, 'w'); print(['0x7'])"
    deviation = made.deviation_in("low_tie", "int8").model_copy(
        update={"reproduce": code, "layout": "contiguous"}
    )
    forged = made.report("numpy", violates=("low_tie",), types=("int8",))
    (of_type,) = forged.types
    classes = tuple(
        c.model_copy(update={"deviations": (deviation,)}) if c.deviations else c for c in of_type.classes
    )
    forged = forged.model_copy(update={"types": (of_type.model_copy(update={"classes": classes}),)})
    document = made.proofs(all_obligations(load_spec()))
    build = made.write(tmp_path / "build", document, [*map(made.ours, OURS), forged])
    found = read_inputs(build, load_spec(), all_obligations(load_spec()), repo_file("generated"))
    without_proofs = replace(found, proofs=found.proofs.model_copy(update={"outcomes": ()}))
    with pytest.raises(UserError, match="int8, low_tie: 0x07 is recorded, called again it answers 0x02"):
        verify.ask_again(build, without_proofs, {}, 1.0, print)
    assert not written.exists()


def test_a_proof_that_does_not_come_out_again(tmp_path: Path, obligations: tuple[Obligation, ...]) -> None:
    from sonnx_clip.evidence.proof_records import OutcomeRecord

    one = next(o for o in obligations if o.id == "restrictions.R1_is_written")
    (z3,) = find_provers(("z3",))
    texts: dict[str, str] = {}
    digest = tasks_of(None, made.WHY3, z3, one.file, [one], texts).digests[one.theory, one.goal]
    record = made.outcome(one, 1)
    record["replies"][0]["task"] = digest
    right = OutcomeRecord.model_validate(record)
    verify._ask_again(tmp_path, [(right, right.replies[0])], texts)
    wrong = right.replies[0].model_copy(update={"verdict": "countermodel"})
    with pytest.raises(UserError, match="is stated as countermodel, asked again it is valid"):
        verify._ask_again(tmp_path, [(right, wrong)], texts)


def test_a_sample_is_drawn_by_a_seed() -> None:
    every = list(range(1000))
    assert verify.sample(every, 0.02) == verify.sample(every, 0.02)
    assert len(verify.sample(every, 0.02)) == 20
    assert verify.sample(every, 1.0) == every
    assert len(verify.sample(every, 1e-9)) == 1
    assert verify.sample(every, 0.0) == []
