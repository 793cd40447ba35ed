"""The commands that print what Clip means, and how readings, dialects and sources differ from it."""

from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import BUILD, Format, Json, TextOrJson, wants_json
from sonnx_clip.root.terminal import terminal_width


def explain(
    dtype: Annotated[str, typer.Argument(metavar="TYPE", help="Element type, for example float32, or real.")],
    x: Annotated[str, typer.Option(help="Decimal, hex float, bits (0x7fc00000) or a constant such as nan.")],
    min: Annotated[str, typer.Option(help="The lower bound, likewise.")],
    max: Annotated[str, typer.Option(help="The upper bound, likewise.")],
    format: Format = TextOrJson.TEXT,
    json: Json = False,
    every: Annotated[bool, typer.Option("--all", help="List the obligations about the kernels too.")] = False,
    build: Annotated[Path, typer.Option(help="Where `prove` wrote its result.")] = BUILD,
) -> None:
    """Explain one triple: its case and class, the result, other acceptable ones, and what proves it."""
    from functools import partial

    from sonnx_clip.explain.triple import explain as explain_triple
    from sonnx_clip.explain.triple import explanation_text
    from sonnx_clip.prove.proofs_record import known

    told = explain_triple(dtype, x, min, max, partial(known, build))
    print(
        told.model_dump_json(indent=1)
        if wants_json(format, json=json)
        else explanation_text(told, every=every, width=terminal_width())
    )


def readings(
    dtype: Annotated[str, typer.Option(help="Element type, for example float32, or real.")] = "float32",
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """Show what each reading of Clip answers in each class, and whether it agrees with the cases."""
    from sonnx_clip.explain.readings_matrix import matrix
    from sonnx_clip.explain.readings_text import print_matrix
    from sonnx_clip.spec import load_spec

    as_json = wants_json(format, json=json)
    spec = load_spec()
    found = matrix(spec, spec.element_type(dtype))
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        from rich.console import Console

        print_matrix(found, Console())


def dialects(
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """Show what each dialect takes: ONNX by operator set, DirectML by feature level, SONNX by chapter."""
    from sonnx_clip.explain.dialects_text import dialect_table, print_table
    from sonnx_clip.spec import load_spec

    as_json = wants_json(format, json=json)
    spec = load_spec()
    if as_json:
        print(dialect_table(spec).model_dump_json(indent=1))
    else:
        from rich.console import Console

        print_table(dialect_table(spec), spec, Console())


def dialect(
    id: Annotated[str, typer.Argument(metavar="DIALECT", help="For example onnx-6 or directml-2.1.")],
    dtype: Annotated[str, typer.Argument(metavar="TYPE", help="Element type of X, for example float16.")],
    x: Annotated[str, typer.Option(help="Decimal, hex float, bits (0x7c00) or a constant such as inf.")],
    min: Annotated[str | None, typer.Option(help="The lower bound, in the type of the dialect.")] = None,
    max: Annotated[str | None, typer.Option(help="The upper bound, likewise.")] = None,
    scale: Annotated[str | None, typer.Option(help="ScaleBias of DirectML: X is multiplied first.")] = None,
    bias: Annotated[str | None, typer.Option(help="ScaleBias of DirectML: then this is added.")] = None,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """Compute the answer of a dialect for one entry, and show how it converts the bounds."""
    from sonnx_clip.explain.dialect_call import applied_text, apply

    told = apply(id, dtype, x, min=min, max=max, scale=scale, bias=bias)
    print(
        told.model_dump_json(indent=1)
        if wants_json(format, json=json)
        else applied_text(told, terminal_width())
    )


def findings(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Only these findings, in full.", show_default=False),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Run the installed runtimes, and write their answers.")
    ] = False,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """List what is wrong, unclear or missing in the sources, what shows it, and what runtimes do."""
    from sonnx_clip.explain.findings_text import as_json, as_text, chosen
    from sonnx_clip.explain.findings_told import tell
    from sonnx_clip.explain.measured_record import PATH, read_record
    from sonnx_clip.root.folders import checkout
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    if measure:
        checkout()
        from sonnx_clip.explain.measure import write_record

        record = write_record(spec)
        refused = sum(not answer.bits for answer in record.answers)
        print(f"{len(record.answers)} answers, {refused} of them refusals, are in {PATH}")
        print("to bring the page in line, run: sonnx-clip generate")
        return
    record = read_record(spec)
    told = chosen(tell(spec, record), ids or [])
    print(as_json(told, record) if wants_json(format, json=json) else as_text(told))
