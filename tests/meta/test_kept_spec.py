"""A cache that forgets one of the things that a specification comes from is found out by the same checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sonnx_clip.spec import load
from tests.spec.kept import SPOILT, STALE, repository

RIGHT = load.key_of
CODE = ("code of the checks", "code that keeps it", "code of the layer below", "code of the lowest layer")


def without_yaml(path, pages):
    """The digest of the repository's own YAML, whatever the copy says."""
    return RIGHT(Path(load.__file__).parents[2] / "spec/clip.yaml", pages)


def without_pages(path, pages):
    return RIGHT(path, [])


def without_code(path, pages):
    right = load.code_files
    load.code_files = list
    try:
        return RIGHT(path, pages)
    finally:
        load.code_files = right


@pytest.mark.parametrize(
    ("wrong", "missed"),
    [(without_yaml, ("yaml",)), (without_pages, ("quoted text",)), (without_code, CODE)],
)
def test_a_digest_that_leaves_something_out_is_found(wrong, missed, tmp_path, monkeypatch):
    own = repository(tmp_path / "own", monkeypatch)
    monkeypatch.setattr(load, "key_of", wrong)
    believed = []
    for name, change in STALE.items():
        own.load()
        change(own)
        if not own.reads_again():
            believed.append(name)
    assert tuple(believed) == missed


@pytest.mark.parametrize("name", ["writable by others", "in a folder that others can write", "a link"])
def test_a_cache_that_asks_nobody_whose_a_file_is_is_found(name, tmp_path, monkeypatch):
    own = repository(tmp_path / "own", monkeypatch)
    own.load()
    SPOILT[name](own)
    monkeypatch.setattr(load, "_read_ours", Path.read_bytes)
    assert not own.reads_again()


def test_a_cache_without_a_digest_of_what_it_holds_is_found(tmp_path, monkeypatch):
    """The title of a case is another: pickle sees nothing wrong with it."""
    own = repository(tmp_path / "own", monkeypatch)
    title = own.load().cases[0].title
    right = own.file.read_bytes()
    wrong = right.replace(title.encode(), title.upper().encode())
    assert wrong != right
    own.file.write_bytes(wrong)
    assert own.reads_again()
    own.file.write_bytes(wrong)
    name, head = own.file.name, json.loads(right.partition(b"\n")[0])
    monkeypatch.setattr(load, "file_name", lambda _: name)
    monkeypatch.setattr(load, "digest_of", lambda _: head["body"])
    assert own.load().cases[0].title == title.upper()
