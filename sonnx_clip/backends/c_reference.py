"""Renders the C reference: the kernel of each element type in WhyML, and the C that Why3 extracts from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.c_contracts import with_contracts
from sonnx_clip.backends.extract import extract
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header, obligations_of, smoke
from sonnx_clip.claims.obligation import Obligation
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

THEORIES = "generated/why3"
FOLDER = "generated/c"
_COMPARED_AS_FLOATS = ("float", "double")
_COMPARISONS = (("less_equal", "<=", "le a b"), ("less_than", "<", "lt a b"), ("at_least", ">=", "le b a"))
# Clang says by no macro that the sign of zero may be lost, so the header cannot refuse it. But for x86
# it ignores this pragma, and -fno-signed-zeros stays unseen (docs/trusted-base.md).
PRECISE = """\
#if defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
#pragma float_control(precise, on)
#endif

"""
HEADER = f"{FOLDER}/sonnx_clip.h"
HEADER_TEMPLATE = "sonnx_clip.h.j2"


def machine_types(spec: Spec) -> tuple[ElementType, ...]:
    """The element types that C has, in the order of the specification."""
    return tuple(etype for etype in spec.element_types if etype.c is not None)


def kernel_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The kernels in WhyML and the drivers of their extraction, by their path; and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in machine_types(spec):
        path = f"{THEORIES}/c_{etype.id}.mlw"
        cases = tuple(case.id for case in spec.cases)
        files[path] = template("c_type.mlw.j2").render(
            header=header(spec), etype=etype, shows=(etype.id, *cases), float=_patterns(etype)
        )
        files[_driver(etype)] = template("c_type.drv.j2").render(
            header=header(spec), etype=etype, float=_patterns(etype)
        )
        obligations += _obligations(etype, path, cases)
    return files, tuple(obligations)


def render_c(spec: Spec, theories: Mapping[str, str]) -> Mapping[str, str]:
    """The C files, by their path in the repository.

    Args:
        spec: the specification.
        theories: the kernels in WhyML and their drivers, as `kernel_theories` gives them.

    Raises:
        UserError: Why3 is missing, or the extraction said anything at all.
    """
    types = machine_types(spec)
    files = {HEADER: template(HEADER_TEMPLATE).render(header=header_lines(spec), element_types=types)}
    drivers = {etype.id: theories[_driver(etype)] for etype in types}
    extracted = extract(theories, drivers)
    about = "\n   ".join(
        [*header_lines(spec), "Extracted by Why3 from generated/why3/c_{}.mlw, which is proved."]
    )
    for etype in types:
        head = f"/* {about.format(etype.id)} */\n\n{PRECISE if etype.c in _COMPARED_AS_FLOATS else ''}"
        files[f"{FOLDER}/sonnx_clip_{etype.id}.c"] = head + with_contracts(extracted[etype.id], etype)
    return files


def _driver(etype: ElementType) -> str:
    return f"{FOLDER}/drivers/{etype.id}.drv"


def _patterns(etype: ElementType) -> dict[str, str] | None:
    """The bit patterns that the kernel of a float without a C type uses; None for all other types."""
    if etype.family != "float" or etype.c != f"uint{etype.width}_t":
        return None
    form, digits = float_bits(etype), (etype.width or 0) // 4
    inf = infinity(form)
    numbers = {"zero": 0, "one": 1, "mask": sign_bit(form) - 1, "infinity": inf, "top": 2 * inf}
    shown = {name: f"(0x{value:0{digits}x}: t)" for name, value in numbers.items()}
    return {**shown, "infinity_number": f"0x{inf:0{digits}x}", "top_number": f"0x{2 * inf:0{digits}x}"}


def _obligations(etype: ElementType, path: str, cases: tuple[str, ...]) -> list[Obligation]:
    """What Why3 asks of the programs in a kernel: one for each contract, and for each [val] that is given."""

    def refinement(name: str, goal: str, shows: tuple[str, ...], title: str, statement: str) -> Obligation:
        id_ = f"{etype.id}.c_{name}"
        return Obligation(id_, "refinement", etype.id, shows, title, path, "Kernel", goal, statement)

    found = []
    if _patterns(etype):
        found.append(
            refinement("rank", "rank'vc", (etype.id,), "the rank is as it is defined", "result = rank_of a")
        )
        found.append(
            refinement(
                "limit", "limit'vc", (etype.id,), "the limit is as it is defined", "result = limit_of a"
            )
        )
        for name, sign, relation in _COMPARISONS:
            statement = f"result <-> {relation}"
            by_ranks = f"ranks compare as IEEE 754 says: {sign}"
            stands_for = f"{name} keeps the contract of the operator {sign} of C"
            found.append(refinement(name, f"{name}'vc", (etype.id,), by_ranks, statement))
            found.append(refinement(f"{name}_refines", f"{name}'refn'vc", (etype.id,), stands_for, statement))
    title = "the C kernel computes Clip, in place and elsewhere, within its memory, and ends"
    statement = "memory.cells[place] = clip (old memory.cells)[opposite x y place] min max, and nothing else"
    found.append(refinement("clip", f"sonnx_clip_{etype.id}'vc", (etype.id, *cases), title, statement))
    return [*found, *obligations_of(etype.id, path, "Kernel", [smoke("smoke_c")])]
