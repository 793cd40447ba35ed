"""Two other operators, Relu and Max, go through the same code as Clip: loader, claims, proofs, vectors."""

import json
import re
from itertools import product

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sonnx_clip.claims.all_claims import every_claim, unclaimed
from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.language.special import special_patterns
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_findings, check_spec, evaluator, load_spec
from sonnx_clip.spec.references import check_references
from tests.command import run
from tests.toy.toys import FOLDER, spec_of

KINDS = (
    "int8.cases_agrees",
    "float32.any_nan_is_given",
    "int8.example_ones",
    "int8.finding_unclear",
)


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("max", KINDS),
        pytest.param("max", (), marks=pytest.mark.nightly),
        pytest.param("relu", (), marks=pytest.mark.nightly),
    ],
)
def test_every_section_of_another_operator_is_proved(name, only, tmp_path):
    """Names of operands are those of the file, in every section; `only` an obligation of each is proved."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    operands, first = spec_of(name).signature.ids, spec_of(name).signature.ids[0]
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
    text = re.sub(r"\n  - \{id: int32.*", "", text)  # two element types are enough
    path.write_text(text.replace("\ncases:\n", f"{more}\ncases:\n"), encoding="utf-8")
    spec = load_spec(path)
    check_findings(spec)
    assert list(unclaimed(spec)) == ["R1", "C1"]
    assert spec.examples[0].given == tuple(("1",) * len(operands) for _ in range(2))
    chosen = [part for id_ in only for part in ("--only", id_)]
    done = run(
        "prove", "--operator", str(path), "--build", str(tmp_path), "--json", *chosen, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    proved = {o["id"] for o in json.loads(done.stdout)["outcomes"] if o["status"] == "proved"}
    assert set(KINDS) <= proved
    assert only or {claim.id for claim in every_claim(spec)} <= proved


def test_every_statement_has_its_obligations(toy):
    check_claims(toy.spec)
    assert not uncovered(toy.spec, toy.generated.obligations)
    left = [o for o in toy.generated.obligations if not o.id.endswith("_inhabited")]
    assert uncovered(toy.spec, left)


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("relu", "result: 0,", "result: Z,", "`Z` cannot be used in the result of a case"),
        ("relu", "{X: -1},\n     source", "{Q: -1},\n     source", "the key `Q` is not known here"),
        ("relu", "claim: 0 <= Y", "claim: not (Y < 0)", "is false for X ="),
        ("relu", "result: {id: Y", "result: {id: R", "the result is called `R`"),
        ("max", 'W <= U", result: U', 'W < U", result: U', "cases_complete` is false"),
        ("max", "identical(Y, max(W, U))", "identical(Y, clip(W, U))", "`clip` cannot be used"),
        ("max", "identical(Y, max(W, U))", "identical(Y, max(W))", "`max` takes 2 arguments, not 1"),
        ("max", "id: first_nan", "id: max", "`max` is built in of the language"),
        ("max", "false_for: the_least", "false_for: always_first", "nothing is false of `the_least`"),
        ("relu", "operator: Relu", "operator: '../Relu'", " (operator)"),
    ],
)  # fmt: skip
def test_mistake_is_found_with_its_place(name, old, new, words, tmp_path):
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / f"{name}.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        _check(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def _check(path):
    for check in (check_spec, check_claims):
        check(load_spec(path))


@pytest.mark.parametrize(
    ("id_", "words"), [("T", "rendered theories"), ("A", "variable of the language")]
)
def test_reserved_name_of_an_operand_is_refused(id_, words):
    spec = spec_of("max")
    named = spec.operands[1].model_copy(update={"id": id_})
    found = check_references(spec.model_copy(update={"operands": (spec.operands[0], named)}))
    assert any(words in f.what for f in found)


def test_generated_oracle_agrees_with_the_evaluator(toy):
    oracle, signature = toy.oracle(), toy.spec.signature
    for etype in toy.spec.element_types:
        dtype, bits = np.dtype(etype.numpy), np.dtype(f"u{(etype.width or 0) // 8}")
        values = list(product(special_patterns(etype), repeat=len(signature.ids)))
        operands = [np.array(column, bits).view(dtype) for column in zip(*values, strict=True)]
        found = getattr(oracle, signature.function)(*operands).view(bits).tolist()
        assert found == [evaluator(toy.spec, etype).result(*given) for given in values]
        classes = {id_: holds(*operands) for id_, holds in oracle.CLASSES[etype.family].items()}
        for row in range(0, len(values), 7):
            due = evaluator(toy.spec, etype).class_of(*values[row]).id
            assert [id_ for id_, mask in classes.items() if mask[row]] == [due]


def test_vectors_are_valid_complete_and_right(toy):
    folder = toy.folder / "generated" / "vectors"
    schema = Draft202012Validator(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    for etype in toy.spec.element_types:
        content = json.loads((folder / f"{etype.id}.json").read_text(encoding="utf-8"))
        schema.validate(content)
        assert content["operator"] == toy.spec.operator
        assert {v["class"] for v in content["vectors"]} == {
            c.id for c in toy.spec.classes_of(etype.family)
        }
        for vector in content["vectors"]:
            given = [int(vector[name.lower()], 16) for name in toy.spec.signature.ids]
            assert evaluator(toy.spec, etype).result(*given) == int(vector["expected"], 16)


def test_clip_is_refused_as_another_operator(tmp_path):
    clip = str(repo_file("spec/clip.yaml"))
    for command in (["prove"], ["generate", "--into", "made"], ["check", "--runtime", "numpy"]):
        done = run(*command, "--operator", clip, cwd=tmp_path)
        assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
        assert "remove --operator" in done.stderr


def test_generate_into_a_folder_keeps_the_files_of_the_user(tmp_path):
    kept, oracle = tmp_path / "generated/why3/own.mlw", tmp_path / "generated/numpy/relu_oracle.py"
    kept.parent.mkdir(parents=True)
    kept.touch()
    done = run(
        "generate", "--operator", str(FOLDER / "relu.yaml"), "--into", str(tmp_path), cwd=tmp_path
    )
    assert (done.returncode, kept.is_file(), oracle.is_file()) == (0, True, True), done.stderr
    assert f"written: {oracle}" in done.stdout
