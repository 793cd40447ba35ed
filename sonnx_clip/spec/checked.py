"""The checks of a loaded specification against itself and the quoted texts, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sonnx_clip.spec.claim_checks import check_claims
from sonnx_clip.spec.dialect_checks import check_dialect_numbers
from sonnx_clip.spec.dialect_examples import check_dialect_examples
from sonnx_clip.spec.finding_checks import check_findings
from sonnx_clip.spec.meaning_checks import check_cases, check_latitude, check_witnesses
from sonnx_clip.spec.quotes import check_quotes
from sonnx_clip.spec.references import check_type_names
from sonnx_clip.spec.sonnx_checks import check_sonnx_cases, check_sonnx_page
from sonnx_clip.spec.vendor_checks import check_vendor_pages
from sonnx_clip.spec.wrong_checks import check_not_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.spec.document import Diagnostic
    from sonnx_clip.spec.model import Spec

CHECKS: Final[tuple[Callable[[Spec], Iterator[Diagnostic]], ...]] = (
    check_quotes, check_cases, check_witnesses, check_dialect_numbers, check_dialect_examples, check_findings,
    check_claims, check_type_names, check_not_empty,
)  # fmt: skip
OF_CLIP: Final[tuple[Callable[[Spec], Iterator[Diagnostic]], ...]] = (
    check_sonnx_page, check_vendor_pages, check_sonnx_cases, check_latitude,
)  # fmt: skip
"""Checks against the pages about Clip."""
