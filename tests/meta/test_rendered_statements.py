"""A rendered statement that is weakened stays provable: the list of statements names it."""

import shutil

import pytest

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.claims import templates
from sonnx_clip.prove.statements import (
    pinned_digests,
    rendered_differences,
    rendered_list,
    write_proposed_list,
)
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.obligations import theories

# Goals of claims.yaml, with what is put in the place of their statement.
WEAKENED = {
    "cases_complete": {"holds": "{ids: or } or identical(X, X)"},
    "encoding_le": {"written": "forall a b: t. le a b <-> le a b"},
}


def _names(lines):
    return {" ".join(line.split()[:2]) for line in lines}


def test_project_proves_what_its_list_says():
    spec = load_spec()
    assert rendered_differences(spec, theories().files) == []
    assert len(pinned_digests(rendered_list(spec))) > 4000


def test_weakened_and_missing_templates_are_named(monkeypatch, tmp_path):
    original = templates.claim_templates()
    changed = {
        section: tuple(
            template.model_copy(update=WEAKENED.get(template.goal, {}))
            for template in of_section
            if template.goal != "{word}_agrees_nowhere_else"
        )
        for section, of_section in original.items()
    }
    monkeypatch.setattr(templates, "claim_templates", lambda: changed)
    for file in ("clip.yaml", "clip.statements.txt"):
        shutil.copy(repo_file(f"spec/{file}"), tmp_path)
    spec = load_spec(tmp_path / "clip.yaml")
    named = _names(rendered_differences(spec, render_theories(spec).files))
    assert "! float32.Meaning.cases_complete" in named
    assert "! int8.Meaning.cases_complete" in named
    assert "! bfloat16.Meaning.encoding_le" in named
    assert "- readings_float32.Readings.directml_agrees_nowhere_else:" in named


def _without(goal):
    def change(text):
        before, found, after = text.partition(f"  goal {goal} ")
        assert found
        return before + after[after.index("\n\n") :]

    return change


# Theories of which a goal is left out or a definition changed, with what is named.
CHANGED = {
    "an obligation is filtered out": ("bfloat16", _without("idempotent"), "- bfloat16.Meaning.idempotent:"),
    "a definition accepts everything": (
        "float32",
        lambda text: text.replace("any_infinite (x l m: t) =", "any_infinite (x l m: t) = true \\/"),
        "! float32.Meaning.any_infinite",
    ),
    "a goal is added": (
        "restrictions",
        lambda text: text.replace("  goal smoke_", "  goal easy : true\n\n  goal smoke_"),
        "+ restrictions.Profile.easy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_changed_theory_is_named(name):
    theory, change, line = CHANGED[name]
    path = f"generated/why3/{theory}.mlw"
    files = theories().files
    changed = {**files, path: change(files[path])}
    assert _names(rendered_differences(load_spec(), changed)) == {line}


def test_proposed_list_is_accepted(tmp_path):
    spec = load_spec()
    proposed = write_proposed_list(spec, theories().files, tmp_path)
    assert pinned_digests(proposed) == pinned_digests(rendered_list(spec))


def test_statement_that_nobody_reviewed_fails_prove(bench):
    digest, name, *_ = _line_of("Meaning.idempotent")
    bench.plant("spec/clip.statements.txt", f"{digest} {name} ", f"{'0' * 16} {name} ")
    ended = bench.prove("--only", "int8.low_inhabited")
    assert ended.status == 1
    assert "! int8.Meaning.idempotent" in ended.out
    assert "clip.statements.txt" in ended.out


def _line_of(name):
    lines = rendered_list(load_spec()).read_text(encoding="utf-8").splitlines()
    return next(line.split() for line in lines if f" {name} " in line)
