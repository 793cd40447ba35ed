"""What the Coq files may not say, and the theorems that are read from them."""

import pytest

from sonnx_clip.prove.coq_sources import CoqSource, coq_sources
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root


def source(text):
    return CoqSource("coq/A.v", "SonnxClip.A", text)


@pytest.mark.parametrize(
    "text",
    ["Proof. Admitted.",
     "admit.", "Axiom a : False.", "Parameter p : nat.", "Conjecture c : False.", "Abort.",
     "Unset Guard Checking.", "Unset  Universe   Checking.", "Variable v : nat.", "Hypothesis h : False.",
     "Section S. End S. Context (h : False).", "exact_no_check I.", "Admit Obligations.",
     "Declare Module M : T.", "Add  Rec\n LoadPath x."],
)  # fmt: skip
def test_what_takes_something_for_granted_is_refused_with_its_place(text):
    (line,) = source(f"(* a line *)\n{text}\n").forbidden()
    assert line.startswith("coq/A.v:2: `")


@pytest.mark.parametrize(
    "hidden",
    [
        '(* "(*" *) Axiom a : False.',
        '(* "(*" *)\nAxiom a : False. (* *) (* *)',
        '"\\" Axiom a : False. (* "" *)',
        "(*) *) Axiom a : False.",
    ],
)
def test_an_axiom_behind_what_only_seems_a_comment_is_found(hidden):
    """Of Coq, a comment that holds a string with `(*` ends like any other."""
    (line,) = source(hidden).forbidden()
    assert "`Axiom` is not allowed" in line


@pytest.mark.parametrize(
    "text",
    ['Definition a := "Axiom"%string.', "Definition my_Axiom := I.", "Definition Axiom' := I.",
     "Module Context. End Context.", "(* Admitted *)", "Section S. Variable v : nat. End S.",
     "Section S. Section T. End T. Context (n : nat). End S.",
     "Lemma admitted_here : True."],
)  # fmt: skip
def test_comments_and_sections_are_fine(text):
    assert [*source(text).forbidden()] == []


def test_a_comment_that_does_not_end_is_told():
    assert [*source("\n(* Admitted").forbidden()] == ["coq/A.v:2: a comment or a string does not end"]


def test_theorems_with_what_they_show():
    text = "(** A title. shows: monotone, C2 *)\nTheorem a : True.\n\nLemma b : True.\n\nTheorem c : True.\n"
    first, second = source(text).theorems()
    assert (first.id, first.line, first.shows) == ("A.a", 2, ("monotone", "C2"))
    assert (second.id, second.shows) == ("A.c", ())


def test_place_is_told_by_its_theorem():
    assert source("Theorem a : True.\nProof.\nQed.").theorem_at(2) == "Theorem a"
    assert source("\n").theorem_at(5) is None


def test_needs():
    text = "From SonnxClip Require Import Order\n  Clip.\nFrom SonnxClip.Generated Require Float."
    assert source(text).needs() == {"SonnxClip.Order", "SonnxClip.Clip", "SonnxClip.Generated.Float"}


def test_our_files_take_nothing_for_granted():
    found = coq_sources(repo_root())
    assert {"coq/Clip.v", "generated/coq/Formats.v"} <= {s.path for s in found}
    assert [line for s in found for line in s.forbidden()] == []


def test_file_that_would_not_be_looked_at_is_refused(tmp_path):
    (tmp_path / "coq/deep").mkdir(parents=True)
    (tmp_path / "coq/deep/A.v").write_text("")
    with pytest.raises(UserError, match="not looked at"):
        coq_sources(tmp_path)


def test_empty_folder_is_refused(tmp_path):
    with pytest.raises(UserError, match="no Coq file"):
        coq_sources(tmp_path)
