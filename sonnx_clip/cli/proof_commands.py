"""The commands that render, prove and collect: `generate`, `prove`, `evidence` and `verify`."""

import re
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sonnx_clip.cli.options import (
    CLIP,
    INPUT,
    OUTPUT,
    RUN,
    Build,
    Format,
    Jobs,
    OnlyTypes,
    Operator,
    option,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import BUILD

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec

_SHOWN = 20  # statements to review that are printed


def generate(
    check: Annotated[
        bool, option("--check", "Write nothing; status 1 if a file is stale.", OUTPUT)
    ] = False,
    operator: Operator = CLIP,
    into: Annotated[
        Path | None, option("", "Output folder for --operator.", OUTPUT, value="DIR")
    ] = None,
) -> None:
    """Render spec/clip.yaml into generated/: Why3 theories, NumPy oracle, vectors, replay script."""
    from sonnx_clip.root.folders import checkout

    # Only Clip's rendering is in the repository; that of another operator goes where the user wants it.
    if operator == CLIP and into is None:
        raise typer.Exit(_generate(checkout(), check=check))
    if operator == CLIP or into is None or check:
        what = "generated/ is Clip's: --operator of another operator needs --into, and excludes --check"
        raise UserError(what, todo="use: --operator NAME --into FOLDER")
    from sonnx_clip.backends.generate import render_all, write
    from sonnx_clip.cli.prove_command import load_checked
    from sonnx_clip.prove.statements import write_proposed_list

    spec = load_checked(operator)
    generated = render_all(spec)
    # The folder is the user's: files in it that are not rendered stay.
    for line in write(generated, into, alone=False):
        print(f"written: {into / line}")
    proposed = write_proposed_list(spec, generated.files, into)
    print(
        f"written: {proposed}: the statements to review; beside the YAML, `prove` compares with it"
    )


def _generate(root: Path, *, check: bool) -> int:
    from sonnx_clip.backends.generate import differences, render_all, write
    from sonnx_clip.cli.prove_command import check_everything
    from sonnx_clip.prove.statements import (
        STATEMENTS,
        rendered_differences,
        rendered_list,
        unpinned,
        write_proposed_list,
    )
    from sonnx_clip.root.terminal import counted
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    # Before anything is rendered: a wrong specification leaves generated/ as it is.
    check_everything(spec)
    generated = render_all(spec)
    if check:
        stale = differences(generated, root)
        for line in stale:
            print(line)
    else:
        stale = []
        for path in write(generated, root):
            print(f"written: {path}")
    fresh = f"{len(generated.files)} generated files are fresh"
    print("to accept the new output, run: sonnx-clip generate" if stale else fresh)

    # Theories that are written by hand do not come from a rendering: only a check compares them.
    by_hand = unpinned() if check else []
    for line in by_hand:
        print(f"{STATEMENTS} does not list this: {line}")
    rendered = rendered_differences(spec, generated.files)
    pins = rendered_list(spec)
    for line in rendered[:_SHOWN]:
        print(f"{pins.name} does not list this: {line}")
    if rendered:
        statements = counted(len(rendered), "statement")
        todo = "`sonnx-clip generate` writes the new list"
        if not check:
            proposed = write_proposed_list(spec, generated.files, BUILD)
            todo = f"then put {proposed} in the place of {PurePosixPath(spec.file).with_name(pins.name)}"
        print(f"{statements} to review: read each in its theory; {todo}")
    # A rendering that changes statements has done its work; that they are reviewed is for the check.
    return 1 if stale or by_hand or (check and rendered) else 0


def prove(
    family: Annotated[
        Literal["real", "int", "uint", "float"] | None,
        option("", "Only types of this family.", INPUT, value="real|int|uint|float"),
    ] = None,
    dtype: OnlyTypes = None,
    prover: Annotated[
        list[str] | None, option("", "Only this prover; repeatable.", INPUT, value="z3|cvc5")
    ] = None,
    only: Annotated[
        list[str] | None, option("", "Obligation or entry; * matches any text.", INPUT, value="ID")
    ] = None,
    road: Annotated[
        Literal["coq", "frama-c"] | None,
        option("", "Independent proof instead.", INPUT, value="coq|frama-c"),
    ] = None,
    operator: Operator = CLIP,
    jobs: Jobs = None,
    format: Format = "text",
    build: Build = BUILD,
) -> None:
    """Prove each obligation with two provers; unchanged ones are read from the ledger."""
    as_json = format == "json"
    # Coq checks whole files, Frama-C the C of one type: only there can a type be chosen.
    if road is not None and (
        family or prover or only or operator != CLIP or (dtype and road == "coq")
    ):
        allowed = "--dtype, --json and --build" if road == "frama-c" else "--json and --build"
        raise UserError(f"--road {road} allows only {allowed}", todo="remove the other options")
    if road is not None:
        from sonnx_clip.cli.other_roads import prove_by_coq, prove_by_frama_c

        if road == "coq":
            raise typer.Exit(prove_by_coq(as_json=as_json, build=build))
        raise typer.Exit(prove_by_frama_c(types=dtype or [], as_json=as_json, build=build))
    from sonnx_clip.cli import prove_command

    request = prove_command.ProveRequest(
        build, family, dtype or [], prover or [], only or [], jobs, as_json=as_json
    )
    if operator == CLIP:
        raise typer.Exit(prove_command.prove(request))
    raise typer.Exit(prove_command.prove_another(operator, request))


def evidence(
    output: Annotated[
        Path | None,
        option("-o --output", "Folder; build/evidence by default.", OUTPUT, value="DIR"),
    ] = None,
    format: Annotated[
        list[str] | None,
        option("", "page (default), all, or of another tool; repeatable.", OUTPUT, value="FORMAT"),
    ] = None,
    sign: Annotated[
        Path | None, option("", "Sign the in-toto statement: private key, PEM.", INPUT, value="KEY")
    ] = None,
    build: Build = BUILD,
) -> None:
    """Write one page for an assessor: requirements, proofs, vectors, verdicts and findings.

    Formats for other tools: needs (sphinx-needs), reqif, csv, junit, cyclonedx, in-toto.
    """
    from sonnx_clip.evidence.write_evidence import FORMATS, write_evidence
    from sonnx_clip.spec import load_spec

    # The statement is no entry of FORMATS: it has the digests of all other files.
    known = ("page", *FORMATS, "in-toto")
    chosen = tuple(format or ["page"])
    if "all" in chosen:
        chosen = known
    for name in chosen:
        if name not in known:
            todo = f"choose: {', '.join(known)}, all"
            raise UserError(f"`{name}` is not a format of the evidence", "--format", todo)
    if sign is not None and "in-toto" not in chosen:
        raise UserError("--sign needs --format in-toto", todo="add --format in-toto")
    written = write_evidence(
        load_spec(),
        build,
        output or build / "evidence",
        formats=chosen,
        key=sign,
        others=other_operators(),
    )
    print(written.line)
    raise typer.Exit(written.exit_status)


def verify(
    replay: Annotated[
        str, option("", "Proofs to repeat: 2%, 0% or all.", RUN, value="PART")
    ] = "2%",
    seed: Annotated[
        int | None, option("", "Seed of the sample, from an earlier run.", RUN, value="N")
    ] = None,
    key: Annotated[
        Path | None,
        option("", "Check the signed statement first: public key, PEM.", INPUT, value="KEY"),
    ] = None,
    build: Build = BUILD,
) -> None:
    """Check the evidence: recompute results, list those read from records, and repeat a sample of proofs."""
    from sonnx_clip.evidence.verify import verify as verify_records
    from sonnx_clip.spec import load_spec

    if key is not None:
        # First: what is not as it was signed need not be checked further.
        from sonnx_clip.evidence.supply_chain import verify_signed

        print(verify_signed(build, key))
    lines = verify_records(
        load_spec(),
        build,
        part_of(replay),
        seed,
        lambda text: print(text, file=sys.stderr),
        others=other_operators(),
    )
    for line in lines:
        print(line)


def other_operators() -> "tuple[Spec, ...]":
    """The operators of spec/ besides Clip."""
    from sonnx_clip.spec import load_spec
    from sonnx_clip.spec.operators import known_operators

    return tuple(load_spec(file) for name, file in known_operators().items() if name != CLIP)


def part_of(text: str) -> float:
    """The fraction in ``2%`` or ``all``; UserError for anything else."""
    percentage = re.fullmatch(r"(\d+(?:\.\d*)?)%", "100%" if text == "all" else text)
    if percentage is None or float(percentage[1]) > 100:
        raise UserError(f"`{text}` is not a percentage", "--replay", "use 0% to 100%, or all")
    return float(percentage[1]) / 100
