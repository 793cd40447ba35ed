"""Words and signs of Coq text: what stands in a comment or a string, and what only seems to."""

from __future__ import annotations

import pytest

from sonnx_clip.prove.coq_sources import read_coq


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Lemma a' : x.y_1 = 0.5.", ["Lemma", "a'", ":", "x", ".", "y_1", "=", "0.5", "."]),
        ("a (* b *) c", ["a", "c"]),
        ("a (** b (* c *) d *) e", ["a", "e"]),
        ('a (* "*)" *) b', ["a", "b"]),
        ('a (* "(*" *) b', ["a", "b"]),
        ("a (*) b *) c", ["a", "c"]),
        ('a "(*" b', ["a", '"', "b"]),
        ('a "say ""(*""" b (* *) c', ["a", '"', "b", "c"]),
        ('a "\\" b', ["a", '"', "b"]),
        ("forall α : t, α", ["forall", "α", ":", "t", ",", "α"]),
    ],
)
def test_what_is_read(text: str, tokens: list[str]) -> None:
    read = read_coq(text)
    assert [token.text for token in read.tokens] == tokens
    assert read.open_at is None
    assert all(text.startswith(token.text, token.start) for token in read.tokens)


@pytest.mark.parametrize("text", ["a (* b", 'a (* " *) b', 'a "b', "a (* (* *) b"])
def test_what_does_not_end_is_told(text: str) -> None:
    read = read_coq(text)
    assert [token.text for token in read.tokens][:1] == ["a"]
    assert read.open_at == 2


def test_comments_before_a_place() -> None:
    text = "(** first *)\n(* second *)\na (** third *) b c"
    read = read_coq(text)
    before = {token.text: read.comment_before(token.start).strip() for token in read.tokens}
    assert before == {"a": "", "b": "third", "c": ""}
