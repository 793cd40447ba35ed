"""A reader of an exported .npz file, as somebody else writes it: NumPy and ml_dtypes, nothing of ours."""

import json
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np


@dataclass
class Judged:
    """What came of a function."""

    compared: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    """By class, the first call that is wrong in it."""


def judge(folder, type_id, clip, policy="default"):
    """Compare a function of (x, min, max) with all vectors and calls of a type."""
    manifest = json.loads((folder / "manifest.json").read_text())
    flags = sum(one["flag"] for one in manifest["latitude"] if policy == "default" or one["always"])
    flags = 0 if policy == "bits" else flags
    zeros, nans = (
        flags & sum(one["flag"] for one in manifest["latitude"] if (word in one["accepts"]))
        for word in ("zero", "NaN")
    )
    layouts = {one["id"]: one for one in manifest["layouts"]}
    dtype = np.dtype(ml_dtypes.bfloat16) if type_id == "bfloat16" else np.dtype(type_id)
    found = Judged()
    with np.load(folder / f"{type_id}.npz", allow_pickle=False) as file:
        a = {name: file[name] for name in file.files}
    sign = a["x"].dtype.type(1 << (8 * dtype.itemsize - 1))

    def blame(classes, what):
        for id_ in classes.reshape(-1) if classes.size else ["empty"]:
            found.wrong.setdefault(str(id_), what)

    def compare(x, low, high, due, also, classes, what):
        low, high = (np.array(bound).view(dtype) for bound in (low, high))
        classes = np.asarray(classes)
        try:
            got = clip(x.view(dtype), low, high)
        except Exception as error:  # noqa: BLE001 - whatever somebody's function raises
            blame(classes, f"{what}: {error}")
            return
        if type(got) is not np.ndarray or got.dtype != dtype or got.shape != due.shape:
            blame(classes, f"{what}: no array of the shape and type of X")
            return
        got = np.ascontiguousarray(got).reshape(due.shape)
        bits = got.view(due.dtype)
        with np.errstate(invalid="ignore"):
            nan = got != got
        zero = ((bits | due) & ~sign) == 0
        right = (bits == due) | (zero & ((also & zeros) != 0)) | (nan & ((also & nans) != 0))
        found.compared += due.size
        if not right.all():
            blame(classes[~right], what)

    for n in range(len(a["x"])):
        parts = [a[name][n : n + 1] for name in ("expected", "also", "class")]
        compare(a["x"][n : n + 1], a["min"][n], a["max"][n], *parts, str(a["id"][n]))
    for n, (table, pair, layout, length, start) in enumerate(
        zip(
            *(a[f"call_{name}"] for name in ("table", "pair", "layout", "length", "start")),
            strict=True,
        )
    ):
        name, told = a["tables"][table], layouts[str(layout)]
        pool = a[f"{name}_pool"]
        entries = (start + np.arange(length)) % len(pool)
        x = arranged(pool[entries], told)
        if told["repeats"]:
            entries[:] = start
        shape = (length,) if told["shape"] is None else tuple(told["shape"])
        due, also, classes = (
            a[f"{name}_{key}"][pair][entries].reshape(shape)
            for key in ("expected", "also", "class")
        )
        low, high = a[f"{name}_min"][pair], a[f"{name}_max"][pair]
        compare(
            x, low, high, due, also, a["classes"][classes], f"call {n}, {layout}, {length} entries"
        )
    return found


def arranged(entries, told):
    """Entries in memory as the manifest says of a layout."""
    size = entries.itemsize
    shape = (len(entries),) if told["shape"] is None else tuple(told["shape"])
    strides = [stride * size for stride in told["strides"]]
    first = told["first_entry"] * size + told["misaligned_bytes"]
    reach = sum(
        (n - 1) * stride for n, stride in zip(shape, strides, strict=True) if stride > 0 and n
    )
    memory = np.zeros(first + reach + size, np.uint8)
    view = np.ndarray(shape, entries.dtype, memory.data, first, strides)
    if told["repeats"]:
        view[:1] = entries[:1]
    else:
        view[...] = entries.reshape(shape)
    return view
