"""What versions of Why3 print otherwise and mean the same; and that nothing more passes by it."""

from __future__ import annotations

from sonnx_clip.prove.declared_by_why3 import _as_parsed, _as_typed, _ranges
from sonnx_clip.root.folders import repo_file

TEXT = "module M\n  type memory\n  val ghost memory : memory\nend\n"
PRINTED = "module M\n  type memory\n  \n  let ghost memory = ghost (any memory)\n  \nend\n"


def test_a_ghost_value_as_why3_1_8_prints_it() -> None:
    assert list(_as_parsed("m.mlw", TEXT, (PRINTED, ""))) == []
    assert list(_as_parsed("m.mlw", TEXT, (TEXT, ""))) == []


def test_any_value_more_is_reported() -> None:
    more = PRINTED.replace("end\n", "  let ghost other = ghost (any memory)\nend\n")
    assert [t.statement for t in _as_parsed("m.mlw", TEXT, (more, ""))] == ["Why3 alone reads 1 val other"]
    hidden = PRINTED.replace("end\n", "  let other () = any memory\nend\n")
    assert [t.statement for t in _as_parsed("m.mlw", TEXT, (hidden, ""))] == [
        "Why3 alone reads 1 unasked any"
    ]


def test_the_name_that_why3_gives_to_a_variant_is_no_attribute_of_ours() -> None:
    loop = "module M\n  let f (x: int) : int variant { x } = x\nend\n"
    named = loop.replace("{ x }", "{ [@hyp_name:Variant] x }")
    assert list(_as_parsed("m.mlw", loop, (named, ""))) == []
    other = loop.replace("{ x }", "{ [@rewrite] x }")
    assert "Why3 alone reads 1 attribute [@rewrite]" in [
        t.statement for t in _as_parsed("m.mlw", loop, (other, ""))
    ]


def test_the_result_of_an_operator_as_why3_1_8_names_it() -> None:
    """Within a goal that comes of a program; an axiom beside it is reported as ever."""
    ours = {"m.mlw": "module M\n  goal g : true\nend\n"}
    goal = "  goal g : let ( * )'result'unused = 1 in let (+)'result'unused1 = 2 in true\n"
    printed = f"theory M\n{goal}end\n"
    assert _as_typed_of(ours, printed) == []
    assert any(
        "easy" in told for told in _as_typed_of(ours, printed.replace("end", "  axiom easy : false\nend"))
    )


def _as_typed_of(texts: dict[str, str], printed: str) -> list[str]:
    return [t.statement for t in _as_typed(texts, list(texts), (printed, ""))]


def test_ranges_are_known() -> None:
    assert _ranges(repo_file("why3/elements.mlw").read_text(encoding="utf-8")) == {"t"}
    assert _ranges(repo_file("why3/clip.mlw").read_text(encoding="utf-8")) == set()
