"""Refuses workers that are not what home is: one report does not mix machines, code or packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.machines.dask_workers import DaskWorkers

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_NAMED = 5  # workers whose differences are told
_SHOWN = 60  # characters of a value
_TODO = "give them the code, the Python, the packages and the processor of this machine, or stop them"


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """In which parts a worker differs from home, in words; empty if in none."""
    names = [name for name in dict.fromkeys((*here, *there)) if here.get(name) != there.get(name)]
    return "; ".join(_difference(name, here.get(name, ""), there.get(name, "")) for name in names)


def _difference(name: str, here: str, there: str) -> str:
    a, b = (" ".join(_DIGEST.sub("", value).split()) for value in (here, there))
    if a == b:
        return name
    return f"{name} ({_cut(b) or 'none'}; here {_cut(a) or 'none'})"


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]} …"


def require_same_workers(
    workers: DaskWorkers, parts: Callable[..., Mapping[str, str]], *args: object
) -> Mapping[str, str]:
    """Ask every worker what it is, before the start; what this machine is.

    Args:
        workers: that are asked.
        parts: says of the machine where it is called what it is, part by part.
        args: of this function.

    Raises:
        UserError: some worker differs.
    """
    here = parts(*args)
    found = [
        f"{address}: {words}"
        for address, there in sorted(workers.ask_all(parts, *args).items())
        if (words := differences(here, there))
    ]
    if found:
        more = f"\n  and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        lines = "".join(f"\n  {line}" for line in found[:_NAMED])
        raise UserError(f"not every worker is as this machine is:{lines}{more}", workers.address, _TODO)
    return here


def require_same(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """The same for one machine, which may have joined later; UserError if it differs."""
    if words := differences(here, there):
        raise UserError(f"this worker is not as the machine that asks: {words}", todo=_TODO)
