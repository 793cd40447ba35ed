"""What is read from Coq files: theorems, what they show, and what they need."""

import pytest

from sonnx_clip.prove.coq import CoqSource, coq_sources
from sonnx_clip.root.errors import UserError


def source(text):
    return CoqSource("coq/A.v", "SonnxClip.A", text)


def test_theorems_with_what_they_show():
    text = "(** A title. shows: monotone, C2 *)\nTheorem a : True.\n\nLemma b : True.\n\nTheorem c : True.\n"
    first, second = source(text).theorems()
    assert (first.id, first.line, first.shows) == ("A.a", 2, ("monotone", "C2"))
    assert (second.id, second.shows) == ("A.c", ())


def test_file_that_would_not_be_looked_at_is_refused(tmp_path):
    (tmp_path / "coq/deep").mkdir(parents=True)
    (tmp_path / "coq/deep/A.v").write_text("")
    with pytest.raises(UserError, match="is not checked"):
        coq_sources(tmp_path)
