"""The command line: it parses, calls and prints; each command imports what it needs when it runs."""

import io
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.errors import UserError
from sonnx_clip.options import (
    BUILD,
    Assumption,
    FamilyName,
    Jobs,
    LintFormat,
    MatrixFormat,
    OnlyTypes,
    Policy,
    TextOrJson,
    WholeJson,
)

app = typer.Typer(
    name="sonnx-clip",
    help="A formally verified specification toolkit for the SONNX profile of the operator Clip.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from sonnx_clip import __version__

        print(f"sonnx-clip {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the whole command."""


@app.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; status 1 if not fresh.")] = False,
) -> None:
    """Render spec/clip.yaml into generated/: Why3 theories, NumPy oracle, vectors, replay script."""
    from sonnx_clip.paths import repo_root
    from sonnx_clip.render.generate import differences, render_all, write
    from sonnx_clip.spec import load_spec

    generated = render_all(load_spec())
    found = differences(generated, repo_root()) if check else write(generated, repo_root())
    for line in found:
        print(line if check else f"written: {line}")
    fresh = f"{len(generated.files)} generated files are fresh"
    print("to accept the new output, run: sonnx-clip generate" if check and found else fresh)
    raise typer.Exit(1 if check and found else 0)


@app.command()
def prove(
    family: Annotated[FamilyName | None, typer.Option(help="Only the element types of this family.")] = None,
    dtype: OnlyTypes = None,
    prover: Annotated[list[str] | None, typer.Option(help="Only this prover: z3 or cvc5.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Only these obligations, or those of a requirement; * fits any text."
        ),
    ] = None,
    jobs: Jobs = None,
    json: WholeJson = False,
    build: Annotated[Path, typer.Option(help="Where the ledger and the results go.")] = BUILD,
) -> None:
    """Prove the obligations, each by two provers; what was proved before is not asked again."""
    from sonnx_clip.prove.command import prove as prove_obligations

    status = prove_obligations(
        family=family.value if family else None,
        types=dtype or [],
        provers=prover or [],
        only=only or [],
        jobs=jobs,
        as_json=json,
        build=build,
    )
    raise typer.Exit(status)


@app.command("frama-c")
def frama_c(
    dtype: OnlyTypes = None,
    json: WholeJson = False,
    build: Annotated[Path, typer.Option(help="Where the result goes.")] = BUILD,
) -> None:
    """Prove the C kernels a second time: Frama-C, against contracts rendered from the YAML."""
    from sonnx_clip.framac.command import frama_c as prove_c

    raise typer.Exit(prove_c(types=dtype or [], as_json=json, build=build))


@app.command()
def sweep(
    dtype: OnlyTypes = None,
    implementation: Annotated[
        list[str] | None, typer.Option(help="c, numpy, or module:function; by default c and numpy.")
    ] = None,
    jobs: Jobs = None,
    json: WholeJson = False,
    build: Annotated[Path, typer.Option(help="Where finished slices and the result go.")] = BUILD,
) -> None:
    """Compare every triple of 8 bits and every pair of 16 bits with what is due; goes on where it stopped."""
    from sonnx_clip.sweep.command import run

    status = run(names=implementation or [], types=dtype or [], jobs=jobs, as_json=json, build=build)
    raise typer.Exit(status)


@app.command()
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


@app.command()
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


@app.command()
def check(
    runtime: Annotated[
        str,
        typer.Option(help="sonnx, numpy, onnxruntime, onnx-reference, or module:function for (x, min, max)."),
    ],
    dtype: Annotated[list[str] | None, typer.Option(help="Element type; may be repeated.")] = None,
    policy: Annotated[Policy, typer.Option(help="strict: bit equality, payloads apart.")] = Policy.DEFAULT,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print only the last lines.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON report here.")] = None,
) -> None:
    """Hold a runtime against the proven cases: a verdict for each class and element type."""
    from sonnx_clip.conform.command import check_runtime

    status = check_runtime(runtime, dtype or [], policy.value, as_json=json, output=output, brief=brief)
    raise typer.Exit(status)


@app.command()
def explain(
    dtype: Annotated[str, typer.Argument(metavar="TYPE", help="Element type, for example float32, or real.")],
    x: Annotated[str, typer.Option(help="Decimal, hex float, bits (0x7fc00000) or a constant such as nan.")],
    min: Annotated[str, typer.Option(help="The lower bound, likewise.")],
    max: Annotated[str, typer.Option(help="The upper bound, likewise.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say of one triple its case, its class, the result, the latitude and what proves it."""
    from sonnx_clip.conform.explain import explain as explain_triple
    from sonnx_clip.conform.explain import explanation_text

    told = explain_triple(dtype, x, min, max)
    print(told.model_dump_json(indent=1) if json else explanation_text(told))


@app.command()
def readings(
    dtype: Annotated[str, typer.Option(help="Element type, for example float32, or real.")] = "float32",
    format: Annotated[MatrixFormat, typer.Option(help="For people or for machines.")] = MatrixFormat.TEXT,
) -> None:
    """Show what each reading of Clip answers in each class, and whether it agrees with the cases."""
    from rich.console import Console

    from sonnx_clip.readings.matrix import matrix
    from sonnx_clip.readings.text import markdown, print_matrix
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    found = matrix(spec, spec.element_type(dtype))
    if format is MatrixFormat.JSON:
        print(found.model_dump_json(indent=1))
    elif format is MatrixFormat.MARKDOWN:
        print(markdown(found), end="")
    else:
        print_matrix(found, Console())


@app.command("compare-dialects")
def compare_dialects(
    runtime: Annotated[
        list[str] | None,
        typer.Option(help="onnxruntime, onnx-reference (by default both), or module:function for a model."),
    ] = None,
    opset: Annotated[list[int] | None, typer.Option(help="Only this operator set; may be repeated.")] = None,
    dtype: OnlyTypes = None,
    json: WholeJson = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print only the last lines.")] = False,
    build: Annotated[Path, typer.Option(help="Where the records go.")] = BUILD,
) -> None:
    """Hold runtimes against every Clip that ONNX has had, and explain each disagreement."""
    from sonnx_clip.conform.dialects.command import compare

    status = compare(runtime or [], opset or [], dtype or [], as_json=json, build=build, brief=brief)
    raise typer.Exit(status)


@app.command()
def dialects(
    format: Annotated[MatrixFormat, typer.Option(help="For people or for machines.")] = MatrixFormat.TEXT,
) -> None:
    """Show what each dialect takes: ONNX by operator set, DirectML by feature level, SONNX by chapter."""
    from rich.console import Console

    from sonnx_clip.dialects.table import dialect_table
    from sonnx_clip.dialects.text import markdown, print_table
    from sonnx_clip.render.generate import all_obligations
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    if format is MatrixFormat.JSON:
        print(dialect_table(spec).model_dump_json(indent=1))
    elif format is MatrixFormat.MARKDOWN:
        print(markdown(spec, all_obligations(spec)), end="")
    else:
        print_table(dialect_table(spec), spec, Console())


@app.command()
def dialect(
    id: Annotated[str, typer.Argument(metavar="DIALECT", help="For example onnx-6 or directml-2.1.")],
    dtype: Annotated[str, typer.Argument(metavar="TYPE", help="Element type of X, for example float16.")],
    x: Annotated[str, typer.Option(help="Decimal, hex float, bits (0x7c00) or a constant such as inf.")],
    min: Annotated[str | None, typer.Option(help="The lower bound, in the type of the dialect.")] = None,
    max: Annotated[str | None, typer.Option(help="The upper bound, likewise.")] = None,
    scale: Annotated[str | None, typer.Option(help="ScaleBias of DirectML: X is multiplied first.")] = None,
    bias: Annotated[str | None, typer.Option(help="ScaleBias of DirectML: then this is added.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer as a dialect does for one entry, and say what it made of the bounds."""
    from sonnx_clip.dialects.apply import applied_text, apply

    told = apply(id, dtype, x, min=min, max=max, scale=scale, bias=bias)
    print(told.model_dump_json(indent=1) if json else applied_text(told))


@app.command()
def findings(
    measure: Annotated[
        bool, typer.Option("--measure", help="Ask the runtimes, and write what they answer.")
    ] = False,
    format: Annotated[
        TextOrJson, typer.Option(help="Text for people or JSON for machines.")
    ] = TextOrJson.TEXT,
) -> None:
    """Tell what is wrong, unclear or unsaid in the sources, what shows it, and what runtimes do there."""
    from sonnx_clip.findings.command import findings as tell_findings

    tell_findings(measure=measure, json=format is TextOrJson.JSON)


@app.command()
def evidence(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to write to; by default in --build.")
    ] = None,
    build: Annotated[Path, typer.Option(help="Where `prove` and `check -o` wrote to.")] = BUILD,
) -> None:
    """Write one page for an assessor: requirements, proofs, vectors, verdicts and findings."""
    from sonnx_clip.evidence import write_evidence

    written = write_evidence(build, output or build / "evidence")
    print(written.line)
    raise typer.Exit(written.exit_status)


@app.command()
def foundation(
    json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
    build: Annotated[Path, typer.Option(help="Where the compiled files and the record go.")] = BUILD,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write coq/assumptions.txt anew instead of comparing it.")
    ] = False,
) -> None:
    """Have Coq's kernel check coq/ and generated/coq, and compare what the theorems rest on."""
    from sonnx_clip.foundation.command import foundation as check_foundation

    raise typer.Exit(check_foundation(as_json=json, build=build, accept=accept))


def _end(number: int, _frame: object) -> None:
    """Leave as by an interrupt, so that no prover stays behind."""
    sys.exit(128 + number)


def main() -> None:
    """Run the command line; bad input is one message and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names in files need not fit the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _end)
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
