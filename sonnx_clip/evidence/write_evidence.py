"""Writes build/evidence/: evidence.json, its schema, the pages, and what other tools import."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.evidence.checkout import read_checkout
from sonnx_clip.evidence.collect import gather
from sonnx_clip.evidence.evidence_model import Evidence
from sonnx_clip.evidence.exchange_formats import render_junit, render_matrix, render_needs
from sonnx_clip.evidence.explorer import render_explorer
from sonnx_clip.evidence.page import render_page, render_review
from sonnx_clip.evidence.records import Records, read_records
from sonnx_clip.evidence.reqif_file import render_reqif
from sonnx_clip.evidence.signing_keys import private_key
from sonnx_clip.evidence.supply_chain import PAGE, STATEMENT, render_sbom, render_statement, sign
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, write_together, write_whole
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from sonnx_clip.evidence.checkout import Checkout
    from sonnx_clip.spec import Spec

FORMATS: dict[str, tuple[str, Callable[[Evidence, Records], str]]] = {
    "needs": ("needs.json", render_needs),
    "reqif": ("evidence.reqif", render_reqif),
    "csv": ("matrix.csv", render_matrix),
    "cyclonedx": ("sbom.cdx.json", render_sbom),
    "junit": ("junit.xml", render_junit),
}
"""The formats of other tools: the file of each, and what renders it."""


@dataclass(frozen=True)
class EvidenceSummary:
    """What was written: where, and the evidence."""

    page: Path
    evidence: Evidence

    @property
    def exit_status(self) -> int:
        """0 if nothing is open: everything is shown, our own Clip was judged and violates nothing; else 1."""
        return 1 if self.evidence.totals.open else 0

    @property
    def line(self) -> str:
        """Where it is, and the counts."""
        t = self.evidence.totals
        proved = f"{t.by_two} proved by two provers, {t.by_one} by one, {t.not_proved} not proved"
        counts = [
            f"{t.obligations} obligations in {t.tasks} different tasks: {proved}",
            f"{t.smoke_held} of {counted(t.smoke, 'smoke test')} held",
            counted(t.findings, "finding"),
            f"{counted(t.refuted, 'requirement')} refuted as written",
        ]
        if t.open:
            counts.append(f"{len(t.open)} open, first: {t.open[0]}")
        argument = self.evidence.argument
        not_run = [line.name for line in argument if line.basis in ("not run", "stale")]
        if not_run:
            counts.append(f"not run or stale: {', '.join(not_run)}")
        return f"{self.page}: {'; '.join(counts)}"


def render(records: Records, checkout: Checkout | None = None) -> tuple[Evidence, dict[str, str]]:
    """The evidence, and the text of each file of it."""
    evidence = gather(records, checkout)
    record = evidence.model_dump_json(indent=1) + "\n"
    # Of what is written: a field with a default is in every file, so the schema requires it.
    schema = json.dumps(Evidence.model_json_schema(mode="serialization"), indent=1) + "\n"
    # The page states the digest of evidence.json: whoever has both can see that they belong together.
    return evidence, {
        "evidence.json": record,
        "evidence.schema.json": schema,
        PAGE: render_page(evidence, records, digest_of(record)),
        "review.html": render_review(records.spec),
        "explorer.html": render_explorer(evidence, records),
    }


def write_evidence(
    spec: Spec,
    build: Path,
    output: Path,
    formats: Iterable[str] = ("page",),
    key: Path | None = None,
    others: Iterable[Spec] = (),
) -> EvidenceSummary:
    """Write the evidence of an operator; nothing is written if anything is wrong with what it is made of.

    The page has a section for each of the `others` too.
    `formats` are those of `FORMATS`, ``page``, and ``in-toto``, which the private `key` in PEM signs.
    UserError if something is missing, damaged or stale, or the output cannot be written.
    """
    formats = tuple(formats)
    signer = private_key(key) if key else None  # before anything is written
    page = build / "evidence" / PAGE
    writes_page = "page" in formats and output.absolute() == page.parent.absolute()
    # A signed statement names the page in any case, and `verify` would miss it later.
    if signer and not (writes_page or page.is_file()):
        raise UserError("there is no page to sign", str(page), "add --format page, and remove -o")
    records = read_records(build, spec, others)
    checkout = read_checkout()
    # Formats of other tools need the evidence alone: then no page is rendered.
    if "page" in formats:
        evidence, written = render(records, checkout)
    else:
        evidence, written = gather(records, checkout), {}
    for format_, (name, render_one) in FORMATS.items():
        if format_ in formats:
            written[name] = render_one(evidence, records)
    _remove_partial_files(output, written)
    # All or none: pages of two states of the records would contradict each other.
    write_together({output / name: text for name, text in written.items()})
    if "in-toto" in formats:  # it has the digests of the others
        statement = render_statement(evidence, build)
        write_whole(output / STATEMENT, sign(statement, signer) if signer else statement)
    return EvidenceSummary(output / (PAGE if PAGE in written else ""), evidence)


def _remove_partial_files(output: Path, names: Iterable[str]) -> None:
    """Remove what a run that was killed has left of these files."""
    for name in names:
        # `write_together` names a file so until it is complete.
        for partial in output.glob(f".{name}.*"):
            partial.unlink(missing_ok=True)
