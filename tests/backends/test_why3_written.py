"""The hand-written theories: which goals they hold; a goal that does not say what it shows is refused."""

import pytest

from sonnx_clip.backends.generate import ids_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.hand_written import written_obligations

IDS = ids_of(load_spec())
GOAL = "goal monotone [@shows:monotone] :"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  (** A greater x never gives a smaller result. *)\n", "", "the goal has no comment"),
        (GOAL, "goal monotone :", "the goal does not say what it shows"),
        (
            GOAL,
            "goal monotone [@shows:monotony] :",
            "the goal shows monotony, which is not in spec",
        ),
        (
            GOAL,
            "goal monotone [@shows:smoke] :",
            "a smoke goal, and no other, has a name that begins with",
        ),
    ],
)
def test_a_goal_that_is_not_in_order(old, new, message, bench):
    bench.plant("why3/clip.mlw", old, new)
    with pytest.raises(UserError, match=message) as caught:
        written_obligations(IDS)
    assert caught.value.where == "why3/clip.mlw (ClipTheorems.monotone)"


def test_a_goal_in_a_comment_is_none(bench):
    before = written_obligations(IDS)
    bench.plant("why3/clip.mlw", "  goal smoke_clip", "  (* goal more : true *)\n  goal smoke_clip")
    assert written_obligations(IDS) == before
