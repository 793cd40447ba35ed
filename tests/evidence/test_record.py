"""evidence.json: everything is there, in both directions, and the counts are those of what they count."""

import json

import jsonschema
import pytest

from sonnx_clip.evidence.evidence_model import ALL_TYPES
from sonnx_clip.spec import load_spec


@pytest.fixture(scope="module")
def evidence(written):
    return written.evidence


def entry(evidence, id_):
    (found,) = [e for e in evidence.entries if e.id == id_]
    return found


def cell(evidence, id_, type_id):
    (found,) = [c for c in entry(evidence, id_).cells if c.type == type_id]
    return found


def test_it_meets_its_schema(written):
    schema = json.loads((written.folder / "evidence.schema.json").read_text())
    jsonschema.validate(json.loads((written.folder / "evidence.json").read_text()), schema)


def test_every_requirement_is_there_with_its_words(evidence):
    wanted = {r.id: r.source.quote for r in load_spec().requirements()}
    assert {e.id: e.source.quote for e in evidence.entries if e.requirement} == wanted
    assert evidence.totals.requirements == len(wanted)


def test_every_class_latitude_and_element_type_is_there(evidence):
    spec = load_spec()
    ids = {e.id for e in evidence.entries if not e.requirement}
    others = (*spec.classes, *spec.latitude, *spec.readings, *spec.whole_dialects, *spec.element_types)
    others += spec.dialect_examples
    assert ids == {e.id for e in others}


def test_the_counts_add_up(evidence, obligations):
    t = evidence.totals
    assert t.obligations == len(obligations) == t.by_two + t.by_one + t.smoke_held + t.not_proved
    assert t.smoke == sum(o.kind == "smoke" for o in obligations) > 10
    assert t.fine


def test_an_obligation_and_what_it_shows_name_each_other(evidence):
    named = {(id_, o.id) for o in evidence.obligations for id_ in o.shows if id_ != "smoke"}
    of_entries = {(e.id, id_) for e in evidence.entries for c in e.cells for id_ in c.obligations}
    claims = ((f.id, part) for f in evidence.findings if f.told for part in f.told.claim)
    assert named == of_entries | {(id_, name) for id_, part in claims for name in part.obligations}


def test_a_refuted_property_is_a_finding_in_its_types_alone(evidence):
    assert cell(evidence, "C2", "float32").finding
    assert not cell(evidence, "C2", "int8").finding
    assert cell(evidence, "C3", "real").status == "does not apply"
    assert cell(evidence, "R1", ALL_TYPES).status == "proved"


def test_a_finding_has_its_numbers_in_each_type(evidence):
    (found,) = [f for f in evidence.findings if f.about == "widest_bounds_are_no_bound"]
    numbers = {w.type: {name: (text, bits) for name, text, bits in w.values} for w in found.witnesses}
    assert numbers["float16"]["Y"] == ("0x1.ffcp+15", "0x7bff")
    assert numbers["float64"]["X"] == ("inf", "0x7ff0000000000000")
    assert found.repaired == "not is_infinite(X)"


def test_examples_that_a_type_cannot_hold_are_found(evidence):
    (found,) = [f for f in evidence.findings if "int_1" in (f.about, *f.names)]
    assert "uint8 lacks -6" in found.details[0]
    assert cell(evidence, "int_1", "uint8").status == "does not apply"


def test_a_number_of_the_page_with_two_meanings_is_found(evidence):
    (found,) = [f for f in evidence.findings if f.id == "tags-of-constraints"]
    words = "below Y it is Interval consistency (C2); below X it is Type consistency (C3)"
    assert any(words in line for line in found.details)


def test_every_finding_of_the_specification_is_there_with_what_shows_it(evidence, obligations):
    known = {o.id for o in obligations}
    told = {f.id: f.told for f in evidence.findings if f.told}
    assert list(told) == [f.id for f in load_spec().findings]
    for finding in told.values():
        assert known.issuperset(o for part in finding.claim for o in part.obligations)
        assert finding.answered == any(r.bits for w in finding.witnesses for r in w.replies)


def test_no_finding_is_shown_twice(evidence):
    assert len({f.id for f in evidence.findings}) == len(evidence.findings)
    derived = {f.id for f in evidence.findings if not f.told}
    assert "refuted-idempotent_bitwise-float" in derived
    covered = {"refuted-C2-float", "refuted-widest_bounds_are_no_bound-float", "ambiguous-C1", "ambiguous-C2"}
    assert not derived & (covered | {"not-representable-int_1"})


def test_vectors_are_those_that_a_property_speaks_of(evidence):
    found = entry(evidence, "nan_min_is_no_bound")
    assert set(found.classes) <= {c.id for c in load_spec().classes}
    assert "high_min_nan" in found.classes
    assert "low_ordinary" not in found.classes
    assert set(found.vectors) == {"float16", "bfloat16", "float32", "float64"}


def test_vectors_are_shown_as_numbers_and_bits(evidence):
    first = evidence.vectors["float32"]["inverted_nan"][0]
    assert (first.x, first.shown) == ("0x7fc00000", ("nan", "1", "0", "0"))
    assert first.acceptable == ("nan-inverted",)


def test_a_verdict_reaches_every_entry_whose_class_it_is(evidence):
    assert entry(evidence, "low_max_nan").verdicts["numpy"]["float32"] == "violates"
    assert entry(evidence, "low").verdicts["numpy"]["float32"] == "violates"
    assert entry(evidence, "low").verdicts["numpy"]["int8"] == "conforms"
    assert entry(evidence, "low").verdicts["numpy"]["float64"] == "not run"
    assert entry(evidence, "low").verdicts["onnxruntime"]["int8"] == "not run"
    assert entry(evidence, "float_1").verdicts["sonnx"]["float32"] == "conforms"


def test_digests_of_what_it_rests_on(evidence):
    files = {f.file: f.sha256 for f in evidence.files}
    assert files["spec/clip.yaml"] == load_spec().digest == evidence.spec_sha256
    assert {"why3/clip.mlw", "generated/why3/float32.mlw", "spec/sources/sonnx-clip.md"} <= set(files)
