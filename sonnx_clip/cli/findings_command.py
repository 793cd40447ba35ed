"""`sonnx-clip findings`: prints the findings, and measures the runtimes again where wanted."""

from __future__ import annotations

from sonnx_clip.explain.findings_text import as_json, as_text
from sonnx_clip.explain.findings_told import tell
from sonnx_clip.explain.measured_record import PATH, read_record
from sonnx_clip.spec import load_spec


def findings(*, measure: bool, json: bool) -> None:
    """Print the findings; with `measure`, ask the runtimes first and write what they answer.

    Raises:
        UserError: a runtime is missing, or the record is missing or does not fit the findings.
    """
    spec = load_spec()
    if measure:
        from sonnx_clip.explain.measure import write_record

        record = write_record(spec)
        refused = sum(not answer.bits for answer in record.answers)
        print(f"{len(record.answers)} answers, {refused} of them refusals, are in {PATH}")
        print("to bring the page in line, run: sonnx-clip generate")
        return
    record = read_record(spec)
    told = tell(spec, record)
    print(as_json(told, record) if json else as_text(told))
