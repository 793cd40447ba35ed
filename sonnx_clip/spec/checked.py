"""spec/clip.yaml -> `Spec` with every check, or one message that says what is wrong and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root.files import digest_of
from sonnx_clip.spec.claim_checks import check_claim_types, check_claims
from sonnx_clip.spec.diagnostic import raise_first
from sonnx_clip.spec.dialect_checks import check_dialect_numbers, check_dialects
from sonnx_clip.spec.dialect_examples import check_dialect_examples
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.finding_checks import check_findings
from sonnx_clip.spec.meaning_checks import check_cases, check_latitude, check_latitude_names, check_witnesses
from sonnx_clip.spec.model import ClipSpec
from sonnx_clip.spec.quotes import check_quotes
from sonnx_clip.spec.references import check_references, check_type_names
from sonnx_clip.spec.resolve import Resolver
from sonnx_clip.spec.sonnx_checks import check_sonnx_cases, check_sonnx_page
from sonnx_clip.spec.structure import validate
from sonnx_clip.spec.vendor_checks import check_vendor_pages
from sonnx_clip.spec.wrong_checks import check_not_empty, check_wrong_names

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.spec.document import Document
    from sonnx_clip.spec.model import Spec


def read_and_check(path: Path) -> Spec:
    """The specification in a file; `load` keeps it for the next process.

    Raises:
        UserError: the file cannot be read, is not in the form of spec/clip.yaml, or contradicts itself.
    """
    document, spec = _read(path)
    _check(document, spec)
    return spec


def read_alone(path: Path) -> Spec:
    """The same, without asking whether it agrees with itself and with the texts: provers are to find that.

    Raises:
        UserError: the file cannot be read, is not in the form of spec/clip.yaml, or names what is not there.
    """
    _, spec = _read(path)
    return spec


def _read(path: Path) -> tuple[Document, Spec]:
    document, content = read_document(path)
    with_texts = validate(document, document.data)
    raise_first(document, check_references(with_texts))
    raise_first(document, check_wrong_names(with_texts))
    raise_first(document, check_latitude_names(with_texts))
    raise_first(document, check_dialects(with_texts))
    raise_first(document, check_claim_types(with_texts))
    raise_first(document, check_quotes(with_texts))
    with_trees = Resolver(document, with_texts).resolve()
    return document, validate(document, with_trees, digest=digest_of(content))


def _check(document: Document, spec: Spec) -> None:
    """UserError for the first thing in which it contradicts itself or the texts."""
    for check in (check_cases, check_witnesses, check_dialect_numbers):
        raise_first(document, check(spec))
    if isinstance(spec, ClipSpec):
        raise_first(document, check_dialect_examples(spec))
        raise_first(document, check_findings(spec))
        raise_first(document, check_claims(spec))
    # It agrees with itself: now with the texts, and nothing of it is empty or left out.
    # The pages of SONNX, ONNX and DirectML speak of Clip, and its findings and latitude are held by them.
    of_clip = isinstance(spec, ClipSpec)
    pages = (check_sonnx_page, check_vendor_pages, check_sonnx_cases) if of_clip else ()
    findings = (check_latitude,) if of_clip else ()
    for check in (check_type_names, *pages, check_not_empty, *findings):
        raise_first(document, check(spec))
