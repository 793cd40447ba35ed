"""Text -> tree -> text: the tree that is meant, and text that parses back to it."""

from __future__ import annotations

import pytest

from sonnx_clip.language.parse import LanguageError, parse
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.scope import (
    Scope,
    Usable,
    declared_scope,
    element_scope,
    tensor_scope,
)
from sonnx_clip.language.tree import Kind
from sonnx_clip.root.signature import CLIP_SIGNATURE

B, E = Kind.BOOL, Kind.ELEMENT
FLOAT = frozenset({"float"})
USES = {
    "low": Usable(0, B, FLOAT),
    "formula": Usable(0, E, FLOAT),
    "min": Usable(2, E, FLOAT),
    "same": Usable(2, B, FLOAT),
}
ELEMENT = element_scope(
    "a test", ("X", "L", "M", "Y", "X2"), USES, FLOAT, CLIP_SIGNATURE, result=True
)
VALUES = tensor_scope(
    "a constraint", {"min": USES["min"], "same": USES["same"]}, FLOAT, CLIP_SIGNATURE
)
DECLARED = declared_scope(FLOAT, CLIP_SIGNATURE)


def canonical(text: str, scope: Scope = ELEMENT, kind: Kind | None = None) -> str:
    return unparse(parse(text, scope, kind))


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("X < L and L < M or low", "((X < L) and (L < M)) or low"),
        ("low or X < L and L < M", "low or ((X < L) and (L < M))"),
        ("not X < L and low", "(not (X < L)) and low"),
        ("low implies low implies low", "low implies (low implies low)"),
        ("low iff low implies low", "low iff (low implies low)"),
        ("low iff low iff low", "(low iff low) iff low"),
        ("low and low and low", "(low and low) and low"),
        ("if low then X < L else low or low", "if low then (X < L) else (low or low)"),
        ("if low then if low then X else L else M", "if low then (if low then X else L) else M"),
    ],
)
def test_precedence_of_operators(text: str, grouped: str) -> None:
    assert parse(text, ELEMENT, None) == parse(grouped, ELEMENT, None)
    assert canonical(grouped) == text


@pytest.mark.parametrize(
    "text",
    [
        "identical(Y, if M <= X then M else X)",
        "same(min(X, L), clip(X2, -inf, formula))",
        "X == -0.5e-3",
        "-nan == nan",
        "X > smallest_subnormal",
    ],
)
def test_text_that_is_canonical_stays(text: str) -> None:
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("every(L <= Y[i] and Y[i] <= M) or every(Y[i] == M)", VALUES),
        ("shape(X) == shape(Y) and type(X) == type(L)", VALUES),
        ("every(same(X[i], Y[i]))", VALUES),
        (
            "is_set(L) and not is_sparse(X) and has_explicit_shape(Y) and is_scalar(M) and same_type(X, L)",
            DECLARED,
        ),
    ],
)
def test_the_scopes_of_tensors(text: str, scope: Scope) -> None:
    assert canonical(text, scope, Kind.BOOL) == text


@pytest.mark.parametrize(
    ("text", "scope", "offset", "what"),
    [
        ("X $ L", ELEMENT, 2, "`$` is not part of the language"),
        ("", ELEMENT, 0, "the text ends here"),
        ("X < and", ELEMENT, 4, "`and` is here"),
        ("X < L > M", ELEMENT, 6, "comparisons do not chain"),
        ("low < X", ELEMENT, 0, "a condition cannot be compared by `<`"),
        ("low or if X < L then low else low", ELEMENT, 7, "`if` is not expected here"),
        ("X <= -L", ELEMENT, 6, "a number or a constant is expected"),
        ("low and X", ELEMENT, 8, "a condition is expected here, this is an element"),
        ("if X then low else low", ELEMENT, 3, "a condition is expected here"),
        ("if low else X", ELEMENT, 7, "`then` is expected"),
        ("is_nan(low)", ELEMENT, 7, "an element is expected here"),
        ("is_nan(X, L)", ELEMENT, 10, "takes 1 argument, not 2"),
        ("formula(X) < L", ELEMENT, 7, "`(` is not expected here"),
        ("X[i] < L", ELEMENT, 1, "`X` is an element and has no entries"),
        ("is_set(5)", DECLARED, 7, "a declared tensor is expected here"),
        ("X == L", DECLARED, 0, "a declared tensor cannot be compared"),
        ("Y[i] == M", VALUES, 0, "outside `every(…)`"),
        ("every(low)", VALUES, 6, "`low` is not defined in a constraint"),
        ("every(Y[j] == M)", VALUES, 7, "the only index is `i`"),
        ("every(every(Y[i] == M))", VALUES, 6, "inside `every`"),
        ("shape(X) == type(X)", VALUES, 12, "a shape is expected here"),
    ],
)
def test_the_token_in_question_is_named(text: str, scope: Scope, offset: int, what: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text, scope)
    assert what in caught.value.what
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(" * 60 + "low" + ")" * 60, "nested too deeply"),
        ("not " * 60 + "low", "nested too deeply"),
        ("low and " * 300 + "low", "the condition is too long"),
    ],
)
def test_nesting_that_exhausts_the_stack_is_rejected(text: str, what: str) -> None:
    with pytest.raises(LanguageError, match=what):
        parse(text, ELEMENT)


def test_an_element_definition_must_exist_in_every_family() -> None:
    uses = {"top": Usable(0, E, FLOAT)}
    scope = element_scope("a test", ("X",), uses, frozenset({"int", "float"}))
    with pytest.raises(LanguageError, match="`top` is not defined for int"):
        parse("X < top", scope)
