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
    marks = panels["both bounds are NaN"].marks
    assert [mark.said for mark in marks][:2] == ["X = -inf: Y = -inf (inside)", "X = -0: Y = -0 (inside)"]
    assert marks[0].at == (picture.COLUMNS["-inf"], picture.ROWS["-inf"])
    assert marks[-1].at == (picture.COLUMNS["nan"], picture.ROWS["nan"])
    assert panels["inverted bounds"].marks[-1].case == "inverted"


def test_the_table_of_special_values():
    table = {
        (x, *bounds): cell
        for x, cells in picture.special_table(load_spec()).items()
        for bounds, cell in zip(picture.SPECIAL_BOUNDS, cells, strict=True)
    }
    assert table["nan", "1", "-1"].shown == "-1"
    assert table["nan", "1", "-1"].latitude == ("nan-inverted",)
    assert table["0", "-0", "0"].shown == "-0"
    assert table["0", "-0", "0"].latitude == ("zero-sign",)
    assert table["2", "-1", "1"].latitude == ()
    assert table["inf", "-1", "nan"].klass == "inside_max_nan"
