"""The printer of Coq."""

import pytest

from sonnx_clip.backends import coq_files
from sonnx_clip.backends.coq_files import MODULES, check_names, theorems_of
from sonnx_clip.backends.coq_printer import CoqPrinter
from sonnx_clip.language.tree import Number
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec


@pytest.fixture
def printer():
    return CoqPrinter("float", "here", load_spec().head)


@pytest.mark.parametrize("leaf", [Number("6"), Number("nan")])
def test_value_without_a_name_in_every_format_is_refused(printer, leaf):
    with pytest.raises(UserError, match="no name that stands for it in every float format"):
        printer.show(leaf)


def test_every_entry_is_rendered():
    spec, files = load_spec(), coq_files.render_coq(load_spec())
    assert set(files) == {
        f"generated/coq/{name}.v"
        for name in ("Real", "RealReadings", "Int", "IntReadings", "Float", "FloatReadings", "Formats")
    }
    for family in spec.families:
        text = files[f"generated/coq/{family.id.capitalize()}.v"]
        for p in spec.properties:
            if family.id in p.families:
                name = p.id if family.id in p.holds_for else f"{p.id}_repaired"
                assert f"Theorem {name} :" in text
        for case in spec.cases:
            assert f"Definition {case.id} (x l m : t) : bool :=" in text
    assert "Theorem bfloat16_C2_refuted" in files["generated/coq/Formats.v"]
    assert (
        "~ claim_interval (float16 0x7e00) (float16 0x0000) (float16 0x3c00)"
        in files["generated/coq/Formats.v"]
    )


def test_definitions_of_readings_are_in_their_file():
    spec, files = load_spec(), coq_files.render_coq(load_spec())
    meaning, readings = (files[f"generated/coq/{name}.v"] for name in ("Float", "FloatReadings"))
    of_meaning = {d.id for d in spec.definitions if f"Definition {d.id} (" in meaning}
    assert of_meaning == {d.id for d in spec.definitions if f"Definition {d.id} (" not in readings}
    assert {"formula", "is_infinite"} <= of_meaning
    assert "is_max_2019" not in of_meaning


def test_every_reading_is_rendered_for_every_family():
    spec, files = load_spec(), coq_files.render_coq(load_spec())
    for family in spec.families:
        text = files[f"generated/coq/{MODULES[family.id]}.v"]
        for reading in spec.readings:
            assert f"Definition {reading.word}_returns (x l m y : t) : bool :=" in text
            names = [*theorems_of(reading, family.id)]
            assert len(names) >= 3
            assert all(f"Theorem {name} :" in text for name in names)
            assert (f"{reading.word}_agrees_nowhere_else" in names) == (family.id in reading.agrees)


def test_names_of_coq_are_refused():
    with pytest.raises(UserError, match="`match` is taken"):
        check_names(["match"], [])
    with pytest.raises(UserError, match="`low` is taken"):
        check_names(["low"], ["low"])
