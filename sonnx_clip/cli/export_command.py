"""The command `export`: test vectors for other people's tests."""

from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import ExportFormat, Forms, OnlyTypes


def export(
    format: Annotated[
        ExportFormat,
        typer.Argument(
            help="onnx-backend: test directories; npz: arrays of bits for NumPy; c-header: C99; json: hex"
            " with schemas."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FOLDER", help="New or empty, or an earlier export as it was."),
    ],
    dtype: OnlyTypes = None,
    forms: Annotated[
        Forms, typer.Option(help="Of the models of onnx-backend; default: each two traits meet in one.")
    ] = Forms.DEFAULT,
    opset: Annotated[
        int | None,
        typer.Option(metavar="N", help="Their newest operator set; by default that of the installed onnx."),
    ] = None,
) -> None:
    """Write the test vectors for tests of your own, with a manifest that explains them.

    They are triples of bits with what is expected and acceptable, and calls of all layouts and lengths.
    """
    from sonnx_clip.export.write_export import write_export

    print(write_export(format.value, output, dtype or [], forms.value, opset))
