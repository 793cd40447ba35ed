"""Mistakes in NumPy kernels are refuted by name, with numbers that fail in NumPy; guards catch the rest."""

import re
from dataclasses import replace

import pytest

from sonnx_clip.backends import numpy_kernels
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.trace.explore import explore
from sonnx_clip.trace.subject import Subject, subject
from sonnx_clip.trace.tracing import trace_all, traced_kernels
from tests.meta.numpy_bugs import BUGS
from tests.trace.planted import in_use, planted

FIRST = tuple(
    {bug.module: bug for bug in reversed(BUGS)}.values()
)  # one of each module, all in one run


@pytest.mark.parametrize(
    "bugs",
    [FIRST, *(pytest.param((b,), marks=pytest.mark.nightly) for b in BUGS)],
    ids=lambda bugs: " and ".join(bug.name for bug in bugs),
)
def test_wrong_kernels_are_refuted(bugs, bench, tmp_path):
    wrong = planted(tmp_path, bench.monkeypatch, {bug.module: (bug.old, bug.new) for bug in bugs})
    asked = [id_ for bug in bugs for id_ in (*bug.caught_by, *bug.holds)]
    with in_use(wrong, bench.monkeypatch):
        bench.generate()
        ended = bench.prove(*(part for id_ in asked for part in ("--only", id_)))
    assert ended.status == 1
    failed = re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE)
    assert sorted(failed) == sorted(id_ for bug in bugs for id_ in bug.caught_by)


SPEC = load_spec()
FLOAT16 = SPEC.element_type("float16")
TYPES = tuple(
    SPEC.element_type(id_) for id_ in ("int8", "float16", "float32")
)  # every kernel is of one

LIMIT = "    x.clip(lower, upper, out=out)\n\n\n# ---"
FILL, FILL_16 = "np.copyto(out, upper)", "np.copyto(bits, upper)"


def _beside(statement):
    """A statement more in a kernel."""
    return "kernels", LIMIT, f"    {statement}\n{LIMIT}"


# What is planted in a module, and what is reported: of the source, or of a run on symbols.
UNTRACEABLE = {
    "an operation that has no meaning": (
        "kernels", FILL, "np.put(out, 0, upper)", "np.put, which has no meaning"),
    "a cast": (*_beside("x.clip(lower, upper).astype(x.dtype)"), ".astype(), which has no meaning"),
    "the identity of arrays": (*_beside("if x is out:\n        np.copyto(out, x)"), "a comparison other"),
    "a number of Python": ("kernels", "form.sign:\n        _make", "int(form.sign):\n        _make",
                           "a call of int"),
    "a function of Python": (*_beside("size = len"), "len of Python"),
    "the class of an array": (*_beside("of = x.__class__"), ".__class__ of Python"),
    "a loop": (*_beside("for _ in ():\n        np.copyto(out, x)"), "for, which"),
    "an exception that is swallowed": (
        *_beside("try:\n        x.sort()\n    except TypeError:\n        np.copyto(out, x)"), "try, which"),
    "a global that changes": (*_beside("global FORMATS\n    FORMATS = {}"), "global, which"),
    "a function that is not traced": (*_beside("Array(x)"), "a call of Array, which is not traced"),
    "an entry": (*_beside("first = x[0]"), "an entry of x"),
    "a store into an entry": (*_beside("out[...] = x"), "an assignment to something other"),
    "an option of an operation": (
        "kernels", FILL, "np.copyto(out, upper, casting='no')", "the argument casting"),
    "a decorator": ("kernels", "def limit(x", "@staticmethod\ndef limit(x", "limit is decorated"),
    "a parameter with a default": (
        "kernels", 'lower: Array, upper: Array, out: Array) -> None:\n    """Integers',
        'lower: Array, upper: Array, out: Array = None) -> None:\n    """Integers', "optional parameters"),
    "a kernel that is given other code": (
        "plan", "Kernel: TypeAlias",
        "kernels.limit.__code__ = (lambda x, l, m, out: x.clip(l, m, out=out)).__code__\nKernel: TypeAlias",
        "limit is not written as a function"),
    "another module that is called np": (
        "kernels", LIMIT, f"{LIMIT}\nimport numpy.ma as np\n# ", "a call of np, which is not NumPy"),
    "an attribute": ("kernels", FILL_16, FILL_16.replace("upper", "upper.real"), ".real has no meaning"),
    "x as room for a result": (
        "kernels", FILL_16, f"{FILL_16}\n    np.copyto(x.view(UINT16), upper)", "fill_16 writes to `x`"),
    "an exception": ("kernels", FILL_16, FILL_16.replace("upper", "70000"), "raises OverflowError"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNTRACEABLE.values(), ids=UNTRACEABLE)
def test_kernel_that_cannot_be_traced_is_refused_with_its_place(case, tmp_path, monkeypatch):
    module, old, new, words = case
    what = planted(tmp_path, monkeypatch, {module: (old, new)})
    with pytest.raises(UserError, match=re.escape(words)) as stop:
        trace_all(TYPES, what)
    assert (stop.value.where or "").startswith(str(tmp_path))
    assert stop.value.todo


@pytest.mark.nightly
def test_path_that_no_sample_takes_is_not_proved_complete(bench, tmp_path):
    """A branch on one pattern that is not among the samples: tracing misses it, and the provers do not."""
    begin = "    if low < form.minus_zero:\n        return _from_plus"
    missed = f"    if low == 12345:\n        return Plan(kernels.fill_16, low, high)\n{begin}"
    wrong = planted(tmp_path, bench.monkeypatch, {"plan": (begin, missed)})
    with in_use(wrong, bench.monkeypatch):
        bench.generate()
        ended = bench.prove(
            "--only",
            "float16.numpy_ways_complete_in_place",
            "--only",
            "int8.numpy_ways_complete_in_place",
        )
    assert "not proved float16.numpy_ways_complete_in_place" in ended.out
    assert "not proved int8" not in ended.out


@pytest.mark.nightly
def test_path_that_no_input_takes_is_refuted(bench):
    """The witness of one path is given to another, as if nothing took it."""

    def swap(t):
        first, second, *rest = t.paths
        return replace(t, paths=(first, replace(second, witness=first.witness), *rest))

    traced = traced_kernels(tuple(SPEC.element_types))
    swapped = tuple(swap(t) if t.etype == FLOAT16 else t for t in traced)
    bench.monkeypatch.setattr(numpy_kernels, "traced_kernels", lambda _: swapped)
    bench.generate()
    ended = bench.prove(
        "--only", "float16.numpy_ways_*", "--only", "int8.numpy_ways_inhabited_in_place"
    )
    assert sorted(re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE)) == [
        "float16.numpy_ways_inhabited_in_place",
        "float16.numpy_ways_inhabited_out_of_place",
    ]


def test_planner_from_elsewhere_is_refused():
    """Nobody would read it, nor see where it goes: it could tell an array from a symbol."""
    what = subject()

    def elsewhere(*_):
        return print, None, None

    for planners in (
        dict.fromkeys(what.planners, elsewhere),
        dict.fromkeys(what.planners, _Planner()),
    ):
        with pytest.raises(UserError, match="is not traced"):
            explore(Subject(what.modules, planners), FLOAT16, in_place=False)


class _Planner:
    def __call__(self, *_):
        return print, None, None


@pytest.mark.nightly
def test_tracing_error_stops_generate_and_prove(bench, tmp_path):
    wrong = planted(
        tmp_path, bench.monkeypatch, {"kernels": ("np.copyto(out, upper)", "np.put(out, 0, upper)")}
    )
    with in_use(wrong, bench.monkeypatch):
        for command in (("generate",), ("prove", "--build", str(bench.build))):
            ended = bench.command(*command)
            assert ended.status == 2
            assert "np.put, which has no meaning in why3/numpy.mlw" in ended.err
            assert "Traceback" not in ended.err
