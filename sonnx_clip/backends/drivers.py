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
# Program and options of each prover, by its name. {resources} counts the prover's own steps, so that the
# answer is the same on a busy machine; {seconds} of wall-clock time only stop a prover that hangs.
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Z3": (
        "z3", "-smt2", "rlimit={resources}", "-T:{seconds}", "-memory:{megabytes}",
        "sat.random_seed=42", "smt.random_seed=42",
    ),
    # cvc5 counts milliseconds.
    "cvc5": ("cvc5", "--rlimit-per={resources}", "--tlimit={seconds}000", "--lang=smt2", "--fp-exp"),
}  # fmt: skip
# How many of its steps each prover may take: for a proof five times what any obligation needs (28 million
# of Z3, less than 200,000 of cvc5). For a smoke test about a second: of 437 contradictions that were
# planted Z3 found 426, all but eight of them within 0.75 s, and the rest not within 20 s either.
PROOF_RESOURCES: Final[Mapping[str, int]] = {"Z3": 150_000_000, "cvc5": 1_000_000}
SMOKE_RESOURCES: Final[Mapping[str, int]] = {"Z3": 200_000, "cvc5": 10_000}
GUARD_SECONDS: Final = 600


def driver_file(prover: str) -> str:
    """The name of the driver of a prover."""
    return f"{prover.lower()}.drv"


def driver(prover: str, data: str) -> str:
    """The driver of a prover, which imports Why3's own driver from this folder."""
    return template(f"{driver_file(prover)}.j2").render(data=data, elements=ELEMENTS)


def why3_configuration(drivers: str, versions: Mapping[str, str]) -> str:
    """Why3's configuration.

    Args:
        drivers: the folder of the drivers.
        versions: the version of each prover.
    """
    # Why3 fills in %S steps, %t seconds, %m megabytes and %f, the file.
    variables = {"resources": "%S", "seconds": "%t", "megabytes": "%m"}
    provers = []
    for name, version in versions.items():
        by_steps = [*COMMANDS[name], "%f"]
        # Why3 wants a command for a call without a limit of steps, too.
        by_clock = [part for part in by_steps if "{resources}" not in part]
        commands = (
            " ".join(by_clock).format(**variables),
            " ".join(by_steps).format(**variables),
        )
        provers.append((name, version, *commands, driver_file(name)))
    return template("why3.conf.j2").render(provers=provers, drivers=drivers)


# --- Renders generated/replay.sh: the same obligations, proved by `why3 prove` and a shell alone ------------


PATH = "generated/replay.sh"


def render_replay(spec: Spec, obligations: Iterable[Obligation]) -> Mapping[str, str]:
    """The script, by its path in the repository."""
    all_obligations = list(obligations)
    smokes = sum(o.kind == "smoke" for o in all_obligations)
    # Variables of the shell: the script asks the provers for their versions.
    versions = {name: f"${command[0]}" for name, command in COMMANDS.items()}
    text = template("replay.sh.j2").render(
        header=header_lines(spec),
        groups=list(_groups(all_obligations)),
        proofs=len(all_obligations) - smokes,
        smokes=smokes,
        elements=ELEMENTS,
        steps={"proof": PROOF_RESOURCES, "smoke": SMOKE_RESOURCES},
        guard_seconds=GUARD_SECONDS,
        drivers={driver_file(name): driver(name, "$data") for name in COMMANDS},
        configuration=why3_configuration("$drivers", versions),
    )
    return {PATH: text}


def _call_key(obligation: Obligation) -> tuple[str, str, bool]:
    """File, theory and whether it is a smoke test: obligations with equal ones are proved by one call."""
    return obligation.file, obligation.theory, obligation.kind == "smoke"


def _groups(obligations: list[Obligation]) -> Iterable[dict[str, object]]:
    """The calls of `why3 prove`, in the order of the obligations."""
    for (file, theory, smoke), group in groupby(obligations, key=_call_key):
        yield {
            "file": file,
            "theory": theory,  # a cloned axiom has no name for Why3: its whole theory is asked
            "goals": [o.goal for o in group if o.kind != "instance"],
            "smoke": smoke,
            # As `prove` does. Inlined, goals are free of quantifiers, and a false one gives numbers; a
            # smoke test is to find what the definitions contradict, and needs them as they are.
            "options": "" if smoke else "-a inline_all -a introduce_premises",
        }
