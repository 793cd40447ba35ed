"""What is derived from a specification belongs to that very one: a copy, changed or not, has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.values import encode
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import answers

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec


def test_a_copy_with_other_cases_answers_by_them(spec: Spec) -> None:
    of_type, of_cases = spec.element_type("int8"), spec.reading("cases")
    three, zero, two = (encode(text, of_type) for text in ("3", "0", "2"))
    assert evaluator(spec, of_type).result(three, zero, two) == two
    assert answers(spec, of_type, of_cases, (three, zero, two)) == (two,)
    cases = [c.model_copy(update={"result": "X"}) if c.id == "high" else c for c in spec.cases]
    changed = spec.model_copy(update={"cases": tuple(cases)})
    assert evaluator(changed, of_type).result(three, zero, two) == three
    assert answers(changed, of_type, of_cases, (three, zero, two)) == (three,)


def test_no_copy_takes_over_what_was_found(spec: Spec) -> None:
    assert evaluator(spec, spec.element_type("int8")).spec is spec
    copied = spec.model_copy()
    assert copied == spec
    assert copied.digest == spec.digest
    assert evaluator(copied, copied.element_type("int8")).spec is copied
