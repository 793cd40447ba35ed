"""The printer of Coq."""

import pytest

from sonnx_clip.backends.coq_files import check_names
from sonnx_clip.backends.coq_printer import CoqPrinter
from sonnx_clip.language.tree import Number
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec


def test_value_without_a_name_in_every_format_is_refused():
    with pytest.raises(UserError, match="no name that denotes it in every float format"):
        CoqPrinter("float", "here", load_spec().signature).show(Number("6"))


def test_names_of_coq_are_refused():
    with pytest.raises(UserError, match="`match` is already used in the Coq theorems"):
        check_names(["match"], [])
    with pytest.raises(UserError, match="`low` is already used"):
        check_names(["low"], ["low"])
