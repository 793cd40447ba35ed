"""The commands on runtimes: `check`, and `export` of test vectors."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sonnx_clip.cli.options import (
    CLIP,
    INPUT,
    OUTPUT,
    RUN,
    Again,
    Brief,
    Forms,
    Jobs,
    OnlyTypes,
    Operator,
    hidden_option,
    option,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import BUILD
from sonnx_clip.runtimes.runtime import CALL, START, Limits

if TYPE_CHECKING:
    from sonnx_clip.cli.settings import Settings
    from sonnx_clip.runtimes.runtime_options import RuntimeOptions

_OF = "Runtime (one of these)"


def check(
    runtime: Annotated[
        str | None,
        option("", "onnxruntime, module:function or ./file.py:function.", _OF, value="NAME"),
    ] = None,
    exec: Annotated[
        str | None, option("", "Program using frames (--endian, --stdio).", _OF, value="COMMAND")
    ] = None,
    endian: Annotated[Literal["little", "big"] | None, hidden_option("")] = None,
    stdio: Annotated[bool, hidden_option("--stdio")] = False,
    so: Annotated[
        Path | None, option("", "C functions, with --abi FILE: clip.toml.", _OF, value="LIBRARY")
    ] = None,
    abi: Annotated[Path | None, hidden_option("", "FILE")] = None,
    onnx: Annotated[
        str | None, option("", "Function that opens a model: module:open.", _OF, value="FUNCTION")
    ] = None,
    onnx_cmd: Annotated[
        str | None,
        option("", "Program for one model: './run {model} {in} {out}'.", _OF, value="COMMAND"),
    ] = None,
    optimiser: Annotated[
        str | None,
        option("", "onnxscript, module:function or './optimise {in} {out}'.", _OF, value="NAME"),
    ] = None,
    contexts: Annotated[
        str | None,
        option(
            "", "Beside other nodes, too: all, names, or a file.", INPUT, value="all|NAME,…|FILE"
        ),
    ] = None,
    model: Annotated[
        Path | None,
        option("", "The Clips of your model, with their neighbours.", INPUT, value="FILE.onnx"),
    ] = None,
    input_shape: Annotated[
        list[str] | None, option("", "With --model: NAME=1,3,64,96.", INPUT, value="NAME=SIZES")
    ] = None,
    operator: Operator = CLIP,
    dtype: OnlyTypes = None,
    require: Annotated[
        list[str] | None, option("", "Fail if this type is unsupported.", INPUT, value="TYPE")
    ] = None,
    against: Annotated[
        list[str] | None,
        option("", "Compare with onnx-6, sonnx-2026-01 …; onnx: all.", INPUT, value="DIALECT"),
    ] = None,
    policy: Annotated[
        Literal["default", "strict"],
        option("", "strict: no latitude.", INPUT, value="default|strict"),
    ] = "default",
    forms: Forms = "default",
    level: Annotated[
        Literal["quick", "standard", "exhaustive"],
        option("", "quick, standard or exhaustive; --few-calls.", INPUT, value="LEVEL"),
    ] = "quick",
    few_calls: Annotated[bool, hidden_option("--few-calls")] = False,
    format: Annotated[
        Literal["text", "json", "junit"],
        option("", "--json for short.", OUTPUT, value="text|json|junit"),
    ] = "text",
    brief: Brief = False,
    output: Annotated[
        Path | None, option("-o --output", "Write the report; - is stdout.", OUTPUT, value="FILE")
    ] = None,
    repro: Annotated[
        Path | None, option("", "Write reproducers: sh FILE.", OUTPUT, value="FILE")
    ] = None,
    build: Annotated[
        Path | None, option("", "Keep results here, and reuse them.", OUTPUT, value="DIR")
    ] = None,
    journal: Annotated[
        Path | None, option("", "Resume from this file after a kill.", RUN, value="FILE")
    ] = None,
    jobs: Jobs = None,
    again: Again = False,
    scheduler: Annotated[
        str | None, option("", "Dask scheduler, such as tcp://host:8786.", RUN, value="ADDRESS")
    ] = None,
    limit: Annotated[
        float, option("", "CPU time of a call; --start-limit.", RUN, value="SECONDS", min=0.01)
    ] = CALL,
    start_limit: Annotated[float, hidden_option("", "SECONDS", min=0.01)] = START,
) -> None:
    """Judge a runtime: a verdict for each class of inputs and element type."""
    from sonnx_clip.cli import check_command
    from sonnx_clip.cli.settings import settings
    from sonnx_clip.conform.units import CheckOptions
    from sonnx_clip.runtimes.runtime_options import RuntimeOptions

    named = RuntimeOptions(runtime, exec, endian, stdio, so, abi, onnx, onnx_cmd, optimiser)
    limits = Limits(limit, start_limit)
    asks_more = level != "quick" or forms != "default"
    # Options that would have no effect are refused, in place of being passed over.
    if against:
        others = (exec, so, require, output, repro, journal, scheduler, optimiser, contexts)
        if any(others) or asks_more or few_calls or format == "junit":
            raise UserError(
                "--against allows --runtime, --onnx, --onnx-cmd, --dtype, --policy, --limit, --brief, --json,"
                " --build, --jobs and --again only",
                todo="remove the other options; --build DIR writes the reports to DIR/dialects",
            )
    usual = settings()
    one_report = bool(output or repro or journal or format != "text")
    runtimes = _runtimes(named, usual, against=bool(against), one_report=one_report)
    if model is not None:
        if dtype or require or against or contexts or journal or scheduler or build or asks_more:
            todo = (
                "remove the other options; --runtime, --optimiser, --input-shape and --repro remain"
            )
            raise UserError("--model judges the windows of one model", todo=todo)
        from sonnx_clip.cli.model_commands import shapes_of
        from sonnx_clip.cli.own_model_command import check_own_model

        judge_model = partial(
            check_own_model,
            model=model,
            shapes=shapes_of(input_shape or []),
            usual_shapes=usual.input_shapes,
            limits=limits,
            as_json=format == "json",
            repro=repro,
        )
        # Each runtime has its report, and the worst status counts.
        raise typer.Exit(max(map(judge_model, runtimes)))
    # Of the first runtime, in whose place the loop below puts each.
    options = CheckOptions(
        runtimes[0],
        dtype or [],
        policy,
        limits,
        require or [],
        forms,
        level,
        few_calls,
        contexts=() if contexts is None else check_command.contexts_of(contexts, operator),
        of=check_command.checked_operator(operator),
    )
    destination = check_command.Destination(format, output, repro, brief=brief)
    means = check_command.Means(jobs, build or usual.build_folder, journal, scheduler, again=again)
    if against:
        raise typer.Exit(check_command.check_against(options, against, destination, means))
    # One that fails does not keep the others from being judged.
    highest = 0
    for name in runtimes:
        chosen = replace(options, runtime=name)
        status = check_command.check_runtime(chosen, destination, means)
        highest = max(highest, status)
        if status == check_command.INTERRUPTED:
            break
    # A third of the public reports are about a Clip that was rewritten with its neighbours.
    if optimiser is not None and contexts is None:
        print(f"{optimiser} was asked models of one node; --contexts asks more", file=sys.stderr)
    raise typer.Exit(highest)


def _runtimes(
    named: "RuntimeOptions", usual: "Settings", *, against: bool, one_report: bool
) -> list[str]:
    """What is judged: the runtime that the options name, or else those of the settings file.

    An empty name stands for the runtimes that `--against` compares where none is named. UserError if one
    report would have to hold several runtimes.
    """
    from sonnx_clip.runtimes.runtime_options import RuntimeOptions

    # An option wins over the file, as everywhere.
    if named.chosen or named.optimiser is not None:
        return [named.name()]
    if against:
        return [""]
    if not usual.runtimes:
        return [named.name()]  # the message that says how to name one
    names = [RuntimeOptions(runtime=name).name() for name in usual.runtimes]
    if len(names) > 1 and one_report:
        todo = "name one by --runtime for a file, or for another format than text"
        raise UserError(f"{usual.file} names {len(names)} runtimes", todo=todo)
    return names


def export(
    format: Annotated[
        Literal["onnx-backend", "npz", "c-header", "json", "sonnx"],
        typer.Argument(metavar="FORMAT", help="onnx-backend, npz, c-header, json or sonnx."),
    ],
    output: Annotated[Path, option("-o --out", "New or empty folder.", OUTPUT, value="DIR")],
    operator: Operator = CLIP,
    dtype: OnlyTypes = None,
    forms: Forms = "default",
    opset: Annotated[
        int | None, option("", "Newest operator set; default: onnxruntime's.", INPUT, value="N")
    ] = None,
) -> None:
    """Write the test vectors for your own tests, or the page for the SONNX group, with a manifest."""
    from sonnx_clip.export.write_export import write_export

    if format == "sonnx" and (dtype or opset or forms != "default"):
        raise UserError("sonnx excludes --dtype, --forms and --opset", todo="remove these options")
    from sonnx_clip.cli.check_command import checked_operator

    summary = write_export(
        checked_operator(operator), format, output, dtype or [], forms, opset, BUILD
    )
    print(summary)
