"""The commands on ONNX models: `lint` and `normalise`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import (
    INPUT,
    OUTPUT,
    Assumption,
    Format,
    Json,
    LintFormat,
    TextOrJson,
    format_of,
    wants_json,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import is_standard_output

_Models = typer.Argument(metavar="MODEL.onnx", help="ONNX models.")


def lint(
    models: Annotated[list[Path], _Models],
    accept_inferred: Annotated[
        bool,
        typer.Option(
            "--accept-inferred", help="Count inferred shapes and types as declared.", rich_help_panel=INPUT
        ),
    ] = False,
    format: Annotated[
        LintFormat, typer.Option(metavar="text|json|sarif", help="--json for short.", rich_help_panel=OUTPUT)
    ] = LintFormat.TEXT,
    json: Json = False,
) -> None:
    """Report which restrictions (R1 to R5) each Clip node of ONNX models meets."""
    from sonnx_clip.root.isolated import without_collection

    with without_collection():
        from sonnx_clip.lint import json_parts, lint_models, to_sarif, to_text

    chosen = format_of(format, json=json)
    run = lint_models(models, accept_inferred=accept_inferred)
    if chosen is LintFormat.JSON:
        sys.stdout.writelines(json_parts(run))
        print()
    elif chosen is LintFormat.SARIF:
        print(to_sarif(run))
    elif run.reports:
        print("\n\n".join(to_text(report) for report in run.reports))
    for _, error in run.errors:
        print(f"error: {error}", file=sys.stderr)
    raise typer.Exit(run.exit_status)


def normalise(
    models: Annotated[list[Path], _Models],
    assume: Annotated[
        Assumption | None,
        typer.Option(
            metavar="finite", help="No infinity reaches a Clip without a bound.", rich_help_panel=INPUT
        ),
    ] = None,
    input_shape: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=1,3,64,96", help="Shape of an input; repeatable.", rich_help_panel=INPUT),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="File, folder, or - for stdout.", rich_help_panel=OUTPUT
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Overwrite the models.", rich_help_panel=OUTPUT)
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report only; write nothing.", rich_help_panel=OUTPUT)
    ] = False,
    self_check: Annotated[
        bool,
        typer.Option(
            "--self-check/--no-self-check",
            help="Run the model before and after; compare bits (default).",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """Rewrite Clip nodes to meet the profile where no result changes, and cite a theorem for each step."""
    from sonnx_clip.root.isolated import without_collection

    with without_collection():
        from sonnx_clip.lint.normalise import NormaliseOptions
        from sonnx_clip.lint.normalise_report import normalise_json, normalise_text
        from sonnx_clip.lint.write import normalise_models

    options = NormaliseOptions(assume is Assumption.FINITE, _shapes(input_shape or []), self_check)
    run = normalise_models(models, output, options, in_place=in_place, dry_run=dry_run)
    stream = sys.stderr if is_standard_output(output) else sys.stdout
    if wants_json(format, json=json):
        print(normalise_json(run), file=stream)
    elif run.reports:
        print("\n\n".join(normalise_text(report) for report in run.reports), file=stream)
    for _, error in run.errors:
        print(f"error: {error}", file=sys.stderr)
    raise typer.Exit(run.exit_status)


def _shapes(texts: list[str]) -> dict[str, list[int]]:
    """The shapes in ``NAME=1,3,64,96``; a scalar is ``NAME=``."""
    found: dict[str, list[int]] = {}
    for text in texts:
        name, equals, sizes = text.rpartition("=")
        numbers = [size for size in sizes.split(",") if size]
        if not equals or not name or not all(number.isdecimal() and int(number) > 0 for number in numbers):
            raise UserError(
                f"'{text}' is not the shape of an input",
                todo="write --input-shape NAME=1,3,64,96, with sizes above 0",
            )
        found[name] = [int(number) for number in numbers]
    return found
