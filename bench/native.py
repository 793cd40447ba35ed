"""C: our kernels by their raw function pointers, and a plain copy loop with the same flags."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import shutil
import subprocess
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.peers import NotThereError
from sonnx_clip.oracle import built
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from bench.inputs import Case
    from bench.timing import Call

_DEFAULT_FLAGS = ("-std=c99", "-O3")
_COPY = """#include <stddef.h>
#include <stdint.h>
{loops}"""
_LOOP = """
void copy_{width}(uint{width}_t *y, const uint{width}_t *x, size_t n) {{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
}}
"""


def sonnx_c(case: Case, y: Array) -> Call:
    """`sonnx_clip_<type>` from generated/c, as `sonnx_clip.oracle.c` builds it; the call by ctypes counts."""
    function = _kernels().function(case.etype)
    dtype = bits_type(case.etype) if case.etype in ("float16", "bfloat16") else case.x.dtype
    number: Any = np.ctypeslib.as_ctypes_type(dtype)
    lower, upper = (number(bound.view(dtype).item()) for bound in (case.lower, case.upper))
    return partial(function, _address(y), _address(case.x), lower, upper, ctypes.c_size_t(case.size))


@cache
def let_clip_use_c() -> None:
    """`sonnx_clip.clip` finds the kernels that `sonnx_c` calls, as if they were installed for this processor.

    Where there is no compiler it is left to NumPy.
    """
    try:
        found = _kernels()
    except NotThereError:
        return
    functions = {dtype: found.kernel(dtype) for dtype in PLANNERS}
    built.kernels = lambda: functions  # type: ignore[assignment]


def c_copy(case: Case, y: Array) -> Call:
    """A plain loop in C: a limit, since every element is read and written once."""
    function = getattr(_copies(), f"copy_{8 * case.x.itemsize}")
    function.restype = None
    return partial(function, _address(y), _address(case.x), ctypes.c_size_t(case.size))


def compiler_and_flags() -> tuple[str, ...]:
    """How our kernels are compiled, if they are there; else the system's compiler, for the copy alone."""
    try:
        return tuple(_kernels().flags())
    except NotThereError:
        found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
        if found is None:
            raise NotThereError("there is no C compiler") from None
        return (found, *_DEFAULT_FLAGS)


def compiler() -> str:
    """The compiler's version and its flags, for the caption."""
    words = compiler_and_flags()
    command = list(itertools.takewhile(lambda word: not word.startswith("-"), words))  # CC may be two words
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    first = (done.stdout.splitlines() or command)[0]
    return " ".join([first, *words[len(command) :]])


@cache
def _kernels() -> Any:
    try:
        module = importlib.import_module("sonnx_clip.oracle.c")
        module.function("int8")
    except ImportError as error:
        raise NotThereError("sonnx_clip.oracle.c is not there") from error
    except UserError as error:
        raise NotThereError(error.what) from error
    return module


@cache
def _copies() -> ctypes.CDLL:
    loops = "".join(_LOOP.format(width=width) for width in (8, 16, 32, 64))
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name, "copy.c"), Path(name, "copy.so")
        source.write_text(_COPY.format(loops=loops))
        command = [*compiler_and_flags(), "-shared", "-fPIC", str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotThereError(f"{command[0]} cannot compile a copy: {done.stderr.strip()[-200:]}")
        return ctypes.CDLL(str(library))


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
