"""What `sonnx-clip check` does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.conform.behaviour import behaviour
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.text import print_report, summary
from sonnx_clip.files import make_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.conform.compare import Policy


def check_runtime(
    runtime: str,
    types: Sequence[str],
    policy: Policy,
    *,
    as_json: bool,
    output: Path | None,
    brief: bool = False,
) -> int:
    """Run the checker, print the report, perhaps write it; 1 if the run has failed, else 0.

    Raises:
        UserError: the runtime or a type is not known, a package is missing, or `output` cannot be written.
    """
    if output is not None:  # better known before the run than after it
        make_folder(output.parent)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    progress = Console(stderr=True)
    with progress.status("") as status:

        def tell(etype: str) -> None:
            status.update(f"{runtime}: {etype}")

        report = run_campaign(runtime, types, policy=policy, on_type=tell)
    text = report.model_dump_json(indent=1) + "\n"
    if output is not None:
        write_whole(output, text)
    if as_json:
        sys.stdout.write(text)
        print("\n".join([summary(report), *behaviour(report)]), file=sys.stderr)
    elif brief:
        print("\n".join([summary(report), *behaviour(report)]))
    else:
        print_report(report, Console())
    return 1 if report.failed else 0
