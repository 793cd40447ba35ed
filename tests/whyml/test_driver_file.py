"""Driver files as directives, by name and by what they say."""

import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.hand_written import directives
from sonnx_clip.whyml.why3_lexer import tokens

TEXT = """\
(* syntax predicate hidden "no" *)
prelude "(set-logic ALL)"
import "smt.gen"
theory elements.Bits8
  meta "literal:keep" type t
  syntax type t         "(_ BitVec 8)"
  syntax literal t   "#x%2x"   5   6
end
syntax function outside "f"
"""


def test_each_line_says_what_it_is_about():
    found = [(d.module, d.word, d.symbol, d.text, d.rest) for d in directives(tokens(TEXT).plain)]
    assert found == [
        ("", "prelude", None, "(set-logic ALL)", ""),
        ("", "import", None, "smt.gen", ""),
        ("elements.Bits8", "meta", None, "literal:keep", "type t"),
        ("elements.Bits8", "syntax", "t", "(_ BitVec 8)", ""),
        ("elements.Bits8", "syntax", "t", "#x%2x", "5 6"),
        ("", "syntax", "outside", "f", ""),
    ]


@pytest.mark.parametrize(
    "line", ["syntax t", 'syntax "t"', 'syntax function "f"', 'syntax a b c "f"', "(", ""]
)
def test_text_without_a_symbol_has_none(line):
    assert [d for d in directives(line) if d.symbol] == []


def test_every_line_of_our_drivers_is_a_directive():
    for path in (*repo_file("why3/drivers").iterdir(), *repo_file("generated/c/drivers").iterdir()):
        plain = tokens(path.read_text(encoding="utf-8")).plain
        lines = [line for line in plain.splitlines() if line.split() not in ([], ["end"])]
        opened = [line for line in lines if line.startswith(("theory ", "module "))]
        assert len(list(directives(plain))) == len(lines) - len(opened) > 0
