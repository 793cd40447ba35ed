"""The hand-written theories: which goals they hold; a goal that does not say what it shows is refused."""

import pytest

from sonnx_clip.backends.generate import ids_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.hand_written import written_obligations
from sonnx_clip.whyml.why3_lexer import tokens

WHERE = "why3/clip.mlw (ClipTheorems.monotone)"
IDS = ids_of(load_spec())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a (* b *) c", "a         c"),
        ("a (** b (* c *) d *) e", "a                    e"),
        ("a (* b\nc *) d", "a     \n     d"),
        ("(*) a", "(*) a"),
        ("a *) b", "a *) b"),
        ("a (* b", "a     "),
        ("", ""),
    ],
)
def test_without_comments(text, plain):
    assert tokens(text).plain == plain
    assert len(plain) == len(text)


def test_a_goal_without_a_sentence_is_refused(bench):
    bench.plant("why3/clip.mlw", "  (** A greater x never gives a smaller result. *)\n", "")
    with pytest.raises(UserError) as caught:
        written_obligations(IDS)
    message = (
        f"{WHERE}: the goal has no comment that states it\n  write it before the goal, (** as a sentence. *)"
    )
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (
            "goal monotone :",
            f"{WHERE}: the goal does not say what it shows\n  add [@shows:ID,…] after its name",
        ),
        (
            "goal monotone [@shows:monotony] :",
            f"{WHERE}: the goal shows monotony, which is not in spec/clip.yaml\n  correct the id",
        ),
        (
            "goal nan_out [@shows:monotone] :",
            "why3/clip.mlw: two goals are called nan_out\n  choose another name for one of them",
        ),
        (
            "goal monotone [@shows:smoke] :",
            (
                f"{WHERE}: a smoke goal, and no other, has a name that begins with smoke_\n"
                "  rename the goal, or correct what it shows"
            ),
        ),
    ],
)
def test_a_goal_that_is_not_in_order(new, message, bench):
    bench.plant("why3/clip.mlw", "goal monotone [@shows:monotone] :", new)
    with pytest.raises(UserError) as caught:
        written_obligations(IDS)
    assert str(caught.value) == message


def test_a_goal_in_a_comment_is_none(bench):
    before = written_obligations(IDS)
    bench.plant("why3/clip.mlw", "  goal smoke_clip", "  (* goal more : true *)\n  goal smoke_clip")
    assert written_obligations(IDS) == before
