"""The worker's side of a run, called in this process; and what the checker hears of a worker."""

import multiprocessing as mp
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from sonnx_clip.conform import calls
from sonnx_clip.conform.calls import Request, answer
from sonnx_clip.conform.runtimes import RUNTIMES, find_runtime, module_of
from sonnx_clip.conform.worker import RuntimeDiedError, UnsupportedError, Worker, serve
from sonnx_clip.errors import UserError
from tests.meta import planted


def request(**changes):
    standard = {
        "layout": "contiguous",
        "length": 4,
        "pool": np.array([1, 2, 3], np.uint16),
        "starts": np.array([0, 2]),
        "lower": np.array([2, 0], np.uint16),
        "upper": np.array([3, 1], np.uint16),
    }
    return Request(**(standard | changes))


def ask(function, **changes):
    progress = SimpleNamespace(value=-1)
    found = answer(function, "int16", request(**changes), progress)
    assert progress.value == 1
    return found


def test_each_call_gets_its_entries_and_its_bounds():
    found = ask(planted.right)
    assert found.failures == {}
    assert found.bits.tolist() == [[2, 2, 3, 2], [1, 1, 1, 1]]
    assert found.bits.dtype == np.uint16


@pytest.mark.parametrize(
    ("function", "tags", "words"),
    [
        (planted.returns_nothing, ("C1", "C3"), "NoneType"),
        (planted.wider_type, ("C3",), "returned float64, expected int16"),
        (planted.wrong_shape, ("C1",), r"returned shape \(1, 4\), expected \(4,\)"),
        (lambda x, l, m: np.zeros(3), ("C1", "C3"), "float64"),
        (lambda x, l, m: [1, 2, 3, 4], ("C1", "C3"), "list"),
        (planted.writes_into_x, (), "ValueError: .*read-only"),
    ],
)
def test_what_is_no_result_is_told(function, tags, words):
    found = ask(function)
    assert set(found.failures) == {0, 1}
    assert found.failures[0].tags == tags
    assert found.failures[0].raised == (tags == ())
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(found.failures[0].words)


def test_scalars_count_as_arrays_of_rank_0():
    found = ask(lambda x, l, m: x[()] if x.ndim == 0 else x, layout="0-d", length=1)
    assert found.failures == {}
    assert found.bits.tolist() == [[1], [3]]


def served(name, etype="int16"):
    """Serve a runtime in a thread: the greeting, and the connection to ask by."""
    ours, theirs = mp.Pipe()
    thread = threading.Thread(target=serve, args=(theirs, name, etype, SimpleNamespace(value=0)), daemon=True)
    thread.start()
    return ours, thread


@pytest.mark.parametrize("name", RUNTIMES)
def test_every_runtime_greets_and_answers(name):
    ours, thread = served(name, "int32")
    word, version, imports, call = ours.recv()
    assert word == "ready"
    assert version
    scope = {"np": np, "x": np.int32([5, 7]), "l": np.array(0, np.int32), "m": np.array(6, np.int32)}
    exec(imports, scope)
    assert eval(call, scope).tolist() == [5, 6]
    pool, bounds = np.array([5, 7], np.uint32), np.array([6, 0], np.uint32)
    ours.send(request(length=2, pool=pool, starts=np.zeros(1, int), lower=bounds[1:], upper=bounds[:1]))
    assert ours.recv().bits.tolist() == [[5, 6]]
    ours.close()
    thread.join(10)
    assert not thread.is_alive()


def test_a_type_that_cannot_be_opened_is_unsupported_in_the_runtimes_words():
    ours, _ = served("onnxruntime", "int16")
    word, version, words = ours.recv()
    assert (word, version[:12]) == ("unsupported", "onnxruntime ")
    assert "NOT_IMPLEMENTED" in words


@pytest.mark.parametrize("name", ["no_such_module:clip", "tests.meta.planted:no_such_function"])
def test_what_cannot_be_imported_is_missing(name):
    ours, _ = served(name)
    word, words = ours.recv()
    assert word == "missing"
    assert "no_such" in words


@pytest.mark.parametrize("name", ["tensorflow", "a:", ":b", "a:b c"])
def test_a_name_of_no_runtime(name):
    with pytest.raises(UserError, match="onnx-reference"):
        module_of(name)


def test_a_runtime_of_ones_own_is_named_with_its_version():
    found = find_runtime("tests.meta.planted:right")
    assert found.version == "tests.meta.planted:right planted"
    assert found.open("int8") is planted.right
    assert (found.imports, found.call("int8")) == ("from tests.meta.planted import right", "right(x, l, m)")


def test_a_missing_runtime_says_what_to_install(monkeypatch):
    with pytest.raises(UserError, match="cannot be loaded"):
        Worker("no_such_onnx_module:clip", "int8", 20)


def test_an_unsupported_type_is_raised_with_the_version():
    with pytest.raises(UnsupportedError) as caught:
        Worker("onnxruntime", "bfloat16", 60)
    assert caught.value.version.startswith("onnxruntime ")


def test_a_dead_worker_stays_dead():
    one = Worker("tests.meta.planted:aborts", "int16", 20)
    for _ in range(2):
        with pytest.raises(RuntimeDiedError, match="SIGABRT"):
            one.ask(request())
    one.close()


def test_a_worker_that_hangs_is_killed():
    one = Worker("tests.meta.planted:hangs", "int16", 20)
    one._timeout = 0.2
    with pytest.raises(RuntimeDiedError, match=r"no answer within 0\.2 s") as caught:
        one.ask(request(length=7))
    assert caught.value.call == 0
    one._process.join(5)
    assert one._process.exitcode == -9
    one.close()


def test_layouts_are_known_by_id():
    assert set(calls._BY_ID) == {layout.id for layout in calls.LAYOUTS}
