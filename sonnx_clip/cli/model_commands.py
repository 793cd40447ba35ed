"""The commands on ONNX models: `lint` and `normalise`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sonnx_clip.cli.options import INPUT, OUTPUT, Format, option
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import is_standard_output, require_folder_of
from sonnx_clip.root.terminal import is_quiet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.lint.verdict import BatchRun, ModelReport

NO_CLIP_STATUS = 3
"""Of `lint --require-clip`, where every model could be read and nothing else is wrong."""
_Models = typer.Argument(metavar="MODEL.onnx", help="ONNX models.")
_Places = typer.Argument(
    metavar="MODEL.onnx|FOLDER|PATTERN", help="ONNX models, folders, patterns."
)


def lint(
    models: Annotated[list[Path], _Places],
    select: Annotated[
        list[str] | None, option("--select", "Judge only these rules.", INPUT, value="RULE,…")
    ] = None,
    ignore: Annotated[
        list[str] | None, option("--ignore", "Do not judge these rules.", INPUT, value="RULE,…")
    ] = None,
    accept_inferred: Annotated[
        bool, option("--accept-inferred", "Count inferred shapes and types as declared.", INPUT)
    ] = False,
    require_clip: Annotated[
        bool, option("--require-clip", "Status 3 if a model has no Clip node.", INPUT)
    ] = False,
    fusions: Annotated[
        bool, option("--fusions", "Report rewrites in use that would be wrong here.", INPUT)
    ] = False,
    exit_zero: Annotated[
        bool, option("--exit-zero", "Status 0 where nodes break rules.", OUTPUT)
    ] = False,
    statistics: Annotated[
        bool, option("--statistics", "Print counts of each rule only.", OUTPUT)
    ] = False,
    format: Annotated[
        Literal["text", "json", "sarif"],
        option("", "--json for short.", OUTPUT, value="text|json|sarif"),
    ] = "text",
) -> None:
    """Report which restrictions (R1 to R5) each Clip node of ONNX models meets."""
    from sonnx_clip.root.collection import without_collection

    # Imports make many objects that stay, and a small model is judged in half a second.
    with without_collection():
        from sonnx_clip.lint import lint_model, run_each
        from sonnx_clip.lint.model_paths import model_paths
        from sonnx_clip.lint.rules import rules_to_judge
        from sonnx_clip.lint.verdict import with_rules

    if fusions:
        from sonnx_clip.cli.fusions_command import list_fusions

        # These are about the rules of the profile, of which --fusions reports none.
        if accept_inferred or require_clip or format == "sarif" or select or ignore or statistics:
            todo = "remove the other options; --json and --exit-zero remain"
            raise UserError("--fusions is a report of its own", todo=todo)
        status = list_fusions(model_paths(models), as_json=format == "json")
        raise typer.Exit(0 if exit_zero else status)
    from sonnx_clip.cli.settings import settings

    usual = settings()
    rules = rules_to_judge(select or [], ignore or [], usual.lint.ignore, usual.file)

    def judged(path: Path) -> "ModelReport":
        return with_rules(lint_model(path, accept_inferred=accept_inferred), rules.judged)

    # A file that cannot be read is an error of the run, beside the reports of the others.
    run = run_each(model_paths(models), judged)
    _print_lint(run, rules.ignored, format, only_statistics=statistics)
    for _, error in run.errors:
        print(f"error: {error}", file=sys.stderr)
    # Where something else is wrong, its status counts.
    without = [report.path for report in run.reports if not report.nodes]
    if require_clip and without and run.exit_status == 0:
        print(f"error: no Clip node, which --require-clip demands: {without[0]}", file=sys.stderr)
        raise typer.Exit(NO_CLIP_STATUS)
    raise typer.Exit(0 if exit_zero and run.exit_status == 1 else run.exit_status)


def _print_lint(
    run: "BatchRun[ModelReport]",
    ignored: "Mapping[str, str]",
    format: str,
    *,
    only_statistics: bool,
) -> None:
    from sonnx_clip.lint import json_parts, to_sarif, to_text
    from sonnx_clip.lint.report import footer_lines, statistics_lines

    if format == "json":
        # In parts: the report of a large model is large.
        sys.stdout.writelines(json_parts(run, ignored))
        print()
        return
    if format == "sarif":
        print(to_sarif(run, ignored))
        return
    if only_statistics:
        lines = statistics_lines(run)
    else:
        lines = []
        for report in run.reports:
            # With --quiet, a model that breaks no rule has no lines.
            if report.exit_status or not is_quiet():
                lines.append(f"{to_text(report)}\n")
    print("\n".join([*lines, *footer_lines(run, ignored)]).rstrip("\n"))


def normalise(
    models: Annotated[list[Path], _Models],
    assume: Annotated[
        Literal["finite"] | None,
        option("", "No infinity reaches a Clip without a bound.", INPUT, value="finite"),
    ] = None,
    input_shape: Annotated[
        list[str] | None,
        option("", "Shape of an input; repeatable.", INPUT, value="NAME=1,3,64,96"),
    ] = None,
    output: Annotated[
        Path | None, option("-o --output", "File, folder, or - for stdout.", OUTPUT, value="PATH")
    ] = None,
    in_place: Annotated[bool, option("--in-place", "Overwrite the models.", OUTPUT)] = False,
    dry_run: Annotated[bool, option("--dry-run", "Report only; write nothing.", OUTPUT)] = False,
    self_check: Annotated[
        bool,
        option(
            "--self-check/--no-self-check",
            "Run the model before and after; compare bits (default).",
            OUTPUT,
        ),
    ] = True,
    format: Format = "text",
) -> None:
    """Rewrite Clip nodes to meet the profile where no result changes, and cite a theorem for each step."""
    from sonnx_clip.root.collection import without_collection

    with without_collection():
        from sonnx_clip.lint.normalise import NormaliseOptions
        from sonnx_clip.lint.normalise_report import normalise_json, normalise_text
        from sonnx_clip.lint.write_model import normalise_models

    # Before the models are read, which may take minutes.
    if output is not None and not is_standard_output(output):
        require_folder_of(output)
    from sonnx_clip.cli.settings import settings

    options = NormaliseOptions(
        assume_finite=assume == "finite",
        shapes=shapes_of(input_shape or []),
        usual_shapes=settings().input_shapes,
        self_check=self_check,
    )
    run = normalise_models(models, output, options, in_place=in_place, dry_run=dry_run)
    # Where standard output is the model, the report goes beside it.
    stream = sys.stderr if is_standard_output(output) else sys.stdout
    if format == "json":
        print(normalise_json(run), file=stream)
    elif run.reports:
        print("\n\n".join(normalise_text(report) for report in run.reports), file=stream)
    for _, error in run.errors:
        print(f"error: {error}", file=sys.stderr)
    raise typer.Exit(run.exit_status)


def shapes_of(texts: list[str]) -> dict[str, list[int]]:
    """The shapes in ``NAME=1,3,64,96``; a scalar is ``NAME=``."""
    shapes: dict[str, list[int]] = {}
    for text in texts:
        # From the right: a name may contain an equals sign, sizes do not.
        name, equals, sizes = text.rpartition("=")
        numbers = [size for size in sizes.split(",") if size]
        are_sizes = all(number.isdecimal() and int(number) > 0 for number in numbers)
        if not equals or not name or not are_sizes:
            todo = "write --input-shape NAME=1,3,64,96 with sizes above 0"
            # `lint` prints the option to repeat, with ? for a size that it does not know.
            if "?" in sizes:
                todo = "put a number above 0 in the place of each ?"
            raise UserError(f"'{text}' is not the shape of an input", todo=todo)
        shapes[name] = [int(number) for number in numbers]
    return shapes
