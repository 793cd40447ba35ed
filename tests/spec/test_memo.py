"""What is derived from a specification belongs to that very one: a copy, changed or not, has its own."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.language.values import encode
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import agrees, answers, reading_classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.spec import Spec

COPIES: dict[str, Callable[[Spec], Spec]] = {
    "model_copy": lambda spec: spec.model_copy(),
    "model_copy, deep": lambda spec: spec.model_copy(deep=True),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.fixture
def spec() -> Spec:
    """The specification, of which everything that is asked below has been asked before."""
    found = load_spec()
    of_type = found.element_type("int8")
    numbers = (encode("3", of_type), encode("0", of_type), encode("2", of_type))
    assert len(found.dialects) == len(found.dialects) > 3
    assert evaluator(found, of_type).spec is found
    assert evaluator(found, of_type).result(*numbers) == numbers[2]
    assert reading_classes(found, "int")
    for reading in found.readings:
        answers(found, of_type, reading, numbers)
    return found


@pytest.mark.parametrize("deep", [False, True])
def test_a_copy_with_fewer_dialects_has_no_more(spec: Spec, deep: bool) -> None:
    few = spec.model_copy(update={"dialects": spec.dialects[:3]}, deep=deep)
    assert [d.id for d in few.dialects] == [d.id for d in spec.dialects[:3]]
    assert len(spec.dialects) == len(spec.dialects)


def test_a_copy_with_other_cases_answers_by_them(spec: Spec) -> None:
    of_type = spec.element_type("int8")
    three, zero, two = (encode(text, of_type) for text in ("3", "0", "2"))
    high = next(index for index, case in enumerate(spec.cases) if case.id == "high")
    wrong = spec.cases[high].model_copy(update={"result": "X"})
    changed = spec.model_copy(update={"cases": (*spec.cases[:high], wrong, *spec.cases[high + 1 :])})
    assert evaluator(changed, of_type).result(three, zero, two) == three
    assert evaluator(spec, of_type).result(three, zero, two) == two
    body = spec.reading("onnx-body")
    assert agrees(spec, of_type, body, (three, zero, two), bitwise=True)
    of_cases = spec.reading("cases")
    assert answers(changed, of_type, of_cases, (three, zero, two)) == (three,)
    assert answers(spec, of_type, of_cases, (three, zero, two)) == (two,)


@pytest.mark.parametrize("way", COPIES)
def test_no_copy_takes_over_what_was_found(spec: Spec, way: str) -> None:
    copied = COPIES[way](spec)
    assert copied == spec
    assert copied.digest == spec.digest
    assert spec.memo
    assert not copied.memo
    assert evaluator(copied, copied.element_type("int8")).spec is copied
