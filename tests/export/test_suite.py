"""What is exported: every format has the same content, the manifest describes it, and nothing is left out."""

import hashlib
import json
from collections import Counter

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sonnx_clip import clip
from sonnx_clip.conform.call_plan import LENGTHS, LONG
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export import suite as suites
from sonnx_clip.export.suite import ANY_NAN, OTHER_ZERO, granted, suites_of
from sonnx_clip.export.write_export import write_export
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec
from tests.export.read_npz import arranged, judge

SPEC = load_spec()
TYPES = [etype.id for etype in SPEC.element_types if etype.width is not None]


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize("form", ["npz", "json", "c-header"])
def test_manifest_names_every_file_and_bytes_are_reproducible(form, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    write_export(clip_operator(), form, out, ["int8"])
    told = manifest(out)
    assert (told["format"], told["spec_sha256"]) == (form, SPEC.digest)
    for entry in told["files"]:
        content = (out / entry["file"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (
            entry["sha256"],
            entry["bytes"],
        )
    assert {p.name for p in out.iterdir()} == {e["file"] for e in told["files"]} | {"manifest.json"}
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert out.stat().st_mode & 0o777 == 0o755
    write_export(clip_operator(), form, again, ["int8"])
    assert manifest(again) == told


@pytest.mark.parametrize("type_id", TYPES)
def test_our_own_clip_is_right_to_the_bit_in_every_class(type_id, npz):
    found = judge(npz, type_id, clip, "bits")
    assert found.wrong == {}
    one = suites_of(clip_operator(), [type_id])[0]
    assert found.compared == len(one.vectors) + sum(call.length for call in one.calls)
    classes = {c.id for c in SPEC.classes_of(one.etype.family)}
    assert {vector["class"] for vector in one.vectors} == classes
    assert set(np.unique(one.tables[0].classes)) == set(range(len(classes)))


def test_every_layout_and_every_length_of_the_checker_is_exported():
    for one in suites_of(clip_operator(), ["int8", "float32"]):
        layouts = Counter(call.layout for call in one.calls)
        assert set(layouts) == set(LAYOUTS)
        assert min(layouts.values()) >= 4  # pairs of bounds that together reach every class
        lengths = {call.length for call in one.calls if call.layout.id == "contiguous"}
        assert lengths >= {*LENGTHS, LONG}
        assert {call.pair for call in one.calls if call.table == 0} == set(
            range(one.tables[0].count)
        )


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_layout_of_the_manifest_gives_the_same_array(layout, npz):
    (told,) = [one for one in manifest(npz)["layouts"] if one["id"] == layout.id]
    entries = np.arange(100, 100 + (8 if layout.length is None else layout.length), dtype=np.uint64)
    wanted, found = layout.arrange(entries), arranged(entries, told)
    assert np.array_equal(wanted, found)
    assert not wanted.size or wanted.strides == found.strides
    assert wanted.flags.aligned == found.flags.aligned


def test_flags_are_what_the_committed_vectors_accept():
    assert {one.id: one.accepts for one in granted(clip_operator())} == {
        "zero-sign": OTHER_ZERO, "nan-payload": ANY_NAN, "nan-inverted": ANY_NAN,
    }  # fmt: skip
    for one in suites_of(clip_operator(), ["int8", "float16", "float64"]):
        ids = [{entry["latitude"] for entry in vector["acceptable"]} for vector in one.vectors]
        wanted = [
            sum(g.flag for g in granted(clip_operator()) if g.id in accepted) for accepted in ids
        ]
        assert one.also.tolist() == wanted


def test_no_latitude_accepts_an_answer_without_a_flag():
    """Flags know the other zero and NaN: of all special values a latitude accepts no further one."""
    (one,) = suites_of(clip_operator(), ["float16"])
    table, dtype = one.tables[0], np.dtype("float16")
    low, high = (bounds[:, None].view(dtype) for bounds in table.scalars)
    x, results = table.pool[None, :].view(dtype), table.results.view(dtype)
    for pattern in special_patterns(one.etype):
        answer = np.full(results.shape, pattern, table.results.dtype).view(dtype)
        accepts = load_oracle().LATITUDE["float"].values()
        accepted = np.any(
            [accepting(x, low, high, results, answer) for accepting in accepts], axis=0
        )
        accepted &= answer.view(table.results.dtype) != table.results
        with np.errstate(invalid="ignore"):
            assert not np.any(accepted & ~((answer == 0) & (results == 0)) & (answer == answer))


def test_json_equals_npz(npz, tmp_path):
    out, read = tmp_path / "out", np.vectorize(lambda text: int(text, 16))
    write_export(clip_operator(), "json", out, ["float16"])
    text = (out / "float16.json").read_bytes()
    assert text == repo_file("generated/vectors/float16.json").read_bytes()
    Draft202012Validator(json.loads((out / "schema.json").read_text())).validate(json.loads(text))
    document = json.loads((out / "float16.calls.json").read_text())
    with np.load(npz / "float16.npz") as arrays:
        assert document["classes"] == arrays["classes"].tolist()
        for table in document["tables"]:
            for key in table.keys() - {"id"}:
                found = table[key] if key in ("class", "also") else read(table[key])
                assert np.array_equal(found, arrays[f"{table['id']}_{key}"])
        for key in ("pair", "layout", "length", "start"):
            assert [call[key] for call in document["calls"]] == arrays[f"call_{key}"].tolist()
        tables = arrays["tables"][arrays["call_table"]].tolist()
        assert [call["table"] for call in document["calls"]] == tables


@pytest.mark.parametrize("stale", [False, True])
def test_missing_or_stale_vectors_are_one_message(stale, tmp_path, monkeypatch):
    if stale:
        monkeypatch.setattr(load_oracle(), "SPEC_DIGEST", "0" * 64)
    else:
        monkeypatch.setattr(suites, "VECTORS", str(tmp_path))
    with pytest.raises(UserError, match="run: sonnx-clip generate"):
        suites_of(clip_operator(), ["int8"])
