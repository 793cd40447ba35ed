"""A SARIF 2.1.0 log with one run: what the logs of several commands have in common."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sonnx_clip import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_log(
    rules: Iterable[dict[str, Any]],
    results: Iterable[dict[str, Any]],
    notifications: Iterable[dict[str, Any]],
    *,
    successful: bool,
    artifacts: Iterable[dict[str, Any]] = (),
) -> str:
    """The text of a log.

    Args:
        rules: reportingDescriptor objects.
        results: result objects.
        notifications: notification objects of the run, on its own execution.
        successful: whether all that was asked for could be judged, whatever was found.
        artifacts: artifact objects.
    """
    run = {
        "tool": {"driver": {"name": "sonnx-clip", "version": __version__, "rules": list(rules)}},
        "artifacts": list(artifacts),
        "invocations": [
            {"executionSuccessful": successful, "toolExecutionNotifications": list(notifications)}
        ],
        "results": list(results),
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)
