"""Load the YAML of an operator, spec/NAME.yaml, as a `Spec`: document, structure, references, conditions.

`check_spec` compares a specification with the texts that it quotes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.conditions import ConditionParser
from sonnx_clip.spec.dialects import check_dialects
from sonnx_clip.spec.document import Diagnostic, raise_first, read_document
from sonnx_clip.spec.element_types import FILE as ELEMENT_TYPES
from sonnx_clip.spec.element_types import (
    check_types_of_families,
    known_element_types,
    types_of_families,
)
from sonnx_clip.spec.model import Spec
from sonnx_clip.spec.numbers import check_numbers, check_operands, order_operands
from sonnx_clip.spec.quotes import check_quotes
from sonnx_clip.spec.references import check_references
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def load_spec(path: Path | None = None) -> Spec:
    """The specification of Clip, or that of another file in the form of spec/clip.yaml, which is read once.

    What the file states is not checked: `check_spec` does that for `generate` and `prove`.

    Raises:
        UserError: the file cannot be read, is not in that form, or refers to missing entries; the message
            has file, line, column and the path of the entry.
    """
    default = repo_file("spec/clip.yaml")
    with without_collection():  # a third of the time, else
        if path is None or path == default:
            return _load_once(default)
        return _read(path)


def _read(path: Path) -> Spec:
    document, content = read_document(path)
    if isinstance(document.data, dict) and "element_types" in document.data:
        message = f"element types are stated once, in {ELEMENT_TYPES}"
        todo = "remove this section; `types` of a family lists those that the operator has"
        raise document.error(("element_types",), message, todo)
    stated = validate(Spec, document)
    # Which types there are follows from the families, so these are checked before all else.
    raise_first(document, check_types_of_families(stated.families))
    types = types_of_families(stated.families)
    _, content_of_types = known_element_types()
    spec = stated.model_copy(update={"element_types": types})
    spec = spec.read_from(path, digest_of(content + content_of_types))
    # Each relies on what those before it refuse: that examples have operands, that names are known.
    for check in (check_operands, check_references, check_dialects):
        raise_first(document, check(spec))
    # Now that each has all its operands: many zip them with those of the head.
    order_operands(spec)
    ConditionParser(document, spec).parse_all()
    return spec


_load_once = cache(_read)


def check_spec(spec: Spec) -> None:
    """Compare a specification with the texts that it quotes, and its numbers with its element types.

    Raises:
        UserError: the first contradiction, with file, line, column and the path of the entry.
    """
    for check in (check_quotes, check_numbers):
        _raise_first(spec, check(spec))


def check_findings(spec: Spec) -> None:
    """Raise the UserError of the first finding whose witness does not show its claim."""
    from sonnx_clip.spec import finding_witnesses

    _raise_first(spec, finding_witnesses.check_finding_witnesses(spec))


def _raise_first(spec: Spec, diagnostics: Iterator[Diagnostic]) -> None:
    problems = list(diagnostics)
    if problems:
        # The file is read again for its positions, which only messages need.
        document, _ = read_document(spec.path)
        raise_first(document, problems)
