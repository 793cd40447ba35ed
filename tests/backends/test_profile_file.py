"""What lint is told of a restriction is the word in which the YAML states it, and of which tensors."""

import pytest

from sonnx_clip.backends.profile_file import render_profile
from sonnx_clip.language.tree import Connective
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec


def test_a_restriction_in_two_words_is_refused():
    spec = load_spec()
    first, second, third, *_ = spec.restrictions
    both = third.model_copy(update={"holds": Connective("and", second.holds, third.holds)})
    planted = spec.model_copy(update={"restrictions": (first, both)})
    with pytest.raises(UserError, match=r"R3 calls 2 declared functions \(is_set, is_sparse\)"):
        render_profile(planted)
