"""Two other operators, from about forty lines of YAML, by the same code as Clip: what is stated is shown."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sonnx_clip.backends.generate import render_all
from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.language import encode
from sonnx_clip.language.special import special_patterns
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.prove.ledger import Ledger
from sonnx_clip.prove.prove_all import ProofSession
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import check_findings, check_spec, evaluator, load_spec
from sonnx_clip.spec.references import check_references
from tests.command import run
from tests.toy.toys import FOLDER, TOYS, spec_of

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.prove_all import Proofs
    from tests.toy.toys import Toy

LINES = 45


def proofs_of(obligations: tuple[Obligation, ...], generated: Path, folder: Path) -> Proofs:
    why3 = configure(folder / "build", root=generated)
    session = ProofSession(why3, find_provers(), Ledger(folder / "ledger.db"), 2)
    return session.prove(obligations, frozenset(o.file for o in obligations))


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.yaml").read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("name", ["max", pytest.param("relu", marks=pytest.mark.nightly)])
def test_all_sections_of_another_operator_are_read_and_proved(name: str, tmp_path: Path) -> None:
    """Names of operands are those of the file, in every section."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    operands, first = spec_of(name).head.operands, spec_of(name).head.operands[0]
    numbers = ", ".join(f"{id_}: 1" for id_ in operands)
    nans = ", ".join(f"{id_}: nan" for id_ in operands)
    entries = ", ".join(f"{id_}: [1, 1]" for id_ in operands)
    declared = ", ".join(f"{id_}: {{type: int8, dims: [2]}}" for id_ in (*operands, "Y"))
    call = f"{name}({', '.join(operands)})"
    source = re.search(r"source: ({page: toy.*?})}", text, re.DOTALL)
    assert source is not None
    more = f"""
declared_example: {{{declared}}}
restrictions:
  - {{id: R1, statement: dense, origin: ours, families: [int, float], role: precondition,
     holds: "not is_sparse({first})", broken_alone_by: {{{first}: {{sparse: true}}}}, source: {source[1]}}}
constraints:
  - {{id: C1, title: shape, statement: one shape, families: [int, float], role: postcondition,
     aliases: {{Y: C1}}, holds: "shape({first}) == shape(Y)", source: {source[1]}}}
definitions:
  - {{id: small, title: below a hundred, is: "{first} < 100"}}
latitude:
  - {{id: any-nan, reason: ours, when: is_nan(Y), accepts: is_nan(A), given_by: [loose],
     inhabited_by: {{{nans}, A: -nan}}}}
readings:
  - {{id: cases, title: the cases, returns: "identical(Y, {call})", reference: the cases}}
  - {{id: loose, title: any NaN, returns: "identical(Y, {call}) or is_nan(Y) and is_nan({call})",
     agrees_bitwise: {{float: not is_nan(Y)}}, differs_bitwise_at: {{float: {{{nans}}}}}, reference: ours}}
examples:
  - {{id: ones, family: int, {entries}, Y: [1, 1], source: {source[1]}}}
findings:
  - id: unclear
    title: unclear
    kind: gap
    words: [{source[1]}]
    found: what
    claim:
      - {{says: the cases give it, families: [int], holds: "cases_returns({", ".join(operands)}, {call})"}}
    witnesses: [{{type: int8, {numbers}, answers: [{{by: cases}}], ask: []}}]
    proposed: more words
"""
    path = tmp_path / f"{name}.yaml"
    path.write_text(text.replace("\ncases:\n", f"{more}\ncases:\n"), encoding="utf-8")
    spec = load_spec(path)
    check_findings(spec)
    assert spec.examples[0].given == tuple(("1",) * len(operands) for _ in range(2))
    done = run("prove", "--spec", str(path), "--build", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = json.loads((tmp_path / name / "proofs.json").read_text(encoding="utf-8"))["outcomes"]
    replies = {o["id"]: {(r["prover"], r["verdict"]) for r in o["replies"]} for o in outcomes}
    both = {("Z3", "valid"), ("cvc5", "valid")}
    assert {claim.id for claim in every_claim(spec)} <= {id_ for id_, of in replies.items() if of == both}
    asked = {"int8.cases_agrees", "float32.any_nan_is_given", "int8.example_ones", "int8.finding_unclear"}
    assert asked <= replies.keys()
    assert "R1, C1" in done.stdout


def test_every_statement_has_its_claims_and_every_claim_its_obligation(toy: Toy) -> None:
    check_claims(toy.spec)
    assert not uncovered(toy.spec, toy.generated.obligations)
    left = [o for o in toy.generated.obligations if not o.id.endswith("_inhabited")]
    assert uncovered(toy.spec, left)


def test_a_theory_that_is_changed_is_not_proved(toy: Toy, tmp_path: Path) -> None:
    first = toy.spec.cases[0].id
    (o,) = (o for o in toy.generated.obligations if o.id == "int8.cases_complete")
    theory = (toy.folder / "generated/why3/int8.mlw").read_text(encoding="utf-8")
    head, _, rest = theory.partition(f"predicate {first} ")
    parameters, _, body = rest.partition(" = ")
    _, _, after = body.partition("\n")
    marked = "".join(f"(_{p}" if i == 0 else f" _{p}" for i, p in enumerate(parameters.strip("(").split()))
    changed = tmp_path / "generated/why3/int8.mlw"
    changed.parent.mkdir(parents=True)
    changed.write_text(f"{head}predicate {first} {marked} = false\n{after}", encoding="utf-8")
    proofs = proofs_of((o,), tmp_path, tmp_path)
    assert [outcome.status for outcome in proofs.outcomes] == ["not proved"]


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("relu", "when: not (X < 0), result: X", "when: X < 0, result: X", "is false for X ="),
        ("relu", "result: 0,", "result: Z,", "`Z` is not allowed here"),
        ("relu", "{X: -1},\n     source", "{Q: -1},\n     source", "the key `Q` is not known here"),
        ("relu", "claim: 0 <= Y", "claim: not (Y < 0)", "is false for X ="),
        ("relu", "result: {id: Y", "result: {id: R", "the result is called `R`"),
        ("max", 'W <= U", result: U', 'W < U", result: U', "cases_complete` is false"),
        ("max", "{U: -0, W: 0}", "{U: -0}", "the key `W` is missing"),
        ("max", "identical(Y, max(W, U))", "identical(Y, clip(W, U))", "`clip` cannot be used"),
        ("max", "identical(Y, max(W, U))", "identical(Y, max(W))", "`max` takes 2 arguments, 1 are given"),
        ("max", "id: first_nan", "id: max", "`max` is built in of the language"),
        ("max", "false_for: the_least", "false_for: always_first", "nothing is false of `the_least`"),
    ],
)  # fmt: skip
def test_a_mistake_is_found(name: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / f"{name}.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        _check(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def _check(path: Path) -> None:
    spec = load_spec(path)
    check_spec(spec)
    check_claims(spec)


@pytest.mark.parametrize(("id_", "words"), [("T", "rendered theories"), ("A", "variable of the language")])
def test_an_operand_takes_no_name_that_is_taken(id_: str, words: str) -> None:
    spec = spec_of("max")
    named = spec.operands[1].model_copy(update={"id": id_})
    found = check_references(spec.model_copy(update={"operands": (spec.operands[0], named)}))
    assert any(words in f.what for f in found)


@pytest.mark.parametrize("name", ["relu!", "re lu", "relu", "../Relu", ""])
def test_an_operator_has_a_name_as_in_onnx(name: str, tmp_path: Path) -> None:
    text, path = (FOLDER / "relu.yaml").read_text(encoding="utf-8"), tmp_path / "relu.yaml"
    path.write_text(text.replace("operator: Relu", f"operator: '{name}'"), encoding="utf-8")
    with pytest.raises(UserError, match=r"relu\.yaml:\d+:\d+ \(operator\)"):
        load_spec(path)


def test_false_claim_is_found_before_proving(tmp_path: Path) -> None:
    text = (FOLDER / "max.yaml").read_text(encoding="utf-8")
    path = tmp_path / "max.yaml"
    path.write_text(
        text.replace("implies not is_nan(W)", "implies not is_nan(W) or U < 0", 1), encoding="utf-8"
    )
    with pytest.raises(UserError, match=r"`float32\.monotone_repaired` is false"):
        check_claims(load_spec(path))


def test_the_oracle_is_the_evaluator(toy: Toy) -> None:
    oracle, head = toy.oracle(), toy.spec.head
    for etype in toy.spec.element_types:
        dtype, bits = np.dtype(etype.numpy), np.dtype(f"u{(etype.width or 0) // 8}")
        values = list(product(special_patterns(etype), repeat=len(head.operands)))
        operands = [np.array(column, bits).view(dtype) for column in zip(*values, strict=True)]
        found = getattr(oracle, head.function)(*operands).view(bits).tolist()
        assert found == [evaluator(toy.spec, etype).result(*given) for given in values]
        classes = {id_: holds(*operands) for id_, holds in oracle.CLASSES[etype.family].items()}
        for row, given in enumerate(values[::7]):
            assert [i for i, mask in classes.items() if mask[7 * row]] == [
                evaluator(toy.spec, etype).class_of(*given).id
            ]


def test_the_vectors_fit_their_schema_reach_every_class_and_are_right(toy: Toy) -> None:
    folder = toy.folder / "generated" / "vectors"
    schema = Draft202012Validator(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    for etype in toy.spec.element_types:
        content = json.loads((folder / f"{etype.id}.json").read_text(encoding="utf-8"))
        schema.validate(content)
        assert content["operator"] == toy.spec.operator
        assert {v["class"] for v in content["vectors"]} == {c.id for c in toy.spec.classes_of(etype.family)}
        for vector in content["vectors"]:
            given = [int(vector[name.lower()], 16) for name in toy.spec.head.operands]
            assert evaluator(toy.spec, etype).result(*given) == int(vector["expected"], 16)


def test_a_toy_may_define(tmp_path: Path) -> None:
    text = (FOLDER / "relu.yaml").read_text(encoding="utf-8")
    defined = "definitions:\n  - {id: is_zero, title: zero, is: X == 0}\nclasses:\n"
    path = tmp_path / "relu.yaml"
    path.write_text(
        text.replace("classes:\n", defined).replace("when: X == 0", "when: is_zero"), encoding="utf-8"
    )
    spec = load_spec(path)
    check_claims(spec)
    theory = render_all(spec).files["generated/why3/int8.mlw"]
    assert "predicate is_zero (x: t) = eq x (0x00: t (* 0 *))" in theory
    assert "predicate kept_zero (x: t) = kept x /\\ is_zero x" in theory


def test_a_case_may_give_a_number() -> None:
    spec = spec_of("relu")
    etype = spec.element_type("float32")
    ask = evaluator(spec, etype)
    assert ask.result(encode("-1", etype)) == encode("0", etype)
    assert ask.result(encode("-0", etype)) == encode("-0", etype)


def test_clip_is_no_other_operator(tmp_path: Path) -> None:
    clip = str(Path(__file__).parents[2] / "spec" / "clip.yaml")
    for command in (["prove"], ["generate", "--into", "made"]):
        done = run(*command, "--spec", clip, cwd=tmp_path)
        assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
        assert "leave --spec out" in done.stderr
