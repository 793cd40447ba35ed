"""The commands on runtimes: `check`, and `export` of test vectors."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import (
    BUILD,
    INPUT,
    OUTPUT,
    RUN,
    Again,
    AllForms,
    Another,
    Brief,
    Build,
    CheckFormat,
    Endian,
    ExportFormat,
    Forms,
    Jobs,
    Json,
    LevelName,
    OnlyTypes,
    Policy,
    format_of,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.limits import CALL, START, Limits

_OF = "Runtime (one of these)"


def check(
    runtime: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="onnxruntime, module:function or ./file.py:function.",
            rich_help_panel=_OF,
        ),
    ] = None,
    exec: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Program that speaks frames (--endian, --batch, --stdio).",
            rich_help_panel=_OF,
        ),
    ] = None,
    endian: Annotated[Endian | None, typer.Option(hidden=True)] = None,
    batch: Annotated[int | None, typer.Option(min=1, metavar="N", hidden=True)] = None,
    stdio: Annotated[bool, typer.Option("--stdio", hidden=True)] = False,
    so: Annotated[
        Path | None,
        typer.Option(metavar="LIBRARY", help="C functions, with --abi FILE: clip.toml.", rich_help_panel=_OF),
    ] = None,
    abi: Annotated[Path | None, typer.Option(metavar="FILE", hidden=True)] = None,
    onnx: Annotated[
        str | None,
        typer.Option(
            metavar="FUNCTION", help="Function that opens a model: module:open.", rich_help_panel=_OF
        ),
    ] = None,
    onnx_cmd: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Program for one model: './run {model} {in} {out}'.", rich_help_panel=_OF
        ),
    ] = None,
    spec: Another = None,
    dtype: OnlyTypes = None,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="Fail if this type is unsupported.", rich_help_panel=INPUT),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIALECT", help="Compare with onnx-6 …, or onnx for all.", rich_help_panel=INPUT
        ),
    ] = None,
    policy: Annotated[
        Policy,
        typer.Option(metavar="default|strict", help="strict: no latitude.", rich_help_panel=INPUT),
    ] = Policy.DEFAULT,
    forms: AllForms = Forms.DEFAULT,
    level: Annotated[
        LevelName,
        typer.Option(
            metavar="LEVEL",
            help="quick, standard or exhaustive; --few-calls.",
            rich_help_panel=INPUT,
        ),
    ] = LevelName.QUICK,
    few_calls: Annotated[
        bool,
        typer.Option("--few-calls", hidden=True),
    ] = False,
    format: Annotated[
        CheckFormat, typer.Option(metavar="text|json|junit", help="--json for short.", rich_help_panel=OUTPUT)
    ] = CheckFormat.TEXT,
    json: Json = False,
    brief: Brief = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the report; - is stdout.", rich_help_panel=OUTPUT
        ),
    ] = None,
    repro: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a script of reproducers.", rich_help_panel=OUTPUT),
    ] = None,
    build: Build = BUILD,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Resume from this file after a kill; --status.", rich_help_panel=RUN
        ),
    ] = None,
    status: Annotated[
        bool,
        typer.Option("--status", hidden=True),
    ] = False,
    jobs: Jobs = None,
    again: Again = False,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler, such as tcp://host:8786.", rich_help_panel=RUN),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(
            min=0.01,
            metavar="SECONDS",
            help="CPU time of a call; --start-limit.",
            rich_help_panel=RUN,
        ),
    ] = CALL,
    start_limit: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", hidden=True)] = START,
) -> None:
    """Judge a runtime: a verdict for each class of inputs and element type."""
    from sonnx_clip.cli import check_command

    chosen = format_of(format, json=json)
    changed = level is not LevelName.QUICK or forms is not Forms.DEFAULT
    if spec is not None and (changed or against or few_calls or journal or scheduler or status):
        raise UserError(
            "--spec takes the level quick, and no --forms, --against, --few-calls, --journal, --scheduler",
            todo="leave these out",
        )
    if status:
        if journal is None:
            raise UserError("--status reads a journal", todo="add --journal FILE")
        check_command.show_status(journal, as_json=chosen is CheckFormat.JSON)
        return
    if against:
        others = (exec, so, require, output, repro, journal, scheduler, few_calls)
        if any(others) or changed or chosen is CheckFormat.JUNIT:
            raise UserError(
                "--against takes --runtime, --onnx, --onnx-cmd, --dtype, --policy, --limit, --brief, --json,"
                " --build, --jobs and --again",
                todo="leave the rest out; the reports are written to BUILD/dialects",
            )
    from sonnx_clip.runtimes.runtime_names import runtime_of

    name = ""  # those that --against compares by default
    if not against or runtime or onnx or onnx_cmd:
        name = runtime_of(
            runtime=runtime,
            exec=exec,
            endian=None if endian is None else endian.value,
            batch=batch,
            stdio=stdio,
            so=so,
            abi=abi,
            onnx=onnx,
            onnx_cmd=onnx_cmd,
        )
    from sonnx_clip.conform.options import CheckOptions

    options = CheckOptions(
        name,
        dtype or [],
        policy.value,
        Limits(limit, start_limit),
        require or [],
        forms.value,
        level.value,
        few_calls,
    )
    if spec is not None:
        from sonnx_clip.cli.another_operator import operator_to_check

        options = replace(options, of=operator_to_check(spec))
    if against:
        as_json = chosen is CheckFormat.JSON
        raise typer.Exit(
            check_command.check_against(
                options, against, as_json=as_json, build=build, brief=brief, jobs=jobs, again=again
            )
        )
    code = check_command.check_runtime(
        options,
        form=chosen.value,
        output=output,
        brief=brief,
        repro=repro,
        jobs=jobs,
        build=build,
        again=again,
        journal=journal,
        scheduler=scheduler,
    )
    raise typer.Exit(code)


def export(
    format: Annotated[
        ExportFormat,
        typer.Argument(metavar="FORMAT", help="onnx-backend, npz, c-header or json."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="New or empty folder.", rich_help_panel=OUTPUT)
    ],
    dtype: OnlyTypes = None,
    forms: AllForms = Forms.DEFAULT,
    opset: Annotated[
        int | None,
        typer.Option(metavar="N", help="Newest operator set; default: onnx's.", rich_help_panel=INPUT),
    ] = None,
) -> None:
    """Write the test vectors for your own tests, with a manifest that explains them."""
    from sonnx_clip.export.write_export import write_export

    print(write_export(format.value, output, dtype or [], forms.value, opset))
