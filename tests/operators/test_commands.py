"""docs/operators.md shows which command has which operator: each cell is tried."""

import json
import re

import pytest

from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec.operators import known_operators, specification
from tests.command import run
from tests.meta.judged import nightly_but

ROWS = re.findall(
    r"^\| (`[a-z].*)$", repo_file("docs/operators.md").read_text("utf-8"), re.MULTILINE
)
CELLS = {row.split(" | ")[0]: row.rstrip(" |").split(" | ")[2:] for row in ROWS}
OTHERS = [name for name in known_operators() if name != "clip"]


def operands(name, number):
    keys = specification(name).signature.keys
    return [part for key in keys for part in (f"--{key}", number)]


def test_the_table_has_every_operator():
    assert {len(cells) for cells in CELLS.values()} == {len(known_operators())}


@pytest.mark.parametrize("name", known_operators())
def test_explain_reads_and_finds(name):
    place = ["clip", "max", "min", "relu", "abs", "neg", "identity"].index(name)
    for command in ("explain", "readings", "findings"):
        more = ("float32", *operands(name, "nan")) if command == "explain" else ()
        done = run(command, *more, "--operator", name, "--json", cwd=repo_root())
        expected = CELLS[f"`{command}`"][place]
        assert (done.returncode, expected) in ((0, "yes"), (2, "no")), done.stderr
        if expected == "yes":
            assert json.loads(done.stdout)
        else:
            assert f"add the section `{command}`" in done.stderr


@pytest.mark.parametrize("name", OTHERS)
def test_generate_writes_theories_and_vectors(name, tmp_path):
    done = run("generate", "--operator", name, "--into", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for file in ("why3/float32.mlw", f"numpy/{name}_oracle.py", "vectors/float32.json"):
        assert (tmp_path / "made/generated" / file).is_file()


# Every run of the proofs proves all of them, and fails where one is not.
@pytest.mark.nightly
@pytest.mark.parametrize("name", OTHERS)
def test_every_obligation_is_proved_by_two_provers(name, tmp_path):
    types = () if name != "neg" else ("--dtype", "int8", "--dtype", "float16")
    done = run("prove", "--operator", name, *types, "--build", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    outcomes = json.loads(done.stdout)["outcomes"]
    wrong = [o["id"] for o in outcomes if o["kind"] != "smoke" and o["status"] != "proved"]
    assert (wrong, bool(outcomes)) == ([], True)


def test_a_finding_alone_may_use_opposite(tmp_path):
    """Of real numbers it needs a theory that the rest of Relu does not."""
    text = repo_file("spec/relu.yaml").read_text(encoding="utf-8")
    witness = "    witnesses: [{type: float32, X: -0,"
    claim = (
        "{says: twice is nothing, id: twice, families: [real], holds: 'opposite(opposite(X)) == X'}"
    )
    assert witness in text
    file = tmp_path / "relu.yaml"
    file.write_text(text.replace(witness, f"      - {claim}\n{witness}", 1), encoding="utf-8")
    only = ("--dtype", "real", "--only", "real.finding_maximum_of_minus_zero_twice")
    done = run("prove", "--operator", str(file), *only, "--build", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


WRONG = {
    "max": ("max_numpy", "float32", "second_zeros", "the wrong operator always_first"),
    "neg": ("zero_minus", "float32", "zero", "computed as 0 - X"),
    "abs": ("abs_of_c", "float32", "minus_zero", "allowed by the reading formula-c"),
    "relu": ("relu_by_max", "float32", "minus_zero", "allowed by the reading maximum"),
    "min": ("first_of_two", "int8", "second_wins", "depends on more than its operands"),
    "identity": ("through_float16", "float32", "other", "as if through float16"),
}


@pytest.mark.parametrize("name", nightly_but({"max", "relu"}, WRONG))
def test_check_finds_a_wrong_runtime_and_its_cause(name, tmp_path):
    function, dtype, class_id, cause = WRONG[name]
    runtime = f"tests.operators.wrong_runtimes:{function}"
    record = tmp_path / "report.json"
    options = ("--operator", name, "--runtime", runtime, "--dtype", dtype, "-o", str(record))
    done = run("check", *options, cwd=repo_root())
    assert done.returncode == 1, done.stderr
    (report,) = json.loads(record.read_text(encoding="utf-8"))["types"]
    verdicts = {one["id"]: one["verdict"] for one in report["classes"]}
    assert verdicts[class_id] == "violates"
    assert cause in done.stdout


@pytest.mark.parametrize("name", ["abs", "neg"])
def test_any_result_conforms_outside_the_domain(name):
    runtime = f"tests.operators.wrong_runtimes:{name}_with_zero_for_least"
    options = ("--operator", name, "--runtime", runtime, "--dtype", "int8", "--json")
    done = run("check", *options, "--policy", "strict", cwd=repo_root())
    assert done.returncode == 0, done.stdout[-2000:]
    (report,) = json.loads(done.stdout)["types"]
    assert report["verdict"] == "acceptable"


@pytest.mark.parametrize("name", nightly_but({"clip", "max", "neg"}, known_operators()))
def test_export_writes_vectors_and_the_page(name, tmp_path):
    place = ["clip", "max", "min", "relu", "abs", "neg", "identity"].index(name)
    assert CELLS["`export sonnx`"][place] == "yes"
    more = ("--operator", name, "-o")
    done = run("export", "npz", "--dtype", "int8", *more, "vectors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "vectors/manifest.json").read_text(encoding="utf-8"))
    assert manifest["operator"] == specification(name).operator
    done = run("export", "sonnx", *more, "group", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"group/ops/{name}.md").is_file()


def write_example(folder):
    """Write the complete file of docs/language.md."""
    text = repo_file("docs/language.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "sign.yaml").write_text(example, encoding="utf-8")


def test_the_example_in_the_documentation_is_a_specification(tmp_path):
    """Its claims hold on special values; `make nightly` proves it."""
    write_example(tmp_path)
    done = run("generate", "--operator", "sign.yaml", "--into", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = run("explain", "float32", "--operator", "sign.yaml", "--x", "-0", cwd=tmp_path)
    assert told.stdout.startswith("float32: sign(-0) = 0")


@pytest.mark.nightly
def test_the_number_of_a_case_need_not_be_one_of_a_type_that_lacks_the_case(tmp_path):
    """Sign gives -1, which is no unsigned integer."""
    write_example(tmp_path)
    told = run("explain", "uint8", "--operator", "sign.yaml", "--x", "255", cwd=tmp_path)
    assert told.stdout.startswith("uint8: sign(255) = 1")
    options = ("--operator", "sign.yaml", "--dtype", "uint8")
    (tmp_path / "mine.py").write_text("import numpy\n\ndef sign(x):\n    return numpy.sign(x)\n")
    checked = run("check", *options, "--runtime", "./mine.py:sign", "--brief", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    proved = run("prove", *options, "--only", "uint8.cases_results", "--build", ".", cwd=tmp_path)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    assert "`explain` and `evidence` need a run of all obligations" in proved.stdout
    text = (tmp_path / "sign.yaml").read_text(encoding="utf-8")
    stated = "not_for: {uint: no unsigned integer is below zero}"
    assert stated in text
    (tmp_path / "sign.yaml").write_text(text.replace(stated, "not_for: {}"), encoding="utf-8")
    refused = run("explain", "uint8", "--operator", "sign.yaml", "--x", "3", cwd=tmp_path)
    assert refused.returncode == 2
    assert "-1 is not in the range of uint8" in refused.stderr


@pytest.mark.nightly
def test_the_example_in_the_documentation_is_proved(tmp_path):
    write_example(tmp_path)
    done = run("prove", "--operator", "sign.yaml", "--build", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "0 by one, 0 not proved" in done.stdout
