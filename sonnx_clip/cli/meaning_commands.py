"""The commands that explain Clip, and compare readings, dialects and sources with it."""

from functools import partial
from typing import Annotated

import typer

from sonnx_clip.cli.options import BUILD, INPUT, Build, Format, Type, X, option, show

_Bound = option("", "Bound; missing by default.", INPUT, value="NUMBER")
_Scale = option("", "ScaleBias of DirectML.", INPUT, value="NUMBER")


def explain(
    dtype: Type, x: X, min: X, max: X, format: Format = "text", build: Build = BUILD
) -> None:
    """Explain one call: its case and class, the result, accepted deviations, and the proofs."""
    from sonnx_clip.explain.triple import explain as explain_triple
    from sonnx_clip.explain.triple import explanation_text
    from sonnx_clip.prove.proofs_record import known

    show(explain_triple(dtype, x, min, max, partial(known, build)), explanation_text, format)


def readings(
    dtype: Annotated[
        str, option("", "Element type; float32 by default.", INPUT, value="TYPE")
    ] = "float32",
    format: Format = "text",
) -> None:
    """Print the result of each reading of the sources in each class, compared with the cases."""
    from sonnx_clip.explain.readings_matrix import matrix, matrix_text
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    show(matrix(spec, spec.element_type(dtype)), matrix_text, format)


def dialects(format: Format = "text") -> None:
    """List the dialects: ONNX by operator set, DirectML by feature level, SONNX by chapter."""
    from sonnx_clip.explain.dialects_table import dialect_table, table_text
    from sonnx_clip.spec import load_spec

    show(dialect_table(load_spec()), table_text, format)


def dialect(
    id: Annotated[
        str, typer.Argument(metavar="DIALECT", help="For example onnx-6 or directml-2.1.")
    ],
    dtype: Type,
    x: X,
    min: Annotated[str | None, _Bound] = None,
    max: Annotated[str | None, _Bound] = None,
    scale: Annotated[str | None, _Scale] = None,
    bias: Annotated[str | None, _Scale] = None,
    format: Format = "text",
) -> None:
    """Evaluate a dialect for one element, and show how it converts the bounds."""
    from sonnx_clip.explain.dialect_call import applied_text, apply

    found = apply(id, dtype, x, min=min, max=max, scale=scale, bias=bias)
    show(found, applied_text, format)


def findings(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Only these findings.", show_default=False),
    ] = None,
    measure: Annotated[
        bool, option("--measure", "Run the installed runtimes and store their answers.")
    ] = False,
    format: Format = "text",
) -> None:
    """Print defects, ambiguities and gaps of the sources: claim, proof, and answers of runtimes."""
    from sonnx_clip.explain.finding_views import tell
    from sonnx_clip.explain.findings_text import as_json, as_text
    from sonnx_clip.explain.measured_record import PATH, read_record
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    if measure:
        from sonnx_clip.explain.measure import write_record
        from sonnx_clip.root.folders import checkout

        checkout()
        record = write_record(spec)
        rejected = sum(not answer.bits for answer in record.answers)
        print(f"{PATH}: {len(record.answers)} answers, {rejected} of them rejections")
        print("to update docs/findings.md, run: sonnx-clip generate")
        return
    record = read_record(spec)
    known = {finding.id: finding for finding in tell(spec, record)}
    selected = [known[spec.entry("findings", id_).id] for id_ in ids or known]
    print(as_json(selected, record) if format == "json" else as_text(selected))
