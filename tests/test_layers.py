"""The packages are layers: each imports only from those below it that docs/architecture.md names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.layers import classes, forbidden, layers, packages

# Each names a definition in two published schemas: that of spec/clip.yaml, and that of the evidence.
SHARED = frozenset(("DialectRow", "Witness"))

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


def test_no_two_files_have_one_name() -> None:
    names = Counter(file.name for file in FOLDER.rglob("*.py"))
    assert {name for name, count in names.items() if count > 1} == {"__init__.py", "__main__.py"}


def test_a_class_has_a_name_of_its_own() -> None:
    found = {name: files for name, files in classes(FOLDER).items() if len(files) > 1 and name not in SHARED}
    assert not found, "call each of them what it is"


def test_a_name_that_two_files_give_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Record: ...\nclass Row: ...\n")
    (tmp_path / "other.py").write_text("class Record: ...\nclass _Row: ...\n")
    assert {name: len(files) for name, files in classes(tmp_path).items()} == {"Record": 2, "Row": 1}
