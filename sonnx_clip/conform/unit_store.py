"""The store of a campaign: the result of each unit, written as soon as it is judged.

`check --journal FILE` resumes from one; `check` caches the verdicts on known runtimes in another one, in the
build folder. A damaged result is judged again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.units import UnitResult
from sonnx_clip.root.store import Store, StoreKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sonnx_clip.conform.units import Unit

CACHE = "kept/results.sqlite"
"""The store of verdicts in the build folder."""

_KIND = StoreKind(
    noun="journal",
    application=0x736E7863,  # "snxc"
    format=2,
    if_other="name the file of check --journal of this version, or a new file",
    if_damaged="move it away; the campaign then restarts",
)


class UnitStore:
    """An open store of results; threads may share it.

    Args:
        file: its path; it is created if missing.
        identity: the identity of the verdicts, part of the digest of each unit.
        warn: called with a warning for each damaged row.
        is_cache: whether it is a cache of verdicts and not a journal: crashes are not stored, and the report
            shows when a verdict was made.

    Raises:
        UserError: the file is of another kind or version, damaged, or cannot be read or written; from every
            method, too.
    """

    def __init__(
        self,
        file: Path,
        identity: str = "",
        warn: Callable[[str], None] = lambda _: None,
        *,
        is_cache: bool = False,
    ) -> None:
        self.file, self.identity, self.is_cache = file, identity, is_cache
        self._warn = warn
        self._store = Store(file, _KIND, warn)

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def take(self, unit: Unit) -> UnitResult | None:
        """The newest undamaged result of a unit, or None."""
        # The newest: `check --again` adds a result, and leaves the old one where it is.
        row = self._store.newest(unit.digest, f"the result of {unit.name}")
        if row is None:
            return None
        try:
            result = UnitResult.model_validate_json(row.value)
        except ValueError:  # another form of results: of a version that did not change the digest
            self._warn(f"{self.file}: the result of {unit.name} cannot be read; it is judged again")
            return None
        # The report shows the date of a cached verdict alone.
        if not self.is_cache:
            return result
        return result.model_copy(update={"made": row.made})

    def keep(self, unit: Unit, result: UnitResult) -> None:
        """Add a result, which is the newest of its unit."""
        self._store.add(unit.digest, result.model_dump_json(), unit.name)

    def count_of(self, units: list[Unit]) -> int:
        """How many of these units have a result."""
        digests = {unit.digest for unit in units}
        return len(digests & self._store.keys())
