"""The picture is what the specification says, and changes with it."""

from sonnx_clip.evidence import picture
from sonnx_clip.spec import load_spec


def test_each_kind_of_bounds_shows_its_cases():
    """tests/test_docs.py compares the whole drawing."""
    panels = picture.panels(load_spec())
    assert {panel.title: [line.case for line in panel.lines] for panel in panels} == {
        "bounds in order": ["low", "inside", "high"],
        "equal bounds": ["low", "high"],
        "inverted bounds": ["inverted"],
        "the lower bound is NaN": ["inside", "high"],
        "the upper bound is NaN": ["low", "inside"],
        "both bounds are NaN": ["inside"],
    }


def test_the_table_of_special_values():
    table = {
        (x, *bounds): cell
        for x, cells in picture.special_values_table(load_spec()).items()
        for bounds, cell in zip(picture.SPECIAL_BOUNDS, cells, strict=True)
    }
    assert (table["nan", "1", "-1"].shown, table["nan", "1", "-1"].latitude) == (
        "-1",
        ("nan-inverted",),
    )
    assert (table["0", "-0", "0"].shown, table["0", "-0", "0"].latitude) == ("-0", ("zero-sign",))
    assert table["2", "-1", "1"].latitude == ()
    assert table["inf", "-1", "nan"].klass == "inside_max_nan"
