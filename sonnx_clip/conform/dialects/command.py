"""`sonnx-clip compare-dialects`: runs the comparisons, prints them and writes the records."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from sonnx_clip.conform.dialects.record import FOLDER, RUNTIMES
from sonnx_clip.conform.dialects.run import compare_dialects
from sonnx_clip.conform.dialects.text import NOT_DIRECTML, print_record, summary
from sonnx_clip.files import make_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.status import Status


def compare(
    runtimes: Sequence[str], opsets: Sequence[int], types: Sequence[str], *,
    as_json: bool, build: Path, brief: bool = False,
) -> int:  # fmt: skip
    """Compare runtimes with ONNX's dialects, print what was found, and write a record of each.

    Returns:
        1 if a disagreement is unexplained, a runtime died, or nothing was compared in one of them; else 0.

    Raises:
        UserError: a runtime, an operator set or an element type is not known, a package is missing, or a
            record cannot be written.
    """
    make_folder(build / FOLDER)
    sys.path.insert(0, "")  # module:function is looked up from where the command runs, as by `python -m`
    status, texts = 0, []
    for runtime in dict.fromkeys(runtimes) or RUNTIMES:
        with Console(stderr=True).status("") as shown:
            record = compare_dialects(runtime, opsets, types, on_opset=partial(_tell, shown, runtime))
        text = record.model_dump_json(indent=1)
        write_whole(build / FOLDER / f"{runtime.replace(':', '-')}.json", text + "\n")
        texts.append(text)
        status = max(status, int(record.failed))
        if as_json:
            print(summary(record), file=sys.stderr)
        elif brief:
            print(summary(record))
        else:
            print_record(record, Console())
    if as_json:
        print(f"[{','.join(texts)}]")
    else:
        print(NOT_DIRECTML)
    return status


def _tell(shown: Status, runtime: str, opset: int) -> None:
    shown.update(f"{runtime}: opset {opset}")
