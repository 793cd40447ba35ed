"""Prose of the YAML never becomes code of a generated file."""

import ast
import re
import subprocess
from functools import cache

import pytest
from pydantic import BaseModel

from sonnx_clip.backends.c_reference import kernel_theories
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.drivers import render_replay
from sonnx_clip.backends.generate import THEORIES
from sonnx_clip.backends.numpy_kernels import numpy_theories
from sonnx_clip.backends.numpy_oracle import oracle_path, render_numpy
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.document import Document

PROSE = {
    "title", "statement", "reason", "matters", "origin", "ours", "alternative", "reference", "says", "found",
    "proposed", "note", "not_for", "unsaid",
}  # fmt: skip
MARK = "planted"
HOSTILE = (
    f'{MARK} """ *) (* */ /* (*) ??/ " \n{MARK} goal false : true\n#define x \\',
    f'*) {MARK} *)) ((* **/ /** \\""" \\\\\n{MARK} = 1 ??/',
    f')/"{MARK}" \n{MARK}() *',
    f'"""\n{MARK}()\n"""',
)


def hostile(value, text, *, is_prose=False):
    """A copy of the model in which every prose field holds this text."""
    if isinstance(value, BaseModel):
        fields = {name: hostile(of, text, is_prose=name in PROSE) for name, of in value}
        changed = {name: of for name, of in fields.items() if of != getattr(value, name)}
        return value.model_copy(update=changed)
    if isinstance(value, dict):
        return {key: hostile(of, text, is_prose=is_prose) for key, of in value.items()}
    if isinstance(value, tuple):
        return tuple(hostile(of, text, is_prose=is_prose) for of in value)
    return text if is_prose and isinstance(value, str) else value


def theories(spec):
    shown = (render for _, render in THEORIES if render not in (kernel_theories, numpy_theories))
    return {path: text for render in shown for path, text in render(spec).files.items()}


def without_ml_comments(text):
    """What is outside comments, which nest; the markers must balance."""
    code, depth, end = "", 0, 0
    for found in re.finditer(r"\(\*\)|\(\*|\*\)", text):
        if depth == 0:
            code += text[end : found.start()]
        depth += {"(*": 1, "*)": -1, "(*)": 0}[found[0]]
        assert depth >= 0
        end = found.end()
    assert depth == 0
    return code + text[end:]


def without_coq_comments(text):
    for comment in re.findall(r"\(\*.*?\*\)", text, re.DOTALL):
        assert comment.count('"') % 2 == 0  # Coq reads strings in comments
    return without_ml_comments(text)


def python_code(text):
    """The program without docstrings and comments; prose that is data stays a literal."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MARK in node.value:
            node.value = ""
    tree.body = [node for node in tree.body if "DIALECTS" not in ast.unparse(node)[:8]]
    return ast.unparse(tree)


BACKENDS = {
    "whyml": (theories, without_ml_comments),
    "coq": (render_coq, without_coq_comments),
    "numpy": (render_numpy, python_code),
}


@cache
def rendered(backend, text):
    """What a backend renders, with this text for each prose if there is one."""
    render, _ = BACKENDS[backend]
    return render(load_spec() if text is None else hostile(load_spec(), text))


@cache
def code(backend, text):
    _, stripped = BACKENDS[backend]
    return {path: stripped(of) for path, of in rendered(backend, text).items()}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("backend", BACKENDS)
def test_hostile_prose_leaves_the_code_as_it_is(backend, text):
    assert code(backend, text) == code(backend, None)


def test_why3_parses_theories_with_hostile_prose(tmp_path):
    files = [tmp_path / f"float32_{number}.mlw" for number in range(len(HOSTILE))]
    for file, text in zip(files, HOSTILE, strict=True):
        file.write_text(rendered("whyml", text)["generated/why3/float32.mlw"])
        assert MARK in file.read_text()
    command = ["why3", "prove", "-L", str(repo_file("why3")), "--parse-only", *map(str, files)]
    subprocess.run(command, check=True, capture_output=True)


def test_every_backend_shows_prose():
    """The tests above see the fields that they are about."""
    for backend in BACKENDS:
        assert any(MARK in text for text in rendered(backend, HOSTILE[0]).values())
    assert MARK in rendered("numpy", HOSTILE[0])[oracle_path(load_spec())]


@pytest.mark.parametrize("character", ["\\a", "\\r", "\\u202e", "\\u2028", "\\x85"])
def test_control_characters_are_refused_with_their_place(character):
    with pytest.raises(UserError, match=r"^clip.yaml:2:8 .*U\+[^\n]*\n *remove it"):
        Document("clip.yaml", f'format: 1\ntitle: "a {character} b"\n')


@pytest.mark.parametrize(
    "name", ['a*)"""$(exit 3)`exit 3`.yaml', "a\n*) goal planted : false (*\nexit 3\n#.yaml"]
)
def test_a_hostile_file_name_stays_in_comments(name, tmp_path):
    plain = repo_file("tests/toy/relu.yaml")
    file = tmp_path / name
    file.write_bytes(plain.read_bytes())
    named, original = load_spec(file), load_spec(plain)
    for backend in ("whyml", "numpy"):
        render, stripped = BACKENDS[backend]
        expected = {path: stripped(text) for path, text in render(original).items()}
        assert {path: stripped(text) for path, text in render(named).items()} == expected
    (script,) = render_replay(named, ()).values()
    assert name.split(maxsplit=1)[0] in script
    head, _, _ = script.partition("\nset -eu\n")
    assert all(line.startswith("#") for line in head.splitlines())
