"""Commands on ONNX models."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.options import Assumption, LintFormat, TextOrJson


def lint(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL.onnx", help="ONNX models to judge.")],
    format: Annotated[
        LintFormat, typer.Option(help="Text for people, JSON or SARIF 2.1.0 for machines.")
    ] = LintFormat.TEXT,
    accept_inferred: Annotated[
        bool, typer.Option("--accept-inferred", help="Count inferred shapes and types as declared.")
    ] = False,
) -> None:
    """Say of each Clip node of ONNX models which restrictions (R1 to R5) it meets."""
    from sonnx_clip.graph import lint_models, to_json, to_sarif, to_text

    run = lint_models(models, accept_inferred=accept_inferred)
    if format is LintFormat.JSON:
        print(to_json(run.reports, run.errors))
    elif format is LintFormat.SARIF:
        print(to_sarif(run.reports, run.errors))
    elif run.reports:
        print("\n\n".join(to_text(report) for report in run.reports))
    for _, error in run.errors:
        print(f"error: {error}", file=sys.stderr)
    raise typer.Exit(run.exit_status)


def normalise(
    model: Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="The ONNX model to be brought in.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the result here.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Overwrite the model itself.")] = False,
    assume: Annotated[
        Assumption | None, typer.Option(help="finite: no infinity reaches a Clip that lacks a bound.")
    ] = None,
    format: Annotated[
        TextOrJson, typer.Option(help="Text for people or JSON for machines.")
    ] = TextOrJson.TEXT,
) -> None:
    """Bring each Clip of an ONNX model into the profile where that changes no result; say what and why."""
    from sonnx_clip.graph.normalise import normalise as normalise_model
    from sonnx_clip.graph.normalise_report import exit_status, normalise_json, normalise_text
    from sonnx_clip.graph.save import save, target_of

    target = target_of(model, output, in_place=in_place)
    found = normalise_model(model, target, assume_finite=assume is Assumption.FINITE)
    save(found)
    print(normalise_json(found.report) if format is TextOrJson.JSON else normalise_text(found.report))
    raise typer.Exit(exit_status(found.report))
