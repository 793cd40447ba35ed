"""The table of the sections is that of the model and of the file; what goes over sections follows it."""

from __future__ import annotations

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.model import SECTIONS
from sonnx_clip.spec.references import check_references

SPEC = load_spec()


def test_a_message_has_the_words_of_the_table() -> None:
    with pytest.raises(UserError, match=r"there is no `int9` among the element types of spec/clip\.yaml"):
        SPEC.element_type("int9")
    klass = SPEC.classes[0].model_copy(update={"case": "lowest"})
    (found,) = check_references(SPEC.model_copy(update={"classes": (klass, *SPEC.classes[1:])}))
    assert (found.way, found.what) == (("classes", 0, "case"), "there is no case `lowest`")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_an_id_belongs_to_one_entry(section) -> None:
    """In each section; and in all of those that share their ids."""
    entries = getattr(SPEC, section.name)
    if len(entries) > 1:
        twice = entries[1].model_copy(update={"id": entries[0].id})
        changed = SPEC.model_copy(update={section.name: (entries[0], twice, *entries[2:])})
        ways = [f.way for f in check_references(changed) if "is taken by" in f.what]
        assert ways == [(section.name, 1, "id")]
    of_another = SPEC.cases[0].id if section.name != "cases" else SPEC.restrictions[0].id
    moved = entries[-1].model_copy(update={"id": of_another})
    changed = SPEC.model_copy(update={section.name: (*entries[:-1], moved)})
    assert any("is taken by" in f.what for f in check_references(changed)) != section.own_ids
