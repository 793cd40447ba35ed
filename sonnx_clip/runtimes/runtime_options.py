"""The options of `check` that name a runtime or an optimiser, and the name that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.find_runtime import (
    ABI_EXAMPLE,
    DEFAULT_RUNNER,
    command_words,
    model_command_words,
    module_of,
    split_name,
)

if TYPE_CHECKING:
    from pathlib import Path

_NAMING = "--runtime NAME, --exec COMMAND, --so LIBRARY, --onnx FUNCTION and --onnx-cmd COMMAND"


@dataclass(frozen=True)
class RuntimeOptions:
    """The options of `check` that name what is judged, as they were given.

    `exec` needs `endian` and `stdio` where they differ from the defaults, `so` needs `abi`.
    """

    runtime: str | None = None
    exec: str | None = None
    endian: str | None = None
    stdio: bool = False
    so: Path | None = None
    abi: Path | None = None
    onnx: str | None = None
    onnx_cmd: str | None = None
    optimiser: str | None = None

    @property
    def chosen(self) -> list[str]:
        """The options that name a runtime."""
        values = {
            "--runtime": self.runtime,
            "--exec": self.exec,
            "--so": self.so,
            "--onnx": self.onnx,
            "--onnx-cmd": self.onnx_cmd,
        }
        return [option for option, value in values.items() if value is not None]

    def name(self) -> str:
        """The name of the runtime, or of the optimiser with the runtime that runs its models.

        UserError if options contradict each other, or a file or an optimiser that they name is missing.
        """
        # An optimiser is what is judged then; --runtime only runs its models.
        if self.optimiser is not None:
            return self._optimised(self.optimiser)
        if len(self.chosen) != 1:
            message = "no runtime is named"
            if self.chosen:
                message = f"{' and '.join(self.chosen)} exclude each other"
            raise UserError(message, todo=f"use one of {_NAMING}")
        self._require_companions()
        if self.exec is not None:
            command_words(self.exec)  # for its errors: the name has the command as it was given
            words = ["big"] if self.endian == "big" else []
            if self.stdio:
                words.append("stdio")
            options = f"[{','.join(words)}]" if words else ""
            return f"exec{options}:{self.exec}"
        if self.so is not None:
            from sonnx_clip.runtimes.shared_library import read_abi

            read_abi(str(self.abi))  # here, since a mistake in it is no environment failure
            return f"so[{self.abi}]:{self.so}"
        if self.onnx is not None:
            # What is no function would be taken for another kind of name.
            if split_name(f"onnx:{self.onnx}")[0] != "onnx":
                todo = "use module:open or ./file.py:open, which opens a model (bytes)"
                raise UserError(f"--onnx {self.onnx} is not a function", todo=todo)
            return f"onnx:{self.onnx}"
        if self.onnx_cmd is not None:
            model_command_words(self.onnx_cmd)
            return f"onnx-cmd:{self.onnx_cmd}"
        assert self.runtime is not None
        return self.runtime

    def _optimised(self, optimiser: str) -> str:
        if any(option != "--runtime" for option in self.chosen):
            todo = "its models are run by --runtime NAME"
            raise UserError("--optimiser allows --runtime alone beside it", todo=todo)
        name = f"optimised[{self.runtime or DEFAULT_RUNNER}]:{optimiser}"
        # Reports an optimiser that is not known, or a command without its placeholders.
        module_of(name)
        return name

    def _require_companions(self) -> None:
        """UserError if an option lacks the one that it belongs to."""
        if self.exec is None and (self.endian is not None or self.stdio):
            option = "--stdio" if self.endian is None else "--endian"
            raise UserError(f"{option} needs --exec", todo="add --exec COMMAND")
        library, description = "--so LIBRARY", "--abi FILE"
        lacking = f"; FILE is TOML: {ABI_EXAMPLE}"
        if self.so is not None and self.abi is None:
            raise UserError(f"{library} needs {description}", todo=f"add {description}{lacking}")
        if self.abi is not None and self.so is None:
            raise UserError(f"{description} needs {library}", todo=f"add {library}{lacking}")
