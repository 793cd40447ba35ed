"""How Z3 and cvc5 are run, and how Why3 is configured for them: for `prove`, and for generated/replay.sh,
which is rendered here.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from sonnx_clip.backends.templating import header_lines, template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec


ELEMENTS: Final = "elements.gen"  # written by hand, in why3/drivers
# Program and options of each prover, by its name; {seconds} and {megabytes} are the limits.
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Z3": (
        "z3",
        "-smt2",
        "-T:{seconds}",
        "-memory:{megabytes}",
        "sat.random_seed=42",
        "smt.random_seed=42",
    ),
    "cvc5": ("cvc5", "--tlimit={seconds}000", "--lang=smt2", "--fp-exp"),
}


def driver_file(prover: str) -> str:
    """The name of the driver of a prover."""
    return f"{prover.lower()}.drv"


def driver(prover: str, data: str) -> str:
    """The driver of a prover, which imports Why3's own driver from this folder."""
    return template(f"{driver_file(prover)}.j2").render(data=data, elements=ELEMENTS)


def configuration(drivers: str, versions: Mapping[str, str]) -> str:
    """Why3's configuration.

    Args:
        drivers: the folder of the drivers.
        versions: the version of each prover.
    """
    # Why3 fills in %t seconds, %m megabytes and %f, the file.
    commands = {name: " ".join((*COMMANDS[name], "%f")) for name in versions}
    provers = [
        (name, version, commands[name].format(seconds="%t", megabytes="%m"), driver_file(name))
        for name, version in versions.items()
    ]
    return template("why3.conf.j2").render(provers=provers, drivers=drivers)


# --- Renders generated/replay.sh: the same obligations, proved by `why3 prove` and a shell alone ------------


PATH = "generated/replay.sh"


def render_replay(spec: Spec, obligations: Iterable[Obligation]) -> Mapping[str, str]:
    """The script, by its path in the repository."""
    every = list(obligations)
    smokes = sum(o.kind == "smoke" for o in every)
    text = template("replay.sh.j2").render(
        header=header_lines(spec),
        groups=list(_groups(every)),
        proofs=len(every) - smokes,
        smokes=smokes,
        elements=ELEMENTS,
        drivers={driver_file(name): driver(name, "$data") for name in COMMANDS},
        configuration=configuration(
            "$drivers", {name: f"${COMMANDS[name][0]}" for name in COMMANDS}
        ),
    )
    return {PATH: text}


def _groups(obligations: list[Obligation]) -> Iterable[dict[str, object]]:
    for (file, theory, smoke), group in groupby(
        obligations, key=lambda o: (o.file, o.theory, o.kind == "smoke")
    ):
        yield {
            "file": file,
            "theory": theory,  # a cloned axiom has no name for Why3: its whole theory is asked
            "goals": [o.goal for o in group if o.kind != "instance"],
            "seconds": 1 if smoke else 60,
            "options": "" if smoke else "-a inline_all -a introduce_premises",
        }
