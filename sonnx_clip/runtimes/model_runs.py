"""Runs of whole models by a runtime, in a process of its own: one model, or several that follow each other.

A chain of models is run one after the other, and each reads what those before gave. So a graph can be run as
a whole and one node at a time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sonnx_clip.root.dtypes import Array, numpy_type
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.board import OPENS, Board
from sonnx_clip.runtimes.calls import EndedError, Failure, failure_of
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.words import printable
from sonnx_clip.runtimes.worker import Child, RuntimeDiedError, missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.runtimes.calls import Died
    from sonnx_clip.runtimes.first_graphs import FirstGraphs
    from sonnx_clip.runtimes.runtime import Limits, ModelFunction, RunText, Runtime
    from sonnx_clip.runtimes.supervisor import Handle

OPTIMISED: Final = "optimised"
PLAIN: Final = "not optimised"
WITHOUT: Final = "without "
"""How a model is opened: as by default, not optimised, or without one optimiser, whose name follows."""

_KEPT_OPEN = 64  # models: a graph is run for many inputs, whole and one node at a time
_TOGETHER = 200  # chains in one request
_MOST_DEATHS = 20
_MOST_HANGS = 3  # each takes as long as the limit of a call


@dataclass(frozen=True)
class ModelRun:
    """A model that is run.

    Args:
        model: serialised.
        inputs: the names of its inputs: those of the chain, or outputs of earlier runs.
        output: the name by which later runs read its first output.
        etype: the element type of that output.
        shape: of that output.
        how: `OPTIMISED`, `PLAIN`, or `WITHOUT` and the name of an optimiser.
    """

    model: bytes
    inputs: tuple[str, ...]
    output: str
    etype: str
    shape: tuple[int, ...]
    how: str

    @property
    def size(self) -> int:
        """Bytes of its output."""
        return int(np.prod(self.shape)) * numpy_type(self.etype).itemsize


@dataclass(frozen=True)
class Chain:
    """Models that are run one after the other, and the inputs by name."""

    runs: tuple[ModelRun, ...]
    inputs: Mapping[str, Array]


@dataclass(frozen=True)
class ChainRequest:
    """Chains to run; the answer has a row of bytes for each run.

    Args:
        chains: the chains.
        told: a model of which the optimised graph is told instead, in a note.
    """

    chains: tuple[Chain, ...]
    told: bytes | None = None

    @property
    def count(self) -> int:
        """How many runs it is."""
        return sum(len(chain.runs) for chain in self.chains)

    @property
    def length(self) -> int:
        """Bytes of the longest result."""
        longest = 0
        for chain in self.chains:
            for run in chain.runs:
                longest = max(longest, run.size)
        return longest

    @property
    def pool(self) -> Array:
        """Its element type is that of the rows."""
        return np.zeros(0, np.uint8)


@dataclass(frozen=True)
class ChainOutcome:
    """What the runs of a chain gave: a flat array for each, or a failure, after which no other follows."""

    results: tuple[Array | Failure, ...]
    died: bool = False  # the runtime did, during the last of them

    @property
    def last(self) -> Array | Failure:
        """The last result, or the failure that ended the chain."""
        return self.results[-1]

    @property
    def failure(self) -> Failure | None:
        """The failure that ended the chain, if one did."""
        return self.last if isinstance(self.last, Failure) else None


# --- In the process of the runtime --------------------------------------------------------------------------


def open_models(board: Board, runtime_name: str) -> tuple[dict[str, Any], Handle | None]:
    """Import a runtime in its process: a greeting, as of `worker.open_runtime`, and a handler of requests."""
    try:
        runtime = find_runtime(runtime_name, CLIP_SIGNATURE, board)
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        return missing(error), None
    board.call = OPENS
    version = printable(str(runtime.version))
    if runtime.open_model is None:
        words = "it opens no ONNX models"
        return {"word": "unsupported", "version": version, "words": words, "models": []}, None
    greeting = {
        "word": "ready",
        "version": version,
        "imports": runtime.imports,
        "models": list(runtime.run_texts.items()),
        "plain": runtime.open_unoptimised is not None,
        "optimisers": runtime.optimisers,
        "is_optimiser": runtime.is_optimiser,
        "few": runtime.few,
    }
    return greeting, _handler(runtime)


def _handler(runtime: Runtime) -> Handle:
    @lru_cache(maxsize=_KEPT_OPEN)
    def opened(model: bytes, how: str) -> ModelFunction:
        if how == OPTIMISED:
            assert runtime.open_model is not None
            return runtime.open_model(model)
        if how == PLAIN:
            assert runtime.open_unoptimised is not None
            return runtime.open_unoptimised(model)
        assert runtime.open_without is not None
        return runtime.open_without(model, how.removeprefix(WITHOUT))

    def handle(request: ChainRequest, board: Board) -> None:
        if request.told is not None:  # a text has no row, so that it goes into a note
            board.note(graph=_graph_of(runtime, request.told))
            return
        rows = board.bits(request)
        row = 0  # of the first run of a chain; a chain that fails leaves the rows of its other runs unused
        for chain in request.chains:
            known = dict(chain.inputs)
            for place, run in enumerate(chain.runs):
                board.call = row + place
                outcome = _result(opened, run, known)
                if isinstance(outcome, Failure):
                    board.note(call=row + place, **asdict(outcome))
                    break
                data = np.frombuffer(np.ascontiguousarray(outcome).tobytes(), np.uint8)
                rows[row + place, : len(data)] = data
                known[run.output] = outcome
            row += len(chain.runs)

    return handle


def _graph_of(runtime: Runtime, model: bytes) -> str:
    """The nodes of the graph that runs for a model, with their constants; empty if the runtime is silent."""
    if runtime.graph_that_runs is None:
        return ""
    import onnx

    try:
        graph = onnx.load_from_string(runtime.graph_that_runs(model)).graph
    except Exception:  # noqa: BLE001 - it is explanation only
        return ""
    constants = {}  # by name, as they are shown in the place of their names
    for tensor in graph.initializer:
        constants[tensor.name] = _shown(onnx.numpy_helper.to_array(tensor))
    calls = []
    for node in graph.node:
        arguments = [constants.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.FLOAT:
                number = onnx.helper.get_attribute_value(attribute)
                arguments.append(f"{attribute.name}={number:g}")
        outputs = ", ".join(node.output)
        calls.append(f"{outputs} = {node.op_type}({', '.join(arguments)})")
    return printable("; ".join(calls))


def _shown(constant: Array) -> str:
    if constant.size == 1:
        return str(constant.reshape(-1)[0])
    return f"{constant.dtype}{list(constant.shape)}"


def _result(opened: Any, run: ModelRun, known: Mapping[str, Array]) -> Array | Failure:
    """The output of a run, of its declared shape and type, or a failure."""
    inputs = {name: known[name] for name in run.inputs}
    try:
        with np.errstate(all="ignore"):
            function = opened(run.model, run.how)
            result = function(inputs)
    except EndedError:
        raise  # this process ends, as with a runtime that dies in it
    except BaseException as error:  # noqa: BLE001 - whatever a runtime raises is its answer
        return failure_of(error)
    # A function of a user may return the list of all outputs.
    if isinstance(result, (list, tuple)) and result:
        result = result[0]
    if type(result) is not np.ndarray and not isinstance(result, np.generic):
        return Failure((), f"it returned {type(result).__name__}, not an array")
    if result.shape != run.shape or result.dtype != numpy_type(run.etype):
        wanted = f"{run.etype} of shape {list(run.shape)}"
        shape = list(result.shape)
        return Failure((), f"it returned {result.dtype} of shape {shape}, expected {wanted}")
    return np.asarray(result)


# --- In the process of the checker --------------------------------------------------------------------------


class ModelWorker(Child):
    """A runtime that opens models, in its own process, which is restarted whenever it has died.

    Raises:
        UserError: the runtime, or a package that it needs, is missing or cannot be imported.
        UnsupportedError: it opens no models.
        RuntimeDiedError: it died while it was imported.
    """

    def __init__(self, runtime_name: str, limits: Limits) -> None:
        super().__init__(runtime_name, open_models, (runtime_name,), limits)
        greeting = self.open()
        self.imports: str = greeting["imports"]
        self.texts: dict[bool, RunText] = dict(greeting["models"])
        self.optimisers: tuple[str, ...] = tuple(greeting["optimisers"])
        self.is_optimiser: bool = greeting["is_optimiser"]
        self.has_plain: bool = greeting["plain"]
        self.few: bool = greeting["few"]
        self.runs = 0
        """Models that were run so far."""
        self.first_graphs: dict[str, FirstGraphs] = {}
        """What came of the first graphs, by the element types in which they were asked."""
        self.is_usable = True
        """Whether it can still run models."""
        self._deaths = self._hangs = 0

    def forget_deaths(self) -> None:
        """Count deaths and hangs anew."""
        self._deaths = self._hangs = 0

    def run(self, chains: Sequence[Chain]) -> Iterator[ChainOutcome]:
        """What each chain gives, in their order; RuntimeDiedError if the runtime dies too often."""
        for begin in range(0, len(chains), _TOGETHER):
            yield from self._run(chains[begin : begin + _TOGETHER])

    def graph_of(self, model: bytes) -> str:
        """The nodes of the graph that the runtime runs for a model; empty if it does not tell."""
        request = ChainRequest((), model)
        answer = self.ask(request)
        if answer.died is not None:
            self.start()
            return ""
        for note in self._board.notes("graph"):
            return str(note["graph"])
        return ""

    def _run(self, chains: Sequence[Chain]) -> Iterator[ChainOutcome]:
        # A death leaves the chains behind it without an answer: they are asked again, in a new process.
        left = list(chains)
        while left:
            request = ChainRequest(tuple(left))
            answer = self.ask(request)
            row = 0
            for place, chain in enumerate(left):
                rows = answer.bits[row:]
                # The chains before the one that killed the runtime have their results.
                if answer.died is not None:
                    fatal = max(0, answer.died.call)  # it may have died before the first run
                    if fatal < row + len(chain.runs):
                        yield self._died(chain, rows, fatal - row, answer.died)
                        left = left[place + 1 :]
                        break
                self.runs += len(chain.runs)
                yield _outcome(chain, rows, answer.failures, row)
                row += len(chain.runs)
            else:
                return

    def _died(self, chain: Chain, rows: Array, before: int, died: Died) -> ChainOutcome:
        """The outcome of a chain whose run after `before` others killed the runtime, which is restarted."""
        self._deaths += 1
        self._hangs += died.hung
        self.runs += before + 1
        if self._deaths >= _MOST_DEATHS or self._hangs >= _MOST_HANGS:
            self.is_usable = False
            raise RuntimeDiedError(f"{died.words}; not restarted after {self._deaths} crashes")
        results: list[Array | Failure] = []
        # Behind them are the rows of the chains that follow.
        for run, row in zip(chain.runs[:before], rows, strict=False):
            results.append(_array(run, row))
        # After the results are copied: a new process clears the board.
        self.start()
        results.append(Failure((), died.words, raised=True))
        return ChainOutcome(tuple(results), died=True)


def _outcome(
    chain: Chain, rows: Array, failures: Mapping[int, Failure], first: int
) -> ChainOutcome:
    results: list[Array | Failure] = []
    for place, run in enumerate(chain.runs):
        failure = failures.get(first + place)
        if failure is not None:
            results.append(failure)
            break
        results.append(_array(run, rows[place]))
    return ChainOutcome(tuple(results))


def _array(run: ModelRun, row: Array) -> Array:
    """The flat result in a row of bytes; a copy, since the memory is used again."""
    return row[: run.size].copy().view(numpy_type(run.etype))
