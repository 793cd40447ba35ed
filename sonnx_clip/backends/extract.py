"""Runs Why3's extraction to C. Its status is 0 even if it fails: any output on standard error is an error."""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file
from sonnx_clip.root.run_program import run_limited
from sonnx_clip.whyml.why3_lexer import without_header

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMON = "why3/drivers/sonnx_clip_c.drv"
# How Why3 is run for an element type, in a folder of its own.
COMMAND = (
    "why3", "extract", "-D", "c", "-D", Path(COMMON).name, "-D", "sonnx_clip_{type}.drv", "-L", ".",
    "c_{type}.Kernel",
)  # fmt: skip
_SECONDS = 60
_WORDS = frozenset({"if", "while", "return"})
_CALL = re.compile(r"\b([a-z]\w*) ?\(")
_FUNCTION = re.compile(r"^(?:static inline )?\w+ (\w+)\(", re.MULTILINE)


def extract(
    theories: Mapping[str, str],
    drivers: Mapping[str, str],
    *,
    common: str = COMMON,
    seconds: float = _SECONDS,
) -> Mapping[str, str]:
    """The C text of the kernel of each element type.

    Args:
        theories: the kernels in WhyML, by their path; a kernel is the module ``Kernel`` of ``c_<type>.mlw``.
        drivers: for each element type what its kernel is printed with, beside the common driver.
        common: that driver.
        seconds: for each kernel.

    Raises:
        UserError: Why3 is missing or said something, or gave no kernel.
    """
    written = tuple(
        (path.name, path.read_text(encoding="utf-8"))
        for path in (*sorted(repo_file("why3").glob("*.mlw")), repo_file(common))
    )
    by_name = {Path(path).name: text for path, text in theories.items()}
    asked = [
        (name, without_header(by_name[f"c_{name}.mlw"]), without_header(driver))
        for name, driver in drivers.items()
    ]
    with ThreadPoolExecutor() as pool:
        texts = pool.map(lambda one: _extracted(*one, written, Path(common).name, seconds), asked)
        return dict(zip(drivers, texts, strict=True))


@cache
def _extracted(
    name: str, theory: str, driver: str, written: tuple[tuple[str, str], ...], common: str, seconds: float
) -> str:
    """Extracted in a folder that holds exactly these texts: what is on disk takes no part.

    Why3 1.7 and later also looks for a driver among its own, and stops where it finds two: so no driver has a
    short name.
    """
    module, own = f"c_{name}.Kernel", f"sonnx_clip_{name}.drv"
    with tempfile.TemporaryDirectory() as folder:
        for file, text in (*written, (f"c_{name}.mlw", theory), (own, driver)):
            Path(folder, file).write_text(text, encoding="utf-8")
        asked = [word.replace("{type}", name).replace(Path(COMMON).name, common) for word in COMMAND]
        done = run_limited(asked, seconds, folder=Path(folder))
    if isinstance(done.unstarted, FileNotFoundError):
        what = "why3 is not installed, and generated/c is extracted by it"
        raise UserError(what, todo="apt-get install why3")
    if done.killed:
        raise UserError(f"why3 extract did not end within {seconds} s", module)
    where = f"generated/why3/c_{name}.mlw"
    if done.words.strip() or done.status != 0:
        said = done.words.strip() or f"exit status {done.status}"
        raise UserError(f"the kernel cannot be extracted to C: {said}", where, f"mend it, or {COMMON}")
    if f"void sonnx_clip_{name}(" not in done.text:
        raise UserError(f"why3 extract gave no sonnx_clip_{name}", where, "restore the template")
    undefined = set(_CALL.findall(done.text)) - set(_FUNCTION.findall(done.text)) - _WORDS
    if undefined:
        missing = min(undefined)
        what = f"the C calls {missing}, which nothing defines"
        raise UserError(what, where, f"give {missing} a line in generated/c/drivers or {COMMON}")
    return done.text
