"""What a finding disputes it disputes wherever the same words stand: in both renderings, and in each chapter
of which it speaks."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import require_coverage
from tests.obligations import obligations

if TYPE_CHECKING:
    from sonnx_clip.spec.coverage import Covered

# Words that a finding disputes in one place and rightly not in another of the chapters of which it speaks.
RIGHT_THERE = {
    ("onnx-13-two-renderings", "onnx-clip", "Clip - 13"): "the newer rendering has the sentence that decides",
    ("tags-of-constraints", "sonnx-clip", "clip (real)"): "C1 and C2 are one constraint each in this chapter",
    ("formula-is-not-the-cases", "sonnx-clip", "clip (real)"): "reals have one min; the remarks ask for all",
    ("limits-of-which-type", "onnx-clip-examples", "Clip - 6"): "this version prints numbers",
    ("clip-6-defaults-of-float", "onnx-clip", "Clip - 11"): "the bounds differ from Clip-6, not the types",
    ("clip-6-defaults-of-float", "onnx-clip-examples", "Clip - 11"): "the same in the older rendering",
}


@cache
def covered() -> list[Covered]:
    return [*require_coverage(load_spec(), [o.id for o in obligations()])]


def _plain(words: str) -> str:
    """The words without what a rendering adds: marks of lists, stars, curved quotes, the last full stop."""
    words = re.sub(r"^[*•-] ", "", words).replace("*", "")
    return words.replace("‘", "'").replace("’", "'").rstrip(".")


def _place(one: Covered) -> tuple[str, str]:
    return one.source, (one.section or ("",))[0]


def test_the_same_words_have_the_same_findings() -> None:
    """A finding that disputes words does so in each chapter of which it speaks, but for those listed."""
    alike: dict[str, list[Covered]] = defaultdict(list)
    chapters: dict[str, set[str]] = defaultdict(set)
    for one in covered():
        alike[_plain(one.text)].append(one)
        for name in one.answer.disputed_by:
            chapters[name].add(_place(one)[1])
    left_out = {
        (name, *_place(one))
        for same in alike.values()
        for name in {name for one in same for name in one.answer.disputed_by}
        for one in same
        if name not in one.answer.disputed_by and _place(one)[1] in chapters[name]
    }
    assert left_out == set(RIGHT_THERE)


def test_the_older_rendering_of_clip_13_has_the_words_of_clip_12() -> None:
    """What `onnx-13-two-renderings` says of them: but for the number, the list of types, and the examples."""
    skipped = ("Examples", "clip_default", "clip_default_int8", "Type Constraints", "Differences")

    def words(chapter: str) -> list[str]:
        return [
            one.text
            for one in covered()
            if _place(one) == ("onnx-clip-examples", chapter)
            and not set(one.section).intersection(skipped)
            and one.answer.descriptive not in ("markup", "heading")
        ]

    def numbered(texts: list[str]) -> list[str]:
        return [text.replace("13", "12") for text in texts]

    newer, older = words("Clip - 13"), words("Clip - 12")
    assert numbered(newer) == older
    assert len(older) > 15
