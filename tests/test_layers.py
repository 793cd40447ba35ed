"""The packages are layers: each imports only from those below it that docs/architecture.md names."""

from __future__ import annotations

from pathlib import Path

from tests.layers import forbidden, layers, packages

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "sonnx_clip"
TABLE = layers((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))


def test_the_table_has_every_package() -> None:
    assert set(TABLE) == packages(FOLDER)


def test_each_package_uses_only_what_stands_above_it_in_the_table() -> None:
    known: set[str] = set()
    for package, uses in TABLE.items():
        assert uses <= known, f"{package}: {uses - known}"
        known.add(package)


def test_no_import_goes_where_the_table_does_not_allow_it() -> None:
    assert not forbidden(FOLDER, TABLE)
