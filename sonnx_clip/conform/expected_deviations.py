"""The file of expected deviations: ``--sonnx-clip-xfail`` of the plugin for pytest.

A line is the id of a test and a reason, with a space between; ``#`` begins a comment of a line of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.names import nearest
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def read_expected(file: Path) -> dict[str, tuple[str, int]]:
    """The reason and the line of each id.

    Raises:
        UserError: it cannot be read, a line has no reason, or two lines have one id.
    """
    try:
        lines = read_regular(file).splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UserError(f"the expected deviations cannot be read: {why}", str(file)) from None
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, 1):
        id_, _, reason = line.strip().partition(" ")
        if not id_ or id_.startswith("#"):
            continue
        where = f"{file}:{number}"
        if not reason.strip():
            raise UserError(f"`{id_}` has no reason", where, "write why it is expected behind the id")
        if id_ in found:
            raise UserError(f"`{id_}` stands in line {found[id_][1]} too", where, "leave one of them out")
        found[id_] = reason.strip(), number
    return found


def check_ids(
    file: Path, expected: dict[str, tuple[str, int]], ids: Collection[str], elsewhere: Collection[str]
) -> None:
    """Refuse an id that is of no test.

    Args:
        file: for messages.
        expected: what `read_expected` returned.
        ids: of all tests.
        elsewhere: how the ids of element types begin that are not judged in this run: these are no mistakes.

    Raises:
        UserError: an id is not known.
    """
    for id_, (_, number) in expected.items():
        if id_ not in ids and not id_.startswith(tuple(elsewhere)):
            near = "".join(f"did you mean `{found}`? " for found in nearest(id_, list(ids))[:1])
            todo = f"{near}`pytest --collect-only -q` with the same options prints every id"
            raise UserError(f"no test has the id `{id_}`", f"{file}:{number}", todo)
