"""Whether the generated files are what the specification gives, and the versions those that are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.generate import Generated, differences, render_all
from sonnx_clip.backends.numpy_oracle import render_numpy
from sonnx_clip.conform.runtimes import OURS
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.spec import Spec

GENERATE = "run: sonnx-clip generate"
_PACKAGES = {"numpy": "numpy", "onnxruntime": "onnxruntime", "onnx": "onnx"}  # by the first word of a version


def require_fresh(spec: Spec, generated: Path, *, everything: bool) -> None:
    """UserError for the first generated file that is not as the specification gives it.

    Args:
        spec: the specification.
        generated: the folder of what is generated.
        everything: whether all files are rendered, or those alone that no other check covers: the theories
            and the C have their digests in proofs.json, and the vectors are computed one by one.
    """
    if everything:
        found = differences(render_all(spec), generated.parent)
    else:
        rendered = Generated({**render_coq(spec), **render_numpy(spec)}, ())
        found = differences(rendered, generated.parent, folders=())
    if found:
        raise UserError(found[0], str(generated), GENERATE)


def require_installed(reports: Mapping[str, Report], again: str) -> tuple[str, ...]:
    """UserError if a report is on another version than the installed one; the runtimes that are not there.

    The code of our own implementations has a digest of its own in each report.
    """
    missing = []
    for name, report in reports.items():
        package = _PACKAGES.get(report.runtime_version.partition(" ")[0])
        if name in OURS or package is None:
            continue
        try:
            installed = f"{report.runtime_version.partition(' ')[0]} {version(package)}"
        except PackageNotFoundError:
            missing.append(name)
            continue
        if report.runtime_version != installed:
            what = f"it speaks of {report.runtime_version}, and {installed} is installed"
            raise UserError(what, f"the report on {name}", again.format(name=name))
    return tuple(missing)
