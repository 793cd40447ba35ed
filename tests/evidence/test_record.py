"""evidence.json: everything is there, traced in both directions, and each count is that of what it counts."""

import json

import jsonschema
import pytest

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.evidence.evidence_model import ALL_TYPES
from sonnx_clip.evidence.runtimes import runtimes_of
from sonnx_clip.rewrites.rewrite import known_rewrites, known_theorems
from sonnx_clip.runtimes.model_forms import ModelForm
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.conftest import gathered_in

FORM = ModelForm(bounds="initializers", shape="static", rank=2, opset=13, optimised=True)


@pytest.fixture(scope="module")
def evidence(written):
    return written.evidence


def entry(evidence, id_):
    return next(e for e in evidence.entries if e.id == id_)


def cell(evidence, id_, type_id):
    return next(c for c in entry(evidence, id_).cells if c.type == type_id)


def test_it_meets_its_schema(written):
    schema = json.loads((written.folder / "evidence.schema.json").read_text())
    jsonschema.validate(json.loads((written.folder / "evidence.json").read_text()), schema)


def test_every_requirement_is_there_with_its_quotation(evidence):
    wanted = {r.id: " ".join(r.source.quote.split()) for _, r in load_spec().requirements()}
    assert {e.id: e.source.quote for e in evidence.entries if e.requirement} == wanted
    assert evidence.totals.requirements == len(wanted)


def test_every_other_entry_and_finding_is_there(evidence):
    spec = load_spec()
    assert [f.id for f in evidence.findings] == [f.id for f in spec.findings]
    others = (*spec.classes, *spec.latitude, *spec.readings, *spec.dialects, *spec.element_types)
    others += (*spec.dialect_examples, *known_rewrites(), *known_theorems())
    assert {e.id for e in evidence.entries if not e.requirement} == {e.id for e in others}


def test_obligation_and_what_it_shows_name_each_other(evidence):
    obligations = [o.obligation for o in evidence.obligations]
    named = {(id_, o.id) for o in obligations for id_ in o.shows if id_ != "smoke"}
    of_entries = {(e.id, id_) for e in evidence.entries for c in e.cells for id_ in c.obligations}
    of_findings = {
        (f.id, id_) for f in evidence.findings for part in f.claim for id_ in part.obligations
    }
    assert named == of_entries | of_findings


def test_refutation_is_a_finding_in_its_types_alone(evidence):
    assert cell(evidence, "C2", "float32").finding
    assert not cell(evidence, "C2", "int8").finding
    assert cell(evidence, "R1", ALL_TYPES).status == "proved"
    refuted = sum(entry.refuted for entry in evidence.entries if entry.requirement)
    assert evidence.totals.refuted == refuted > 0


def test_vectors_are_those_that_an_entry_speaks_of(evidence):
    found = entry(evidence, "nan_min_is_no_bound")
    assert "high_min_nan" in found.classes
    assert "low_ordinary" not in found.classes
    assert set(found.vectors) == {"float16", "bfloat16", "float32", "float64"}
    assert sum(entry(evidence, "C1").vectors.values()) == evidence.totals.vectors


def test_runtimes_keep_their_verdicts_and_break_properties(evidence):
    broken = {where for e in evidence.entries for where in e.violated_by}
    assert "numpy, float32" in broken
    assert not any("sonnx" in where for where in broken)
    verdicts = {r.name: r.verdicts for r in runtimes_of(load_spec(), evidence.runtimes)}
    assert verdicts["numpy"]["float32"]["low_max_nan"] == "violates"
    assert verdicts["numpy"]["float64"]["low_max_nan"] == "not run"
    assert set(verdicts["onnxruntime"]["int8"].values()) == {"not run"}


def test_wrong_answer_in_a_form_of_a_model_breaks_properties(tmp_path):
    wrong = made.deviation_in("low_ordinary", "int8", form=FORM)
    in_form = FormReport(
        form=FORM, verdict="violates", compared=10, calls=10,
        classes={"low_ordinary": "violates"}, deviations={"low_ordinary": wrong},
    )  # fmt: skip
    report = made.report("onnxruntime", types=("int8",))
    (of_type,) = report.types
    classes = []
    for klass in of_type.classes:
        verdict = "violates" if klass.id == "low_ordinary" else "conforms"
        classes.append(klass.model_copy(update={"verdict": verdict}))
    changed = {"verdict": "violates", "classes": tuple(classes), "forms": (in_form,)}
    types = (of_type.model_copy(update=changed),)
    reports = [made.ours(), report.model_copy(update={"types": types})]
    evidence = gathered_in(tmp_path, made.proofs(), reports)
    broken = [e.id for e in evidence.entries if "onnxruntime, int8" in e.violated_by]
    assert "result_is_operand" in broken


def test_nothing_recorded_is_called_confirmed(evidence):
    confirmed = {line.name for line in evidence.argument if line.basis == "confirmed"}
    assert confirmed == {"Coverage", "Generated files", "Statements", "Statuses"}
    bases = {line.name: line.basis for line in evidence.argument}
    assert bases["Z3 and cvc5"] == bases["Runtime numpy"] == "taken from records, not repeated"
    assert bases["Coq’s kernel"] == bases["Frama-C"] == bases["Runtime onnxruntime"] == "not run"


def test_files_are_those_of_the_repository(evidence):
    assert "generated/numpy/clip_oracle.py" in evidence.files
    assert not any("__pycache__" in name for name in evidence.files)


def test_a_rewrite_is_there_with_its_terms_and_proofs(evidence):
    rewrite = entry(evidence, "clip-clip-by-max-min")
    facts = dict(rewrite.facts)
    assert facts["after"] == "clip(X, max(A, C), min(B, D))"
    assert facts["for constants with"] == "A <= B and C <= D"
    assert cell(evidence, rewrite.id, ALL_TYPES).status == "proved"
    obligations = set(cell(evidence, rewrite.id, ALL_TYPES).obligations)
    assert "rewrites.clip_clip_by_max_min_float_value_exact" in obligations
