"""The commands that render, prove and collect: `generate`, `prove`, `evidence` and `verify`."""

from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import (
    BUILD,
    INPUT,
    OUTPUT,
    RUN,
    Another,
    Build,
    FamilyName,
    Format,
    Jobs,
    Json,
    OnlyTypes,
    Road,
    TextOrJson,
    wants_json,
)
from sonnx_clip.root.errors import UserError


def generate(
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; status 1 if a file is stale.", rich_help_panel=OUTPUT),
    ] = False,
    spec: Another = None,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder for --spec.", rich_help_panel=OUTPUT)
    ] = None,
) -> None:
    """Render spec/clip.yaml into generated/: Why3 theories, NumPy oracle, vectors, replay script."""
    from sonnx_clip.root.folders import checkout

    if spec is not None or into is not None:
        _generate_another(spec, into, check=check)
        return
    root = checkout()
    from sonnx_clip.backends.generate import differences, render_all, write
    from sonnx_clip.claims.evaluation import check_claims
    from sonnx_clip.prove.completeness import GOLDEN, unpinned
    from sonnx_clip.spec import check_findings, check_spec, load_spec
    from sonnx_clip.spec.expected import check_expected

    of_clip = load_spec()
    check_spec(of_clip)
    check_expected(of_clip)
    check_claims(of_clip)
    check_findings(of_clip)
    generated = render_all(of_clip)
    found = differences(generated, root) if check else write(generated, root)
    for line in found:
        print(line if check else f"written: {line}")
    fresh = f"{len(generated.files)} generated files are fresh"
    print("to accept the new output, run: sonnx-clip generate" if check and found else fresh)
    changed = unpinned() if check else []
    for line in changed:
        print(f"{GOLDEN} does not list this: {line}")
    raise typer.Exit(1 if check and (found or changed) else 0)


def _generate_another(spec: Path | None, into: Path | None, *, check: bool) -> None:
    """Render the specification of another operator into a folder."""
    from sonnx_clip.backends.generate import render_all, write
    from sonnx_clip.cli.another_operator import load_another

    if spec is None or into is None or check:
        raise UserError("--spec needs --into, and --check excludes both", todo="name a file and a folder")
    for line in write(render_all(load_another(spec)), into, alone=False):
        print(f"written: {into / line}")


def prove(
    family: Annotated[
        FamilyName | None,
        typer.Option(metavar="real|int|float", help="Only types of this family.", rich_help_panel=INPUT),
    ] = None,
    dtype: OnlyTypes = None,
    prover: Annotated[
        list[str] | None,
        typer.Option(metavar="z3|cvc5", help="Only this prover; repeatable.", rich_help_panel=INPUT),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Obligation or entry; * matches any text.", rich_help_panel=INPUT),
    ] = None,
    road: Annotated[
        Road | None,
        typer.Option(metavar="coq|frama-c", help="Independent proof instead.", rich_help_panel=INPUT),
    ] = None,
    spec: Another = None,
    jobs: Jobs = None,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
    build: Build = BUILD,
) -> None:
    """Prove each obligation with two provers; unchanged ones are read from the ledger."""
    as_json = wants_json(format, json=json)
    if road is not None and (family or prover or only or spec or (dtype and road is Road.COQ)):
        raise UserError(f"--road {road} proves all of its theorems", todo="leave the other options out")
    if road is Road.COQ:
        from sonnx_clip.cli.coq_command import prove_by_coq

        raise typer.Exit(prove_by_coq(as_json=as_json, build=build))
    if road is Road.FRAMA_C:
        from sonnx_clip.cli.frama_c_command import frama_c

        raise typer.Exit(frama_c(types=dtype or [], as_json=as_json, build=build))
    from sonnx_clip.cli import prove_command

    request = prove_command.ProveRequest(
        build, family.value if family else None, dtype or [], prover or [], only or [], jobs, as_json
    )
    if spec is not None:
        raise typer.Exit(prove_command.prove_another(spec, request))
    raise typer.Exit(prove_command.prove(request))


def evidence(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Folder; build/evidence by default.", rich_help_panel=OUTPUT
        ),
    ] = None,
    build: Build = BUILD,
) -> None:
    """Write one page for an assessor: requirements, proofs, vectors, verdicts and findings."""
    from sonnx_clip.evidence import write_evidence

    written = write_evidence(build, output or build / "evidence")
    print(written.line)
    raise typer.Exit(written.exit_status)


def verify(
    replay: Annotated[
        str, typer.Option(metavar="PART", help="Proofs to repeat: 2%, 0% or all.", rich_help_panel=RUN)
    ] = "2%",
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the sample, from an earlier run.", rich_help_panel=RUN),
    ] = None,
    build: Build = BUILD,
) -> None:
    """Recompute what can be recomputed, list what is taken from records, and repeat a sample of proofs."""
    import sys

    from sonnx_clip.evidence.verify import verify as verify_records

    for line in verify_records(build, part_of(replay), seed, lambda text: print(text, file=sys.stderr)):
        print(line)


def part_of(text: str) -> float:
    """The fraction in ``2%`` or ``all``; UserError for anything else."""
    from sonnx_clip.root.errors import UserError

    if text == "all":
        return 1.0
    number = text.removesuffix("%")
    try:
        part = float(number) / 100
    except ValueError:
        part = -1.0
    if not text.endswith("%") or not 0 <= part <= 1:
        raise UserError(f"`{text}` is not a percentage", "--replay", "write 0% to 100%, or all")
    return part
