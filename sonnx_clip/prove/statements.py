"""What the provers are asked, pinned: a weaker statement is provable too, but it is not what was reviewed.

Two lists are kept by hand. why3/statements.txt has the hand-written theories, each statement with the
sentence that it stands for. ``clip.statements.txt`` beside ``clip.yaml`` has what is rendered from the YAML;
its sentences are the comments above the statements in the rendered theories.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from sonnx_clip.root.files import digest_of, write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.declarations import declarations
from sonnx_clip.whyml.hand_written import theory_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.declarations import WhymlDeclaration


STATEMENTS = "why3/statements.txt"
IMPORTS = "(imports)"
_DIGITS = 16  # of a digest: 64 bits, since nobody is kept out by them who may edit the list
_IMPORTS = ("use", "clone", "meta")
_DEFINED = ("predicate", "function", "constant", "type")


# --- The hand-written theories ---


def statements() -> dict[str, str]:
    """Each definition, axiom, goal and program of why3/*.mlw, and what each module imports.

    What has neither definition nor contract is left to why3/trusted.txt, and so are the [val]s.

    Returns:
        Their tokens by ``file.Module.name``, and by ``file.Module.(imports)``: layout, comments and
        attributes do not count.
    """
    texts = {path.stem: path.read_text(encoding="utf-8") for path in theory_files()}
    return _stated_in(texts)


def _stated_in(theories: Mapping[str, str]) -> dict[str, str]:
    """The statements of theories (their text by file) by ``file.Module.name``."""
    statements: dict[str, str] = {}
    for file, text in theories.items():
        for name, statement in _stated(text):
            statements[f"{file}.{name}"] = statement
    return statements


def _stated(theory: str) -> Iterator[tuple[str, str]]:
    """The statements of a theory by ``Module.name``."""
    # Declarations are in the order of the file, in which a module is one run of them.
    for module, group in groupby(declarations(theory), key=lambda d: d.module):
        of_module = list(group)
        # What is imported decides what the names in the statements mean.
        imports = [d.text for d in of_module if d.form.startswith(_IMPORTS)]
        if imports:
            yield f"{module}.{IMPORTS}", " ".join(imports)
        for declaration in of_module:
            if _states(declaration):
                yield f"{module}.{declaration.name}", declaration.text


def _states(declaration: WhymlDeclaration) -> bool:
    """Whether a declaration states something that is proved or used in proofs, and is listed nowhere else."""
    form = declaration.form
    if form.startswith((*_IMPORTS, "val")):
        return False
    # A smoke goal is `false` in every module; the accounts check that in the task itself.
    if form == "goal" and declaration.name.startswith("smoke_"):
        return False
    # What is declared without a definition is in why3/trusted.txt.
    return form not in _DEFINED or "=" in declaration.text.split()


def pinned() -> dict[str, tuple[str, str]]:
    """The list: digest and sentence of each statement, by its name."""
    kept: dict[str, tuple[str, str]] = {}
    for line in lines_of_list(repo_file(STATEMENTS)):
        name, digest, *sentence = line.split(maxsplit=2)
        kept[name] = (digest, "".join(sentence))
    return kept


def unpinned() -> list[str]:
    """A line for each statement that differs from the list, is new, is missing, or has no sentence."""
    now = statements()
    digests: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for name, (digest, sentence) in pinned().items():
        digests[name] = digest
        sentences[name] = sentence
    lines = _differences(now, digests, sentences)
    for name, text in now.items():
        # One that differs is named already.
        is_pinned = digests.get(name) == _digest(text)
        if is_pinned and not sentences[name]:
            lines.append(f"? {name}: it has no sentence that explains it")
    return lines


def _differences(
    now: Mapping[str, str],
    kept: Mapping[str, str],
    sentences: Mapping[str, str],
) -> list[str]:
    """A line for each statement that is not as a list has it.

    Args:
        now: the text of each statement.
        kept: the digests in the list.
        sentences: what statements stand for, where the list says it.
    """
    lines = []
    for name, text in now.items():
        digest = _digest(text)
        if name not in kept:
            lines.append(f"+ {name} {digest}: {text}")
        elif kept[name] != digest:
            lines.append(f"! {name} {digest}, not {kept[name]}: {text}")
    for name in kept:
        if name in now:
            continue
        line = f"- {name}: it is no longer stated"
        # Its text is gone, so that the sentence alone says what is lost.
        sentence = sentences.get(name, "")
        if sentence:
            line += f": {sentence}"
        lines.append(line)
    return lines


# --- The rendered theories ---

_ABOUT = """\
# What is proved, as the provers are asked: every definition, goal and import of the theories that are
# rendered from {yaml}. A line has the digest of a statement, its name, and the theories of generated/why3
# in which it stands.
#
# A person keeps this list. `sonnx-clip prove` and `sonnx-clip generate --check` name what differs from it.
# To accept a change: read each statement that they name, in its theory, below its sentence; then put the
# new line here. `sonnx-clip generate` writes the list as it would have to be to build/{name}.

"""


def rendered_list(spec: Spec) -> Path:
    """The list of the statements that are rendered from a specification: it stands beside the YAML."""
    return spec.path.with_name(f"{spec.path.stem}.statements.txt")


def rendered_statements(files: Mapping[str, str]) -> dict[str, str]:
    """The statements of rendered theories (their text by path) by ``file.Module.name``, as `statements`."""
    theories: dict[str, str] = {}
    for path, text in files.items():
        if path.endswith(".mlw"):
            theories[PurePath(path).stem] = text
    return _stated_in(theories)


def pinned_digests(path: Path) -> dict[str, str]:
    """The digest of each statement in a list of rendered ones, by ``file.Module.name``."""
    digests: dict[str, str] = {}
    for line in lines_of_list(path):
        digest, name, *groups = line.split()
        for group in groups:
            for theory in _expanded(group):
                digests[f"{theory}.{name}"] = digest
    return digests


def _expanded(group: str) -> list[str]:
    """The names of the theories: ``readings_{int8,int16}`` are two."""
    prefix, brace, types = group.partition("{")
    if not brace:
        return [group]
    return [f"{prefix}{type_id}" for type_id in types.removesuffix("}").split(",")]


def rendered_differences(spec: Spec, files: Mapping[str, str]) -> list[str]:
    """A line for each rendered statement that is not as the list of the specification has it.

    A specification outside spec/ may lack a list.
    """
    path = rendered_list(spec)
    is_ours = spec.path.resolve().parent == repo_file("spec").resolve()
    if not is_ours and not path.is_file():
        return []
    return _differences(rendered_statements(files), pinned_digests(path), {})


def write_proposed_list(spec: Spec, files: Mapping[str, str], build: Path) -> Path:
    """Write the list that fits rendered theories into the build folder; returns its path."""
    path = build / rendered_list(spec).name
    write_whole(path, _list_text(spec, rendered_statements(files)))
    return path


def _list_text(spec: Spec, stated: Mapping[str, str]) -> str:
    """The list of statements, those of the same words in one line."""
    # Most are stated for each element type in the same words: so a person reads each of them once.
    theories_of: dict[tuple[str, str], list[str]] = defaultdict(list)  # by digest and name
    for full_name, text in stated.items():
        theory, _, name = full_name.partition(".")
        theories_of[_digest(text), name].append(theory)

    listed = _ABOUT.format(yaml=spec.path.name, name=rendered_list(spec).name)
    for (digest, name), theories in theories_of.items():
        groups = " ".join(_grouped(theories))
        listed += f"{digest} {name} {groups}\n"
    return listed


def _grouped(theories: Iterable[str]) -> Iterator[str]:
    """The names of theories, those with the same prefix together, as `_expanded` reads them."""
    types_by_prefix: dict[str, list[str]] = defaultdict(list)
    for theory in theories:
        # The theory that is called as its type has no prefix: ``{int8,int16}``.
        prefix, underscore, type_id = theory.rpartition("_")
        types_by_prefix[prefix + underscore].append(type_id)
    for prefix, types in types_by_prefix.items():
        if len(types) == 1:
            yield f"{prefix}{types[0]}"
        else:
            listed = ",".join(types)
            yield f"{prefix}{{{listed}}}"


# --- Both ---


def _digest(text: str) -> str:
    return digest_of(text)[:_DIGITS]


def lines_of_list(path: Path) -> list[str]:
    """The lines of a list that a person keeps, without comments; none where there is no such file."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]
