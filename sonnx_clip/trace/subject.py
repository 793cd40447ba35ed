"""Which functions are run on symbols: the planners and kernels of `sonnx_clip.clip`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.oracle import kernels, plan
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType, ModuleType

    import numpy as np

    from sonnx_clip.language.types import ElementType


@dataclass(frozen=True)
class Subject:
    """The modules that are traced, every function of them, and where a run begins.

    Args:
        modules: where planners and kernels are defined.
        planners: the planner of each element type: ``planner(min, max) -> (kernel, lower, upper)``.
    """

    modules: tuple[ModuleType, ...]
    planners: Mapping[np.dtype[Any], Callable[[Any, Any], Any]]

    @cached_property
    def functions(self) -> tuple[FunctionType, ...]:
        """The functions that the modules define."""
        names = {module.__name__ for module in self.modules}
        functions: dict[FunctionType, None] = {}  # each once: modules import from each other
        for module in self.modules:
            for value in vars(module).values():
                if inspect.isfunction(value) and value.__module__ in names:
                    functions[value] = None
        return tuple(functions)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The source files."""
        return tuple(Path(module.__file__ or "") for module in self.modules)

    def planner(self, etype: ElementType) -> Callable[[Any, Any], Any]:
        """The planner of an element type; UserError if it has none."""
        planner = self.planners.get(numpy_type(etype.id))
        if planner is None:
            message = f"{etype.id} has no NumPy kernel: it cannot be proved"
            raise UserError(message, str(self.files[-1]), "add a planner for it to PLANNERS")
        self.require_traced(planner)
        return planner

    def require_traced(self, function: Any) -> None:
        """UserError if a planner or kernel is not among `functions`."""
        # Whatever is called elsewhere has not been read by tracing.py, and could do anything.
        if function not in self.functions:
            name = getattr(function, "__qualname__", repr(function))
            module = getattr(function, "__module__", None)
            message = f"{module}.{name} is planned or called, and is not traced"
            raise UserError(message, str(self.files[-1]), "define it in the modules of the kernels")


def subject() -> Subject:
    """What `sonnx_clip.clip` runs."""
    return Subject((kernels, plan), plan.PLANNERS)
