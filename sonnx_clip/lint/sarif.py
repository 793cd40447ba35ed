"""The reports of lint in SARIF 2.1.0, for the tools that gather findings.

A model is binary, so a finding has no line: its place is the model's file and, as logical locations, the
graph, the node and the tensor, by which a person finds it in a viewer of ONNX models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.tensors import quoted
from sonnx_clip.lint.verdict import Verdict
from sonnx_clip.root.sarif_log import sarif_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.lint.verdict import Cause, ModelReport, NodeReport
    from sonnx_clip.root.errors import UserError

_SHAPES = "R4"
# What could not be decided is open; SARIF gives no level but none to what is no failure (3.27.10).
_KIND_AND_LEVEL = {Verdict.VIOLATES: ("fail", "error"), Verdict.UNKNOWN: ("open", "none")}


def to_sarif(reports: Sequence[ModelReport], errors: Sequence[tuple[Path, UserError]] = ()) -> str:
    """Several models as one SARIF log with one run.

    What could not be read or judged is a notification of the run, which then counts as not successful.
    """
    notifications = [
        *(_notification(path, str(error), "error") for path, error in errors),
        *(_notification(report.path, text, "error") for report in reports for text in report.undecided),
        *(_notification(report.path, text, "note") for report in reports for text in report.notes),
    ]
    return sarif_log(
        _rules(),
        (result for report in reports for result in _results(report)),
        notifications,
        successful=not errors and not any(report.undecided for report in reports),
        artifacts=(
            {"location": _place(report.path)["physicalLocation"]["artifactLocation"]} for report in reports
        ),
    )


def _rules() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = []
    for identifier in profile().rules:
        statement = profile().statement(identifier)
        rule = {"id": identifier, "shortDescription": {"text": statement}}
        found = profile().interpretations.get(identifier)
        if found is not None:
            text = f"{statement}. Interpreted here: {found.ours}. It could also mean: {found.alternative}."
            rule["fullDescription"] = {"text": text}
        rules.append(rule | {"defaultConfiguration": {"level": "error"}})
    return rules


def _place(path: Path) -> dict[str, Any]:
    # Only an absolute path has a file URI; SARIF takes a relative one as it is, with its characters escaped.
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return {"physicalLocation": {"artifactLocation": {"uri": uri}}}


def _notification(path: Path, text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}, "locations": [_place(path)]}


def _results(report: ModelReport) -> Iterator[dict[str, Any]]:
    """One for each finding, and one for each root cause in place of all findings that follow from it."""
    for nodes in report.alike:
        for place, judgement in enumerate(nodes[0].findings.judgements):
            for number, problem in enumerate(judgement.problems):
                if not (problem.open and report.causes):
                    yield _result(report, nodes, place, number)
    for cause in report.causes:
        yield _cause(report, cause)


def _cause(report: ModelReport, cause: Cause) -> dict[str, Any]:
    place = _place(report.path)
    if cause.tensor is not None:
        place["logicalLocations"] = [{"name": cause.tensor, "kind": "variable"}]
    return {
        "ruleId": _SHAPES,
        "ruleIndex": profile().rules.index(_SHAPES),
        "level": "error",
        "kind": "fail",
        "message": {"text": f"{cause.message}. Remedy: {cause.remedy}"},
        "locations": [place],
        "relatedLocations": [_location(report, node, None) for node in report.open],
        "occurrenceCount": len(report.open),
        "partialFingerprints": {"sonnxClip/v1": f"{_SHAPES}/root cause/{cause.tensor or ''}"},
    }


def _result(report: ModelReport, nodes: Sequence[NodeReport], place: int, number: int) -> dict[str, Any]:
    """One finding at all nodes that have it: the first is its location, the others are related ones."""
    node = nodes[0]
    judgement = node.judgements[place]
    problem = judgement.problems[number]
    kind, level = _KIND_AND_LEVEL[problem.verdict]
    name = node.name or node.output
    names = [one.tensors[problem.argument] for one in nodes]
    tensor = "" if names[0] is None else f" {quoted(names[0])}"
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    places = [_location(report, one, name) for one, name in zip(nodes, names, strict=True)]
    return {
        "ruleId": judgement.id,
        "ruleIndex": profile().rules.index(judgement.id),
        "level": level,
        "kind": kind,
        "message": {
            "text": f"{node.operator} {quoted(name)}{more}, {problem.argument}{tensor}: {problem.message}. "
            f"Remedy: {problem.remedy}"
        },
        "locations": places[:1],
        "relatedLocations": places[1:],
        "occurrenceCount": len(nodes),
        "partialFingerprints": {
            "sonnxClip/v1": f"{judgement.id}/{problem.argument}/{node.graph}/{node.output}"
        },
    }


def _location(report: ModelReport, node: NodeReport, tensor: str | None) -> dict[str, Any]:
    name = node.name or node.output
    title = f"{node.graph} > node {node.position} {quoted(name)}"
    logical = [{"name": name, "fullyQualifiedName": title, "kind": "function"}]
    if tensor is not None:
        logical.append({"name": tensor, "fullyQualifiedName": f"{node.graph} > {tensor}", "kind": "variable"})
    return _place(report.path) | {"logicalLocations": logical}
