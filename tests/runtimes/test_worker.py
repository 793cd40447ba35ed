"""A runtime in a process of its own: what it is asked, what it answers, and how it ends."""

import numpy as np
import pytest

from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import OVERWRITTEN, Caller, Request, answer_on
from sonnx_clip.runtimes.runtime import LIMITS, RUNTIMES
from sonnx_clip.runtimes.worker import RuntimeDiedError, Worker


def request(**changes):
    standard = {
        "layout": "contiguous",
        "length": 4,
        "pool": np.array([1, 2, 3], np.uint16),
        "starts": np.array([0, 2]),
        "scalars": (np.array([2, 0], np.uint16), np.array([3, 1], np.uint16)),
    }
    return Request(**(standard | changes))


def test_scalars_count_as_arrays_of_rank_0():
    asked, board = request(layout="0-d", length=1), Board()
    Caller(lambda x, l, m: x[()], "int16", CLIP_SIGNATURE)(asked, board)
    found = answer_on(board, asked)
    assert found.failures == {}
    assert found.bits.tolist() == [[1], [3]]


def test_result_that_the_next_call_overwrites_is_noted():
    kept = np.zeros(4, np.int16)

    def reusing(x, l, m):
        kept[...] = np.clip(x, l, m)
        return kept

    asked, board = request(), Board()
    Caller(reusing, "int16", CLIP_SIGNATURE)(asked, board)
    found = answer_on(board, asked)
    assert {call: failure.words for call, failure in found.failures.items()} == {0: OVERWRITTEN}


@pytest.mark.parametrize("name", RUNTIMES)
def test_every_runtime_answers_and_its_text_makes_the_same_call(name):
    worker = Worker(name, "int32", LIMITS, signature=CLIP_SIGNATURE)
    pool, bounds = np.array([5, 7], np.uint32), (np.zeros(1, np.uint32), np.array([6], np.uint32))
    answer = worker.ask(request(length=2, pool=pool, starts=np.zeros(1, int), scalars=bounds))
    worker.close()
    assert answer.bits.tolist() == [[5, 6]]
    before, call = worker.call_text((2,))
    scope = {
        "np": np,
        "x": np.int32([5, 7]),
        "l": np.array(0, np.int32),
        "m": np.array(6, np.int32),
    }
    exec("; ".join([worker.imports, *before]), scope)
    assert eval(call, scope).tolist() == [5, 6]


def test_worker_without_its_supervisor_is_reported():
    one = Worker("tests.meta.planted:right", "int16", LIMITS, signature=CLIP_SIGNATURE)
    one.kill()
    one._process.join(20)
    with pytest.raises(RuntimeDiedError, match="its supervisor was ended"):
        one.ask(request())
    one.close()
