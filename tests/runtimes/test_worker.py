"""A runtime in a process of its own: what it is asked, what it answers, and how it ends."""

import numpy as np
import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import Caller, Request, read_answer
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.runtime import LIMITS, RUNTIMES
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError, Worker, open_runtime
from tests.meta import planted


def request(**changes):
    standard = {
        "layout": "contiguous",
        "length": 4,
        "pool": np.array([1, 2, 3], np.uint16),
        "starts": np.array([0, 2]),
        "scalars": (np.array([2, 0], np.uint16), np.array([3, 1], np.uint16)),
    }
    return Request(**(standard | changes))


def ask(function, **changes):
    asked, board = request(**changes), Board()
    Caller(function, "int16")(asked, board)
    assert board.call == 1
    return read_answer(board, asked)


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
def test_invalid_result_is_described(function, tags, words):
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


@pytest.mark.parametrize("name", RUNTIMES)
def test_every_runtime_answers_and_its_text_makes_the_same_call(name):
    board = Board()
    greeting, handle = open_runtime(board, name, "int32")
    assert greeting["word"] == "ready"
    assert greeting["version"]
    pool, bounds = np.array([5, 7], np.uint32), np.array([6, 0], np.uint32)
    asked = request(length=2, pool=pool, starts=np.zeros(1, int), scalars=(bounds[1:], bounds[:1]))
    handle(asked, board)
    assert read_answer(board, asked).bits.tolist() == [[5, 6]]
    worker = Worker(name, "int32", LIMITS)
    worker.close()
    before, call = worker.call_text((2,))
    scope = {"np": np, "x": np.int32([5, 7]), "l": np.array(0, np.int32), "m": np.array(6, np.int32)}
    exec("; ".join([worker.imports, *before]), scope)
    assert eval(call, scope).tolist() == [5, 6]


def test_runtime_that_is_missing_is_reported():
    greeting, _ = open_runtime(Board(), "tests.meta.planted:no_such_function", "int16")
    assert greeting["word"] == "missing"
    assert "no_such" in greeting["words"]
    for name in ("tensorflow", "a:", ":b", "a:b c"):
        with pytest.raises(UserError, match="onnx-reference"):
            module_of(name)


def test_unsupported_type_is_raised_with_the_version():
    with pytest.raises(UnsupportedError) as caught:
        Worker("onnxruntime", "int16", LIMITS)
    assert caught.value.version.startswith("onnxruntime ")
    assert "NOT_IMPLEMENTED" in str(caught.value)


def test_dead_worker_stays_dead_until_it_is_started():
    one = Worker("tests.meta.planted_deaths:aborts", "int16", LIMITS)
    assert one.ask(request()).died.words == "killed by SIGABRT"
    assert one.ask(request()).died.words == "it is not running"
    one.start()
    assert one.ask(request()).died.words == "killed by SIGABRT"
    one.close()


def test_worker_without_its_supervisor_is_reported():
    one = Worker("tests.meta.planted:right", "int16", LIMITS)
    one.kill()
    one._process.join(20)
    with pytest.raises(RuntimeDiedError, match="its supervisor was ended"):
        one.ask(request())
    one.close()
