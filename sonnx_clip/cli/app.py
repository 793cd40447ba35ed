"""Registers the commands in the order of the help, and turns errors into messages and exit statuses."""

import errno
import io
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from sonnx_clip.cli import meaning_commands, model_commands, proof_commands, runtime_commands
from sonnx_clip.cli.help import COMMON_OPTIONS
from sonnx_clip.cli.operand_options import OperandsCommand
from sonnx_clip.cli.optional_value import OptionalValueCommand
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import how_to_install
from sonnx_clip.root.terminal import be_quiet, without_color

_EXTRAS = {
    "onnx": "onnx", "onnxruntime": "onnx", "hypothesis": "hypothesis", "distributed": "dask", "dask": "dask",
}  # fmt: skip
"""Packages that only some commands need, and the extra that installs each."""

app = typer.Typer(
    name="sonnx-clip",
    help="A formally verified specification of the operator Clip in the SONNX profile of ONNX.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Without boxes: `Command.format_help` lays out the help, and a traceback can be pasted into a
    # report.
    rich_markup_mode=None,
)


def _show_version(show: bool) -> None:
    if show:
        from sonnx_clip import __version__

        print(f"sonnx-clip {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=COMMON_OPTIONS["--quiet"])] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", help=COMMON_OPTIONS["--no-color"])
    ] = False,
) -> None:
    """Options of the whole command."""
    del version  # its callback ends the program
    if quiet:
        be_quiet()
    if no_color:
        without_color()


_COMMANDS = (
    (proof_commands.generate, "--check"),
    (proof_commands.prove, "--family float --jobs 2"),
    (model_commands.lint, "model.onnx --format sarif"),
    (model_commands.normalise, "model.onnx -o normalised.onnx"),
    (runtime_commands.check, "--runtime onnxruntime --dtype float32"),
    (runtime_commands.export, "npz -o vectors --dtype float16"),
    (meaning_commands.explain, "float32 --x nan --min 1 --max 0"),
    (meaning_commands.readings, "--dtype int8"),
    (meaning_commands.dialects, "--json"),
    (meaning_commands.dialect, "onnx-6 float16 --x inf"),
    (meaning_commands.findings, "sign-of-zero"),
    (meaning_commands.rewrites, "clip-clip-by-max-min float32 --A 0 --B 1 --C 2 --D 3"),
    (proof_commands.evidence, "-o page"),
    (proof_commands.verify, "--replay 2%"),
)
"""Each command, and the arguments of the example in its help."""

_TAKE_NUMBERS = (meaning_commands.explain, meaning_commands.rewrites)
"""The commands whose operands or constants are options."""

# Registered here and not by decorators, so that the order of the help is that of one list.
for _command, _arguments in _COMMANDS:
    _example = f"sonnx-clip {_command.__name__} {_arguments}"
    _class = OperandsCommand if _command in _TAKE_NUMBERS else OptionalValueCommand
    _summary = (_command.__doc__ or "").partition("\n\n")[0]  # click would cut it
    app.command(_command.__name__, cls=_class, epilog=_example, short_help=_summary)(_command)


def end_as_interrupted() -> None:
    """Exit on SIGTERM as on an interrupt, so that no child process survives."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


@contextmanager
def _written_out() -> Iterator[None]:
    """Flush standard output while a failure, such as a full disk, can still be reported as a UserError."""
    try:
        try:
            yield
        finally:  # also after SystemExit, by which a command ends
            sys.stdout.flush()
    except OSError as error:
        # An error of a file, a reader that has closed the pipe, or too little memory is no full disk.
        if error.filename is not None or error.errno in (errno.EPIPE, errno.ENOMEM):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # the interpreter flushes once more when it ends
        raise UserError(
            f"standard output cannot be written: {error.strerror}", todo="write to another file"
        ) from error


def _save_address_space() -> None:
    """Have NumPy start without threads where `ulimit -v` is set: each reserves memory on import.

    OpenBLAS ends the process when it cannot start them. No command uses linear algebra.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether an exception is how Python, the system or the loader of libraries reports it."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, RuntimeError):
        # The stack of a thread could not be reserved.
        return "can't start new thread" in str(error)
    if isinstance(error, SystemError):  # CPython, where an allocation of its own failed
        return "without exception set" in str(error) or "without setting an exception" in str(error)
    if isinstance(error, ImportError):
        # The loader of libraries has no number for it, only these texts of glibc.
        text = str(error).lower()
        return "cannot allocate memory" in text or "failed to map segment" in text
    return isinstance(error, MemoryError)


def main() -> None:
    """Run the command line; bad input prints one message and exits with status 2."""
    _save_address_space()  # before any import of NumPy
    # Names in files need not fit the terminal's encoding.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end_as_interrupted()
    try:
        with _written_out():
            app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    # Before ImportError, its base class, by which the loader reports a lack of memory.
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:  # a mistake in our own code, or a broken installation
            raise
        print(f"error: the package {package} is not installed", file=sys.stderr)
        print(f"  {how_to_install(_EXTRAS[package])}", file=sys.stderr)
        sys.exit(2)
    except (MemoryError, OSError, RuntimeError, SystemError, ImportError) as error:
        if not _is_lack_of_memory(error):
            raise
        print("error: not enough memory", file=sys.stderr)
        print("  close other programs, or raise the limit: ulimit -v unlimited", file=sys.stderr)
        sys.exit(2)
    finally:
        # Only where runtimes were run: the import alone would take longer than most commands.
        if "sonnx_clip.runtimes.worker" in sys.modules:
            sys.modules["sonnx_clip.runtimes.worker"].end_servers()
