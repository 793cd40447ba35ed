"""The reports of lint in SARIF 2.1.0, for the tools that gather findings.

A model is binary, so a finding has no line: its place is the model's file and, as logical locations, the
graph, the node and the tensor, by which a person finds it in a viewer of ONNX models.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sonnx_clip import __version__
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.report import broken_rules
from sonnx_clip.lint.safe_text import quoted
from sonnx_clip.lint.verdict import BatchRun, Finding, ModelReport, NodeReport, RootCause, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Object = dict[str, Any]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
PROFILE = "https://github.com/onnx/working-groups/tree/main/safety-related-profile/sonnx"
"""Where the SONNX group publishes the profile whose restrictions are the rules."""
_SHAPES = "R4"
# What could not be decided is open; SARIF gives no level but none to what is no failure (3.27.10).
_KIND_AND_LEVEL = {Verdict.VIOLATES: ("fail", "error"), Verdict.UNKNOWN: ("open", "none")}


def to_sarif(run: BatchRun[ModelReport], ignored: Mapping[str, str] | None = None) -> str:
    """Several models as one SARIF log with one run.

    What could not be read or judged is a notification of the run, which then counts as not successful.
    """
    failures = [_notification("error", str(error), path) for path, error in run.errors]
    notes = []
    results: list[Object] = []
    for report in run.reports:
        # A consumer would take the absence of results for a clean model where not all could be analysed.
        failures += [_notification("error", text, report.path) for text in report.undecided]
        notes += [_notification("note", text, report.path) for text in report.notes]
        results += _results(report)
    for rule, reason in (ignored or {}).items():
        text = f"{rule} was not judged"
        if reason:
            text += f": {reason}"
        notes.append(_notification("note", text))

    driver = {
        "name": "sonnx-clip",
        "version": __version__,
        "informationUri": PROFILE,
        "rules": [_rule(id_) for id_ in profile().rules],
    }
    invocation = {
        "executionSuccessful": not failures,
        "toolExecutionNotifications": [*failures, *notes],
    }
    log = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, indent=2)


def _notification(level: str, text: str, path: Path | None = None) -> Object:
    notification: Object = {"level": level, "message": {"text": text}}
    if path is not None:
        notification["locations"] = [_place(path)]
    return notification


def _rule(identifier: str) -> Object:
    statement = profile().statement(identifier)
    meaning = profile().interpretations.get(identifier)
    rule: Object = {
        "id": identifier,
        "shortDescription": {"text": statement},
        "helpUri": PROFILE,
    }
    if meaning is not None:
        ours = f"Interpreted here: {meaning['ours']}."
        alternative = f"It could also mean: {meaning['alternative']}."
        rule["fullDescription"] = {"text": f"{statement}. {ours} {alternative}"}
    rule["defaultConfiguration"] = {"level": "error"}
    return rule


def _place(path: Path, *logical: Object) -> Object:
    # Only an absolute path has a file URI; SARIF takes a relative one as it is, with its characters escaped.
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: Object = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    if logical:
        place["logicalLocations"] = list(logical)
    return place


def _results(report: ModelReport) -> Iterator[Object]:
    """One for each finding, and one for each root cause in place of all problems that follow from it."""
    for nodes in report.alike:
        for finding in nodes[0].findings.findings:
            closed = finding.without_open() if report.causes else finding
            if closed is not None:
                yield _finding(report, nodes, closed)
    for cause in report.causes:
        yield _cause(report, cause)


def _result(
    rule: str,
    verdict: Verdict,
    text: str,
    places: Sequence[Object],
    count: int,
    fingerprint: str,
) -> Object:
    """One result; its first place is its location, the others are related ones.

    Args:
        rule: the id of the rule.
        verdict: how it is broken.
        text: the message.
        places: of all nodes that have the finding.
        count: how many nodes these are.
        fingerprint: equal in two runs for the same finding of the rule.
    """
    kind, level = _KIND_AND_LEVEL[verdict]
    return {
        "ruleId": rule,
        "ruleIndex": profile().rules.index(rule),
        "level": level,
        "kind": kind,
        "message": {"text": text},
        "locations": places[:1],
        "relatedLocations": places[1:],
        "occurrenceCount": count,
        "partialFingerprints": {"sonnxClip/v1": f"{rule}/{fingerprint}"},
    }


def _cause(report: ModelReport, cause: RootCause) -> Object:
    logical = [{"name": cause.tensor, "kind": "variable"}] if cause.tensor is not None else []
    # The input itself first, where it is to be mended; the nodes that follow from it are related.
    places = [_place(report.path, *logical)]
    places += [_location(report, node, None) for node in report.open]
    text = f"{cause.message}. Remedy: {cause.remedy}"
    fingerprint = f"root cause/{cause.tensor or ''}"
    return _result(_SHAPES, Verdict.VIOLATES, text, places, len(report.open), fingerprint)


def _finding(
    report: ModelReport,
    nodes: Sequence[NodeReport],
    finding: Finding,
) -> Object:
    """One finding at all nodes that have it; its rule is the first that it violates, or leaves unknown."""
    first = nodes[0]
    argument = finding.problems[0].argument
    places = []
    for node in nodes:
        places.append(_location(report, node, node.tensors[argument]))

    title = f"{first.findings.operator} {quoted(first.name or first.output)}"
    if len(nodes) > 1:
        title += f" and {len(nodes) - 1} more"
    sentence = f"{title}: {broken_rules(finding)}: {finding.sentence(first.titles)}."
    text = f"{sentence} Remedy: {finding.remedy}"

    # Violated rules come first. Positions change when a model is edited, so the fingerprint has names.
    rules_of_worst = next(iter(finding.rules_by_verdict.values()))
    fingerprint = f"{argument}/{first.graph}/{first.output}"
    return _result(rules_of_worst[0], finding.verdict, text, places, len(nodes), fingerprint)


def _location(report: ModelReport, node: NodeReport, tensor: str | None) -> Object:
    name = node.name or node.output
    title = f"{node.graph} > node {node.position} {quoted(name)}"
    logical = [{"name": name, "fullyQualifiedName": title, "kind": "function"}]
    if tensor is not None:
        tensor_title = f"{node.graph} > {tensor}"
        logical.append({"name": tensor, "fullyQualifiedName": tensor_title, "kind": "variable"})
    return _place(report.path, *logical)
