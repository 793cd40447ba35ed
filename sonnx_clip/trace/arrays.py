"""Symbolic arrays: what NumPy hands them, by its protocols, becomes a step of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sonnx_clip.trace.numpy_meaning import CHOICES, PATH
from sonnx_clip.trace.symbolic_run import SymbolicRun, SymbolicValue, UntraceableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.trace.evaluate_table import ReadingName

_BOOL = np.dtype(np.bool_)
# bfloat16 is not NumPy's own: kernels use its bits.
_FLOATS = frozenset(map(np.dtype, ("f2", "f4", "f8")))
METHODS = frozenset({"view", "clip", "max", "min"})
"""The methods of arrays that have a meaning."""

_READ = frozenset({"Order", "Reduce"})  # what depends on how patterns are ordered


class Memory:
    """What an array holds now, at the entry of the proof; its views share it."""

    def __init__(self, value: SymbolicValue) -> None:
        self.value = value


class SymbolicArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of which nothing is known but its element type, or a scalar (then it has no axes).

    A kernel cannot ask for its shape, or how many axes it has: that would be seen for one shape alone.

    Whatever would let a value out of the symbolic world, or is not in the table, raises `UntraceableError`.
    """

    def __init__(
        self,
        run: SymbolicRun,
        memory: Memory,
        dtype: np.dtype[Any],
        has_axes: bool,
    ) -> None:
        self.run = run
        self.memory = memory
        self.dtype = dtype
        self.has_axes = has_axes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy asks which protocols there are
            raise AttributeError(name)
        # `shape` and `ndim` too: what they say of one array, a proof would take for all.
        _refuse(f".{name}")

    def __bool__(self) -> bool:
        if self.has_axes or self.dtype != _BOOL:
            _refuse("the truth of what is no single comparison")
        return self.run.branch(self.memory.value)

    def _leave(self, *_: object, **__: object) -> NoReturn:
        _refuse("a Python object made from an entry")

    __array__ = __float__ = __int__ = __index__ = __complex__ = __iter__ = __len__ = _leave
    __getitem__ = __setitem__ = __contains__ = __str__ = __repr__ = __format__ = _leave
    __hash__ = _leave

    def view(self, dtype: object) -> SymbolicArray:
        """The same memory, read as another type of the same width."""
        wanted = np.dtype(dtype)  # type: ignore[call-overload]
        # Of another width it would have another number of entries.
        if wanted.itemsize != self.dtype.itemsize or wanted == _BOOL:
            _refuse(f".view({wanted}) of {self.dtype}")
        _reading(wanted)  # refuses a type whose patterns have no order here
        return SymbolicArray(self.run, self.memory, wanted, self.has_axes)

    def clip(
        self,
        lower: object,
        upper: object,
        out: SymbolicArray | None = None,
    ) -> SymbolicArray:
        """The method of arrays: np.clip."""
        return self._operation("clip", [self, lower, upper], out)

    def max(self) -> SymbolicArray:
        """The greatest entry."""
        return self._reduce("max")

    def min(self) -> SymbolicArray:
        """The least entry."""
        return self._reduce("min")

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: Any,
        out: Any = (None,),
        **options: Any,
    ) -> SymbolicArray:
        """A ufunc: its name is looked up in the table."""
        name = ufunc.__name__
        if method != "__call__":
            _refuse(f"np.{name} with {method}")
        # `where`, `dtype`, `casting`: each changes what the operation means.
        if options:
            listed = ", ".join(options)
            _refuse(f"np.{name} with {listed}")
        # A tuple with an array for each result, of which all these operations have one.
        return self._operation(name, inputs, out[0])

    def __array_function__(
        self,
        function: Callable[..., Any],
        _: object,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Any:
        """A function of NumPy that is no ufunc."""

        def copyto(target: Any, source: Any) -> SymbolicArray:
            return self._operation("copyto", [target, source], target)

        def clip(
            a: Any,
            lower: Any,
            upper: Any,
            out: Any = None,
        ) -> SymbolicArray:
            return self._operation("clip", [a, lower, upper], out)

        # Written out, so that an argument that is not known here, such as `where`, is an error.
        if function not in (np.copyto, np.clip):
            _refuse(f"np.{function.__name__}")
        meant = copyto if function is np.copyto else clip
        return meant(*arguments, **named)

    def _reduce(self, name: str) -> SymbolicArray:
        """One entry, joined with the unknown result of the others."""
        if not self.has_axes:
            _refuse(f".{name}() of a scalar")
        # In the samples, the result of the other entries is the other entry.
        value = self.memory.value
        others = self.run.any("rest", "element", value.samples[::-1])
        return self._apply(name, [value, others], self.dtype, has_axes=False)

    def _operation(
        self,
        name: str,
        operands: Sequence[Any],
        out: SymbolicArray | None,
    ) -> SymbolicArray:
        arrays = [operand for operand in operands if type(operand) is SymbolicArray]
        element_types = [array.dtype for array in arrays if array.dtype != _BOOL]
        # Masks go with elements of any type; all elements are of one.
        dtype = element_types[0] if element_types else _BOOL
        values = [self._operand(operand, dtype) for operand in operands]
        has_axes = any(array.has_axes for array in arrays)
        result = self._apply(name, values, dtype, has_axes=has_axes)
        return result if out is None else _store(out, result)

    def _operand(self, operand: Any, dtype: np.dtype[Any]) -> SymbolicValue:
        """The value of an operand, a number of Python or NumPy among them."""
        if type(operand) is SymbolicArray:
            if operand.dtype not in (dtype, _BOOL):
                _refuse(f"{operand.dtype} with {dtype} in one operation")
            return operand.memory.value
        if isinstance(operand, np.ndarray) and operand.ndim:
            _refuse("an array of numbers")
        is_of_numpy = isinstance(operand, (np.generic, np.ndarray))
        if is_of_numpy and operand.dtype != dtype:
            _refuse(f"{operand.dtype} with {dtype} in one operation")
        is_number = is_of_numpy or isinstance(operand, (int, float))
        if not is_number or dtype == _BOOL:
            _refuse(f"an operand of type {type(operand).__name__}")
        if isinstance(operand, float) and dtype.kind in "iu":  # NumPy would compute with floats
            _refuse(f"{operand} with {dtype} in one operation")
        # A number of Python takes the type of the array, as in NumPy.
        number = np.asarray(operand, dtype)
        pattern = int(number.view(f"u{dtype.itemsize}"))
        return self.run.literal(pattern)

    def _apply(
        self,
        name: str,
        values: Sequence[SymbolicValue],
        dtype: np.dtype[Any],
        *,
        has_axes: bool,
    ) -> SymbolicArray:
        # An operation that is not in the table has no meaning for the provers.
        meaning = self.run.table.get(name)
        if meaning is None or not _fits(meaning.module, dtype):
            _refuse(f"np.{name} of {dtype}")
        # Choices are no operands: NumPy makes them.
        expected = [kind for parameter, kind in meaning.parameters if parameter not in CHOICES]
        kinds = [value.kind for value in values]
        if kinds != expected:
            _refuse(f"np.{name} of {dtype}")

        how = _reading(dtype) if meaning.module in _READ else None
        result = self.run.apply(name, values, how)
        dtype_of_result = _BOOL if meaning.kind == "mask" else dtype
        # In memory of its own: NumPy makes a new array, which `out` may then receive.
        return SymbolicArray(self.run, Memory(result), dtype_of_result, has_axes)


def _store(out: SymbolicArray, result: SymbolicArray) -> SymbolicArray:
    """Write a result into an array, which all its views see."""
    is_array = type(out) is SymbolicArray and out.has_axes
    if not is_array or out.dtype != result.dtype:
        _refuse("a result that is cast, or written into a scalar or a foreign array")
    out.memory.value = result.memory.value
    return out


def _fits(module: str, dtype: np.dtype[Any]) -> bool:
    """Whether NumPy has the operations of a module of the table for this element type."""
    kinds = {"Bits": "iu", "SignedBits": "i"}
    if module in kinds:
        return dtype.kind in kinds[module]
    return dtype != _BOOL


def _reading(dtype: np.dtype[Any]) -> ReadingName:
    """How patterns of an element type are ordered."""
    if dtype in _FLOATS:
        return "Float"
    if dtype.kind not in "iu" or not dtype.isnative:
        _refuse(f"the type {dtype}")
    return "Signed" if dtype.kind == "i" else "Unsigned"


def _refuse(what: str) -> NoReturn:
    raise UntraceableError(f"{what} has no meaning in {PATH}")
