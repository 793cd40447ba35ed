"""Runtimes that are wrong in some forms of a model alone: the verdict says so, and names the form."""

from functools import cache

import numpy as np
import pytest

from sonnx_clip.conform import judge
from sonnx_clip.conform.chosen_bounds import chosen_bounds
from sonnx_clip.conform.form_plan import form_plan
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.report_lines import cases, dependences, notes
from sonnx_clip.conform.report_text import behaviour, form_lines, reproducers
from sonnx_clip.conform.verdicts import TAGS
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.calls import entry_indices
from sonnx_clip.runtimes.model_forms import base, covering, every_form
from sonnx_clip.spec import load_spec
from tests.meta.judged import judged as judged_by
from tests.meta.judged import nightly_but, printed, repeated, require_repeated, three_layouts

pytestmark = pytest.mark.usefixtures("brief")

SPEC = load_spec()


def judged_anew(name, dtype="int16", **options):
    report, classes = judged_by(f"planted_forms:{name}", dtype, three_layouts, **options)
    return report, report.types[0], {id_: found.verdict for id_, found in classes.items()}


judged = cache(judged_anew)  # a planted runtime is judged alike again


def refusals(report):
    return [note.text for note in notes(report) if note.head == "refused"]


def test_right_runtime_conforms_in_every_form():
    report, found, classes = judged("right")
    assert not report.failed
    assert set(classes.values()) == {"conforms"}
    assert len(found.forms) >= 14
    assert {form.verdict for form in found.forms} == {"conforms"}
    assert all(form.compared > 150 for form in found.forms)
    assert dependences(report) == []
    assert list(form_lines(report)) == [
        f"forms of a model: {len(found.forms)} compared in 1 type, all agree"
    ]


DEPENDS = {
    "wrong_with_initializers": "violates with bounds as initializers, else conforms",
    "wrong_at_rank_0": "violates with rank 0, else conforms",
    "wrong_when_optimised": "conforms with no optimisation, else violates",  # the other half is the exception
    "wrong_in_new_opsets": "violates with opset ",
    "wrong_for_two": "violates with bounds as Constant nodes and static shape, else conforms",
    "refuses_rank_4_and_is_wrong": "violates with bounds as initializers, else conforms",
}
FAST = {
    "wrong_with_initializers",
    "wrong_at_rank_0",
    "wrong_when_optimised",
    "refuses_rank_4_and_is_wrong",
}


@pytest.mark.parametrize("name", nightly_but(FAST, DEPENDS))
def test_deviation_in_some_forms_names_them(name):
    report, found, classes = judged(name)
    assert report.failed
    assert classes["high_ordinary"] == "depends"
    assert classes["low_ordinary"] == classes["C1"] == "conforms"
    assert found.verdict == "depends"
    (only,) = dependences(report)
    assert only.failing
    assert only.text.startswith(DEPENDS[name])
    text = printed(report)
    assert f"depends on the form int16 {', '.join(only.places['int16'])}: {only.text}" in text
    assert only.deviations[0].reproduce.split('"')[1] in text
    (line,) = [line for line in text.splitlines() if line.startswith("  depends on the form ")]
    assert "high_ordinary" in line


def test_line_of_a_deviation_repeats_it_in_its_form():
    report, _, _ = judged("wrong_at_rank_0")
    deviation = dependences(report)[0].deviations[0]
    require_repeated(deviation)
    mended = repeated(deviation.reproduce.replace("t.wrong_at_rank_0.", "t.right."))
    assert f"['{hex(deviation.expected)}'" in mended
    assert deviation.reproduce in reproducers(report).replace("'\"'\"'", "'")


def test_int32_computed_in_float32_is_reported_with_the_value():
    _, found, classes = judged("through_float_with_constants", "int32")
    assert classes["low_ordinary"] == "depends"
    wrong = [form for form in found.forms if form.verdict == "violates"]
    assert {form.form.bounds for form in wrong} == {"initializers", "Constant nodes"}
    assert "16777217" in wrong[0].deviations["low_ordinary"].shown


def test_accepted_difference_between_forms_is_reported_and_passes():
    report, _, classes = judged("loses_payloads_unoptimised", "float32")
    assert not report.failed
    assert classes["inside_nan"] == "acceptable"
    (only,) = [one for one in dependences(report) if "inside_nan" in one.places["float32"]]
    assert not only.failing
    assert only.text == "acceptable with no optimisation, else conforms"


def test_refused_form_is_no_violation_and_hides_none():
    report, found, classes = judged("refuses_rank_4")
    assert not report.failed
    assert set(classes.values()) == {"conforms"}
    refused = [form for form in found.forms if form.verdict == "refused"]
    assert {form.form.rank for form in refused} == {4}
    assert all(form.words == "NotImplementedError: rank 4 is not supported" for form in refused)
    assert refusals(report) == ["models with rank 4: NotImplementedError: rank 4 is not supported"]
    assert "refused int16: models with rank 4: NotImplementedError" in printed(report)
    _, found, _ = judged("refuses_rank_4_and_is_wrong")
    assert {form.verdict for form in found.forms if form.form.rank == 4} == {"refused"}


def test_deviation_that_needs_several_entries_does_not_depend_on_rank_0():
    report, _, classes = judged("wrong_at_other_ranks")
    assert classes["high_ordinary"] == "violates"
    assert next(form_lines(report)).endswith(
        "all agree (rank 0 passes more in int16: it has one entry)"
    )


def test_death_is_of_one_form_and_of_one_class():
    report, found, classes = judged("dies_of_a_constant_nan", "float32")
    assert report.failed
    dead = [form for form in found.forms if form.verdict == "crashed"]
    assert {form.form.bounds for form in dead} == {"Constant nodes"}
    assert classes["low_max_nan"] == "depends"
    assert classes["low_ordinary"] == "conforms"
    assert all(form.compared > 150 for form in dead)
    assert "SIGABRT" in dead[0].words


def test_runtime_of_constant_bounds_alone_is_judged_in_forms():
    report, found, classes = judged("serves_constants")
    assert not report.failed
    assert {form.form.bounds for form in found.served_forms} == {"initializers", "Constant nodes"}
    assert classes["high_ordinary"] == found.verdict == "conforms"
    assert refusals(report) == [
        "models with bounds as inputs: NotImplementedError: bounds must be constants"
    ]
    report, _, classes = judged("serves_constants_wrongly")
    assert report.failed
    assert classes["high_ordinary"] == "violates"


def test_deviation_that_all_forms_share_has_an_example_and_a_reproducer():
    report, found, classes = judged("wrong_in_every_form")
    assert report.failed
    assert classes["high_ordinary"] == found.verdict == "violates"
    (only,) = [d for _, id_, _, d in report.deviations if id_ == "high_ordinary"]
    require_repeated(only)
    text = printed(report)
    assert f"model with {only.form}: {only.shown}" in text
    assert only.reproduce.split('"')[1] in text
    (case,) = [one for one in cases(report) if one.id == "high_ordinary" and not one.form]
    assert case.headline == only.shown


@pytest.mark.parametrize("name", ["wrong_in_every_form", "wrong_with_initializers"])
def test_wrong_value_in_a_form_is_not_denied(name):
    report, _, _ = judged(name)
    assert not [line for line in behaviour(report) if "not in a compared value" in line]


@pytest.mark.parametrize("name", ["serves_constants", "refuses_rank_4", "lacks_memory"])
def test_class_with_something_compared_is_not_refused(name):
    _, found, classes = judged(name)
    assert any(form.compared for form in found.forms)
    assert "refused" not in {verdict for id_, verdict in classes.items() if id_ not in TAGS}


NOTHING = "int16: nothing was compared in any form of a model"


def test_forms_in_which_nothing_was_compared_fail(monkeypatch):
    report, found, classes = judged("refuses_everything")
    assert {form.verdict for form in found.forms} == {"refused"}
    assert set(classes.values()) == {"conforms"}
    assert report.failed
    assert list(form_lines(report)) == [NOTHING]
    monkeypatch.setattr(judge, "_forms", lambda *_: ())
    report, _, _ = judged_anew("right")
    assert report.failed
    assert set(form_lines(report)) == {NOTHING}


@pytest.mark.nightly
def test_all_forms_are_every_combination(monkeypatch):
    assert len(judge.known_opsets(CLIP_SIGNATURE, "uint8")) > 5
    monkeypatch.setattr(judge, "known_opsets", lambda *_: (13, 14, 15))
    _, found, _ = judged_anew("right", "uint8", forms="all")
    assert len(found.forms) == len({form.form for form in found.forms}) == 66 * 3
    assert {form.verdict for form in found.forms} == {"conforms"}


# --- What is chosen -----------------------------------------------------------------------------------------

AXES = ("bounds", "shape", "rank", "opset", "optimised")


@pytest.mark.parametrize("optimisations", [(True, False), (True,)])
def test_chosen_forms_cover_each_pair_of_values_of_two_axes(optimisations):
    every = every_form(CLIP_SIGNATURE, (13, 26), optimisations)
    few = covering(every)
    assert few[0] == base(CLIP_SIGNATURE)
    assert len(few) < 20
    for one in AXES:
        for other in AXES:
            pairs = [
                {(getattr(f, one), getattr(f, other)) for f in forms} for forms in (every, few)
            ]
            assert pairs[0] == pairs[1], (one, other)


@pytest.mark.parametrize("type_id", ["uint8", "int64", "bfloat16", "float32"])
def test_every_form_is_asked_for_every_class_and_every_special_bound(type_id):
    etype = SPEC.element_type(type_id)
    lower, upper = chosen_bounds(etype, clip_operator())
    assert set(special_patterns(etype)) <= {*lower.tolist(), *upper.tolist()}
    asked = {}
    for form in covering(every_form(CLIP_SIGNATURE, (13, 26), (True, False))):
        reached, triples, purposes = set(), set(), set()
        for request, table in form_plan(etype, clip_operator(), form):
            purposes.add(request.purpose)
            if request.purpose == "bounds with zero":
                continue
            rows, indices = np.arange(request.count)[:, None], entry_indices(request)
            reached |= set(table.classes[rows, indices].ravel().tolist())
            x, l, m = np.broadcast_arrays(
                request.pool[indices], request.scalars[0][:, None], request.scalars[1][:, None]
            )
            triples |= set(
                zip(x.ravel().tolist(), l.ravel().tolist(), m.ravel().tolist(), strict=True)
            )
        assert reached == set(range(len(clip_operator().class_ids(etype.family))))
        # Converters decide by the values of constant bounds: these have more pairs.
        assert ("bounds with zero" in purposes) == (form.bounds != "inputs")
        asked.setdefault(form.rank, triples)
        assert asked[form.rank] == triples
    assert asked[0] == asked[1] == asked[2] == asked[4]


def test_bounds_that_floats_do_not_hold_are_asked():
    pairs = {}
    for id_ in ("int32", "int64", "uint32", "uint64"):
        lower, upper = chosen_bounds(SPEC.element_type(id_), clip_operator())
        pairs[id_] = set(zip(lower.tolist(), upper.tolist(), strict=True))
    assert all((2**24 + 1, 20_000_000) in asked for asked in pairs.values())
    assert (2**53 + 1, 10**16) in pairs["int64"]
