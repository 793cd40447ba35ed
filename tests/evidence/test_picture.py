"""The picture is what the specification says, and changes with it."""

import pytest

from sonnx_clip.evidence import picture
from sonnx_clip.spec import load_spec


@pytest.fixture(scope="module")
def panels():
    return {panel.title: panel for panel in picture.panels(load_spec())}


def test_each_kind_of_bounds_shows_its_cases(panels):
    cases = {title: [line.case for line in panel.lines] for title, panel in panels.items()}
    assert cases == {
        "bounds in order": ["low", "inside", "high"],
        "equal bounds": ["low", "high"],
        "inverted bounds": ["inverted"],
        "the lower bound is NaN": ["inside", "high"],
        "the upper bound is NaN": ["low", "inside"],
        "both bounds are NaN": ["inside"],
    }


def test_special_values_are_marked_in_their_bands(panels):
    first, *_, last = panels["both bounds are NaN"].marks
    assert first.said == "X = -inf: Y = -inf (inside)"
    assert first.at == (picture.COLUMNS["-inf"], picture.ROWS["-inf"])
    assert last.at == (picture.COLUMNS["nan"], picture.ROWS["nan"])


def test_the_table_of_special_values():
    table = {
        (x, *bounds): cell
        for x, cells in picture.special_table(load_spec()).items()
        for bounds, cell in zip(picture.SPECIAL_BOUNDS, cells, strict=True)
    }
    assert (table["nan", "1", "-1"].shown, table["nan", "1", "-1"].latitude) == ("-1", ("nan-inverted",))
    assert (table["0", "-0", "0"].shown, table["0", "-0", "0"].latitude) == ("-0", ("zero-sign",))
    assert table["2", "-1", "1"].latitude == ()
    assert table["inf", "-1", "nan"].klass == "inside_max_nan"
