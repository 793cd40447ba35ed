"""Declarations of WhyML are found by their tokens."""

from sonnx_clip.whyml.declarations import declarations

TEXT = """
(* module Not *)
module A [@attribute]
  use export ordered.Ordered as O
  clone clip.Clip with type t = t, predicate le = O.le, axiom .
  meta coercion function value
  function f (x: t) : t = let y = g x in match y with | B -> x | C -> y end
  let rec lemma h [@shows:C1] (x: t) : unit ensures { f x = x (* so *) }
    = if x = y then let z = x in h z else ()
  let g (x: t) : t = x.from
  (** It holds. *)
  goal last [@kind:theorem] [@shows:C1,C2] : true
end
theory B goal first : false end
"""


def test_each_declaration_is_found_with_its_words():
    found = declarations(TEXT)
    assert [(d.module, d.form, d.name) for d in found] == [
        ("A", "use export", "ordered.Ordered"), ("A", "clone", "clip.Clip"), ("A", "meta", "coercion"),
        ("A", "function", "f"), ("A", "let rec lemma", "h"), ("A", "let", "g"), ("A", "goal", "last"),
        ("B", "goal", "first"),
    ]  # fmt: skip
    last = found[-2]
    assert (last.attributes, last.statement, last.comment, last.line) == (
        ("[@kind:theorem]", "[@shows:C1,C2]"), "true", "It holds.", 12,
    )  # fmt: skip
    assert found[5].text == "let g ( x : t ) : t = x.from"
    assert found[4].statement.startswith("(x: t) : unit ensures { f x = x } = if")
