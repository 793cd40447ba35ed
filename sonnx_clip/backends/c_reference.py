"""Renders the C reference: the kernel of each element type in WhyML, and the C that Why3 extracts from it."""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.acsl import is_bits
from sonnx_clip.backends.templating import escape, header_lines, template
from sonnx_clip.backends.theory import Generated, header, obligations_of, smoke
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.language.show import show_bits
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import run_limited
from sonnx_clip.whyml.why3_lexer import without_header

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec


COMMON = "why3/drivers/sonnx_clip_c.drv"
# How Why3 is run for an element type, in a folder of its own.
COMMAND = (
    "why3", "extract", "-D", "c", "-D", Path(COMMON).name, "-D", "sonnx_clip_{type}.drv", "-L", ".",
    "c_{type}.Kernel",
)  # fmt: skip
_SECONDS: float = 60
_WORDS = frozenset({"if", "while", "return"})
_CALL = re.compile(r"\b([a-z]\w*) ?\(")
_FUNCTION = re.compile(r"^(?:static inline )?\w+ (\w+)\(", re.MULTILINE)


def extract(name: str, theory: str, driver: str) -> str:
    """The C text of the kernel of an element type.

    Args:
        name: the element type.
        theory: the theory ``c_<name>``, whose module ``Kernel`` is the kernel in WhyML.
        driver: what it is printed with, beside the common driver.

    Raises:
        UserError: Why3 is missing, printed a message, or extracted no kernel.
    """
    written = (*sorted(repo_file("why3").glob("*.mlw")), repo_file(COMMON))
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in written]
    # Without the digest of the YAML, so that other prose asks no new extraction.
    texts.append((f"c_{name}.mlw", without_header(theory)))
    texts.append((f"sonnx_clip_{name}.drv", without_header(driver)))
    return _extracted(name, tuple(texts))


@cache
def _extracted(name: str, texts: tuple[tuple[str, str], ...]) -> str:
    """Extracted in a folder that holds exactly these texts: what is on disk takes no part.

    Why3 1.7 and later also looks for a driver among its own, and stops where it finds two: so no driver has a
    short name.
    """
    where = f"generated/why3/c_{name}.mlw"
    with tempfile.TemporaryDirectory() as folder:
        for file, text in texts:
            Path(folder, file).write_text(text, encoding="utf-8")
        command = [word.replace("{type}", name) for word in COMMAND]
        done = run_limited(command, _SECONDS, folder=Path(folder))
    if isinstance(done.unstarted, FileNotFoundError):
        message = "why3, which extracts generated/c, is not installed"
        raise UserError(message, todo="apt-get install why3")
    if done.killed:
        raise UserError(f"why3 extract did not end within {_SECONDS} s", where)
    # Any message fails, also a warning: the extraction is trusted (docs/trusted-base.md).
    warning = done.words.strip()
    if warning or done.status != 0:
        reason = warning or f"exit status {done.status}"
        message = f"the kernel cannot be extracted to C: {reason}"
        raise UserError(message, where, f"fix the kernel, or {COMMON}")
    if f"void sonnx_clip_{name}(" not in done.text:
        raise UserError(f"why3 extract printed no sonnx_clip_{name}", where, "restore the template")
    # Why3 prints a function that the drivers do not map by its name, as if someone defined it.
    called = set(_CALL.findall(done.text)) - _WORDS
    undefined = called - set(_FUNCTION.findall(done.text))
    if undefined:
        missing = min(undefined)
        message = f"the C calls {missing}, which is not defined"
        todo = f"add a line for {missing} to generated/c/drivers or {COMMON}"
        raise UserError(message, where, todo)
    return done.text


THEORIES = "generated/why3"
FOLDER = "generated/c"
_COMPARED_AS_FLOATS = ("float", "double")
_COMPARISONS = (
    ("less_equal", "<=", "le a b"),
    ("less_than", "<", "lt a b"),
    ("at_least", ">=", "le b a"),
)
_TITLES = {
    "rank": "the rank is as it is defined",
    "limit": "the limit is as it is defined",
    **{name: f"ranks compare as in IEEE 754: {sign}" for name, sign, _ in _COMPARISONS},
    "clip": "the C kernel computes Clip, in place and elsewhere, within its memory, and ends",
}
"""What the programs of a kernel are proved to do: in its theory, and of its obligations."""
# Clang says by no macro that the sign of zero may be lost, so the header cannot refuse it. But for x86
# it ignores this pragma, and -fno-signed-zeros stays unseen (docs/trusted-base.md).
PRECISE = """\
#if defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
#pragma float_control(precise, on)
#endif

"""
HEADER = f"{FOLDER}/sonnx_clip.h"
HEADER_TEMPLATE = "sonnx_clip.h.j2"


def types_of_c(spec: Spec) -> tuple[ElementType, ...]:
    """The element types that C has, in the order of the specification."""
    return tuple(etype for etype in spec.element_types if etype.c is not None)


def kernel_theories(spec: Spec) -> Generated:
    """The kernels in WhyML and the drivers of their extraction, by their path; and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in types_of_c(spec):
        path = _theory(etype)
        cases = tuple(case.id for case in spec.cases)
        files[path] = template("c_type.mlw.j2").render(
            header=header(spec),
            etype=etype,
            shows=(etype.id, *cases),
            titles=_TITLES,
            float=_patterns(etype),
        )
        files[_driver(etype)] = template("c_type.drv.j2").render(
            header=header(spec), etype=etype, float=_patterns(etype)
        )
        obligations += _obligations(etype, path, cases)
    return Generated(files, tuple(obligations))


def render_c(spec: Spec, theories: Mapping[str, str]) -> Mapping[str, str]:
    """The C files, by their path in the repository.

    Args:
        spec: the specification.
        theories: the kernels in WhyML and their drivers, as `kernel_theories` gives them.

    Raises:
        UserError: Why3 is missing, or the extraction printed a message.
    """
    types = types_of_c(spec)
    lines = header_lines(spec)
    files = {HEADER: template(HEADER_TEMPLATE).render(header=lines, element_types=types)}

    def kernel_of(etype: ElementType) -> str:
        return extract(etype.id, theories[_theory(etype)], theories[_driver(etype)])

    # Each kernel is a process of Why3, for which the threads wait.
    with ThreadPoolExecutor() as pool:
        kernels = pool.map(kernel_of, types)
    about = "\n   ".join(escape(line, "c") for line in lines)
    for etype, kernel in zip(types, kernels, strict=True):
        origin = f"Extracted by Why3 from generated/why3/c_{etype.id}.mlw, which is proved."
        head = f"/* {about}\n   {origin} */\n\n"
        if etype.c in _COMPARED_AS_FLOATS:
            head += PRECISE
        files[f"{FOLDER}/sonnx_clip_{etype.id}.c"] = head + kernel.lstrip()
    return files


def _theory(etype: ElementType) -> str:
    return f"{THEORIES}/c_{etype.id}.mlw"


def _driver(etype: ElementType) -> str:
    return f"{FOLDER}/drivers/{etype.id}.drv"


def _patterns(etype: ElementType) -> dict[str, str] | None:
    """The bit patterns that the kernel of a float without a C type uses; None for all other types."""
    # It compares ranks modulo 2^16: inf + |a|, or inf - |a| of a negative number. Then `a <= b` is
    # `rank(a) <= rank(b) && rank(b) <= 2 inf`, which compilers vectorise.
    if not is_bits(etype):
        return None
    form = float_bits(etype)
    top = infinity(form)
    numbers = {
        "zero": 0,
        "one": 1,
        "mask": sign_bit(form) - 1,
        "infinity": top,
        "top": 2 * top,
    }
    shown = {name: show_bits(value, etype) for name, value in numbers.items()}
    patterns = {name: f"({text}: t)" for name, text in shown.items()}
    # Comments of the theory show two of them without the type.
    return {**patterns, "infinity_number": shown["infinity"], "top_number": shown["top"]}


def _obligations(etype: ElementType, path: str, cases: tuple[str, ...]) -> list[Obligation]:
    """The goals of the programs in a kernel: one for each contract, and one for each defined [val]."""

    def goal(
        name: str,
        vc: str,
        title: str,
        statement: str,
        shows: tuple[str, ...] = (),
    ) -> Obligation:
        return Obligation(
            id=f"{etype.id}.c_{name}",
            kind="refinement",
            subject=etype.id,
            shows=(etype.id, *shows),
            title=title,
            file=path,
            theory="Kernel",
            goal=vc,
            statement=statement,
        )

    # The loop is no goal of its own: it is proved once, over two abstract comparisons (why3/kernel.mlw).
    goals = []
    if _patterns(etype):
        goals.append(goal("rank", "rank'vc", _TITLES["rank"], "result = rank_of a"))
        goals.append(goal("limit", "limit'vc", _TITLES["limit"], "result = limit_of a"))
        for name, sign, relation in _COMPARISONS:
            kept = f"{name} keeps the contract of the operator {sign} of C"
            statement = f"result <-> {relation}"
            goals.append(goal(name, f"{name}'vc", _TITLES[name], statement))
            goals.append(goal(f"{name}_refines", f"{name}'refn'vc", kept, statement))
    statement = "memory.cells[place] = clip (old memory.cells)[opposite x y place] min max, and nothing else"
    goals.append(goal("clip", f"sonnx_clip_{etype.id}'vc", _TITLES["clip"], statement, cases))
    goals += obligations_of(etype.id, path, "Kernel", [smoke("smoke_c")])
    return goals
