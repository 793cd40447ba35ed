"""Renders docs/findings.md: the findings about the sources, with what runtimes answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.shown_by import check_shown
from sonnx_clip.explain.findings_text import markdown
from sonnx_clip.explain.findings_told import tell
from sonnx_clip.explain.interpretation import require_shown
from sonnx_clip.explain.measured_record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec

PATH = "docs/findings.md"


def render_findings(spec: Spec, obligations: Iterable[Obligation]) -> dict[str, str]:
    """The page by its path.

    Raises:
        UserError: an obligation that a finding names does not exist or does not show it; or the record of
            what runtimes answered is missing or does not fit the findings.
    """
    check_shown(spec, obligations)
    record = read_record(spec)
    require_shown(spec, record)
    return {PATH: markdown(spec, tell(spec, record), record)}
