"""Checks on answers to words that stand in several places: what is said of one is said of all."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.findings import Contrast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.coverage_file import CoverageFile
    from sonnx_clip.spec.findings import SourceFinding
    from sonnx_clip.spec.model import Spec

_OF_TYPE_T = re.compile(r"- (\*\*)?T(\*\*)?:$")
_ASPECT = "/missing_bounds"


def check_alike(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """Findings about answers that leave out what those to like words say."""
    yield from _types(file)
    yield from _missing_bounds(spec, file)


def _types(file: CoverageFile) -> Iterator[Diagnostic]:
    """Words that give an input or an output the type T are encoded by the types that T stands for."""
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            named = any(name.endswith("/element_types") for name in answer.encoded_by)
            if _OF_TYPE_T.search(answer.words) and not named:
                what = "these words say that the type is T, and the answer does not name what T stands for"
                yield Diagnostic(("sources", source, index), what, "add the element_types of the dialect")


def _missing_bounds(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """A finding on missing bounds disputes the same words of each version whose Clip its witnesses ask."""
    versions = {f.id: _asked(f) for f in spec.findings}
    disputed: dict[str, set[str]] = defaultdict(set)
    for answer in (a for answers in file.sources.values() for a in answers):
        if any(name.endswith(_ASPECT) for name in answer.encoded_by):
            disputed[answer.words].update(answer.disputed_by)
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            of = {name.removesuffix(_ASPECT) for name in answer.encoded_by if name.endswith(_ASPECT)}
            for name in sorted(disputed[answer.words] - {*answer.disputed_by} if of else ()):
                if of & versions[name]:
                    what = f"`{name}` disputes these words elsewhere and asks {min(of)} too"
                    yield Diagnostic(("sources", source, index), what, f"add `{name}` to disputed_by")


def _asked(entry: SourceFinding) -> set[str]:
    """The versions of ONNX whose node Clip is asked about numbers without a bound."""
    return {
        f"onnx-{form.removeprefix('clip-')}"
        for witness in entry.witnesses
        if isinstance(witness, Contrast) and (witness.L is None or witness.M is None)
        for form in witness.ask
        if form.startswith("clip-")
    }
