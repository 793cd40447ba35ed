"""The commands that render, prove and gather: `generate`, `prove`, `evidence` and others."""

from pathlib import Path
from typing import Annotated

import typer

from sonnx_clip.cli.options import (
    BUILD,
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
    check: Annotated[bool, typer.Option("--check", help="Write nothing; status 1 if not fresh.")] = False,
    spec: Annotated[
        Path | None, typer.Option("--spec", metavar="FILE", help="Another operator: see docs/operators.md.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="The folder for what is made of --spec.")
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
    from sonnx_clip.spec import load_spec
    from sonnx_clip.spec.expected import check_expected

    of_clip = load_spec()
    check_expected(of_clip)
    check_claims(of_clip)
    generated = render_all(of_clip)
    found = differences(generated, root) if check else write(generated, root)
    for line in found:
        print(line if check else f"written: {line}")
    fresh = f"{len(generated.files)} generated files are fresh"
    print("to accept the new output, run: sonnx-clip generate" if check and found else fresh)
    changed = unpinned() if check else []
    for line in changed:
        print(f"{GOLDEN} does not say so: {line}")
    raise typer.Exit(1 if check and (found or changed) else 0)


def _generate_another(spec: Path | None, into: Path | None, *, check: bool) -> None:
    """What is made of the specification of another operator, in a folder of choice."""
    from sonnx_clip.backends.generate import render_all, write
    from sonnx_clip.claims.evaluation import check_claims
    from sonnx_clip.root.errors import UserError
    from sonnx_clip.spec import load_spec
    from sonnx_clip.spec.expected import check_expected

    if spec is None or into is None or check:
        raise UserError(
            "--spec and --into stand together, and without --check", todo="name a file and a folder"
        )
    of_another = load_spec(spec)
    check_expected(of_another)
    check_claims(of_another)
    for line in write(render_all(of_another), into, alone=False):
        print(f"written: {into / line}")


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
    road: Annotated[
        Road | None, typer.Option(help="Instead: the independent proof by Coq, or by Frama-C.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="With --road coq: write coq/assumptions.txt anew.")
    ] = False,
    format: Format = TextOrJson.TEXT,
    json: Json = False,
    build: Annotated[Path, typer.Option(help="Where the ledger and the results go.")] = BUILD,
) -> None:
    """Prove the obligations, each by two provers; an unchanged one is not proved again."""
    as_json = wants_json(format, json=json)
    if accept and road is not Road.COQ:
        raise UserError("--accept is an option of --road coq alone", todo="add --road coq")
    if road is not None and (family or prover or only or (dtype and road is Road.COQ)):
        raise UserError(f"--road {road} proves all of its theorems", todo="leave the other choices out")
    if road is Road.COQ:
        from sonnx_clip.cli.coq_command import prove_by_coq
        from sonnx_clip.root.folders import checkout

        if accept:
            checkout()
        raise typer.Exit(prove_by_coq(as_json=as_json, build=build, accept=accept))
    if road is Road.FRAMA_C:
        from sonnx_clip.cli.frama_c_command import frama_c

        raise typer.Exit(frama_c(types=dtype or [], as_json=as_json, build=build))
    from sonnx_clip.cli.prove_command import prove as prove_obligations

    status = prove_obligations(
        family=family.value if family else None,
        types=dtype or [],
        provers=prover or [],
        only=only or [],
        jobs=jobs,
        as_json=as_json,
        build=build,
    )
    raise typer.Exit(status)


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


def verify(
    replay: Annotated[
        str, typer.Option(help="The part that is asked again: 2%, 0% or all.", metavar="PART")
    ] = "2%",
    seed: Annotated[
        int | None, typer.Option(help="Draws the part, as an earlier run printed it.", metavar="N")
    ] = None,
    build: Annotated[Path, typer.Option(help="Where `prove` and `check -o` wrote to.")] = BUILD,
) -> None:
    """Confirm what can be computed again, list what is taken from records, and repeat a sample of that."""
    import sys

    from sonnx_clip.evidence.verify import verify as verify_records

    for line in verify_records(build, part_of(replay), seed, lambda text: print(text, file=sys.stderr)):
        print(line)


def part_of(text: str) -> float:
    """A part as a person writes it: ``2%``, ``all``."""
    from sonnx_clip.root.errors import UserError

    if text == "all":
        return 1.0
    number = text.removesuffix("%")
    try:
        part = float(number) / 100
    except ValueError:
        part = -1.0
    if not text.endswith("%") or not 0 <= part <= 1:
        raise UserError(f"`{text}` is no part", "--replay", "write a percentage, as 2%, or all")
    return part
