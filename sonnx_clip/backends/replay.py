"""Renders generated/replay.sh: the same obligations, proved by `why3 prove` and a shell alone."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from sonnx_clip.backends.drivers import COMMANDS, ELEMENTS, configuration, driver, driver_file
from sonnx_clip.backends.templating import template
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec

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
        configuration=configuration("$drivers", {name: f"${COMMANDS[name][0]}" for name in COMMANDS}),
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
