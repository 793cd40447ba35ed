"""The commands on runtimes: `check`, journals, `compare-dialects`; and `export` of vectors."""

from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import (
    BUILD,
    Again,
    CampaignAction,
    CheckFormat,
    Endian,
    ExportFormat,
    Format,
    Forms,
    Jobs,
    Json,
    LevelName,
    OnlyTypes,
    Policy,
    Scheduler,
    TextOrJson,
    format_of,
    wants_json,
)
from sonnx_clip.runtimes.limits import CALL, START, Limits


def check(
    runtime: Annotated[
        str | None,
        typer.Option(
            help="sonnx, numpy, onnxruntime, onnx-reference, torch, jax, openvino, tract, litert or another"
            " of docs/runtimes.md, one that a package ships, or for (x, min, max) module:function or"
            " ./file.py:function."
        ),
    ] = None,
    exec: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Instead: a program that speaks frames, such as ./harness.",
        ),
    ] = None,
    endian: Annotated[Endian | None, typer.Option(help="The byte order of the program.")] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Calls of the program in a frame, at most.")
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="It speaks on standard input and output, not on 3 and 4.")
    ] = False,
    so: Annotated[
        Path | None,
        typer.Option(metavar="LIBRARY", help="Instead: C functions of a library, such as ./libclip.so."),
    ] = None,
    abi: Annotated[
        Path | None, typer.Option(metavar="FILE", help="How they are called, such as clip.toml.")
    ] = None,
    onnx: Annotated[
        str | None,
        typer.Option(
            metavar="FUNCTION",
            help="Instead: what opens ONNX models, module:open or ./file.py:open. It takes bytes and returns"
            " a function of the model's inputs.",
        ),
    ] = None,
    onnx_cmd: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Instead: a program that runs a model, such as './run {model} {in} {out}': a file, a folder"
            " of input_0.pb and so on, one for output_0.pb. Each call starts it, so few are made.",
        ),
    ] = None,
    dtype: Annotated[list[str] | None, typer.Option(help="Element type; may be repeated.")] = None,
    policy: Annotated[Policy, typer.Option(help="strict: bit equality, payloads apart.")] = Policy.DEFAULT,
    format: Annotated[
        CheckFormat, typer.Option(help="Text for people; JSON or JUnit XML for machines.")
    ] = CheckFormat.TEXT,
    json: Json = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print only the last lines.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the report here, as JSON or JUnit; - for standard output."
        ),
    ] = None,
    repro: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a shell script that repeats each kind of deviation."),
    ] = None,
    jobs: Jobs = None,
    again: Again = False,
    require: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="This type must be supported; may be repeated.")
    ] = None,
    forms: Annotated[
        Forms,
        typer.Option(help="Of a model, where the runtime opens any; default: each two traits meet in one."),
    ] = Forms.DEFAULT,
    level: Annotated[
        LevelName,
        typer.Option(help="quick: seconds; standard: about a minute a type; exhaustive: hours."),
    ] = LevelName.QUICK,
    few_calls: Annotated[
        bool,
        typer.Option(
            "--few-calls",
            help="Make about a hundred calls of a type at any level: for what takes long for each.",
        ),
    ] = False,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the result of each unit here: the same command goes on after a kill. Ctrl-C prints the"
            " report so far and ends with status 130.",
        ),
    ] = None,
    scheduler: Scheduler = None,
    limit: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="A call may take so much of its own time.")
    ] = CALL,
    start_limit: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="And the runtime, to be imported and opened.")
    ] = START,
    build: Annotated[Path, typer.Option(help="Where verdicts are kept.")] = BUILD,
) -> None:
    """Compare a runtime with the proved cases: a verdict for each class and element type.

    A file: sonnx-clip check --runtime ./file.py:clip

    A program: sonnx-clip check --exec ./harness --endian big

    C functions: sonnx-clip check --so ./libclip.so --abi clip.toml

    What opens models, in their forms: sonnx-clip check --onnx ./mine.py:open

    A program that runs one: sonnx-clip check --onnx-cmd './run {model} {in} {out}'

    For a server of CI: sonnx-clip check --runtime onnxruntime --format junit -o clip.xml
    """
    from sonnx_clip.cli.check_command import check_runtime
    from sonnx_clip.runtimes.runtime_names import runtime_of

    status = check_runtime(
        runtime_of(
            runtime=runtime,
            exec=exec,
            endian=None if endian is None else endian.value,
            batch=batch,
            stdio=stdio,
            so=so,
            abi=abi,
            onnx=onnx,
            onnx_cmd=onnx_cmd,
        ),
        dtype or [],
        policy.value,
        form=format_of(format, json=json).value,
        output=output,
        brief=brief,
        repro=repro,
        jobs=jobs,
        build=build,
        again=again,
        limits=Limits(limit, start_limit),
        require=require or [],
        forms=forms.value,
        level=level.value,
        few_calls=few_calls,
        journal=journal,
        scheduler=scheduler,
    )
    raise typer.Exit(status)


def compare_dialects(
    runtime: Annotated[
        list[str] | None,
        typer.Option(help="onnxruntime, onnx-reference (by default both), or module:function for a model."),
    ] = None,
    opset: Annotated[list[int] | None, typer.Option(help="Only this operator set; may be repeated.")] = None,
    dtype: OnlyTypes = None,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print only the last lines.")] = False,
    jobs: Jobs = None,
    again: Again = False,
    build: Annotated[Path, typer.Option(help="Where the records go.")] = BUILD,
) -> None:
    """Compare runtimes with every version of Clip that ONNX has had, and explain each difference."""
    from sonnx_clip.cli.compare_dialects_command import compare

    status = compare(
        runtime or [],
        opset or [],
        dtype or [],
        as_json=wants_json(format, json=json),
        build=build,
        brief=brief,
        jobs=jobs,
        again=again,
    )
    raise typer.Exit(status)


def campaign(
    what: Annotated[CampaignAction, typer.Argument(help="status: what is done, what is not, how fast.")],
    journal: Annotated[Path, typer.Argument(metavar="JOURNAL", help="The file of check --journal.")],
    format: Format = TextOrJson.TEXT,
    json: Json = False,
) -> None:
    """Say of a journal of `check --journal` how far its campaigns are, with the verdicts so far."""
    from sonnx_clip.cli.check_command import show_status

    assert what is CampaignAction.STATUS
    show_status(journal, as_json=wants_json(format, json=json))


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
        typer.Option("-o", "--out", metavar="FOLDER", help="A new or an empty folder."),
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
